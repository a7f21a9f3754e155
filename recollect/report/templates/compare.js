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
