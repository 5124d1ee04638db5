// @ts-check
/* The page's language: what it says of a text of ours, or of one of the protocol, stands in the page's head. */

/** @type {Map<string, string>} */
const WORDS = new Map(Object.entries(JSON.parse(document.getElementById("words")?.textContent || "{}")));

/**
 * Says an English text in the page's language; the text stands where it is said, so that it can be found there.
 * @param {string} text
 * @param {Record<string, string | number>} [names] what stands in place of `{name}`
 */
export const t = (text, names = {}) => (WORDS.get(text) ?? text)
  .replace(/\{(\w+)\}/g, (whole, name) => String(Object.hasOwn(names, name) ? names[name] : whole));

/**
 * Puts elements and texts in place of each `{name}` of a text.
 * @param {string} text
 * @param {Record<string, Node | string>} names
 * @returns {(Node | string)[]}
 */
export const place = (text, names) => text.split(/\{(\w+)\}/).map((part, index) => (index % 2 ? names[part] : part));

/**
 * Says a text of the protocol, which only the campaign's organiser translates.
 * @param {"protocol" | "anchor" | "category" | "severity" | "criterion"} context
 * @param {string} text
 */
export const protocolWords = (context, text) => WORDS.get(`${context}\u0004${text}`) ?? text;

/**
 * Says a category, kind and subkind.
 * @param {string} name
 */
export const categoryWords = (name) => name.replace(/[^/]+/g, (part) => protocolWords("category", part));
