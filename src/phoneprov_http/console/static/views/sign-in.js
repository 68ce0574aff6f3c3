/** Signing in: a page at the start, a dialog when a session ends while a view is open. */

import { fill, h, uniqueId } from "../dom.js";
import { errorBox } from "../elements/error-box.js";
import { icon } from "../icons.js";
import { session } from "../session.js";
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
  return h(
    "form",
    { onsubmit: submit },
    problem,
    h("label", { htmlFor: name }, texts.username),
    username,
    h("label", { htmlFor: secret }, texts.password),
    password,
    button,
  );
}
