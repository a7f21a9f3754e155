// What the page holds, and how its values are written. Text from the store only ever becomes textContent.
const data = JSON.parse(document.getElementById("data").textContent);
const { cells, runs, studies } = data;
const byId = new Map(runs.map((run, index) => [run.id, index]));
const cellAt = new Map(cells.map((cell, index) => [cell.id, index]));

const $ = (id) => document.getElementById(id);
const percent = (value) => (value == null ? "" : (100 * value).toFixed(1) + " %");
const short = (value) => (value == null ? "" : String(Number(value.toPrecision(3))));
const kindOf = (outcome) => (outcome || "").split(" ")[0];
const isDone = (run) => run.status === "done";
const sizeOf = (cell) => `d=${cell.d}, ${cell.layers} layer${cell.layers === 1 ? "" : "s"}`;

// A cell's name in the first study that has it; else its own, with the options that tell it apart.
const named = new Map();
for (const study of [...studies].reverse()) for (const [id, label] of Object.entries(study.labels)) if (byId.has(id)) named.set(runs[byId.get(id)].cell, label);
const labelOf = (cell) => named.get(cellAt.get(cell.id)) ?? cell.label;

function button(text, act, label) {
  const found = document.createElement("button");
  found.type = "button"; found.className = "link"; found.textContent = text;
  if (label) found.setAttribute("aria-label", label);
  found.addEventListener("click", act);
  return found;
}
