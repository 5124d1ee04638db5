// @ts-check
/* Segments of a report: each text with its marks, and what each annotator said. Uses text.js. */

/**
 * @typedef {object} ErrorData One error; `at` is missing where it has no place.
 * @property {Severity} severity
 * @property {string} [category]
 * @property {"source"} [side]
 * @property {[number, number]} [at]
 * @property {boolean} [ambiguous]
 * @property {string} [quote]
 * @property {string} [note]
 */
/**
 * @typedef {object} Said What one annotator said; `by`, `of` and `pair` are positions.
 * @property {number} by
 * @property {number} [of]
 * @property {[number, number]} [pair]
 * @property {string} [criterion]
 * @property {boolean} [passed]
 * @property {"A" | "B" | "E"} [verdict]
 * @property {boolean} [undecided]
 * @property {number | null} [score]
 * @property {number} [rating]
 * @property {ErrorData[]} [errors]
 * @property {Record<string, number>} [counts]
 * @property {string} [failed]
 * @property {string} [detail]
 * @property {string[]} [flags]
 * @property {string} [rationale]
 * @property {string} [who]
 */
/**
 * @typedef {object} Segment
 * @property {string} id
 * @property {string} lp
 * @property {string} source
 * @property {(string | null)[]} texts
 * @property {string} [document]
 * @property {string} [domain]
 * @property {Record<string, string>} [references]
 * @property {Said[]} [said]
 * @property {number[]} [spread]
 * @property {string} [words] what a search looks through, made at the first search
 * @property {number} [row] its number on a server
 */
/**
 * @typedef {object} Data
 * @property {Record<string, {source: Language, target: Language}>} lps
 * @property {string[]} systems
 * @property {{label: string, digits: number, marks: boolean, talks?: boolean}[]} annotators
 * @property {Record<string, string>} reasons
 * @property {Invisible} invisible
 * @property {number} apart the spread from which annotators are said to disagree
 * @property {string[]} domains
 * @property {Segment[]} [segments] all of them; a server gives them bit by bit
 * @property {number} [total] how many there are, where a server gives them
 */
/**
 * @typedef {object} View What is shown of a segment.
 * @property {number[]} systems the only ones; none for all
 * @property {number} by the only annotator, or -1
 * @property {boolean} over whether the marks of several annotators lie over one another
 */
/**
 * @typedef {Record<string, string>} Query What is looked for: the fields of the form by name, `segment` for the
 * id of a single one; what is empty or missing does not matter.
 */
/**
 * @typedef {object} Found
 * @property {number} found how many match
 * @property {number} total how many there are
 * @property {(from: number, amount: number) => Promise<Segment[]>} page some of them, in order
 */

/**
 * @param {number} system
 * @param {View} view
 */
const isShown = (system, { systems }) => !systems.length || systems.includes(system);

/** What a query of the form shows. @type {(query: Query) => View} */
const viewOf = ({ system, against, annotator, view }) => ({
  systems: [system, against].filter(Boolean).map(Number),
  by: annotator ? Number(annotator) : -1,
  over: view === "over",
});

const QUOTE = 60;
/** @type {Severity[]} */
const SEVERITIES = ["neutral", "minor", "major", "critical"];

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @type {Data} */
const data = JSON.parse(byId("data").textContent ?? "");

/** The last number given to an error. */
let serial = 0;

// Words and numbers...

/** @param {string} text */
const plain = (text) => renderChars(Array.from(text), data.invisible);

/** @param {string} text */
const who = (text) => make("span", { class: "who" }, plain(text));

/**
 * Who said it: the annotator, and the person where several stand behind its name.
 * @param {Said} said
 */
const nameOf = (said) => data.annotators[said.by].label + (said.who ? `, ${said.who}` : "");

/** @param {string} category */
const shortName = (category) => category.slice(category.indexOf("/") + 1);

/** @param {number} amount */
const count = (amount) => amount.toLocaleString("en");

/**
 * A score with the digits of its annotator, and one that needs none with none, whoever gave it.
 * @param {number} by
 * @param {number | null | undefined} score
 */
function renderScore(by, score) {
  if (score === null || score === undefined) return null;
  const digits = score.toFixed(Number.isInteger(score) ? 0 : data.annotators[by].digits);
  const sign = /^-.*[1-9]/.test(digits) ? "−" : "";
  return make("span", { class: "score" }, sign + digits.replace("-", ""));
}

/**
 * @param {string} text
 * @param {Language} language
 */
function renderQuote(text, language) {
  const chars = Array.from(text);
  const kept = chars.length > QUOTE ? [...chars.slice(0, QUOTE - 1), "…"] : chars;
  return make("q", { lang: language.lang, dir: language.dir }, renderChars(kept, data.invisible));
}

// What was said...

/** @param {ErrorData} error */
function placeWords(error) {
  const side = error.side ? "in the source" : "";
  const place = error.at ? "" : error.quote ? "found nowhere in the text" : "no place given";
  return [side, place, error.ambiguous ? "stands in several places" : ""].filter(Boolean).join(", ");
}

/**
 * @param {Segment} segment
 * @param {Said} said
 * @param {ErrorData} error
 * @param {number} number
 */
function renderError(segment, said, error, number) {
  const { source, target } = data.lps[segment.lp];
  const text = error.side ? segment.source : segment.texts[said.of ?? 0] ?? "";
  const quote = error.at ? Array.from(text).slice(...error.at).join("") : error.quote ?? "";
  const place = placeWords(error);
  const item = make("li", { id: `error-${number}`, "data-mark": String(number) },
    make("span", { class: `severity ${error.severity}` }, error.severity),
    error.category ? ` ${error.category}` : null,
    quote ? " " : null, quote ? renderQuote(quote, error.side ? source : target) : null,
    place ? make("span", { class: "note" }, ` (${place})`) : null);
  if (error.note) item.append(make("span", { class: "note" }, ": ", make("bdi", {}, plain(error.note))));
  return item;
}

/**
 * Flags, rationale and conversation, as plain text.
 * @param {Segment} segment
 * @param {Said} said
 * @param {boolean} talks whether the conversation belongs here; one about several criteria is shown once
 */
function renderAside(segment, said, talks = true) {
  const flags = (said.flags ?? []).map((flag) => make("span", { class: "badge" }, plain(flag)));
  const words = said.rationale ? [make("details", { class: "rationale" }, make("summary", {}, "Rationale"),
    make("p", { dir: "auto" }, plain(said.rationale)))] : [];
  return [...flags, ...words, ...[talks ? renderTalk(segment, said) : null].flatMap((talk) => talk ?? [])];
}

const UNTRANSLATED = "no_translation";

/** @param {Said} said */
const failureWords = ({ failed }) => failed === UNTRANSLATED ? data.reasons[failed] : `failed: ${failed}`;

/** @param {Said} said */
function renderFailure(said) {
  const reason = said.failed ?? "";
  const words = make("span", { class: "failed" }, failureWords(said));
  if (reason === UNTRANSLATED) return make("p", { class: "small" }, words);
  return make("p", { class: "small" }, words, " ",
    make("span", { class: "soft" }, data.reasons[reason] ?? "", " ", make("bdi", {}, plain(said.detail ?? ""))));
}

/**
 * What one annotator marked: marks for the text, and a line for each error.
 * @param {Segment} segment
 * @param {Said | undefined} said
 * @param {number} [voice] set where the marks of several annotators share a text: then labels say whose they are
 */
function renderErrors(segment, said, voice) {
  /** @type {Mark[]} */
  const marks = [];
  if (!said) return { marks, items: [] };
  const items = (said.errors ?? []).map((error) => {
    serial += 1;
    if (error.at && !error.side) {
      const what = shortName(error.category ?? error.severity);
      const label = voice === undefined ? what : `${nameOf(said)}: ${what}`;
      marks.push({ from: error.at[0], to: error.at[1], severity: error.severity, label, number: serial, voice });
    }
    return renderError(segment, said, error, serial);
  });
  for (const [severity, amount] of Object.entries(said.counts ?? {})) {
    items.push(make("li", {}, make("span", { class: `severity ${severity}` }, severity), ` ${amount} counted`));
  }
  return { marks, items };
}

/**
 * One judgement of one annotator: the text with its marks, and the errors below.
 * @param {Segment} segment
 * @param {number} system
 * @param {Said | undefined} said
 * @param {Node} name
 * @param {Node[]} others what other annotators said, behind the score
 */
function renderJudgement(segment, system, said, name, others = []) {
  const { marks, items } = renderErrors(segment, said);
  const text = renderText(segment.texts[system] ?? "", data.lps[segment.lp].target, marks, data.invisible);
  const title = make("header", {}, name, ...(said ? renderTitle(said) : []), ...others);
  return make("div", { class: "judgement", "data-marks": "" }, title, text, ...renderBelow(segment, said, items));
}

/**
 * What stands below a text.
 * @param {Segment} segment
 * @param {Said | undefined} said
 * @param {Node[]} items
 */
function renderBelow(segment, said, items) {
  if (!said) return [];
  return [...(said.failed ? [renderFailure(said)] : []),
    ...(items.length ? [make("ul", { class: "errors" }, ...items)] : []), ...renderAside(segment, said)];
}

/**
 * One text with the marks of several annotators over one another; what each of them said stands below.
 * @param {Segment} segment
 * @param {number} system
 * @param {(Said | number)[]} all judgements, and the numbers of annotators that did not judge
 */
function renderOver(segment, system, all) {
  /** @type {Mark[]} */
  const marks = [];
  const voices = all.map((said, voice) => {
    if (typeof said === "number") return make("div", { class: "voice" }, who(`${data.annotators[said].label}: not judged`));
    const own = renderErrors(segment, said, voice);
    marks.push(...own.marks);
    const title = make("header", { "data-voice": String(voice + 1) }, who(nameOf(said)), ...renderTitle(said, false));
    return make("div", { class: "voice" }, title, ...renderBelow(segment, said, own.items));
  });
  const text = renderText(segment.texts[system] ?? "", data.lps[segment.lp].target, marks, data.invisible);
  return make("div", { class: "judgement over", "data-marks": "" }, text, make("div", { class: "voices" }, ...voices));
}

/**
 * @param {Said} said
 * @param {boolean} named whether the one who said it is named too, where several hide behind an annotator
 */
function renderTitle(said, named = true) {
  const parts = [renderScore(said.by, said.score), said.who && named ? who(`by ${said.who}`) : null];
  if (said.rating !== undefined) parts.push(who(`rated ${said.rating}`));
  return parts.flatMap((part) => part ?? []);
}

/**
 * What an annotator said that marks no errors: its score beside the name, the rest below.
 * @param {Said} said
 */
function renderRating(said) {
  const words = said.failed ? make("span", { class: "failed" }, failureWords(said)) : renderScore(said.by, said.score);
  return make("span", {}, who(`${data.annotators[said.by].label} `), words);
}

/**
 * @param {Segment} segment
 * @param {Said} said
 */
function renderRemarks(segment, said) {
  const parts = renderBelow(segment, said, []);
  return parts.length ? make("div", { class: "small" }, who(data.annotators[said.by].label), " ", ...parts) : null;
}

/**
 * Verdicts of one annotator on the criteria of the segment, with the share that is passed beside its name.
 * @param {Segment} segment
 * @param {Said[]} checks
 */
function renderChecks(segment, checks) {
  const score = checks.find((said) => typeof said.score === "number")?.score;
  const items = checks.map((said, place) => {
    const word = said.failed ? failureWords(said) : said.passed ? "pass" : "fail";
    const verdict = make("span", { class: said.failed ? "failed" : `check ${word}` }, word);
    const why = said.failed ? [data.reasons[said.failed], said.detail].filter(Boolean).join(": ") : said.rationale ?? "";
    return make("li", {}, verdict, " ", make("bdi", {}, plain(said.criterion ?? "")), " ",
      make("span", { class: "note" }, make("bdi", {}, plain(why))),
      ...renderAside(segment, { ...said, rationale: undefined }, place === 0));
  });
  return make("div", { class: "small" }, who(`${nameOf(checks[0])} `), renderScore(checks[0].by, score),
    make("ul", { class: "errors" }, ...items));
}

/**
 * One translation: once for each annotator that marks errors, or once for all; what the others said stands around it.
 * @param {Segment} segment
 * @param {number} system
 * @param {View} view
 */
function renderTranslation(segment, system, view) {
  const own = (segment.said ?? []).filter((said) => said.of === system && isChosen(said, view));
  const marking = data.annotators.flatMap((annotator, by) => (annotator.marks && isChosen({ by }, view) ? [by] : []));
  const others = own.filter((said) => !marking.includes(said.by) && said.criterion === undefined);
  const checks = own.filter((said) => said.criterion !== undefined);
  /** @param {Said} said */
  const isFirst = (said) => checks.find((one) => nameOf(one) === nameOf(said)) === said;
  const ratings = others.map(renderRating);
  const name = make("span", { class: "system" }, plain(data.systems[system]));
  const [said, another] = own.filter((one) => marking.includes(one.by));
  const translation = make("div", { class: "translation" });
  if (marking.length < 2 && !another) {
    if (marking.length && !said) ratings.unshift(who("not judged"));
    const label = make("span", {}, name, said && data.annotators.length > 1 ? who(` ${data.annotators[said.by].label}`) : "");
    translation.append(renderJudgement(segment, system, said, label, ratings));
  } else {
    const all = marking.flatMap((by) => {
      /** @type {(Said | number)[]} */
      const found = own.filter((one) => one.by === by);
      return found.length ? found : [by];
    });
    const judgements = view.over ? [renderOver(segment, system, all)] : all.map((one) => (typeof one === "number"
      ? renderJudgement(segment, system, undefined, who(`${data.annotators[one].label}: not judged`))
      : renderJudgement(segment, system, one, who(data.annotators[one.by].label))));
    translation.append(make("header", {}, name, ...ratings), make("div", { class: "judgements" }, ...judgements));
  }
  translation.append(...others.flatMap((one) => renderRemarks(segment, one) ?? []));
  translation.append(...checks.filter(isFirst).map((first) => renderChecks(segment, checks.filter((one) => nameOf(one) === nameOf(first)))));
  return translation;
}

/**
 * @param {{by: number}} said
 * @param {View} view
 */
const isChosen = (said, view) => view.by < 0 || said.by === view.by;

// Segments...

/**
 * Marks in the source; the same error of several systems at one place is one mark that names them.
 * @param {Segment} segment
 * @param {View} view
 */
function sourceMarks(segment, view) {
  const several = data.annotators.filter((annotator) => annotator.marks).length > 1;
  /** @type {Map<string, {mark: Mark, systems: Set<string>, names: Set<string>}>} */
  const marks = new Map();
  for (const said of segment.said ?? []) {
    if (said.of === undefined || !isShown(said.of, view) || !isChosen(said, view)) continue;
    for (const error of said.errors ?? []) {
      if (!error.side || !error.at) continue;
      const [from, to] = error.at;
      const label = shortName(error.category ?? error.severity);
      const key = JSON.stringify([from, to, label]);
      const known = marks.get(key) ?? { mark: { from, to, severity: error.severity, label, number: ++serial }, systems: new Set(), names: new Set() };
      if (SEVERITIES.indexOf(error.severity) > SEVERITIES.indexOf(known.mark.severity)) known.mark.severity = error.severity;
      known.systems.add(data.systems[said.of]);
      known.names.add(nameOf(said));
      marks.set(key, known);
    }
  }
  return [...marks.values()].map(({ mark, systems, names }) => {
    const by = several ? ` (${[...names].join(", ")})` : "";
    return { ...mark, label: `${mark.label}: ${[...systems].join(", ")}${by}` };
  });
}

/** @param {Segment} segment */
function renderReferences(segment) {
  const names = Object.entries(segment.references ?? {});
  if (!names.length) return null;
  const texts = names.flatMap(([name, text]) => [who(name), renderText(text, data.lps[segment.lp].target, [], data.invisible)]);
  return make("details", { class: "references" }, make("summary", {}, names.length > 1 ? "References" : "Reference"), ...texts);
}

/** @param {Said} said */
function verdictWords(said) {
  const [a, b] = (said.pair ?? [0, 0]).map((index) => data.systems[index]);
  if (said.failed) return `${a} and ${b}: ${failureWords(said)}`;
  if (said.undecided) return `${a} and ${b}: undecided, the verdict changed with the order`;
  return { A: `${a} over ${b}`, B: `${b} over ${a}`, E: `${a} and ${b} equally good` }[said.verdict ?? "E"];
}

/**
 * @param {Segment} segment
 * @param {View} view
 */
function renderPreferences(segment, view) {
  const own = (segment.said ?? []).filter((said) => said.pair?.some((system) => isShown(system, view)) && isChosen(said, view));
  if (!own.length) return null;
  /** @param {Said} said */
  const isFirst = (said) => own.find((one) => one.by === said.by && String(one.pair) === String(said.pair)) === said;
  const items = own.map((said) => make("li", {}, who(`${nameOf(said)}, ${said.criterion}: `),
    plain(verdictWords(said)), ...renderAside(segment, said, isFirst(said))));
  return make("details", {}, make("summary", {}, items.length > 1 ? `${items.length} preferences` : "1 preference"),
    make("ul", { class: "errors" }, ...items));
}

/**
 * @param {Segment} segment
 * @param {View} view
 */
function renderSegment(segment, view) {
  const { source, target } = data.lps[segment.lp];
  const facts = [segment.id, segment.document, segment.domain, `${source.name} to ${target.name}`];
  const systems = segment.texts.flatMap((text, index) => (text !== null && isShown(index, view) ? [index] : []));
  const many = view.by < 0 && !view.over && data.annotators.filter((annotator) => annotator.marks).length > 1;
  return make("li", { class: "segment" },
    make("header", {}, ...facts.flatMap((fact) => (fact ? [make("span", {}, plain(fact))] : [])), renderLink(segment)),
    make("div", { class: "source", "data-marks": "" }, renderText(segment.source, source, sourceMarks(segment, view), data.invisible)),
    renderReferences(segment),
    make("div", { class: many ? "translations many" : "translations" }, ...systems.map((index) => renderTranslation(segment, index, view))),
    renderPreferences(segment, view));
}
