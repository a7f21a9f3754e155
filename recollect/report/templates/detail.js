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
