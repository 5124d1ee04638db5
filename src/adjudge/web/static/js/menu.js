// @ts-check
/* The menu of a mark: severity, category, note, place. It opens above the span, or below it, and never over its line. */

import { all, find, takesLetters } from "./dom.js";

/** @typedef {import("./marks.js").Span} Span */
/** @typedef {import("./marks.js").Severity} Severity */
/** @typedef {import("./sheet.js").Sheet} Sheet */
/**
 * @typedef {object} MenuListener
 * @property {(sheet: Sheet, severity: Severity) => void} severity
 * @property {(sheet: Sheet, fields: {category?: string | null, note?: string}) => void} detail
 * @property {(sheet: Sheet, act: "extent" | "remove") => void} acted
 */

const GAP = 6; // pixels: room for the lines under a mark

export class Menu {
  /**
   * @param {HTMLElement} element
   * @param {MenuListener} listener
   */
  constructor(element, listener) {
    this.element = element;
    this.listener = listener;
    /** @type {Sheet | null} */
    this.sheet = null;
    /** @type {number | null} where the mouse is: the menu is to be near */
    this.x = null;
    this.buttons = all(element, "[data-severity]", HTMLButtonElement);
    this.category = element.querySelector("select");
    this.note = element.querySelector("input");
    for (const button of this.buttons) {
      const severity = /** @type {Severity} */ (button.dataset.severity);
      button.addEventListener("click", () => this.sheet && listener.severity(this.sheet, severity));
    }
    for (const button of all(element, "[data-act]", HTMLButtonElement)) button.addEventListener("click", () => this.act(button.dataset.act ?? ""));
    this.category?.addEventListener("change", () => this.sheet && listener.detail(this.sheet, { category: this.category?.value || null }));
    this.note?.addEventListener("input", () => this.sheet && listener.detail(this.sheet, { note: this.note?.value ?? "" }));
    element.addEventListener("keydown", (event) => this.press(event));
    document.addEventListener("pointerdown", ({ target }) => {
      if (!element.contains(/** @type {Node} */ (target))) this.close();
    });
    addEventListener("resize", () => this.place());
  }

  /**
   * Opens while the mouse still selects: above, or not yet.
   * @param {Sheet} sheet
   */
  offer(sheet) {
    this.open(sheet, null);
    if (!this.isAbove) this.close();
  }

  /**
   * @param {Sheet} sheet
   * @param {Span | null} span the mark that it is about; null before there is one
   */
  open(sheet, span) {
    this.sheet = sheet;
    if (this.element.parentElement !== sheet.element) sheet.element.append(this.element);
    this.element.hidden = false;
    this.show(span);
    this.place();
    if (span) this.category?.focus({ preventScroll: true }); // letters choose
  }

  /** @param {Span | null} span */
  show(span) {
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.severity === span?.severity));
    for (const part of all(this.element, ".of-mark")) part.hidden = !span;
    if (this.category) this.category.value = span?.category ?? "";
    if (this.note && document.activeElement !== this.note) this.note.value = span?.note ?? "";
  }

  /** Above the span's first line if that is in view, else below its last one, within the sheet's width; below a finger. */
  place() {
    if (!this.sheet) return;
    const { element, sheet } = this;
    const { first, last } = sheet.ends;
    const above = first.top - element.offsetHeight - GAP;
    const isAbove = this.isAbove = !sheet.isTouch && sheet.element.getBoundingClientRect().top + above > find(document, ".top").offsetHeight;
    const room = sheet.element.clientWidth - element.offsetWidth;
    const left = this.x === null ? (isAbove ? first : last).left : this.x - sheet.element.getBoundingClientRect().left - element.offsetWidth / 2;
    element.style.left = `${Math.max(0, Math.min(left, room))}px`;
    element.style.top = `${isAbove ? above : last.top + last.height + GAP}px`;
  }

  /** Where the line begins above which it stands. */
  get bottom() {
    return this.element.getBoundingClientRect().bottom + GAP;
  }

  focus() {
    const pressed = this.buttons.find((button) => button.getAttribute("aria-pressed") === "true");
    (pressed && this.category ? this.category : pressed ?? this.buttons[0]).focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest" });
  }

  /** @param {string} act */
  act(act) {
    const { sheet } = this;
    if (!sheet) return;
    this.close();
    sheet.text.focus({ preventScroll: true });
    if (act === "extent" || act === "remove") this.listener.acted(sheet, act);
  }

  close() {
    if (!this.sheet) return;
    this.sheet = null;
    this.element.hidden = true;
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const digit = takesLetters(event.target) ? undefined : this.buttons[Number(event.key) - 1];
    if (digit) digit.click();
    else if (event.key === "Escape" || (event.key === "Enter" && takesLetters(event.target))) this.act("close");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
