// @ts-check
/* One translation: its text with marks, the list of them, what is missing, and its rating. */

import { copyOf, find, make } from "./dom.js";
import { isUnchanged } from "./marks.js";
import { Rating } from "./rating.js";
import { Sheet } from "./sheet.js";
import { categoryWords, protocolWords, t } from "./words.js";

/** @typedef {import("./marks.js").Judged} Judged */
/** @typedef {import("./marks.js").Span} Span */
/** @typedef {import("./marks.js").Severity} Severity */
/** @typedef {import("./item.js").ItemView} ItemView */

const LOW = 66; // a lower rating without a mark is asked about, as in the ESA campaigns
const QUOTE = 60;
/** @typedef {"missing" | "fault"} Nowhere a mark without a place in the text */
/** @type {Nowhere[]} */
const NOWHERE = ["missing", "fault"];

export class TranslationView {
  /**
   * @param {ItemView} item
   * @param {number} index
   */
  constructor(item, index) {
    this.item = item;
    this.index = index;
    const { data } = item.work;
    this.shown = item.data.translations[index];
    const letter = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[index] ?? String(index + 1);
    this.name = item.data.translations.length > 1 ? t("Translation {letter}", { letter }) : t("Translation");
    this.element = copyOf("translation");
    this.element.querySelector("h3")?.append(letter);
    this.sheet = new Sheet(find(this.element, ".sheet"), {
      text: this.shown.text, language: data.target, side: "translation", translation: index, isMarkable: data.severities.length > 0,
      name: `${this.name}, ${data.target.name}`, invisible: data.invisible,
    }, item.sheetListener);
    const rating = this.element.querySelector(".rating");
    this.rating = rating instanceof HTMLElement && data.scale
      ? new Rating(rating, data.scale, (value) => item.judge(index, "rate", (judged) => ({ ...judged, rating: value }))) : null;
    this.listen();
  }

  listen() {
    if (!this.item.data.marks_instruction) this.element.querySelector(".fault")?.remove();
    for (const mark of NOWHERE) {
      const choice = this.nowhere(mark);
      choice?.addEventListener("change", () => this.setNowhere(mark, choice.value));
    }
    this.element.querySelector(".non-translation input")?.addEventListener("change", ({ target }) => {
      this.item.setNonTranslation(this.index, /** @type {HTMLInputElement} */ (target).checked);
    });
  }

  /** @param {Nowhere} mark */
  nowhere(mark) {
    const choice = this.element.querySelector(`select.${mark}`);
    return choice instanceof HTMLSelectElement ? choice : null;
  }

  /**
   * Marks what has no place in the text.
   * @param {Nowhere} mark
   * @param {string} value its severity; empty where there is no such fault
   */
  setNowhere(mark, value) {
    const severity = /** @type {Severity} */ (value) || null;
    const missing = severity && { severity, category: this.item.work.data.omission };
    this.item.judge(this.index, mark, (judged) => ({ ...judged, ...(mark === "missing" ? { missing } : { instruction_fault: severity }) }));
  }

  /**
   * Goes through the choices, for the keyboard.
   * @param {Nowhere} mark
   */
  cycleNowhere(mark) {
    const choice = this.nowhere(mark);
    if (!choice) return;
    const next = choice.options[(choice.selectedIndex + 1) % choice.options.length];
    this.setNowhere(mark, next.value);
    this.item.work.say(`${this.name}, ${choice.title}: ${next.textContent}`);
  }

  /**
   * @param {Judged} judged
   * @param {boolean} isNonTranslation
   */
  show(judged, isNonTranslation) {
    this.sheet.show(judged.spans);
    find(this.element, ".errors").replaceChildren(...judged.spans.map((span) => this.line(span)));
    for (const mark of NOWHERE) {
      const choice = this.nowhere(mark);
      const severity = (mark === "missing" ? judged.missing?.severity : judged.instruction_fault) ?? "";
      if (choice) [choice.value, choice.dataset.severity] = [severity, severity];
    }
    this.rating?.show(judged.rating);
    const warning = this.element.querySelector(".warning");
    const isLow = judged.rating !== null && judged.rating < LOW && !judged.spans.length && !judged.missing && !judged.instruction_fault;
    if (warning instanceof HTMLElement) warning.textContent = isLow ? warning.dataset.text ?? "" : "";
    const box = this.element.querySelector(".non-translation input");
    if (box instanceof HTMLInputElement) box.checked = isNonTranslation;
  }

  /**
   * A mark in the list, which says everything that the paint says.
   * @param {Span} span
   */
  line(span) {
    const { data } = this.item.work;
    const language = span.side === "source" ? data.source : data.target;
    const text = span.text.length > QUOTE ? `${Array.from(span.text).slice(0, QUOTE - 1).join("")}…` : span.text;
    const quote = make("q", { lang: language.lang, dir: language.dir }, text);
    const button = make("button", { type: "button", class: "mark-line" },
      make("span", { class: `severity ${span.severity}` }, protocolWords("severity", span.severity)), " ", this.kindOf(span), quote,
      span.side === "source" ? ` ${t("in the source")}` : "", span.note ? ` (${span.note})` : "");
    const sheet = span.side === "source" ? this.item.source : this.sheet;
    button.addEventListener("focus", () => sheet?.light(span.id));
    const line = make("li", {}, button, ...this.origin(span));
    line.addEventListener("click", () => sheet?.press(span)); // the button's click, too; and gaps in it are the line's
    line.addEventListener("pointerenter", () => sheet?.light(span.id));
    return line;
  }

  /** @param {Span} span */
  kindOf(span) {
    if (!this.item.work.data.categories.length) return "";
    return span.category ? `${categoryWords(span.category)} ` : make("strong", {}, t("choose a category:"), " ");
  }

  /**
   * That a mark was there beforehand, and whether it still is as it was.
   * @param {Span} span
   */
  origin(span) {
    const given = span.given === null ? undefined : this.shown.given[span.given];
    if (!given) return [];
    return [" ", make("span", { class: "badge" }, isUnchanged(span, given) ? t("marked beforehand") : t("changed by you"))];
  }

  /** What there is to do after the text. */
  focusControls() {
    const control = this.rating ?? this.element.querySelector(".controls input, .controls button");
    if (control instanceof HTMLElement || control instanceof Rating) control.focus();
  }
}
