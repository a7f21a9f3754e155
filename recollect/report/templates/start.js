// What is there when the page opens, and what listens.

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
