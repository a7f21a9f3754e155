// The table of claims is in the page already: its lines are put in order, and hidden where the search does not find them.
function sortClaims(head) {
  const place = head.cellIndex, body = head.closest("table").tBodies[0], down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...[...body.rows].sort((a, b) => collate(a.cells[place].textContent, b.cells[place].textContent) * (down ? -1 : 1)));
}

function searchClaims() {
  const wanted = $("search-claims").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const line of document.querySelector("#claims tbody").rows) line.hidden = !wanted.every((word) => line.textContent.toLowerCase().includes(word));
}
