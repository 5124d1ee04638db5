// @ts-check
/* One text that can be marked: by dragging, by two clicks or taps, and with the keyboard. */

import { find } from "./dom.js";
import { isDigit, isSingleKey, moveOf } from "./keys.js";
import { spansAt } from "./marks.js";
import { Painter } from "./paint.js";
import { graphemeUnder, selectedIn, unitNear } from "./selection.js";
import { folded, graphemeAt, mapText, nextGrapheme, nextWord, pointOf, previousGrapheme, previousWord, slice, trim, wordAt } from "./text.js";
import { t } from "./words.js";

/** @typedef {import("./marks.js").Span} Span */
/** @typedef {import("./marks.js").Side} Side */
/** @typedef {import("./keys.js").Move} Move */
/**
 * @typedef {object} Language
 * @property {string} lang
 * @property {"ltr" | "rtl"} dir
 * @property {string} name
 */
/**
 * @typedef {object} SheetListener
 * @property {(sheet: Sheet) => void} selecting something is being selected with the mouse
 * @property {(sheet: Sheet, byHand: boolean) => void} selected a stretch was selected, with the mouse or a finger, or the keyboard
 * @property {(sheet: Sheet, span: Span) => void} pressed a mark was clicked on
 * @property {(letters: string | null) => void} sought a word is looked for; null: not any more
 * @property {(text: string) => void} spoken something to say to who does not see
 */

const LINE = 0.75; // of a line's height: far enough to be in the next one

export class Sheet {
  /**
   * @param {HTMLElement} element with a paragraph `.text` in it
   * @param {{text: string, language: Language, side: Side, translation: number, name: string, isMarkable: boolean, invisible: import("./paint.js").Invisible, ground?: string}} options `ground`: colour below all marks, that of a person
   * @param {SheetListener} listener
   */
  constructor(element, options, listener) {
    this.element = element;
    this.side = options.side;
    this.translation = options.translation;
    this.listener = listener;
    this.map = mapText(options.text, options.language.lang);
    this.isRtl = options.language.dir === "rtl";
    this.node = document.createTextNode(options.text);
    this.text = find(element, ".text");
    this.text.lang = options.language.lang;
    this.text.dir = options.language.dir;
    this.text.append(this.node);
    this.painter = new Painter(element, this.node, this.map, options.invisible, options.ground);
    /** @type {Span[]} */
    this.spans = [];
    /** @type {string | null} */
    this.on = null;
    /** @type {number | null} where a first click was made */
    this.clicked = null;
    /** @type {string | null} the letters with which a word is looked for */
    this.sought = null;
    this.anchor = 0;
    this.point = 0;
    if (options.isMarkable) this.listen(options.name);
    this.paint();
  }

  /** @param {string} name */
  listen(name) {
    const { text } = this;
    text.tabIndex = 0;
    text.setAttribute("role", "textbox");
    text.setAttribute("aria-readonly", "true");
    text.setAttribute("aria-multiline", "true");
    text.setAttribute("aria-label", name);
    text.classList.add("markable");
    text.addEventListener("pointerdown", (event) => { this.isTouch = event.pointerType === "touch"; });
    text.addEventListener("click", (event) => this.click(event));
    text.addEventListener("pointermove", (event) => this.hover(event));
    text.addEventListener("pointerleave", () => this.light(null));
    for (const type of ["focusin", "focusout"]) this.element.addEventListener(type, () => this.paint());
  }

  // What is selected...

  /** @returns {[number, number] | null} */
  get selection() {
    return this.anchor === this.point ? null : [Math.min(this.anchor, this.point), Math.max(this.anchor, this.point)];
  }

  /** @param {[number, number]} stretch */
  textOf([start, end]) {
    return slice(this.map, start, end);
  }

  /**
   * @param {number} start
   * @param {number} end
   */
  select(start, end) {
    [this.anchor, this.point] = [start, end];
    this.clicked = null;
    this.setSought(null);
    this.paint();
  }

  clear() {
    this.select(this.point, this.point);
    if (getSelection()?.anchorNode === this.node) getSelection()?.removeAllRanges();
    this.paint();
  }

  /** The mark at the caret: the one that is selected, else the narrowest around. */
  get spanHere() {
    const [start, end] = this.selection ?? [this.point, this.point];
    const spans = this.spans.filter((span) => span.side === this.side);
    const exact = spans.find((span) => span.start === start && span.end === end);
    return exact ?? (this.selection ? undefined : spansAt(spans, this.side, start)[0]);
  }

  // With the mouse or a finger...

  /**
   * Takes over what was dragged over, or double-clicked on: with that, some systems take a blank along; alone it is no word.
   * @param {boolean} isWord
   */
  takeSelection(isWord) {
    const found = selectedIn(this.node, this.map);
    if (!found || this.isTouch) return;
    getSelection()?.removeAllRanges();
    this.text.focus({ preventScroll: true });
    if (isWord && !this.textOf(found).trim()) return this.clear();
    this.select(...isWord ? trim(this.map, ...found) : found);
    return this.listener.selected(this, true);
  }

  /** While the mouse still selects: the menu is there to be let go on. */
  followMouse() {
    const found = !this.isTouch && selectedIn(this.node, this.map);
    if (!found || !this.textOf(found).trim()) return;
    this.select(...found);
    this.listener.selecting(this);
  }

  /** A finger's selection keeps its handles, and is followed while they move. */
  followTouch() {
    const found = this.isTouch && selectedIn(this.node, this.map);
    if (!found) return;
    this.select(...found);
    this.listener.selected(this, true);
  }

  /** @param {MouseEvent} event */
  click(event) {
    if (event.detail > 1 || this.selection && selectedIn(this.node, this.map)) return;
    const point = graphemeUnder(this.node, this.map, event.clientX, event.clientY);
    if (point === null || selectedIn(this.node, this.map)) return;
    const [span] = spansAt(this.spans, this.side, point);
    if (this.clicked !== null || event.shiftKey) this.finishClicks(point);
    else if (span) this.press(span);
    else {
      this.select(point, point);
      this.clicked = point;
      this.paint();
    }
  }

  /** @param {number} point */
  finishClicks(point) {
    const from = this.clicked ?? this.anchor;
    this.select(...trim(this.map, Math.min(from, point), nextGrapheme(this.map, Math.max(from, point)))); // a line ends with a blank
    this.listener.selected(this, true);
  }

  /** @param {Span} span */
  press(span) {
    this.select(span.start, span.end);
    this.light(span.id);
    this.listener.pressed(this, span);
  }

  /** @param {PointerEvent} event */
  hover(event) {
    if (event.buttons || event.pointerType === "touch") return;
    const point = graphemeUnder(this.node, this.map, event.clientX, event.clientY);
    const [span] = point === null ? [] : spansAt(this.spans, this.side, point);
    this.light(span?.id ?? null);
  }

  // With the keyboard...

  /**
   * Moves the caret if the press does so.
   * @param {KeyboardEvent} event
   */
  move(event) {
    const move = moveOf(event);
    if (!move) return false;
    const { selection } = this;
    const isCollapsing = selection && !move.extends && move.by === "grapheme";
    const forward = move.to === (this.isRtl ? "left" : "right");
    this.point = isCollapsing ? selection[forward ? 1 : 0] : this.target(move, forward);
    if (!move.extends) this.anchor = this.point;
    this.moved();
    return true;
  }

  /**
   * @param {Move} move
   * @param {boolean} forward
   */
  target({ by, to }, forward) {
    const { map, point } = this;
    if (by === "text") return to === "start" ? 0 : map.length;
    if (by === "line") return this.lineTarget(to === "down");
    if (by === "word") return forward ? nextWord(map, point) : previousWord(map, point);
    return forward ? nextGrapheme(map, point) : previousGrapheme(map, point);
  }

  /** @param {boolean} down */
  lineTarget(down) {
    const caret = this.painter.caretRect(this.point);
    const frame = this.element.getBoundingClientRect();
    const height = parseFloat(getComputedStyle(this.text).lineHeight) || caret.height;
    const y = frame.top + caret.top + caret.height / 2 + (down ? 1 : -1) * Math.max(height * LINE, height - 2);
    const unit = unitNear(this.node, frame.left + caret.left, y);
    return unit === null ? (down ? this.map.length : 0) : graphemeAt(this.map, pointOf(this.map, unit));
  }

  /** Selects the word at the caret; once more, the next one too. */
  selectWord() {
    const [start, end] = this.selection ?? wordAt(this.map, this.point);
    [this.anchor, this.point] = this.selection ? [start, nextWord(this.map, end)] : [start, end];
    this.moved();
  }

  /**
   * Looks for a word by its first letters, from a slash on; another slash goes to the next such word.
   * @param {KeyboardEvent} event
   * @returns {boolean} whether the press belongs to the search
   */
  seek(event) {
    const { key } = event;
    const { sought } = this;
    if (sought === null && key !== "/") return false;
    const isTyped = key === "Backspace" || isSingleKey(event);
    const letters = key === "/" ? sought ?? "" : key === "Backspace" ? (sought ?? "").slice(0, -1) : sought + key;
    const word = isTyped && letters ? this.wordWith(letters, key === "/" ? this.point : 0) : undefined;
    const isOver = !isTyped || (!word && isDigit(key)); // a digit that no word has marks what was found
    if (word) {
      [this.anchor, this.point] = word;
      this.moved();
    }
    this.setSought(isOver ? null : word || !letters ? letters : sought);
    return !isOver || key === "Enter" || key === "Escape";
  }

  /** @param {string | null} letters of a word that is looked for */
  setSought(letters) {
    if (letters !== this.sought) this.listener.sought(letters);
    this.sought = letters;
  }

  /**
   * The first word from a place on, or else from the start, that begins so; case and accents do not count.
   * @param {string} letters
   * @param {number} from
   */
  wordWith(letters, from) {
    const { words } = this.map;
    return [...words.filter(([start]) => start >= from), ...words].find(([start, end]) => folded(slice(this.map, start, end)).startsWith(folded(letters)));
  }

  selectAll() {
    [this.anchor, this.point] = [0, this.map.length];
    this.moved();
  }

  /** The other end of the selection moves from now on. */
  swap() {
    [this.anchor, this.point] = [this.point, this.anchor];
    this.moved();
  }

  moved() {
    this.clicked = null;
    this.light(this.spanHere?.id ?? null);
    const { selection, map, point } = this;
    this.listener.spoken(selection ? t("selected: {text}", { text: this.textOf(selection) }) : slice(map, point, nextGrapheme(map, point)) || t("end of the text"));
    this.paint();
    this.listener.selected(this, false);
  }

  // What there is to see...

  /** @param {Span[]} spans of this text */
  show(spans) {
    this.spans = spans.filter((span) => span.side === this.side);
    if (!this.spans.some(({ id }) => id === this.on)) this.on = null;
    this.paint();
  }

  /** @param {string | null} id */
  light(id) {
    if (this.on === id) return;
    this.on = id;
    this.paint();
  }

  /** Forgets what is selected and lit: the person works elsewhere. */
  leave() {
    this.on = null;
    this.clear();
  }

  paint() {
    const { clicked, map } = this;
    const selection = this.element.contains(document.activeElement) ? this.selection : null; // in the text, or in the menu
    const [start, end] = clicked === null ? selection ?? [0, 0] : [clicked, nextGrapheme(map, clicked)];
    const hasCaret = document.activeElement === this.text && !this.selection;
    this.painter.paint({ spans: this.spans, on: this.on, selection: { start, end }, caret: hasCaret ? this.point : null });
  }

  /** The first and the last line of the selection on the screen: the menu opens beside one of them. */
  get ends() {
    const [start, end] = this.selection ?? [this.point, nextGrapheme(this.map, this.point)];
    const rects = this.painter.rectsOf(start, end);
    if (!rects.length) rects.push(this.painter.caretRect(start));
    rects.sort((one, other) => one.top + one.height - other.top - other.height);
    return { first: rects[0], last: rects[rects.length - 1] };
  }
}
