// Points by keyboard: arrow keys walk over those of a chart, Enter opens one.

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
