/** The columns of the tables that an import reads, so that what a list exports can be imported. */

/** @type {Record<string, string[]>} */
export const TABLES = {
  users: ["uuid", "first_name", "last_name", "username", "email", "phone", "lang", "location", "nationality", "timezone", "is_active"],
  extensions: ["uuid", "type", "extension", "name", "description", "voicemail", "is_active"],
  phones: ["mac", "brand", "model", "description", "name", "hostname", "location", "phone_ip", "phone_vlan", "software_version", "software_type", "is_active"],
  kems: ["uuid", "model", "mac", "ip", "connected_phone", "software_version", "software_type"],
  locations: ["uuid", "name", "emergency_number", "emergency_place"],
  "company-directory": ["uuid", "name", "work", "mobile", "home", "email", "ringtone", "department", "company", "location", "building", "is_active"],
};

/** The rows of an exported list, the heading first. Columns of the list that are fields of the table
 * have the names and values of the API, the other fields follow; what only people read is named in
 * parentheses, which an import ignores.
 *
 * @template T
 * @param {import("./elements/data-list.js").Column<T>[]} columns those that are shown
 * @param {string[]} fields of the table; without, the list is no table
 * @param {T[]} rows
 * @param {(column: import("./elements/data-list.js").Column<T>, row: T) => string} textOf
 * @returns {string[][]}
 */
export function exported(columns, fields, rows, textOf) {
  if (fields.length === 0) {
    const titles = columns.map(({ title }) => title);
    return [titles, ...rows.map((row) => columns.map((column) => textOf(column, row)))];
  }
  const shown = columns.map(({ field = "" }) => field);
  const others = fields.filter((field) => !shown.includes(field));
  const head = columns.map(({ field, title }) => field ?? `(${title})`);
  return [
    [...head, ...others],
    ...rows.map((row) => [
      ...columns.map((column) => (column.field ? valueOf(row, column.field) : textOf(column, row))),
      ...others.map((field) => valueOf(row, field)),
    ]),
  ];
}

/** @param {any} row @param {string} field */
const valueOf = (row, field) => String(row[field] ?? "");
