// @ts-check
/* An adjudication: what each person said of a segment, side by side, each in a colour; nobody is named. */

import { linesOf } from "./conflict.js";
import { make } from "./dom.js";
import { Sheet } from "./sheet.js";
import { t } from "./words.js";

/** @typedef {import("./item.js").ItemView} ItemView */
/** @typedef {import("./item.js").State} State */

const COLOURS = 4;

/** @param {State} state */
const judged = (state) => JSON.stringify({ ...state, comment: "" });

export class Between {
  /**
   * @param {HTMLElement} element
   * @param {ItemView} item
   */
  constructor(element, item) {
    this.item = item;
    this.people = item.data.between.map((said, index) => this.person(said, index));
    this.undo = make("button", { type: "button", disabled: "" }, t("Undo"));
    this.undo.addEventListener("click", () => item.step("undo"));
    element.hidden = !this.people.length;
    element.append(make("h3", {}, t("What others said")), make("div", { class: "people" }, ...this.people.map(({ part }) => part)), make("p", {}, this.undo));
  }

  /**
   * @param {State} said
   * @param {number} index
   */
  person(said, index) {
    const { item } = this;
    const { data } = item.work;
    const name = t("Person {number}", { number: index + 1 });
    const ground = `person-${(index % COLOURS) + 1}`;
    const take = make("button", { type: "button", "aria-label": t("Take over from {name}", { name }) }, t("Take over"));
    take.addEventListener("click", () => item.takeOver(said, name));
    /** @type {Sheet[]} */
    const sheets = [];
    const texts = said.translations.flatMap(({ spans }, translation) => {
      if (!spans.some(({ side }) => side === "translation")) return [];
      const paper = make("div", { class: "sheet" }, make("p", { class: "text" }));
      sheets.push(new Sheet(paper, {
        text: item.translations[translation].shown.text, language: data.target, side: "translation", translation, isMarkable: false, name, invisible: data.invisible, ground,
      }, item.sheetListener));
      return [paper];
    });
    const part = make("section", { class: "person", "aria-label": name }, make("h4", {}, name), ...texts, make("ul", {}, ...linesOf(said, data)), make("p", {}, take));
    part.style.setProperty("--person", `var(--${ground})`);
    return { said, take, part, sheets };
  }

  /** @param {State} state one's own */
  show(state) {
    for (const { said, take, sheets } of this.people) {
      take.setAttribute("aria-pressed", String(judged(said) === judged(state)));
      for (const sheet of sheets) sheet.show(said.translations[sheet.translation].spans); // a range ends when its text is moved
    }
    this.undo.toggleAttribute("disabled", !this.item.history.past.length);
  }
}
