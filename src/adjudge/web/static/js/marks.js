// @ts-check
/* What is marked in one translation and its source. Pure: every change makes a new object. */

/** @typedef {"neutral" | "minor" | "major" | "critical"} Severity */
/** @typedef {"translation" | "source"} Side */
/**
 * @typedef {object} Span A marked stretch: half-open, in code points of the text shown.
 * @property {string} id
 * @property {Side} side
 * @property {number} start
 * @property {number} end
 * @property {string} text
 * @property {Severity} severity
 * @property {string | null} category
 * @property {string} note
 * @property {number | null} given position among the spans that were marked beforehand
 */
/** @typedef {{severity: Severity, category: string | null}} Missing */
/**
 * @typedef {object} Judged What is said of one translation.
 * @property {number | null} rating
 * @property {Span[]} spans in the order of the text, the source's last
 * @property {Missing | null} missing
 * @property {Severity | null} [instruction_fault] how badly the instruction of the segment is not followed
 * @property {number[]} removed positions of given spans that were taken away
 */

const LANES = 4;

/** @param {Span[]} spans */
function sorted(spans) {
  return [...spans].sort((a, b) => Number(a.side === "source") - Number(b.side === "source")
    || a.start - b.start || b.end - a.end || (a.id < b.id ? -1 : 1));
}

/**
 * Adds a mark, its id the next number after all in use; the same stretch with the same severity and category
 * twice is one mark.
 * @param {Judged} judged
 * @param {Omit<Span, "id" | "given">} fields
 * @returns {Judged}
 */
export function addSpan(judged, fields) {
  if (fields.start >= fields.end || judged.spans.some((span) => span.side === fields.side && isUnchanged(span, fields))) return judged;
  const numbers = judged.spans.map((span) => (span.id.startsWith("c") ? Number(span.id.slice(1)) || 0 : 0));
  const span = { ...fields, id: `c${Math.max(0, ...numbers) + 1}`, given: null };
  return { ...judged, spans: sorted([...judged.spans, span]) };
}

/**
 * Changes a mark: its place (with the text there), severity, category or note.
 * @param {Judged} judged
 * @param {string} id
 * @param {Partial<Omit<Span, "id" | "given">>} fields
 * @returns {Judged}
 */
export function changeSpan(judged, id, fields) {
  return { ...judged, spans: sorted(judged.spans.map((span) => (span.id === id ? { ...span, ...fields } : span))) };
}

/**
 * Takes a mark away; that a given one was taken away stays known.
 * @param {Judged} judged
 * @param {string} id
 * @returns {Judged}
 */
export function removeSpan(judged, id) {
  const given = judged.spans.find((span) => span.id === id)?.given ?? null;
  const removed = given === null ? judged.removed : [...judged.removed, given].sort((a, b) => a - b);
  return { ...judged, spans: judged.spans.filter((span) => span.id !== id), removed };
}

/**
 * Marks over a place, the narrowest first.
 * @param {Span[]} spans
 * @param {Side} side
 * @param {number} point
 */
export function spansAt(spans, side, point) {
  return spans.filter((span) => span.side === side && span.start <= point && point < span.end)
    .sort((a, b) => a.end - a.start - (b.end - b.start));
}

/**
 * The mark after another one, or before it; from none, the first or the last.
 * @param {Judged} judged
 * @param {Side} side
 * @param {string | null} id
 * @param {1 | -1} step
 * @returns {Span | undefined}
 */
export function besideSpan(judged, side, id, step) {
  const spans = judged.spans.filter((span) => span.side === side);
  const here = spans.findIndex((span) => span.id === id);
  return here < 0 ? spans.at(step > 0 ? 0 : -1) : spans[here + step];
}

/**
 * Whether a span still is as it was given.
 * @param {Span} span
 * @param {Partial<Span>} given
 */
export function isUnchanged(span, given) {
  return span.start === given.start && span.end === given.end && span.severity === given.severity
    && (span.category ?? null) === (given.category ?? null);
}

/**
 * Gives overlapping marks a lane each, so that their lines stack.
 * @template {{start: number, end: number}} T
 * @param {T[]} spans
 * @returns {(T & {lane: number})[]}
 */
export function layMarks(spans) {
  /** @type {number[]} */
  const ends = [];
  return [...spans].sort((a, b) => a.start - b.start || b.end - a.end).map((span) => {
    const free = ends.findIndex((end) => end <= span.start);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = span.end;
    return { ...span, lane: Math.min(lane, LANES - 1) };
  });
}
