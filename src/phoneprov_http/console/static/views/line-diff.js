/** A unified diff of two texts: what they begin and end with alike, and what differs between. */

const AROUND = 3;

/** @param {string} before @param {string} after */
export function linesOf(before, after) {
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head += 1;
  let tail = 0;
  const most = Math.min(old.length, fresh.length) - head;
  while (tail < most && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  if (head === old.length && head === fresh.length) return "";
  const first = Math.max(0, head - AROUND);
  const lead = old.slice(first, head).map((line) => ` ${line}`);
  const removed = old.slice(head, old.length - tail).map((line) => `-${line}`);
  const added = fresh.slice(head, fresh.length - tail).map((line) => `+${line}`);
  const rest = old.slice(old.length - tail, old.length - tail + AROUND).map((line) => ` ${line}`);
  return [`@@ -${first + 1} +${first + 1} @@`, ...lead, ...removed, ...added, ...rest].join("\n");
}
