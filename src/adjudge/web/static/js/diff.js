// @ts-check
/* What was changed in a text, word by word. Pure. */

import { diffArrays } from "../vendor/diff.js";
import { splitText } from "./text.js";

/** @typedef {{kind: "same" | "added" | "removed", text: string}} Piece */

const MOST = 2_000; // words that are added or removed; beyond them, the whole text is one change, found within a second

/**
 * @param {string} before
 * @param {string} after
 * @param {string} [lang] of both
 * @returns {Piece[]} in order; joined without the added ones they are `before`, without the removed ones `after`
 */
export function compareTexts(before, after, lang = "und") {
  const [old, now] = [before, after].map((text) => splitText(text, lang, "word").map((part) => part.segment));
  const whole = [{ value: old, removed: true }, { value: now, added: true }];
  return (diffArrays(old, now, { maxEditLength: MOST }) ?? whole)
    .map(({ value, added, removed }) => ({ kind: added ? "added" : removed ? "removed" : "same", text: value.join("") }))
    .filter((piece) => piece.text);
}
