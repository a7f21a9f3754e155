// Windows: as bars above the points of a chart, as strips of the overview, and above the small charts of models and tasks.
// An end that no run bounds is drawn a little further.
const ABOVE = 1.04, STEP = 0.035, MOST = 12, FEWEST = 3;

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
    name: [labelOf(cell), ...parts.map((part) => part(cell)).filter((part) => !labelOf(cell).split(", ").includes(part))].join(", "), task: cell.task, d: cell.d, layers: cell.layers,
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
      if (cell.edges && !place.has(run.cell)) place.set(run.cell, place.size);
      const [from, to] = place.get(run.cell) < 4 ? cell.edges : [];
      rows.push({ ...runRow(run), panel, size: sizeOf(cell), floor: Math.max(0, ...Object.values(cell.floors ?? {})), from, to, above: ABOVE + 0.045 * (place.get(run.cell) ?? 0) });
    }
  }
  return { rows, caption: panels.size > PANELS ? `${PANELS} of ${panels.size} panels; the filters choose others.` : "" };
}
