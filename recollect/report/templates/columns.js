// What the tables of cells and runs show.

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
  ["min to max", (cell) => (cell.mean == null ? "" : `${(100 * cell.low).toFixed(1)} to ${percent(cell.high)}`), true, (cell) => cell.low],
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
