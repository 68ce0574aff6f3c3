/** Building elements: the only place that turns data into nodes. Text is never parsed as HTML. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 */

/** The listeners that `h` set: an element that is updated gets the new ones.
 * @type {WeakMap<Element, Record<string, any>>} */
const listeners = new WeakMap();

/**
 * Make an element. Properties that start with `on` are listeners; names with a dash are
 * attributes; everything else is set as a property where the element has one.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) {
      listen(element, name, value);
    } else if (name in element && !name.includes("-")) {
      /** @type {any} */ (element)[name] = value;
    } else if (value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...nodes(children));
  return element;
}

/**
 * Make an element of a drawing.
 *
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {...(Child | Child[])} children
 */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...nodes(children));
  return element;
}

/** The elements on which a click is still worked on.
 * @type {WeakSet<Element>} */
const busy = new WeakSet();

/** Another click is ignored until what the first one began has ended.
 * @param {Element} element @param {() => unknown} work */
async function once(element, work) {
  if (busy.has(element)) return;
  busy.add(element);
  try {
    await work();
  } finally {
    busy.delete(element);
  }
}

/** @param {Element} element @param {string} name @param {any} listener */
function listen(element, name, listener) {
  const own = listeners.get(element) ?? {};
  if (!(name in own)) {
    const call = (/** @type {Event} */ event) => own[name].call(element, event);
    element.addEventListener(name.slice(2), name === "onclick" ? (event) => once(element, () => call(event)) : call);
  }
  own[name] = listener;
  listeners.set(element, own);
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * Replace what an element holds.
 *
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
}

/**
 * Change what an element holds into these children. Elements that stay the same are kept, with
 * their focus, selection and scroll position.
 *
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function update(element, ...children) {
  const wanted = document.createElement("div");
  wanted.append(...nodes(children));
  become(element, wanted);
}

/** @param {Node} old @param {Node} wanted */
function become(old, wanted) {
  const fresh = [...wanted.childNodes];
  for (const [place, node] of fresh.entries()) {
    const before = old.childNodes[place];
    if (before === undefined) old.appendChild(node);
    else if (before.nodeName !== node.nodeName) before.replaceWith(node);
    else if (node instanceof Element) changed(/** @type {Element} */ (before), node);
    else if (before.nodeValue !== node.nodeValue) before.nodeValue = node.nodeValue;
  }
  while (old.childNodes.length > fresh.length) old.lastChild?.remove();
}

/** @param {Element} old @param {Element} wanted */
function changed(old, wanted) {
  if (old.isEqualNode(wanted) && !listeners.has(wanted) && !wanted.childElementCount) return;
  for (const { name } of [...old.attributes]) {
    if (!wanted.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (old.getAttribute(name) === value) continue;
    // The content policy forbids styles that are set as text.
    if (name === "style" && old instanceof HTMLElement) old.style.cssText = value;
    else old.setAttribute(name, value);
  }
  for (const name of /** @type {const} */ (["disabled", "hidden", "value", "max"])) {
    if (name in wanted && old !== document.activeElement && old.tagName !== "LI") {
      /** @type {any} */ (old)[name] = /** @type {any} */ (wanted)[name];
    }
  }
  for (const [name, listener] of Object.entries(listeners.get(wanted) ?? {})) {
    listen(old, name, listener);
  }
  become(old, wanted);
}

let lastId = 0;

/**
 * An id that no other element has.
 *
 * @param {string} prefix
 */
export function uniqueId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}
