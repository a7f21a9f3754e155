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
