// @ts-check
/* What the page says: where it always says it. */

import { post } from "./api.js";
import { find, make } from "./dom.js";
import { t } from "./words.js";

/** @typedef {import("./queue.js").Queue} Queue */

/**
 * What is saved and what is not, in words.
 * @param {Queue} queue
 */
export function savedWords(queue) {
  const { waiting: count, condition, store, keeping } = queue;
  if (!count) return t("All saved");
  if (queue.held.size) return t("Changes not saved: {count}. See the message.", { count });
  if (keeping || condition === "saving") return t("Saving changes: {count}", { count });
  if (condition === "signed-out") {
    return store ? t("Changes kept in this browser: {count}. You are signed out.", { count })
      : t("Changes kept on this page only: {count}. Do not close it. You are signed out.", { count });
  }
  return store ? t("Changes kept in this browser: {count}. There is no connection.", { count })
    : t("Changes kept on this page only: {count}. Do not close it. There is no connection.", { count });
}

/**
 * @param {HTMLElement} element
 * @param {Queue} queue
 */
export function showSaved(element, queue) {
  const words = savedWords(queue);
  if (element.textContent !== words) element.textContent = words;
  const isSettled = !queue.waiting || queue.condition === "saving";
  element.classList.toggle("unsaved", !isSettled || queue.held.size > 0);
}

/**
 * A message that stays until someone decides; one about the same thing takes its place.
 * @param {string} about
 * @param {string} text
 * @param {Record<string, () => void>} acts words of a button to what it does
 */
export function ask(about, text, acts) {
  const close = () => notice.remove();
  const buttons = Object.entries(acts).map(([words, act]) => {
    const button = make("button", { type: "button" }, words);
    button.addEventListener("click", () => { close(); act(); });
    return button;
  });
  const notice = make("div", { class: "notice asking", role: "alert", "data-about": about }, make("p", {}, text),
    make("p", { class: "buttons" }, ...buttons));
  withdraw(about);
  find(document, "#notices").append(notice);
}

/**
 * Takes a message away.
 * @param {string} about
 */
export function withdraw(about) {
  document.querySelector(`#notices > [data-about="${about}"]`)?.remove();
}

/**
 * Asks who is signed out for their link, once; it lets them in again, and the page stays as it is.
 * @param {() => void} entered
 */
export function askWayIn(entered) {
  if (document.querySelector("#notices > [data-about=signed-out]")) return;
  const field = make("input", { type: "text", required: "", autocomplete: "off", "aria-label": t("Your link") });
  const said = make("p", { role: "status" });
  const form = make("form", { class: "notice asking", "data-about": "signed-out" },
    make("p", { role: "alert" }, t("You are signed out. Paste the link that you were sent, and go on here.")),
    make("p", { class: "buttons" }, field, make("button", {}, t("Sign in again"))), said);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const secret = /** @type {HTMLInputElement} */ (field).value.trim().split("#").at(-1);
    const { status, body } = await post("/api/enter", { secret });
    if (status !== 200) {
      said.textContent = body.message ?? t("The server does not answer. Try again.");
      return;
    }
    form.remove();
    entered();
  });
  find(document, "#notices").append(form);
}

/**
 * Asks, beside a button, whether it is meant; one question at a time.
 * @param {HTMLElement} button
 * @param {string} question
 * @param {string} words of the button that does it
 * @param {() => void} act
 */
export function askBeside(button, question, words, act) {
  const close = () => asked.remove();
  const choice = (/** @type {string} */ text, /** @type {() => void} */ does) => {
    const made = make("button", { type: "button" }, text);
    made.addEventListener("click", () => { close(); button.focus(); does(); });
    return made;
  };
  const yes = choice(words, act);
  const asked = make("span", { class: "sure", role: "group", "aria-label": question }, ` ${question} `, yes, " ", choice(t("Leave it"), () => {}));
  document.querySelector(".sure")?.remove();
  button.after(asked);
  yes.focus();
}
