// @ts-check
/* What was changed in a text, word by word. Pure. */

import { splitText } from "./text.js";

/** @typedef {{kind: "same" | "added" | "removed", text: string}} Piece */

const LARGEST = 4_000_000; // cells of the table; beyond them, the middle is one change

/**
 * Length of the longest common subsequence of every pair of tails.
 * @param {string[]} before
 * @param {string[]} after
 */
function commonTails(before, after) {
  const table = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      table[i][j] = before[i] === after[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  return table;
}

/**
 * @param {string[]} before
 * @param {string[]} after
 * @returns {Piece[]}
 */
function compareMiddle(before, after) {
  if (before.length * after.length > LARGEST) {
    return [{ kind: "removed", text: before.join("") }, { kind: "added", text: after.join("") }];
  }
  const table = commonTails(before, after);
  /** @type {Piece[]} */
  const pieces = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) pieces.push({ kind: "same", text: before[i++] }), j++;
    else if (j >= after.length || (i < before.length && table[i + 1][j] >= table[i][j + 1])) pieces.push({ kind: "removed", text: before[i++] });
    else pieces.push({ kind: "added", text: after[j++] });
  }
  return pieces;
}

/**
 * @param {string} before
 * @param {string} after
 * @param {string} [lang] of both
 * @returns {Piece[]} in order; joined without the added ones they are `before`, without the removed ones `after`
 */
export function compareTexts(before, after, lang = "und") {
  const [old, now] = [before, after].map((text) => splitText(text, lang, "word").map((part) => part.segment));
  let head = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  /** @type {Piece[]} */
  const all = [
    { kind: "same", text: old.slice(0, head).join("") },
    ...compareMiddle(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    { kind: "same", text: old.slice(old.length - tail).join("") },
  ];
  return joined(all.filter((piece) => piece.text));
}

/** @param {Piece[]} pieces */
function joined(pieces) {
  /** @type {Piece[]} */
  const made = [];
  for (const piece of pieces) {
    const last = made.at(-1);
    if (last?.kind === piece.kind) last.text += piece.text;
    else made.push({ ...piece });
  }
  return made;
}
