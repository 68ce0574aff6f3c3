/** Small drawings of one line width. They repeat a text beside them and are hidden from readers. */

import { s } from "./dom.js";

/** @type {Record<string, string>} */
const PATHS = {
  mark: "M4 3h9v10H4zM6 5.5h5M6 8h1M8.25 8h.5M10 8h1M6 10.5h1M8.25 10.5h.5M10 10.5h1M1.5 4.5v7",
  menu: "M2 4h12M2 8h12M2 12h12",
  overview: "M2 2h5v5H2zM9 2h5v3H9zM9 7h5v7H9zM2 9h5v5H2z",
  phones: "M5 2h6v12H5zM7 4h2M7.5 11.5h1",
  deployments: "M8 11V2.5M4.5 6L8 2.5 11.5 6M2.5 10.5v3h11v-3",
  desks: "M1.5 7h13M3 7v6M13 7v6M6 7V3h4v4",
  batches: "M2 3h12M2 6.3h12M2 9.6h8M2 13h5M11.5 11l2 1.5-2 1.5z",
  profiles: "M4 1.5h5.5L13 5v9.5H4zM9.5 1.5V5H13M6 8h5M6 11h5",
  people: "M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8zM2.5 14c.5-3 2.5-4.2 5.5-4.2s5 1.2 5.5 4.2",
  directory: "M3.5 2h9v12h-9zM1.5 5h3M1.5 8h3M1.5 11h3M8 7.2a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6zM6 11c.2-1.5 1-2.2 2-2.2s1.8.7 2 2.2",
  audit: "M8 1.5l5.5 2v4c0 3.5-2.3 5.8-5.5 7-3.2-1.2-5.5-3.5-5.5-7v-4zM5.5 8l1.8 1.8L10.7 6.3",
  account: "M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8zM2.5 14c.5-3 2.5-4.2 5.5-4.2s5 1.2 5.5 4.2",
  good: "M3.5 8.5l3 3 6-7",
  bad: "M4 4l8 8M12 4l-8 8",
  wait: "M8 4v4l2.5 1.5M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  unknown: "M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1v.5M8 12v.2",
  book: "M8 4C6 2.7 4 2.7 2 3.5v9c2-.8 4-.8 6 .5 2-1.3 4-1.3 6-.5v-9c-2-.8-4-.8-6 .5zM8 4v9",
  none: "M4 8h8",
  refresh: "M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3",
  columns: "M2 3h12v10H2zM6 3v10M10 3v10",
  filter: "M2 3h12M4.5 8h7M7 13h2",
  save: "M4 2h8v12l-4-3-4 3z",
  download: "M8 2.5V10M4.5 7L8 10.5 11.5 7M2.5 13.5h11",
  up: "M4 10l4-4 4 4",
  down: "M4 6l4 4 4-4",
};

/** @param {string} name */
export function icon(name) {
  const attributes = { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true", width: 16, height: 16 };
  return s("svg", attributes, s("path", { d: PATHS[name] ?? PATHS.none }));
}
