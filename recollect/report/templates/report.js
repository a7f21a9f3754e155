// The page's behaviour: filters, charts, the dialog of one cell. Text from the store only ever becomes textContent.
const data = JSON.parse(document.getElementById("data").textContent);
const { cells, runs, studies } = data;
const byId = new Map(runs.map((run, index) => [run.id, index]));
const cellAt = new Map(cells.map((cell, index) => [cell.id, index]));
const $ = (id) => document.getElementById(id);
const percent = (value) => (value == null ? "" : (100 * value).toFixed(1) + " %");
const short = (value) => (value == null ? "" : String(Number(value.toPrecision(3))));
const ORDER = OUTCOMES;
const PAGE = 200;

// Rows for the charts.

const kindOf = (outcome) => (outcome || "").split(" ")[0];

function runRow(run, label) {
  const cell = cells[run.cell];
  return {
    run: run.id, cell: cell.id, label: label ?? cell.label, mixer: cell.mixer, lr: run.lr, seed: run.seed,
    outcome: run.outcome, kind: kindOf(run.outcome), rank: ORDER.indexOf(kindOf(run.outcome)), test: run.test ?? 0, tells: run.tells,
  };
}

function pointRows(run, label, strong) {
  const rows = [], row = runRow(run, label), curves = run.curves, steps = curves.step || [];
  for (const measure of ["accuracy", "loss"]) for (const split of ["train", "validation"]) {
    const values = curves[`${split}_${measure}`] || [];
    steps.forEach((step, i) => {
      if (values[i] == null) return;
      const last = split === "validation" && i === steps.length - 1, opacity = !strong ? 0.1 : split === "train" ? 0.25 : 1;
      rows.push({ ...row, step, measure, rows: split, value: values[i], last, opacity });
    });
  }
  return rows;
}

// The floors that the tasks of all these rows share.
function floorsOf(rows) {
  const known = [...new Set(rows.map((row) => row.cell))].map((id) => cells[cellAt.get(id)].floors ?? {});
  return Object.entries(known[0] ?? {}).filter(([name, level]) => known.every((floors) => floors[name] === level))
    .map(([name, level]) => ({ name: `${name} (${Math.round(100 * level)} %)`, level }));
}

const isDone = (run) => run.status === "done";

// More curves than this in one chart cannot be told apart; they are then chosen evenly, and the chart says so.
const CURVES = 300;
const some = (chosen) => (chosen.length <= CURVES ? chosen : Array.from({ length: CURVES }, (_, i) => chosen[Math.floor((i * chosen.length) / CURVES)]));

const SOURCES = {
  runs: (chosen, labels) => chosen.filter(isDone).map((run) => runRow(run, labels?.[run.id])),
  points: (chosen, labels) => some(chosen.filter(isDone)).flatMap((run) => pointRows(run, labels?.[run.id], true)),
  cells: (chosen, labels) => {
    const first = new Map();
    for (const run of chosen) if (!first.has(run.cell)) first.set(run.cell, run.id);
    return [...first].filter(([cell]) => cells[cell].mean != null)
      .map(([cell, run]) => ({ ...cells[cell], cell: cells[cell].id, label: labels?.[run] ?? cells[cell].label }));
  },
};

// Charts: drawn when they come into view, again when filters or the colour scheme change.

const dark = matchMedia("(prefers-color-scheme: dark)");

function theme() {
  const ink = dark.matches ? "#c8d0da" : "#333a44", line = dark.matches ? "#2c333c" : "#e3e6eb";
  const axis = { labelColor: ink, titleColor: ink, gridColor: line, domainColor: ink, tickColor: ink, titleFontWeight: "normal" };
  return {
    background: "transparent", view: { stroke: null }, axis, legend: { labelColor: ink, titleColor: ink, symbolBaseFillColor: ink, symbolBaseStrokeColor: ink },
    header: { labelColor: ink, titleColor: ink }, font: "system-ui, sans-serif",
  };
}

const charts = new Map();

async function draw(figure, chart, rows, caption = "") {
  charts.get(figure)?.finalize();
  if (!rows.length) {
    charts.set(figure, { finalize() {} });
    figure.replaceChildren(Object.assign(document.createElement("p"), { className: "small", textContent: "No finished run to draw." }));
    return;
  }
  figure.setAttribute("role", "group");
  figure.setAttribute("aria-label", `${chart.about}; arrow keys walk over its points, Enter opens one`);
  figure.tabIndex = 0;
  const spec = { ...chart.spec, datasets: { ...chart.spec.datasets, rows, floors: floorsOf(rows) } };
  const shown = await vegaEmbed(figure, spec, { actions: false, renderer: "svg", config: theme() });
  charts.set(figure, shown);
  if (caption) figure.append(Object.assign(document.createElement("figcaption"), { className: "small", textContent: caption }));
  shown.view.addEventListener("click", (event, item) => item?.datum?.cell && open(item.datum.cell, item.datum.run));
}

const marks = (figure) => [...figure.querySelectorAll("g.mark-symbol.role-mark path, g.mark-rect.role-mark path")];

function walk(event) {
  const figure = event.currentTarget, found = marks(figure);
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const at = found.findIndex((mark) => mark.classList.contains("at"));
  if (step && found.length) {
    event.preventDefault();
    const next = found[(at + step + found.length) % found.length];
    found[at]?.classList.remove("at");
    found.forEach((mark) => mark.removeAttribute("stroke-width"));
    next.classList.add("at");
    next.setAttribute("stroke", "currentColor");
    next.setAttribute("stroke-width", "3");
    const { run, label, lr, seed, outcome } = next.__data__?.datum ?? {};
    $("matches").textContent = [label, lr && `lr ${short(lr)}`, seed && `seed ${seed}`, outcome, run].filter(Boolean).join(", ");
  } else if (event.key === "Enter" && at >= 0) {
    event.preventDefault();
    const datum = found[at].__data__?.datum;
    if (datum?.cell) open(datum.cell, datum.run);
  }
}

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) { watcher.unobserve(entry.target); redraw(entry.target); }
}, { rootMargin: "200px" });

function redraw(figure) {
  const study = studies[figure.dataset.study];
  const chart = study ? study.charts[figure.dataset.chart] : data.charts[figure.dataset.chart];
  const chosen = study ? Object.keys(study.labels).map((id) => runs[byId.get(id)]).filter((run) => run && matches(run)) : chosenRuns();
  const cut = chart.source === "points" && chosen.filter(isDone).length > CURVES;
  return draw(figure, chart, SOURCES[chart.source](chosen, study?.labels), cut ? `${CURVES} of ${chosen.length} runs are drawn.` : "");
}

// Filters.

const FILTERS = ["mixer", "d", "length"];
const wanted = () => Object.fromEntries(FILTERS.map((name) => [name, $("filter-" + name).value]));
let filter = {};
const fits = (cell) => FILTERS.every((name) => !filter[name] || String(cell[name]) === filter[name]);
const matches = (run) => fits(cells[run.cell]);
const chosenRuns = () => runs.filter(matches);

function fillFilters() {
  for (const name of FILTERS) {
    const values = [...new Set(cells.map((cell) => cell[name]))].sort((a, b) => (typeof a === "number" ? a - b : a < b ? -1 : 1));
    $("filter-" + name).replaceChildren(new Option("all", ""), ...values.map((value) => new Option(String(value), String(value))));
  }
}

function refresh() {
  filter = wanted();
  const chosen = chosenRuns();
  $("matches").textContent = chosen.length ? `${chosen.length} of ${runs.length} runs` : "No run matches the filters.";
  table("cell", CELL_COLUMNS, cells.filter(fits));
  table("run", RUN_COLUMNS, chosen);
  for (const figure of charts.keys()) if (figure.dataset.chart) redraw(figure);
}

// Tables: [heading, value of a row, is a number].

function button(text, act, label) {
  const found = document.createElement("button");
  found.type = "button"; found.className = "link"; found.textContent = text;
  if (label) found.setAttribute("aria-label", label);
  found.addEventListener("click", act);
  return found;
}

function model(cell) {
  const found = document.createElement("span"), swatch = document.createElement("span");
  swatch.className = "swatch"; swatch.style.background = data.colours[cell.mixer];
  found.className = "model";
  found.append(swatch, cell.label);
  return found;
}

const CELL_COLUMNS = [
  ["cell", (cell) => button(cell.id, () => open(cell.id), `Open cell ${cell.id}, ${cell.label}`)],
  ["model", model], ["task", (cell) => cell.task], ["d", (cell) => cell.d, true], ["layers", (cell) => cell.layers, true],
  ["test accuracy", (cell) => percent(cell.mean), true], ["sd", (cell) => (cell.sd == null ? "" : (100 * cell.sd).toFixed(1)), true],
  ["min to max", (cell) => (cell.mean == null ? "" : `${percent(cell.low)} to ${percent(cell.high)}`), true],
  ["seeds", (cell) => cell.n ?? "", true], ["best lr", (cell) => short(cell.lr), true], ["window", (cell) => cell.window],
  ["runs done", (cell) => `${cell.done} of ${cell.runs}`, true],
];
const RUN_COLUMNS = [
  ["run", (run) => button(run.id, () => open(cells[run.cell].id, run.id), `Open run ${run.id}`)],
  ["model", (run) => model(cells[run.cell])], ["task", (run) => cells[run.cell].task], ["d", (run) => cells[run.cell].d, true],
  ["layers", (run) => cells[run.cell].layers, true], ["lr", (run) => short(run.lr), true], ["seed", (run) => run.seed, true],
  ["status", (run) => run.status], ["outcome", (run) => run.outcome ?? ""], ["test", (run) => percent(run.test), true],
  ["steps", (run) => run.steps ?? "", true],
];
const DETAIL_COLUMNS = [
  ["run", (run) => button(run.id, () => showRun(run), `Show run ${run.id}`)], ["lr", (run) => short(run.lr), true],
  ["seed", (run) => run.seed, true], ["status", (run) => run.status], ["outcome", (run) => run.outcome ?? ""],
  ["validation", (run) => percent(run.validation), true], ["test", (run) => percent(run.test), true], ["steps", (run) => run.steps ?? "", true],
  ["seconds", (run) => run.seconds ?? "", true],
];

function lines(columns, rows) {
  return rows.map((row) => {
    const line = document.createElement("tr");
    if (row.id) line.dataset.id = row.id;
    for (const [, value, isNumber] of columns) {
      const place = line.insertCell();
      place.append(value(row));
      if (isNumber) place.className = "number";
    }
    return line;
  });
}

function fill(table, columns, rows) {
  const head = document.createElement("thead"), line = head.insertRow();
  for (const [name, , isNumber] of columns) {
    const place = document.createElement("th");
    place.scope = "col"; place.textContent = name;
    if (isNumber) place.className = "number";
    line.append(place);
  }
  const body = document.createElement("tbody");
  body.append(...lines(columns, rows));
  table.replaceChildren(head, body);
}

function table(name, columns, rows) {
  const more = $(`more-${name}s`);
  fill($(`${name}-table`), columns, rows.slice(0, PAGE));
  let shown = PAGE;
  const label = () => { more.hidden = shown >= rows.length; more.textContent = `Show more (${rows.length - shown} left)`; };
  more.onclick = () => {
    $(`${name}-table`).tBodies[0].append(...lines(columns, rows.slice(shown, shown + PAGE)));
    shown += PAGE;
    label();
  };
  label();
}

// One cell: its curves, the runs behind it, the spec and the command of one of them.

const dialog = $("detail");
let members = [];

function open(id, run) {
  const index = cellAt.get(id), cell = cells[index];
  members = runs.filter((one) => one.cell === index).sort((a, b) => a.lr - b.lr || a.seed - b.seed);
  $("detail-title").textContent = `${cell.label}: ${cell.task}, d=${cell.d}, ${cell.layers} layer${cell.layers === 1 ? "" : "s"}`;
  const best = cell.mean == null ? "No run of this cell is finished." :
    `${percent(cell.mean)} on test rows at lr ${short(cell.lr)} (${cell.n} seed${cell.n === 1 ? "" : "s"}, ${percent(cell.low)} to ${percent(cell.high)}).`;
  $("detail-about").textContent = `Cell ${cell.id}. ${best}${cell.window ? ` Window: ${cell.window}.` : ""}`;
  fill($("detail-runs"), DETAIL_COLUMNS, members);
  if (!dialog.open) dialog.showModal();
  showRun(members.find((one) => one.id === run) ?? members.find((one) => one.lr === cell.lr) ?? members[0], !run);
}

function showRun(run, whole) {
  const cell = cells[run.cell];
  history.replaceState(null, "", `#run=${run.id}`);
  for (const line of $("detail-runs").tBodies[0].rows) {
    if (line.dataset.id === run.id) { line.setAttribute("aria-current", "true"); line.scrollIntoView({ block: "nearest" }); }
    else line.removeAttribute("aria-current");
  }
  $("run-title").textContent = `Run ${run.id}: ${run.outcome ?? run.status}, lr ${short(run.lr)}, seed ${run.seed}`;
  $("run-error").hidden = !run.error;
  $("run-error").textContent = run.error ?? "";
  $("command").textContent = run.command ?? `${cell.command} --lr ${run.lr} --seed ${run.seed}`;
  $("copy").textContent = "Copy";
  const fields = { ...cell.spec, "train.lr": run.lr, seed: run.seed };
  $("spec").replaceChildren(...Object.entries(fields).map(([key, value]) => {
    const pair = document.createElement("div"), name = document.createElement("dt"), text = document.createElement("dd");
    name.textContent = key; text.textContent = typeof value === "string" ? value : JSON.stringify(value);
    pair.append(name, text);
    return pair;
  }));
  const rows = members.filter(isDone).flatMap((one) => pointRows(one, undefined, whole || one.id === run.id));
  for (const measure of ["accuracy", "loss"]) {
    const figure = $(`curves-${measure}`);
    figure.hidden = !rows.length;
    if (rows.length) draw(figure, data.charts.curves[measure], rows);
  }
}

async function copy() {
  const text = $("command").textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    getSelection().selectAllChildren($("command"));
    document.execCommand("copy");
  }
  $("copy").textContent = "Copied";
}

function follow() {
  const run = runs[byId.get(location.hash.replace("#run=", ""))];
  if (run) open(cells[run.cell].id, run.id);
}

if (runs.length) {
  fillFilters();
  document.querySelector(".filters").addEventListener("change", refresh);
  document.querySelector(".filters").addEventListener("reset", () => setTimeout(refresh));
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  refresh();
  for (const figure of document.querySelectorAll("figure.chart")) {
    figure.addEventListener("keydown", walk);
    if (figure.dataset.chart) watcher.observe(figure);
  }
  dark.addEventListener("change", () => { for (const figure of [...charts.keys()]) if (figure.dataset.chart) redraw(figure); });
  $("close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => history.replaceState(null, "", "#"));
  $("copy").addEventListener("click", copy);
  addEventListener("hashchange", follow);
  follow();
}
document.documentElement.dataset.ready = "yes";
