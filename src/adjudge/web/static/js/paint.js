// @ts-check
/* Marks over a text that stays one text node: custom highlights, or boxes behind the text where the browser
 * has none; and what lies over it: caret, names of invisible characters, a label.
 */

import { make } from "./dom.js";
import { layMarks } from "./marks.js";
import { rangeOf } from "./selection.js";
import { categoryWords } from "./words.js";

/** @typedef {import("./marks.js").Span} Span */
/** @typedef {import("./text.js").TextMap} TextMap */
/** @typedef {{start: number, end: number}} Stretch */
/** @typedef {{ranges: [number, number][], names: Record<string, string>}} Invisible */
/**
 * @typedef {object} Picture What there is to see.
 * @property {Span[]} spans
 * @property {string | null} on id of the mark that is lit
 * @property {Stretch | null} selection
 * @property {number | null} caret
 */

const JOINER = 0x200d;
const FIRST_EMOJI = 0x1f000;
/** @type {[number, number, RegExp][]} variation selectors, and the characters of which they ask for another form */
const SELECTORS = [
  [0xfe00, 0xfe0d, /[\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Sm}]/u],
  [0xfe0e, 0xfe0e, /[\p{Emoji}\p{So}\p{Sm}]/u],
  [0xe0100, 0xe01ef, /\p{Script=Han}/u],
];
const PRIORITY = { "person-1": 10, "person-2": 10, "person-3": 10, "person-4": 10, on: 50, selection: 100 };

/** Whether the browser paints custom highlights. */
const hasHighlights = () => typeof Highlight !== "undefined" && "highlights" in CSS;

/** @param {string} name */
function highlightOf(name) {
  let highlight = CSS.highlights.get(name);
  if (!highlight) {
    highlight = new Highlight();
    highlight.priority = PRIORITY[/** @type {keyof typeof PRIORITY} */ (name)] ?? Number(name.split("-")[1]);
    CSS.highlights.set(name, highlight);
  }
  return highlight;
}

/**
 * Invisible characters of a text: where they are, and their names. A joiner inside an emoji is none, nor is a
 * variation selector right behind a character that has variants.
 * @param {TextMap} map
 * @param {Invisible} invisible
 */
export function invisibleOf(map, invisible) {
  const found = [];
  for (let point = 0; point < map.length; point++) {
    const code = map.text.codePointAt(map.units[point]) ?? 0;
    const next = map.text.codePointAt(map.units[point + 1] ?? map.text.length) ?? 0;
    if (!invisible.ranges.some(([low, high]) => low <= code && code <= high)) continue;
    if (code === JOINER && next >= FIRST_EMOJI) continue;
    const before = String.fromCodePoint(map.text.codePointAt(map.units[point - 1] ?? 0) ?? 0);
    if (point && SELECTORS.some(([low, high, base]) => low <= code && code <= high && base.test(before))) continue;
    const name = invisible.names[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    found.push({ point, name });
  }
  return found;
}

export class Painter {
  /**
   * @param {HTMLElement} sheet around text and layer
   * @param {Text} node
   * @param {TextMap} map
   * @param {Invisible} invisible
   * @param {string} [ground] name of the colour behind all marks, in place of that of their severity
   */
  constructor(sheet, node, map, invisible, ground) {
    this.ground = ground;
    this.sheet = sheet;
    this.node = node;
    this.map = map;
    this.hidden = invisibleOf(map, invisible);
    this.layer = make("div", { class: "layer", "aria-hidden": "true" });
    sheet.append(this.layer);
    /** @type {{name: string, range: Range}[]} */
    this.painted = [];
    /** @type {Picture} */
    this.picture = { spans: [], on: null, selection: null, caret: null };
    new ResizeObserver(() => this.drawLayer()).observe(sheet);
  }

  /** @param {Picture} picture */
  paint(picture) {
    this.picture = picture;
    for (const { name, range } of this.painted) CSS.highlights.get(name)?.delete(range);
    const ground = picture.spans.flatMap(({ start, end }) => (this.ground ? [{ name: this.ground, start, end }] : []));
    const shown = hasHighlights() ? [...this.stretches(), ...ground] : [];
    this.painted = shown.map(({ name, start, end }) => ({ name, range: rangeOf(this.node, this.map, start, end) }));
    for (const { name, range } of this.painted) highlightOf(name).add(range);
    this.drawLayer();
  }

  /** What is to be painted, the lowest first. */
  stretches() {
    const { spans, on, selection } = this.picture;
    const marks = layMarks(spans).map(({ severity, lane, start, end }) => ({ name: `${severity}-${lane}`, start, end }));
    const lit = spans.filter(({ id }) => id === on).map(({ start, end }) => ({ name: "on", start, end }));
    return [...marks, ...lit, ...(selection && selection.start < selection.end ? [{ name: "selection", ...selection }] : [])];
  }

  drawLayer() {
    this.layer.replaceChildren(...this.boxes(), ...this.names(), ...this.label(), ...this.caret());
  }

  /**
   * Rectangles of a stretch within the sheet.
   * @param {number} start
   * @param {number} end
   */
  rectsOf(start, end) {
    const frame = this.sheet.getBoundingClientRect();
    return Array.from(rangeOf(this.node, this.map, start, end).getClientRects(), (rect) => ({
      left: rect.left - frame.left, top: rect.top - frame.top, width: rect.width, height: rect.height,
    }));
  }

  boxes() {
    if (hasHighlights()) return [];
    return this.stretches().flatMap(({ name, start, end }) => {
      const [severity, lane] = name.split("-");
      const kind = lane === undefined ? severity : `span ${severity} lane-${lane}`;
      return this.rectsOf(start, end).map((rect) => place(make("div", { class: `box ${kind}` }), rect));
    });
  }

  names() {
    return this.hidden.flatMap(({ point, name }) => {
      const [rect] = this.rectsOf(point, point + 1);
      return rect ? [place(make("span", { class: "invisible", "data-name": name }), { left: rect.left, top: rect.top })] : [];
    });
  }

  label() {
    const span = this.picture.spans.find(({ id }) => id === this.picture.on);
    const rect = span?.category ? this.rectsOf(span.start, span.end).at(-1) : undefined;
    if (!span?.category || !rect) return [];
    const label = make("span", { class: `label ${span.severity}` }, categoryWords(span.category.slice(span.category.indexOf("/") + 1)));
    return [place(label, { left: rect.left, top: rect.top + rect.height })];
  }

  caret() {
    const rect = this.picture.caret === null ? null : this.caretRect(this.picture.caret);
    return rect ? [place(make("div", { class: "caret" }), { ...rect, width: undefined })] : [];
  }

  /**
   * Where the caret stands before a code point; where a line is broken, at the start of the next one.
   * @param {number} point
   */
  caretRect(point) {
    const [rect] = this.rectsOf(point, point);
    const [next] = this.rectsOf(point, point + 1);
    if (rect && next && next.top >= rect.top + rect.height) {
      const isRtl = getComputedStyle(this.sheet.firstElementChild ?? this.sheet).direction === "rtl";
      return { ...next, left: next.left + (isRtl ? next.width : 0), width: 0 };
    }
    if (rect) return rect;
    const last = point > 0 ? this.rectsOf(point - 1, point).at(-1) : undefined;
    return last ? { ...last, left: last.left + last.width, width: 0 } : { left: 0, top: 0, width: 0, height: 24 };
  }
}

/**
 * @param {HTMLElement} element
 * @param {{left: number, top: number, width?: number, height?: number}} rect
 */
function place(element, { left, top, width, height }) {
  element.style.left = `${left}px`;
  element.style.top = `${top}px`;
  if (width !== undefined) element.style.width = `${width}px`;
  if (height !== undefined) element.style.height = `${height}px`;
  return element;
}
