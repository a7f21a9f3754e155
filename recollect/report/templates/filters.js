// Filters and search, which the address keeps.

const FILTERS = ["mixer", "d", "length"];
let filter = {}, words = [];
const fits = (cell) => FILTERS.every((name) => !filter[name] || String(cell[name]) === filter[name]);
const textOf = (run) => (run.text ??= [run.id, run.status, run.outcome, cells[run.cell].id, cells[run.cell].label, cells[run.cell].mixer, cells[run.cell].task, sizeOf(cells[run.cell])].join(" ").toLowerCase());
const matches = (run) => fits(cells[run.cell]) && (!words.length || words.every((word) => textOf(run).includes(word)));
const chosenRuns = () => runs.filter(matches);
const address = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

function keep(changes) {
  const known = address();
  for (const [name, value] of Object.entries(changes)) if (value) known.set(name, value); else known.delete(name);
  history.replaceState(null, "", `#${known}`);
}

function fillFilters() {
  for (const name of FILTERS) {
    const values = [...new Set(cells.map((cell) => cell[name]))].sort((a, b) => (typeof a === "number" ? a - b : a < b ? -1 : 1));
    $("filter-" + name).replaceChildren(new Option("all", ""), ...values.map((value) => new Option(String(value), String(value))));
  }
}

function takeFilters() {
  const known = address();
  for (const name of FILTERS) $("filter-" + name).value = known.get(name) ?? "";
  $("search").value = known.get("search") ?? "";
  refresh();
}

function refresh() {
  filter = Object.fromEntries(FILTERS.map((name) => [name, $("filter-" + name).value]));
  words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = chosenRuns(), seen = new Set(chosen.map((run) => run.cell));
  $("matches").textContent = chosen.length ? `${chosen.length} of ${runs.length} runs` : "No run matches the filters.";
  table("cell", CELL_COLUMNS, cells.filter((cell, index) => seen.has(index)));
  table("run", RUN_COLUMNS, chosen);
  for (const figure of charts.keys()) if (figure.dataset.chart) redraw(figure);
}
