/** Short lists that the server gives in one order only are sorted here. */

const PAGE = 1000;
const natural = new Intl.Collator(undefined, { numeric: true });

/**
 * Loading of a list whose rows are all fetched when one of the columns is to be in order.
 *
 * @template T
 * @param {import("./data-list.js").Column<T>[]} columns
 * @param {import("./data-list.js").Options<T>["load"]} load
 * @returns {import("./data-list.js").Options<T>["load"]}
 */
export function sortedHere(columns, load) {
  return async (offset, limit, signal, sort) => {
    const column = columns.find((one) => one.sort && sort.replace(/^-/, "") === one.sort);
    if (!column) return load(offset, limit, signal, "");
    /** @type {T[]} */
    const rows = [];
    for (;;) {
      const page = await load(rows.length, PAGE, signal, "");
      rows.push(...page.rows);
      if (page.rows.length === 0 || rows.length >= page.total) break;
    }
    const direction = sort.startsWith("-") ? -1 : 1;
    const named = rows.map((row) => ({ row, text: textOf(column, row) }));
    named.sort((one, other) => direction * natural.compare(one.text, other.text));
    return { rows: named.slice(offset, offset + limit).map(({ row }) => row), total: rows.length };
  };
}

/** @template T @param {import("./data-list.js").Column<T>} column @param {T} row */
function textOf(column, row) {
  const content = (column.text ?? column.cell)(row);
  return content instanceof Node ? (content.textContent ?? "") : (content ?? "");
}
