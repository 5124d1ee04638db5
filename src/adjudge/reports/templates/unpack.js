// @ts-check
/* Reads the segments of the page itself: those in its data, or those in compressed blocks beside it. Uses said.js. */

/**
 * Bare scores are three numbers each, annotator, system and score; here they become judgements again.
 * @param {Segment & {scores?: number[]}} segment
 */
function addScores(segment) {
  const { scores, said = [] } = segment;
  if (!scores) return;
  for (let at = 0; at < scores.length; at += 3) said.push({ by: scores[at], of: scores[at + 1], score: scores[at + 2] });
  segment.said = said.sort((a, b) => a.by - b.by);
  segment.scores = undefined;
}

/** A block is base64 of compressed JSON. @param {string} packed */
async function unpackBlock(packed) {
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = text.charCodeAt(at);
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  /** @type {Segment[]} */
  const segments = await new Response(unpacked).json();
  segments.forEach(addScores);
  return segments;
}

/** @returns {Promise<Segment[]>} */
async function readSegments() {
  const blocks = [...document.querySelectorAll("script.packed")];
  if (!blocks.length) return data.segments ?? [];
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser is too old to unpack the segments of so large a page: one of 2023 or later can.");
  }
  const parts = await Promise.all(blocks.map((block) => unpackBlock((block.textContent ?? "").trim())));
  for (const block of blocks) block.remove(); // the text is not needed twice
  return parts.flat();
}

const reading = readSegments();
reading.catch(() => {}); // whoever waits for it says what went wrong
