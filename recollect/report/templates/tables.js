// Tables: [heading, value of a row, is a number, what it is sorted by if not by what is shown].

const PAGE = 200;

function lines(columns, rows) {
  return rows.map((row) => {
    const line = document.createElement("tr");
    if (row.id) line.dataset.id = row.id;
    for (const [, value, isNumber] of columns) {
      const place = line.insertCell();
      place.append(value(row));
      if (isNumber) place.className = "number";
    }
    return line;
  });
}

function fill(table, columns, rows, sort) {
  const head = document.createElement("thead"), line = head.insertRow();
  columns.forEach(([name, , isNumber], place) => {
    const at = document.createElement("th");
    at.scope = "col";
    if (isNumber) at.className = "number";
    if (!sort) at.textContent = name;
    else {
      at.setAttribute("aria-sort", sort.place !== place ? "none" : sort.down ? "descending" : "ascending");
      at.append(button(name, () => sort.by(place), `Sort by ${name}`));
    }
    line.append(at);
  });
  const body = document.createElement("tbody");
  body.append(...lines(columns, rows));
  table.replaceChildren(head, body);
}

const sorting = { cell: {}, run: {} };
const collate = new Intl.Collator("en", { numeric: true }).compare;

// What is missing stands last, whichever way a column is sorted.
function sorted(columns, rows, { place, down }) {
  if (place == null) return rows;
  const [, shown, , key] = columns[place], value = key ?? shown;
  const keyed = rows.map((row) => [value(row), row]), isGone = (x) => x == null || x === "";
  keyed.sort(([a], [b]) => isGone(a) - isGone(b) || (isGone(a) ? 0 : (typeof a === "number" && typeof b === "number" ? a - b : collate(String(a), String(b))) * (down ? -1 : 1)));
  return keyed.map(([, row]) => row);
}

function table(name, columns, unsorted) {
  const more = $(`more-${name}s`), state = sorting[name], rows = sorted(columns, unsorted, state);
  const by = (place) => {
    sorting[name] = state.place === place ? { place, down: !state.down } : { place, down: Boolean(columns[place][2]) };
    table(name, columns, unsorted);
    $(`${name}-table`).tHead.rows[0].cells[place].querySelector("button").focus();
  };
  fill($(`${name}-table`), columns, rows.slice(0, PAGE), { ...state, by });
  $(`save-${name}s`).onclick = () => save(`${name}s.csv`, csv(rows.map((row) => Object.fromEntries(columns.filter(([title]) => title !== "compare").map(([title, shown, , key]) => [title, (key ?? shown)(row)])))), "text/csv");
  let shown = PAGE;
  const label = () => { more.hidden = shown >= rows.length; more.textContent = `Show more (${rows.length - shown} left)`; };
  more.onclick = () => {
    $(`${name}-table`).tBodies[0].append(...lines(columns, rows.slice(shown, shown + PAGE)));
    shown += PAGE;
    label();
  };
  label();
}
