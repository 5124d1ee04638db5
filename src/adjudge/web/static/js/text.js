// @ts-check
/* A text as the store counts it (code points), as the browser does (UTF-16 units), and as people do
 * (graphemes, words). Pure: no page, no clock.
 */

/**
 * @typedef {object} TextMap
 * @property {string} text
 * @property {number} length in code points
 * @property {number[]} units UTF-16 offset of each code point, then that of the end
 * @property {number[]} graphemes code points at which what people see as one character begins, then the end
 * @property {[number, number][]} words stretches that are words, in code points
 */
/** @typedef {(map: TextMap, place: number) => number} Place a place in a text for another one, or its other measure */

/**
 * Splits a text in the way of its language; of an unknown one, in the way of none.
 * @param {string} text
 * @param {string} lang
 * @param {"grapheme" | "word"} granularity
 */
export function splitText(text, lang, granularity) {
  let locale;
  try {
    [locale] = Intl.getCanonicalLocales(lang);
  } catch {
    locale = undefined;
  }
  return [...new Intl.Segmenter(locale, { granularity }).segment(text)];
}

/**
 * Where everything in a text begins.
 * @param {string} text
 * @param {string} [lang] as in an attribute `lang`
 * @returns {TextMap}
 */
export function mapText(text, lang = "und") {
  const units = [];
  for (let unit = 0; unit < text.length; unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1) units.push(unit);
  /** @type {TextMap} */
  const map = { text, length: units.length, units: [...units, text.length], graphemes: [0], words: [] };
  const starts = splitText(text, lang, "grapheme").map((part) => pointOf(map, part.index));
  map.graphemes = [...new Set([...starts, map.length])];
  map.words = splitText(text, lang, "word").flatMap((part) => (part.isWordLike
    ? [snap(map, pointOf(map, part.index), pointOf(map, part.index + part.segment.length))] : []));
  return map;
}

/**
 * Position of the largest value that is not above another one, in a rising list.
 * @param {number[]} values
 * @param {number} value
 */
function floorIndex(values, value) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** Code point at a UTF-16 offset; within a surrogate pair, the one that the pair is. @type {Place} */
export const pointOf = (map, unit) => floorIndex(map.units, unit);

/** UTF-16 offset of a code point. @type {Place} */
export const unitOf = (map, point) => map.units[clamp(map, point)];

/**
 * The text between two code points.
 * @param {TextMap} map
 * @param {number} start
 * @param {number} end
 */
export const slice = (map, start, end) => map.text.slice(unitOf(map, start), unitOf(map, end));

/** @type {Place} */
const clamp = (map, point) => Math.min(Math.max(point, 0), map.length);

/**
 * A text without case and accents.
 * @param {string} text
 */
export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Last grapheme boundary at or before a code point. @type {Place} */
export const graphemeAt = (map, point) => map.graphemes[floorIndex(map.graphemes, clamp(map, point))];

/** @type {Place} */
export const nextGrapheme = (map, point) => map.graphemes[floorIndex(map.graphemes, clamp(map, point)) + 1] ?? map.length;

/** @type {Place} */
export const previousGrapheme = (map, point) => graphemeAt(map, point - 1);

/** End of the next word, or of the text. @type {Place} */
export const nextWord = (map, point) => map.words.find(([, end]) => end > point)?.[1] ?? map.length;

/** Start of the word before, or of the text. @type {Place} */
export const previousWord = (map, point) => map.words.findLast(([start]) => start < point)?.[0] ?? 0;

/**
 * The word around a code point, else the one that ends there, else the next one; without words, the grapheme.
 * @param {TextMap} map
 * @param {number} point
 * @returns {[number, number]}
 */
export function wordAt(map, point) {
  return map.words.find(([start, end]) => start <= point && point < end)
    ?? map.words.find(([, end]) => end === point)
    ?? map.words.find(([start]) => start > point)
    ?? [graphemeAt(map, point), nextGrapheme(map, point)];
}

/**
 * Widens a stretch, so that no grapheme is cut; its ends may come in either order.
 * @param {TextMap} map
 * @param {number} one
 * @param {number} other
 * @returns {[number, number]}
 */
export function snap(map, one, other) {
  const [start, end] = [Math.min(one, other), Math.max(one, other)];
  const before = graphemeAt(map, end);
  return [graphemeAt(map, start), before === clamp(map, end) ? before : nextGrapheme(map, end)];
}

/**
 * Takes the white space at the ends of a stretch away, unless that is all it is.
 * @param {TextMap} map
 * @param {number} start
 * @param {number} end
 * @returns {[number, number]}
 */
export function trim(map, start, end) {
  const text = slice(map, start, end);
  if (!text.trim()) return [start, end];
  const from = unitOf(map, start) + text.length - text.trimStart().length;
  return snap(map, pointOf(map, from), pointOf(map, from + text.trim().length));
}
