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

// On a dark page colours that are too dark for it are made lighter; those of outcomes, which go from dark to light, stay.
function lighter(colour) {
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)), light = (0.21 * parts[0] + 0.72 * parts[1] + 0.07 * parts[2]) / 255;
  const white = 0.8 - 1.6 * light;
  return light >= 0.36 ? colour : "#" + parts.map((part) => Math.round(part + (255 - part) * white).toString(16).padStart(2, "0")).join("");
}

function lit(spec) {
  const text = JSON.stringify(spec);
  return text.includes('"field":"kind"') ? spec : JSON.parse(text.replace(/"#[0-9a-f]{6}"/gi, (found) => `"${lighter(found.slice(1, -1))}"`));
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
  const spec = filled(chart, rows, figure), seen = dark.matches ? filled({ ...chart, spec: lit(chart.spec) }, rows, figure) : spec;
  const shown = await vegaEmbed(figure, seen, { actions: false, renderer: "svg", config: theme() });
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
