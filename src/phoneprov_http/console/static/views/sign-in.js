/** Signing in: a page at the start, a dialog when a session ends while a view is open. */

import { session } from "../api.js";
import { fill, h, icon, uniqueId } from "../dom.js";
import { errorBox } from "../elements/parts.js";
import { texts } from "../texts.js";

/** @param {HTMLElement} main */
export function signInPage(main) {
  document.title = `${texts.signIn} - phoneprov`;
  fill(
    main,
    h(
      "section",
      { className: "sign-in" },
      h("h1", {}, icon("mark"), h("span", {}, "phoneprov")),
      h("p", { className: "quiet" }, texts.signInHint),
      form(() => {}),
    ),
  );
  main.querySelector("input")?.focus();
}

export function signInDialog() {
  if (document.querySelector("dialog.session")) return;
  const id = uniqueId("session");
  const dialog = h("dialog", { className: "session", "aria-labelledby": id });
  dialog.append(
    h("h2", { id }, texts.sessionEnded),
    h("p", {}, texts.sessionEndedHint),
    form(() => dialog.close()),
  );
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {() => void} done */
function form(done) {
  const name = uniqueId("username");
  const secret = uniqueId("password");
  const username = h("input", {
    id: name,
    name: "username",
    autocomplete: "username",
    required: true,
    value: session.me?.username ?? "",
  });
  const password = h("input", {
    id: secret,
    name: "password",
    type: "password",
    autocomplete: "current-password",
    required: true,
    autofocus: username.value !== "",
  });
  const button = h("button", { className: "primary", type: "submit" }, texts.signIn);
  const problem = h("div");
  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    button.disabled = true;
    fill(problem);
    try {
      await session.signIn(username.value, password.value);
      done();
    } catch (error) {
      fill(problem, errorBox(error));
      password.value = "";
      password.focus();
    } finally {
      button.disabled = false;
    }
  }
  const other = h("div");
  void session.provider().then((label) => {
    if (label) fill(other, providerButton(label));
  }, () => {});
  return h(
    "form",
    { onsubmit: submit },
    problem,
    h("label", { htmlFor: name }, texts.username),
    username,
    h("label", { htmlFor: secret }, texts.password),
    password,
    button,
    other,
  );
}

/** What the service said when the browser came back from the provider; shown once. */
export function providerResult() {
  const query = new URLSearchParams(location.search);
  const code = query.get("detail") ?? query.get("sign_in");
  if (code === null) return null;
  history.replaceState(null, "", location.pathname + location.hash);
  const known = /** @type {Record<string, string>} */ (texts.signInResults);
  return { isDone: code === "connected", message: Object.hasOwn(known, code) ? known[code] : known.sign_in_refused };
}

/** The button that goes to the provider, with what went wrong beside it. @param {string} label */
export function providerButton(label) {
  const problem = h("div");
  const result = providerResult();
  if (result && !result.isDone) fill(problem, h("p", { className: "error", role: "alert" }, result.message));
  const button = h("button", { type: "button" }, label);
  button.onclick = async () => {
    button.disabled = true;
    fill(problem);
    try {
      await session.goToProvider();
    } catch (error) {
      fill(problem, errorBox(error));
      button.disabled = false;
    }
  };
  return h("div", { className: "provider" }, button, problem);
}
