// Rows for the charts, from the runs that the filters choose.
const ORDER = data.outcomes;

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
    const done = chosen.filter(isDone), shown = even(done, CURVES), atBest = (run) => run.lr === cells[run.cell].lr;
    const have = new Set(shown.filter(atBest).map((run) => run.cell)), isBest = (run) => atBest(run) || !have.has(run.cell);
    const rows = shown.flatMap((run) => pointRows(run, labels?.[run.id], isBest(run)));
    const told = [shown.every(isBest) ? "" : "Faint: learning rates that are not a cell's best.", done.length > CURVES ? `${CURVES} of ${done.length} runs are drawn.` : ""];
    return { rows, caption: told.join(" ").trim() };
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
