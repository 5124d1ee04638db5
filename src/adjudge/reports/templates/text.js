// @ts-check
/* Texts with marks. Loaded before report.js, and all that a page needs to show a judged text.
 *
 * Every text is data that others wrote: it becomes text nodes and attributes that run nothing, never
 * markup. Places are code points, so a text is taken apart into code points before it is cut.
 */

/** @typedef {"neutral" | "minor" | "major" | "critical"} Severity */
/** @typedef {{lang: string, dir: "ltr" | "rtl", name: string}} Language */
/** @typedef {{ranges: [number, number][], names: Record<string, string>}} Invisible */
/**
 * @typedef {object} Mark One marked stretch; `from` and `to` are the same where it is only a point.
 * @property {number} from
 * @property {number} to
 * @property {Severity} severity
 * @property {string} label shown at its end on hover, on focus and in print
 * @property {number} number of the error, unique in the page
 * @property {number} [voice] whose it is, where marks of several annotators lie over one another
 */
/** @typedef {Mark & {lane: number}} LaidMark */

const LANES = 8;
const MARGIN = 4;
const JOINER = 0x200d;
const FIRST_EMOJI = 0x1f000;

/**
 * Make an element; strings among its children become text.
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string | null)[]} children
 */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/**
 * @param {string} char
 * @param {string | undefined} next
 * @param {Invisible} invisible
 */
function isInvisible(char, next, invisible) {
  const code = char.codePointAt(0) ?? 0;
  if (code === JOINER && (next?.codePointAt(0) ?? 0) >= FIRST_EMOJI) return false;
  return invisible.ranges.some(([low, high]) => low <= code && code <= high);
}

/**
 * Text nodes of a text; invisible characters stay in it, and each gets a mark that names it.
 * @param {string[]} chars code points
 * @param {Invisible} invisible
 */
function renderChars(chars, invisible) {
  const fragment = document.createDocumentFragment();
  let plain = "";
  chars.forEach((char, index) => {
    if (!isInvisible(char, chars[index + 1], invisible)) {
      plain += char;
      return;
    }
    const code = char.codePointAt(0) ?? 0;
    const name = invisible.names[code] ?? "U+" + code.toString(16).toUpperCase().padStart(4, "0");
    fragment.append(plain, make("span", { class: "invisible", "data-name": name }, char));
    plain = "";
  });
  fragment.append(plain);
  return fragment;
}

/**
 * Give overlapping marks a lane each, so that their lines stack; every annotator keeps to lanes of their own.
 * @param {Mark[]} marks
 * @returns {LaidMark[]}
 */
function layMarks(marks) {
  const isChoir = new Set(marks.map((mark) => mark.voice)).size > LANES;
  /** @param {Mark} mark */
  const voiceOf = (mark) => (isChoir ? 0 : mark.voice ?? 0);
  const ordered = [...marks].sort((a, b) => voiceOf(a) - voiceOf(b) || a.from - b.from || b.to - a.to);
  /** @type {number[]} */
  let ends = [];
  let voice = 0;
  let first = 0;
  return ordered.map((mark) => {
    if (voiceOf(mark) !== voice) [voice, first, ends] = [voiceOf(mark), first + ends.length, []];
    const free = ends.findIndex((end) => end <= mark.from);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = mark.to;
    return { ...mark, lane: Math.min(first + lane, LANES - 1) };
  });
}

/**
 * One piece of a mark; where marks overlap, each of them has several.
 * @param {LaidMark} mark
 * @param {number} place where the piece begins
 */
function renderMark(mark, place) {
  const point = mark.from === mark.to ? " point" : "";
  const piece = make("mark", { class: `span ${mark.severity}${point}` });
  piece.style.setProperty("--lane", String(mark.lane));
  piece.dataset.mark = String(mark.number);
  if (place === mark.from) {
    piece.tabIndex = -1;
    piece.setAttribute("aria-describedby", `error-${mark.number}`);
  }
  return piece;
}

/**
 * The label at the end of a mark; where several voices lie over one another, with the number of its own.
 * @param {LaidMark} mark
 * @param {LaidMark[]} laid
 */
function renderLabel(mark, laid) {
  const label = make("span", { class: `tag ${mark.severity}`, "aria-hidden": "true", "data-label": mark.label });
  label.dataset.mark = String(mark.number);
  const first = laid.find((other) => other.voice === mark.voice && other.to === mark.to);
  if (mark.voice !== undefined && first === mark) label.dataset.voice = String(mark.voice + 1);
  return label;
}

/**
 * Render a text with its marks, in its own language and direction.
 * @param {string} text
 * @param {Language} language
 * @param {Mark[]} marks
 * @param {Invisible} invisible
 */
function renderText(text, language, marks, invisible) {
  const paragraph = make("p", { class: "text", lang: language.lang, dir: language.dir });
  const chars = Array.from(text);
  const laid = layMarks(marks);
  const deepest = Math.max(0, ...laid.map((mark) => mark.lane));
  if (deepest > 1) paragraph.style.setProperty("--deep", String(deepest));
  const cuts = new Set([0, chars.length, ...laid.flatMap((mark) => [mark.from, mark.to])]);
  const places = [...cuts].sort((a, b) => a - b);
  places.forEach((place, index) => {
    for (const mark of laid) {
      if (mark.from === place && mark.to === place) paragraph.append(renderMark(mark, place));
      if (mark.to === place) paragraph.append(renderLabel(mark, laid));
    }
    const next = places[index + 1] ?? place;
    const covering = laid.filter((mark) => mark.from <= place && next <= mark.to && place < next);
    /** @type {HTMLElement} */
    let innermost = paragraph;
    for (const mark of covering.sort((a, b) => a.lane - b.lane)) {
      innermost = innermost.appendChild(renderMark(mark, place));
    }
    innermost.append(renderChars(chars.slice(place, next), invisible));
  });
  paragraph.querySelector("mark[tabindex]")?.setAttribute("tabindex", "0");
  return paragraph;
}

/**
 * Move a label that would reach beyond the side of the window into it.
 * @param {HTMLElement} label
 */
function keepInView(label) {
  const { width, direction } = getComputedStyle(label, "::after");
  const wide = parseFloat(width) + 2 * MARGIN;
  const { left, right } = label.getBoundingClientRect();
  const start = direction === "rtl" ? left : right - wide;
  const end = document.documentElement.clientWidth - wide - MARGIN;
  label.style.setProperty("--shift", `${Math.max(MARGIN, Math.min(start, end)) - start}px`);
}

/**
 * Light up a mark and its line in the list of errors, with those of the marks around it; its label names them all.
 * @param {Event} event
 */
function lightMark(event) {
  const target = event.target instanceof Element ? event.target.closest("[data-mark]") : null;
  const scope = target?.closest("[data-marks]");
  if (!(target instanceof HTMLElement) || !scope) return;
  const on = event.type === "mouseover" || event.type === "focusin";
  const names = [];
  for (let around = target; around !== scope; around = /** @type {HTMLElement} */ (around.parentElement)) {
    const number = around.dataset.mark;
    if (number === undefined) continue;
    for (const piece of scope.querySelectorAll(`[data-mark="${number}"]:not(.tag)`)) piece.classList.toggle("on", on);
    names.push(labelOf(scope, number)?.dataset.label);
  }
  const label = labelOf(scope, target.dataset.mark ?? "");
  label?.classList.toggle("on", on);
  if (!label || !on) return;
  label.dataset.all = names.join("; ");
  keepInView(label);
}

/**
 * @param {Element} scope
 * @param {string} number
 */
const labelOf = (scope, number) => /** @type {HTMLElement | null} */ (scope.querySelector(`.tag[data-mark="${number}"]`));

/**
 * Arrow keys go from mark to mark of one text; only one of them is in the order of the tab key.
 * @param {KeyboardEvent} event
 */
function moveMark(event) {
  const here = event.target instanceof HTMLElement && event.target.matches("mark") ? event.target : null;
  const text = here?.closest(".text");
  if (!here || !text) return;
  const marks = /** @type {HTMLElement[]} */ ([...text.querySelectorAll("mark[tabindex]")]);
  const [forward, back] = getComputedStyle(text).direction === "rtl" ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"];
  const step = { [forward]: 1, [back]: -1 }[event.key] ?? 0;
  const next = marks[marks.indexOf(here) + step];
  if (!step || !next) return;
  event.preventDefault();
  here.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
