"use strict";
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, table = head.closest("table");
    const column = [...head.parentElement.children].indexOf(head);
    const rising = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const key = (row) => {
      const cell = row.children[column];
      const text = cell.dataset.value ?? cell.textContent.trim();
      return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
    };
    const compare = (a, b) => {
      const x = key(a), y = key(b);
      if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
      return (x > y) - (x < y);
    };
    const rows = [...table.tBodies[0].rows].sort((a, b) => (rising ? 1 : -1) * compare(a, b));
    table.tBodies[0].append(...rows);
  });
}
