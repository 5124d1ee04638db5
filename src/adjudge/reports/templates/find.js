// @ts-check
/* Finds segments among those of the page itself. Uses unpack.js; `served.js` does the same by asking a server. */

/** A page that was written to a file has no conversations. @type {(segment: Segment, said: Said) => Node | null} */
const renderTalk = () => null;

/**
 * @param {Query} query
 * @returns {Promise<Found>}
 */
async function find(query) {
  const segments = await reading;
  const view = viewOf(query);
  const kept = sorted(segments.filter(shows(query, view)), query.sort ?? "", view);
  return { found: kept.length, total: segments.length, page: async (from, amount) => kept.slice(from, from + amount) };
}

/**
 * What a segment must have to be shown.
 * @param {Query} query
 * @param {View} view
 * @returns {(segment: Segment) => boolean}
 */
function shows(query, view) {
  const search = (query.search ?? "").trim().toLowerCase();
  const domain = query.domain ? data.domains[Number(query.domain)] : null;
  return (segment) => {
    if ((query.segment && segment.id !== query.segment) || (query.lp && segment.lp !== query.lp)) return false;
    if (domain !== null && (segment.domain ?? "") !== domain) return false;
    if (view.systems.some((system) => segment.texts[system] === null)) return false;
    if (query.disagreement && spreadOf(segment, view) < data.apart) return false;
    return wasSaid(segment, query, view) && (!search || wordsOf(segment).includes(search));
  };
}

/**
 * Whether something was said of it that is looked for, by who is looked for.
 * @param {Segment} segment
 * @param {Query} query
 * @param {View} view
 */
function wasSaid(segment, query, view) {
  const { severity, category, failures } = query;
  if (!severity && !category && !failures && view.by < 0) return true;
  const said = (segment.said ?? []).filter((one) => (one.pair ?? [one.of ?? -1]).some((system) => isShown(system, view)) && isChosen(one, view));
  if (view.by >= 0 && !said.length) return false;
  if (failures && !said.some((one) => one.failed)) return false;
  return (!severity && !category)
    || said.some((one) => (one.errors ?? []).some((error) => isWanted(error, severity ?? "", category ?? "")));
}

/**
 * @param {ErrorData} error
 * @param {string} severity
 * @param {string} category
 */
function isWanted(error, severity, category) {
  const own = error.category ?? "";
  return (!severity || error.severity === severity) && (!category || own === category || own.startsWith(category + "/"));
}

/** @param {Segment} segment */
function wordsOf(segment) {
  if (segment.words !== undefined) return segment.words;
  const notes = (segment.said ?? []).flatMap((said) => [said.rationale, said.detail, said.criterion,
    ...(said.errors ?? []).flatMap((error) => [error.note, error.quote])]);
  segment.words = [segment.id, segment.document, segment.source, ...segment.texts,
    ...Object.values(segment.references ?? {}), ...notes].filter(Boolean).join("\n").toLowerCase();
  return segment.words;
}

/**
 * @param {Segment} segment
 * @param {View} view
 */
const spreadOf = ({ spread = [] }, view) => Math.max(0, ...spread.filter((_, system) => isShown(system, view)));

/**
 * Mean of some scores; null where there is none.
 * @param {Segment} segment
 * @param {number} by whose scores
 * @param {(system: number) => boolean} isWithin the systems that they are of
 */
function meanOf(segment, by, isWithin) {
  const scores = (segment.said ?? []).flatMap((said) => (said.by === by && said.of !== undefined && isWithin(said.of)
    && typeof said.score === "number" ? [said.score] : []));
  return scores.length ? scores.reduce((sum, score) => sum + score, 0) / scores.length : null;
}

/**
 * How far apart the two systems are, by one annotator; null where it did not score both.
 * @param {Segment} segment
 * @param {number} by
 * @param {View} view
 */
function gapOf(segment, by, { systems: [one, other] }) {
  const [a, b] = [one, other ?? one].map((system) => meanOf(segment, by, (of) => of === system));
  return a === null || b === null ? null : Math.abs(a - b);
}

/**
 * @param {Segment[]} kept
 * @param {string} sort
 * @param {View} view
 */
function sorted(kept, sort, view) {
  const [order, by] = sort.split(":");
  if (order === "spread") return kept.sort((a, b) => spreadOf(b, view) - spreadOf(a, view));
  if (!["low", "high", "gap"].includes(order)) return kept;
  const sign = order === "low" ? 1 : -1;
  const values = new Map(kept.map((segment) => [segment, order === "gap" ? gapOf(segment, Number(by), view)
    : meanOf(segment, Number(by), (system) => isShown(system, view))]));
  return kept.sort((one, other) => {
    const [a, b] = [values.get(one) ?? null, values.get(other) ?? null];
    return a === null || b === null ? Number(a === null) - Number(b === null) : sign * (a - b);
  });
}
