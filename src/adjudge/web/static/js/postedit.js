// @ts-check
/* Choose the best of several drafts and edit it into a reference; what was changed stands below. */

import { compareTexts } from "./diff.js";
import { all, check, find, make } from "./dom.js";

/** @typedef {{chosen: number | null, edited: string | null}} Edit */
/** @typedef {import("./sheet.js").Language} Language */

let serial = 0;

export class PostEdit {
  /**
   * @param {HTMLElement} element with the text to write
   * @param {HTMLElement[]} drafts the translations, each with a choice
   * @param {string[]} texts theirs
   * @param {Language} language
   * @param {(kind: "choose" | "edit", edit: Edit) => void} changed
   */
  constructor(element, drafts, texts, language, changed) {
    this.element = element;
    this.texts = texts;
    this.language = language;
    this.changed = changed;
    this.drafts = drafts;
    /** @type {Edit} */
    this.edit = { chosen: null, edited: null };
    this.area = find(element, "textarea", HTMLTextAreaElement);
    this.diff = find(element, ".diff");
    this.again = find(element, ".again");
    for (const part of [this.area, this.diff]) [part.lang, part.dir] = [language.lang, language.dir];
    const name = `draft-${++serial}`;
    drafts.forEach((draft, index) => {
      for (const input of all(draft, ".choose input", HTMLInputElement)) {
        [input.name, input.value] = [name, String(index)];
        input.addEventListener("change", () => this.choose(index));
      }
    });
    this.area.addEventListener("input", () => this.changed("edit", { ...this.edit, edited: this.area.value }));
    this.again.addEventListener("click", () => this.changed("edit", { ...this.edit, edited: this.draft }));
  }

  get draft() {
    return this.edit.chosen === null ? "" : this.texts[this.edit.chosen];
  }

  /**
   * What was written by hand is never replaced by another draft; a button offers it.
   * @param {number} index
   */
  choose(index) {
    const { edited } = this.edit;
    const isOwn = edited !== null && edited !== normal(this.draft);
    this.changed("choose", { chosen: index, edited: isOwn ? edited : normal(this.texts[index]) });
  }

  /** @param {Edit} edit */
  show(edit) {
    this.edit = { chosen: edit.chosen, edited: edit.edited };
    this.drafts.forEach((draft, index) => check(draft, edit.chosen === index ? String(index) : null));
    this.element.hidden = edit.chosen === null && edit.edited === null;
    if (this.area.value !== (edit.edited ?? "")) this.area.value = edit.edited ?? "";
    const pieces = compareTexts(normal(this.draft), edit.edited ?? "", this.language.lang);
    const isChanged = pieces.some(({ kind }) => kind !== "same");
    this.diff.replaceChildren(...pieces.map(({ kind, text }) => (kind === "same" ? text : make(kind === "added" ? "ins" : "del", {}, text))));
    find(this.element, ".unchanged").hidden = isChanged;
    this.diff.hidden = this.again.hidden = !isChanged;
  }

  focus() {
    if (!this.element.hidden) this.area.focus();
    else find(this.drafts[0], ".choose input").focus();
  }
}

/**
 * A text as a text area holds it: lines end with a line feed.
 * @param {string} text
 */
const normal = (text) => text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
