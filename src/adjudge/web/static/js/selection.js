// @ts-check
/* From a place on the screen to a place in a text: what was dragged over, and what was clicked on. */

import { graphemeAt, nextGrapheme, pointOf, previousGrapheme, snap, unitOf } from "./text.js";

/** @typedef {import("./text.js").TextMap} TextMap */

/**
 * What the browser has selected within a text node, in code points and with whole graphemes; null if nothing.
 * @param {Text} node
 * @param {TextMap} map
 * @returns {[number, number] | null}
 */
export function selectedIn(node, map) {
  const selection = getSelection();
  if (!selection?.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!range.intersectsNode(node)) return null;
  const start = range.startContainer === node ? range.startOffset : 0;
  const end = range.endContainer === node ? range.endOffset : node.length;
  if (end <= start) return null;
  return snap(map, pointOf(map, start), pointOf(map, end));
}

/**
 * Boundary in a text node that is nearest to a place on the screen, in UTF-16 units; null outside of it.
 * @param {Text} node
 * @param {number} x
 * @param {number} y
 */
export function unitNear(node, x, y) {
  if (document.caretPositionFromPoint) {
    const position = document.caretPositionFromPoint(x, y);
    return position?.offsetNode === node ? position.offset : null;
  }
  const range = document.caretRangeFromPoint?.(x, y);
  return range?.startContainer === node ? range.startOffset : null;
}

/**
 * The grapheme under a place on the screen, by its first code point; null where there is none.
 * @param {Text} node
 * @param {TextMap} map
 * @param {number} x
 * @param {number} y
 */
export function graphemeUnder(node, map, x, y) {
  const unit = unitNear(node, x, y);
  if (unit === null || !map.length) return null;
  const here = graphemeAt(map, Math.min(pointOf(map, unit), map.length - 1));
  /** @param {Range} range */
  const isUnder = (range) => [...range.getClientRects()].some((rect) => rect.left <= x && x <= rect.right && rect.top <= y && y <= rect.bottom);
  /** @param {number} point */
  const isHere = (point) => isUnder(rangeOf(node, map, point, nextGrapheme(map, point)));
  const near = [here, previousGrapheme(map, here), nextGrapheme(map, here)].filter((point) => point < map.length).find(isHere);
  if (near !== undefined || !isUnder(rangeOf(node, map, 0, map.length))) return near ?? here;
  return map.graphemes.find(isHere) ?? here; // where the direction turns, the nearest boundary may be at the other end of a run
}

/**
 * What lies between two code points of a text node.
 * @param {Text} node
 * @param {TextMap} map
 * @param {number} start
 * @param {number} end
 */
export function rangeOf(node, map, start, end) {
  const range = document.createRange();
  range.setStart(node, unitOf(map, start));
  range.setEnd(node, unitOf(map, end));
  return range;
}
