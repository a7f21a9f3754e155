// The page's behaviour: filters, charts, tables, the dialogs of one cell and of two runs. Text from the store only ever
// becomes textContent.
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
    outcome: run.outcome, kind: kindOf(run.outcome), rank: ORDER.indexOf(kindOf(run.outcome)), test: run.test ?? 0,
    validation: run.validation ?? 0, part: joins(run),
  };
}

// The stretch of learning rates whose medians a line may join: rates with several runs, and not across a gap of FAR. The
// seeds that were added at the best rate of a search are dots only.
const FAR = 5, ADDED = "accuracy";
const stretches = new Map();

function joins(run) {
  if (run.tells === ADDED) return null;
  if (!stretches.has(run.cell)) stretches.set(run.cell, new Map());
  return stretches.get(run.cell).get(run.lr) ?? null;
}

function findStretches() {
  const rates = new Map();
  for (const run of runs) if (isDone(run) && run.tells !== ADDED) {
    if (!rates.has(run.cell)) rates.set(run.cell, new Map());
    rates.get(run.cell).set(run.lr, (rates.get(run.cell).get(run.lr) ?? 0) + 1);
  }
  for (const [cell, counts] of rates) {
    const lrs = [...counts.keys()].filter((lr) => counts.get(lr) > 1).sort((a, b) => a - b), found = new Map();
    let part = 0;
    lrs.forEach((lr, i) => { if (i && lr > FAR * lrs[i - 1]) part += 1; found.set(lr, part); });
    stretches.set(cell, found);
  }
}

// The window of a cell, with the place of its bar above the points; an end that no run bounds is drawn a little further.
const ABOVE = 1.04, STEP = 0.035, MOST = 12, FEWEST = 3;
const sizeOf = (cell) => `d=${cell.d}, ${cell.layers} layer${cell.layers === 1 ? "" : "s"}`;

// A cell's name in the first study that has it; else its own, with the options that tell it apart.
const named = new Map();
for (const study of [...studies].reverse()) for (const [id, label] of Object.entries(study.labels)) if (byId.has(id)) named.set(runs[byId.get(id)].cell, label);
const labelOf = (cell) => named.get(cellAt.get(cell.id)) ?? cell.label;

function windowRow(cell, place, label) {
  const [from, to, a, d] = cell.edges;
  return { cell: cell.id, label: label ?? cell.label, mixer: cell.mixer, from, to, first: a ?? from / 1.2, last: d ?? to * 1.2, words: cell.window, y: ABOVE + STEP * place };
}

function windowsOf(rows) {
  const seen = new Map();
  for (const row of rows) {
    if (!seen.has(row.cell)) seen.set(row.cell, { label: row.label, lrs: new Set() });
    seen.get(row.cell).lrs.add(row.lr);
  }
  const found = [...seen].map(([id, { label, lrs }]) => [cells[cellAt.get(id)], label, lrs.size]).filter(([cell, , rates]) => cell.edges && rates >= FEWEST);
  return found.length > MOST ? [] : found.map(([cell, label], place) => windowRow(cell, place, label));
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
function floorsOf(rows, isNarrow) {
  const known = [...new Set(rows.map((row) => row.cell).filter(Boolean))].map((id) => cells[cellAt.get(id)].floors ?? {});
  return Object.entries(known[0] ?? {}).filter(([name, level]) => known.every((floors) => floors[name] === level))
    .map(([name, level]) => ({ name: isNarrow ? `${Math.round(100 * level)} %` : `${name} (${Math.round(100 * level)} %)`, level }));
}

const isDone = (run) => run.status === "done";

// More strips and small charts than this make no overview; the largest models are then shown, and the chart says so.
const STRIPS = 30, PANELS = 24;

function stripRows(chosen) {
  let found = [...new Set(chosen.map((run) => run.cell))].map((index) => cells[index]).filter((cell) => cell.window);
  const total = found.length;
  if (total > STRIPS) {
    const widest = new Map();
    for (const cell of found) { const key = `${cell.label} ${cell.task} ${cell.layers}`; if (!(widest.get(key)?.d > cell.d)) widest.set(key, cell); }
    found = even([...widest.values()], STRIPS);
  }
  const many = (value) => new Set(found.map(value)).size > 1;
  const parts = [(cell) => cell.task, (cell) => `d=${cell.d}`, (cell) => `${cell.layers} layer${cell.layers === 1 ? "" : "s"}`].filter(many);
  const rows = found.map((cell, place) => ({
    ...(cell.edges ? { ...windowRow(cell, place, labelOf(cell)), best: cell.lr } : { none: cell.window.replace("none; ", ""), cell: cell.id, label: labelOf(cell), mixer: cell.mixer, words: cell.window }),
    name: [labelOf(cell), ...parts.map((part) => part(cell))].join(", "), task: cell.task, d: cell.d, layers: cell.layers,
  }));
  return { rows, caption: total > rows.length ? `${rows.length} of ${total} windows; the filters choose others.` : "" };
}

function panelRows(chosen) {
  const panels = new Map();
  for (const run of chosen.filter(isDone)) {
    const cell = cells[run.cell], name = `${cell.mixer}, ${cell.task}`;
    if (!panels.has(name)) panels.set(name, []);
    panels.get(name).push(run);
  }
  const shown = [...panels].slice(0, PANELS), rows = [];
  for (const [panel, own] of shown) {
    const place = new Map();
    for (const run of own) {
      const cell = cells[run.cell];
      if (!place.has(run.cell)) place.set(run.cell, place.size);
      const [from, to] = (place.get(run.cell) < 4 && cell.edges) || [];
      rows.push({ ...runRow(run), panel, size: sizeOf(cell), floor: Math.max(0, ...Object.values(cell.floors ?? {})), from, to, above: ABOVE + 0.05 * place.get(run.cell) });
    }
  }
  return { rows, caption: panels.size > PANELS ? `${PANELS} of ${panels.size} panels; the filters choose others.` : "" };
}

// More curves than this in one chart cannot be told apart; they are then chosen evenly, and the chart says so.
const CURVES = 300;
const least = (numbers) => numbers.reduce((a, b) => Math.min(a, b), Infinity);
const even = (chosen, most) => (chosen.length <= most ? chosen : Array.from({ length: most }, (_, i) => chosen[Math.floor((i * chosen.length) / most)]));

// Cells of one model in stretches whose widths are close enough to be joined by a line.
function joined(rows) {
  const last = new Map(), parts = new Map();
  for (const row of [...rows].sort((a, b) => a.d - b.d)) {
    const key = `${row.label} ${row.task} ${row.layers}`;
    if (last.has(key) && row.d > 2.9 * last.get(key)) parts.set(key, (parts.get(key) ?? 0) + 1);
    last.set(key, row.d);
    row.part = parts.get(key) ?? 0;
  }
  return rows;
}

// A chart of more dots than this shows some cells, evenly chosen, each with all of its runs.
const DOTS = 3000;

function fewCells(done) {
  if (done.length <= DOTS) return { drawn: done, caption: "" };
  const all = [...new Set(done.map((run) => run.cell))], few = new Set(even(all, Math.max(1, Math.floor((all.length * DOTS) / done.length))));
  return { drawn: done.filter((run) => few.has(run.cell)), caption: `${few.size} of ${all.length} cells are drawn; the filters choose others.` };
}

const SOURCES = {
  runs: (chosen, labels) => {
    const { drawn, caption } = fewCells(chosen.filter(isDone));
    return { rows: drawn.map((run) => runRow(run, labels?.[run.id])), caption };
  },
  points: (chosen, labels) => {
    const done = chosen.filter(isDone), rows = even(done, CURVES).flatMap((run) => pointRows(run, labels?.[run.id], true));
    return { rows, caption: done.length > CURVES ? `${CURVES} of ${chosen.length} runs are drawn.` : "" };
  },
  cells: (chosen, labels) => {
    const first = new Map();
    for (const run of chosen) if (!first.has(run.cell)) first.set(run.cell, run.id);
    const rows = [...first].filter(([cell]) => cells[cell].mean != null)
      .map(([cell, run]) => ({ ...cells[cell], cell: cells[cell].id, label: labels?.[run] ?? cells[cell].label }));
    return { rows: joined(rows) };
  },
  outcomes: (chosen) => {
    const found = new Map();
    for (const run of chosen.filter(isDone)) {
      const mixer = cells[run.cell].mixer, key = `${mixer} ${run.outcome}`, kind = kindOf(run.outcome);
      if (!found.has(key)) found.set(key, { mixer, outcome: run.outcome, kind, rank: ORDER.indexOf(kind), runs: 0 });
      found.get(key).runs += 1;
    }
    return { rows: [...found.values()] };
  },
  windows: stripRows,
  panels: panelRows,
};

// Charts: drawn when they come into view, again when filters or the colour scheme change.

const dark = matchMedia("(prefers-color-scheme: dark)");

function theme(isDark = dark.matches) {
  const ink = isDark ? "#c8d0da" : "#333a44", line = isDark ? "#2c333c" : "#e3e6eb";
  const axis = { labelColor: ink, titleColor: ink, gridColor: line, domainColor: ink, tickColor: ink, titleFontWeight: "normal" };
  return {
    background: "transparent", view: { stroke: null }, axis, legend: { labelColor: ink, titleColor: ink, symbolBaseFillColor: ink, symbolBaseStrokeColor: ink },
    header: { labelColor: ink, titleColor: ink }, axisY: { labelLimit: innerWidth < 600 ? 150 : 380 }, font: "system-ui, sans-serif",
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
  const spec = filled(chart, rows, figure);
  const shown = await vegaEmbed(figure, spec, { actions: false, renderer: "svg", config: theme() });
  charts.set(figure, shown);
  const foot = Object.assign(document.createElement("figcaption"), { className: "small", textContent: caption });
  const name = chart.about.toLowerCase().replace(/[^a-z]+/g, "-");
  foot.append(" ", button("SVG", () => saveChart(spec, figure, name), `Save this figure as SVG: ${chart.about}`));
  foot.append(" ", button("CSV", () => save(`${name}.csv`, csv(rows), "text/csv"), `Save the numbers of this figure as CSV: ${chart.about}`));
  figure.append(foot);
  shown.view.addEventListener("click", (event, item) => item?.datum?.cell && open(item.datum.cell, item.datum.run));
}

// The specification with its data, as high as its windows need, as many small charts in a row as fit.
function filled(chart, rows, figure) {
  const windows = chart.source === "runs" ? windowsOf(rows) : [];
  const top = chart.source === "panels" ? 1.2 : windows.length ? ABOVE + STEP * windows.length : 1;
  const lrs = chart.source === "runs" ? rows.map((row) => row.lr) : [], first = least(lrs), last = -least(lrs.map((lr) => -lr));
  const grid = data.charts.grid.filter((lr) => first <= lr && lr <= last).map((lr) => ({ lr }));
  const spec = { ...chart.spec, datasets: { ...chart.spec.datasets, rows, windows, grid, floors: floorsOf(rows, figure.clientWidth < 420) }, params: [{ name: "top", value: top }] };
  if (spec.height?.step) spec.height = spec.height.step * new Set(rows.map((row) => row.name ?? row.mixer)).size;
  if (spec.facet?.row && spec.spec.width === "container") return { ...spec, spec: { ...spec.spec, width: Math.max(120, figure.clientWidth - 90) } };
  if (spec.columns) {
    const columns = Math.max(1, Math.floor(figure.clientWidth / 270)), width = Math.floor((figure.clientWidth - 60) / columns) - 24;
    return { ...spec, columns, spec: { ...without(spec.spec, { windows, grid }, rows), width } };
  }
  return without(spec, { windows, grid }, rows);
}

// Layers that would be empty are left out: Vega warns of them.
function without(spec, aside, rows) {
  const isUsed = (layer) => {
    const filters = (layer.transform ?? []).map((one) => one.filter);
    const needs = ["part", "from", "none"].filter((name) => filters.includes(`isValid(datum.${name})`));
    return aside[layer.data?.name]?.length !== 0 && needs.every((name) => rows.some((row) => row[name] != null));
  };
  if (!spec.layer || spec.layer.every(isUsed)) return spec;
  const layer = spec.layer.filter(isUsed), isLined = layer.some((one) => one.mark?.type === "line");
  return { ...spec, layer: isLined ? layer : JSON.parse(JSON.stringify(layer).replaceAll('"symbolType":"stroke"', '"symbolType":"circle"')) };
}

// Downloads: a figure is saved in light colours and as wide as it is seen.

function save(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function saveChart(spec, figure, name) {
  const aside = document.createElement("div"), width = spec.width === "container" ? { width: figure.clientWidth - 80 } : {};
  const drawn = await vegaEmbed(aside, { ...spec, ...width }, { actions: false, renderer: "none", config: { ...theme(false), background: "white" } });
  save(`${name}.svg`, await drawn.view.toSVG(), "image/svg+xml");
  drawn.finalize();
}

function csv(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => rows.some((row) => row[name] != null && typeof row[name] !== "object"));
  const quoted = (value) => (value == null ? "" : /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((line) => line.map(quoted).join(",")).join("\n") + "\n";
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
  const { rows, caption } = SOURCES[chart.source](chosen, study?.labels);
  return draw(figure, chart, rows, caption);
}

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

// Tables: [heading, value of a row, is a number, what it is sorted by if not by what is shown].

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
  ["cell", (cell) => button(cell.id, () => open(cell.id), `Open cell ${cell.id}, ${cell.label}`), false, (cell) => cell.id],
  ["model", model, false, (cell) => cell.label], ["task", (cell) => cell.task], ["d", (cell) => cell.d, true], ["layers", (cell) => cell.layers, true],
  ["test accuracy", (cell) => percent(cell.mean), true, (cell) => cell.mean], ["sd", (cell) => (cell.sd == null ? "" : (100 * cell.sd).toFixed(1)), true, (cell) => cell.sd],
  ["min to max", (cell) => (cell.mean == null ? "" : `${percent(cell.low)} to ${percent(cell.high)}`), true, (cell) => cell.low],
  ["seeds", (cell) => cell.n ?? "", true], ["best lr", (cell) => short(cell.lr), true, (cell) => cell.lr], ["window", (cell) => cell.window, false, (cell) => cell.decades],
  ["runs done", (cell) => `${cell.done} of ${cell.runs}`, true, (cell) => cell.done],
];
const RUN_COLUMNS = [
  ["run", (run) => button(run.id, () => open(cells[run.cell].id, run.id), `Open run ${run.id}`), false, (run) => run.id],
  ["model", (run) => model(cells[run.cell]), false, (run) => cells[run.cell].label], ["task", (run) => cells[run.cell].task], ["d", (run) => cells[run.cell].d, true],
  ["layers", (run) => cells[run.cell].layers, true], ["lr", (run) => short(run.lr), true, (run) => run.lr], ["seed", (run) => run.seed, true],
  ["status", (run) => run.status], ["outcome", (run) => run.outcome ?? ""], ["test", (run) => percent(run.test), true, (run) => run.test],
  ["steps", (run) => run.steps ?? "", true], ["compare", picker, false, (run) => (picked.includes(run.id) ? 0 : 1)],
];
const DETAIL_COLUMNS = [
  ["run", (run) => button(run.id, () => showRun(run), `Show run ${run.id}`)], ["lr", (run) => short(run.lr), true],
  ["seed", (run) => run.seed, true], ["status", (run) => run.status], ["outcome", (run) => run.outcome ?? ""],
  ["validation", (run) => percent(run.validation), true], ["test", (run) => percent(run.test), true], ["steps", (run) => run.steps ?? "", true],
  ["seconds", (run) => run.seconds ?? "", true], ["compare", picker],
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

function fill(table, columns, rows, sort) {
  const head = document.createElement("thead"), line = head.insertRow();
  columns.forEach(([name, , isNumber], place) => {
    const at = document.createElement("th");
    at.scope = "col";
    if (isNumber) at.className = "number";
    if (!sort) at.textContent = name;
    else {
      const isHere = sort.place === place;
      at.setAttribute("aria-sort", !isHere ? "none" : sort.down ? "descending" : "ascending");
      at.append(button(name + (isHere ? (sort.down ? " \u25bc" : " \u25b2") : ""), () => sort.by(place), `Sort by ${name}`));
    }
    line.append(at);
  });
  const body = document.createElement("tbody");
  body.append(...lines(columns, rows));
  table.replaceChildren(head, body);
}

const sorting = { cell: {}, run: {} };
const collate = new Intl.Collator("en", { numeric: true }).compare;

// What is missing stands last, whichever way a column is sorted.
function sorted(columns, rows, { place, down }) {
  if (place == null) return rows;
  const [, shown, , key] = columns[place], value = key ?? shown;
  const keyed = rows.map((row) => [value(row), row]), isGone = (x) => x == null || x === "";
  keyed.sort(([a], [b]) => isGone(a) - isGone(b) || (isGone(a) ? 0 : (typeof a === "number" && typeof b === "number" ? a - b : collate(String(a), String(b))) * (down ? -1 : 1)));
  return keyed.map(([, row]) => row);
}

function table(name, columns, unsorted) {
  const more = $(`more-${name}s`), state = sorting[name], rows = sorted(columns, unsorted, state);
  const by = (place) => {
    sorting[name] = state.place === place ? { place, down: !state.down } : { place, down: Boolean(columns[place][2]) };
    table(name, columns, unsorted);
    $(`${name}-table`).tHead.rows[0].cells[place].querySelector("button").focus();
  };
  fill($(`${name}-table`), columns, rows.slice(0, PAGE), { ...state, by });
  $(`save-${name}s`).onclick = () => save(`${name}s.csv`, csv(rows.map((row) => Object.fromEntries(columns.filter(([title]) => title !== "compare").map(([title, shown, , key]) => [title, (key ?? shown)(row)])))), "text/csv");
  let shown = PAGE;
  const label = () => { more.hidden = shown >= rows.length; more.textContent = `Show more (${rows.length - shown} left)`; };
  more.onclick = () => {
    $(`${name}-table`).tBodies[0].append(...lines(columns, rows.slice(shown, shown + PAGE)));
    shown += PAGE;
    label();
  };
  label();
}

// The table of claims is in the page already: its lines are put in order, and hidden where the search does not find them.
function sortClaims(head) {
  const place = head.cellIndex, body = head.closest("table").tBodies[0], down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...[...body.rows].sort((a, b) => collate(a.cells[place].textContent, b.cells[place].textContent) * (down ? -1 : 1)));
}

function searchClaims() {
  const wanted = $("search-claims").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const line of document.querySelector("#claims tbody").rows) line.hidden = !wanted.every((word) => line.textContent.toLowerCase().includes(word));
}

// Two runs side by side.

let picked = [];
const nameOf = (run) => `${cells[run.cell].label}, lr ${short(run.lr)}, seed ${run.seed} (${run.id.slice(0, 6)})`;

function picker(run) {
  const box = document.createElement("input");
  box.type = "checkbox"; box.checked = picked.includes(run.id); box.dataset.pick = run.id;
  box.setAttribute("aria-label", `Compare run ${run.id}`);
  box.addEventListener("change", () => pick(run.id, box.checked));
  return box;
}

function pick(id, isOn) {
  picked = [...picked.filter((one) => one !== id), ...(isOn ? [id] : [])].slice(-2);
  for (const box of document.querySelectorAll("[data-pick]")) box.checked = picked.includes(box.dataset.pick);
  $("compare-bar").hidden = !picked.length;
  $("compare-text").textContent = picked.map((one) => nameOf(runs[byId.get(one)])).join("  and  ") + (picked.length < 2 ? ": choose another run to compare it with" : "");
  $("compare-open").disabled = picked.length < 2;
}

function row(...texts) {
  const line = document.createElement("tr");
  for (const text of texts) line.insertCell().append(text);
  return line;
}

const told = (value) => (typeof value === "string" ? value : value === undefined ? "-" : JSON.stringify(value));

function compare() {
  const pair = picked.map((id) => runs[byId.get(id)]), fields = pair.map((run) => ({ ...cells[run.cell].spec, "train.lr": run.lr, seed: run.seed }));
  keep({ compare: picked.join(","), run: "" });
  if (dialog.open) dialog.close();
  const names = [...new Set(fields.flatMap(Object.keys))], differ = names.filter((name) => told(fields[0][name]) !== told(fields[1][name]));
  const results = [["status", (run) => run.status], ["outcome", (run) => run.outcome ?? ""], ["test accuracy", (run) => percent(run.test)], ["validation accuracy", (run) => percent(run.validation)],
    ["steps", (run) => String(run.steps ?? "")], ["seconds", (run) => String(run.seconds ?? "")], ["parameters", (run) => String(cells[run.cell].params ?? "")], ["numbers in the state", (run) => String(cells[run.cell].state ?? "")]];
  const head = document.createElement("thead"), body = document.createElement("tbody"), first = row("", ...pair.map(nameOf));
  first.className = "heads";
  head.append(first);
  body.append(...differ.map((name) => row(name, ...fields.map((field) => told(field[name])))), ...results.map(([name, value]) => row(name, ...pair.map(value))));
  $("compare-table").replaceChildren(head, body);
  $("compare-about").textContent = `The specs differ in ${differ.length} of ${names.length} fields: ${differ.join(", ") || "none"}.`;
  const rows = pair.filter(isDone).flatMap((run) => pointRows(run, nameOf(run), true));
  if (!$("comparison").open) $("comparison").showModal();
  for (const measure of ["accuracy", "loss"]) {
    const figure = $(`compare-${measure}`);
    figure.hidden = !rows.length;
    if (rows.length) draw(figure, data.charts.compare[measure], rows);
  }
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
  keep({ run: run.id });
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
  const known = address(), run = runs[byId.get(known.get("run"))], pair = (known.get("compare") ?? "").split(",").filter((id) => byId.has(id));
  if (pair.length === 2) { pair.forEach((id) => pick(id, true)); compare(); } else if (run) open(cells[run.cell].id, run.id);
}

function closes(box, part) {
  box.querySelector(".close").addEventListener("click", () => box.close());
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  box.addEventListener("close", () => keep({ [part]: "" }));
}

if (runs.length) {
  findStretches();
  fillFilters();
  const form = document.querySelector(".filters");
  const changed = () => { keep({ ...Object.fromEntries(FILTERS.map((name) => [name, $("filter-" + name).value])), search: $("search").value }); refresh(); };
  let typing;
  form.addEventListener("change", changed);
  form.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(changed, 200); });
  form.addEventListener("reset", () => setTimeout(changed));
  form.addEventListener("submit", (event) => event.preventDefault());
  takeFilters();
  for (const figure of document.querySelectorAll("figure.chart")) {
    figure.addEventListener("keydown", walk);
    if (figure.dataset.chart) watcher.observe(figure);
  }
  dark.addEventListener("change", () => { for (const figure of [...charts.keys()]) if (figure.dataset.chart) redraw(figure); });
  closes(dialog, "run");
  closes($("comparison"), "compare");
  $("copy").addEventListener("click", copy);
  $("compare-open").addEventListener("click", compare);
  $("compare-clear").addEventListener("click", () => { picked = []; pick("", false); });
  addEventListener("hashchange", () => { if (location.hash.includes("=")) { takeFilters(); follow(); } });
  follow();
}
if ($("search-claims")) {
  $("search-claims").addEventListener("input", searchClaims);
  for (const head of document.querySelectorAll("#claims th")) head.querySelector("button").addEventListener("click", () => sortClaims(head));
}
document.documentElement.dataset.ready = "yes";
