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
  const isShown = shows(query, view);
  const kept = sorted(segments.filter(isShown), query.sort ?? "", view);
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
  const { system } = view;
  return (segment) => {
    if ((query.segment && segment.id !== query.segment) || (query.lp && segment.lp !== query.lp)) return false;
    if (domain !== null && (segment.domain ?? "") !== domain) return false;
    if (system >= 0 && segment.texts[system] === null) return false;
    if (query.disagreement && spreadOf(segment, system) < data.apart) return false;
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
  const said = (segment.said ?? []).filter((one) => isAbout(one, view.system) && isChosen(one, view));
  if (view.by >= 0 && !said.length) return false;
  if (failures && !said.some((one) => one.failed)) return false;
  return (!severity && !category)
    || said.some((one) => (one.errors ?? []).some((error) => isWanted(error, severity ?? "", category ?? "")));
}

/**
 * @param {Said} said
 * @param {number} system
 */
const isAbout = (said, system) => system < 0 || said.of === system || !!said.pair?.includes(system);

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
 * @param {number} system
 */
function spreadOf(segment, system) {
  const spread = segment.spread ?? [];
  return system < 0 ? Math.max(0, ...spread) : spread[system] ?? 0;
}

/**
 * Mean score of one annotator over the shown systems; null where it has none.
 * @param {Segment} segment
 * @param {number} by
 * @param {number} system
 */
function scoreOf(segment, by, system) {
  let [sum, n] = [0, 0];
  for (const said of segment.said ?? []) {
    if (said.by !== by || (system >= 0 && said.of !== system) || typeof said.score !== "number") continue;
    sum += said.score;
    n += 1;
  }
  return n ? sum / n : null;
}

/**
 * @param {Segment[]} kept
 * @param {string} sort
 * @param {View} view
 */
function sorted(kept, sort, { system }) {
  const [order, by] = sort.split(":");
  if (order === "spread") return kept.sort((a, b) => spreadOf(b, system) - spreadOf(a, system));
  if (order !== "low" && order !== "high") return kept;
  const sign = order === "low" ? 1 : -1;
  const scores = new Map(kept.map((segment) => [segment, scoreOf(segment, Number(by), system)]));
  return kept.sort((one, other) => {
    const [a, b] = [scores.get(one) ?? null, scores.get(other) ?? null];
    return a === null || b === null ? Number(a === null) - Number(b === null) : sign * (a - b);
  });
}
