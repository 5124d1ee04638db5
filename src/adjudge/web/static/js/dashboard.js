// @ts-check
/* The organiser's pages: numbers that are asked for again every few seconds, and who is let in. */

import { address, post } from "./api.js";
import { copy } from "./copying.js";
import { copyOf, find, make } from "./dom.js";
import { date, digitsFor, duration, ends, fixed, pValue, share, whole } from "./figures.js";
import { askBeside, askWayIn, withdraw } from "./notices.js";

/** @typedef {import("./figures.js").Told} Told */

const PAUSE = 5_000; // milliseconds between two questions
const SVG = "http://www.w3.org/2000/svg";

const place = (/** @type {string} */ id) => document.getElementById(id);

let last = "";
let timer = 0;

/** Asks, shows what changed, and asks again later; a page that nobody sees does not ask. */
async function refresh() {
  clearTimeout(timer);
  if (!document.hidden) {
    try {
      const response = await fetch(address("/api/dashboard"), { credentials: "same-origin", signal: AbortSignal.timeout(60_000) });
      if (response.status === 401) askWayIn(refresh);
      else withdraw("signed-out");
      if (!response.ok) throw new Error(response.status === 401 ? "You are signed out: these numbers are not new." : "The server does not answer as it should.");
      const text = await response.text();
      if (text !== last) show(JSON.parse(text));
      last = text;
      say("");
    } catch (error) {
      const lost = !(error instanceof Error) || error.name !== "Error";
      say(lost ? "No connection to the server: these numbers are not new." : error.message);
    }
  }
  timer = setTimeout(refresh, PAUSE);
}

/** @param {string} trouble */
function say(trouble) {
  const notice = find(document, "#trouble");
  if (notice.textContent !== trouble) notice.textContent = trouble;
  notice.hidden = !trouble;
}

/** @param {any} data */
function show(data) {
  find(document, "#as-of").textContent = `As of ${date(data.now)}`;
  if (place("rankings")) {
    find(document, "#protocol").textContent = `${data.protocol}.`;
    showRankings(data);
    showProgress(data.progress);
    if (place("agreement")) showAgreement(data.agreement, data.shown);
  }
  showPeople(data.people);
  if (place("ways")) showWays(data.people);
  document.body.dataset.ready = "";
}

/**
 * Rows anew, one a thing.
 * @param {string} id of the table's body
 * @param {HTMLElement[]} rows
 */
const fill = (id, rows) => find(document, `#${id}`).replaceChildren(...rows);

/**
 * @param {string} text
 * @param {boolean} [isNumber]
 */
const cell = (text, isNumber) => make("td", isNumber ? { class: "number" } : {}, text);

/** @param {string} name */
const heading = (name) => make("th", { scope: "row" }, make("bdi", {}, name));

// Systems...

/**
 * One ranking a language pair, and a criterion; what nobody has judged has none.
 * @param {any} data
 */
function showRankings({ rankings, unjudged, progress }) {
  const begun = `${whole(progress.items_done)} of ${whole(progress.items)} items are done.`;
  const [only] = rankings.length === 1 ? rankings : [];
  const nothing = rankings.length && unjudged.length ? ` Nothing is judged yet of ${unjudged.join(", ")}.` : "";
  const isEmpty = !progress.items_done && !progress.items_given_back;
  find(document, "#answer").textContent = isEmpty ? `No judgements yet: 0 of ${whole(progress.items)}.` : `${only ? answer(only) : begun}${nothing}`;
  find(document, "#rankings").replaceChildren(...rankings.map((/** @type {any} */ one) => standing(one, !only)));
}

/**
 * @param {any} systems
 * @param {boolean} isOneOfMany
 */
function standing(systems, isOneOfMany) {
  const section = copyOf("standing");
  find(section, "h2").textContent = name(systems);
  find(section, ".scroll").setAttribute("aria-label", `Pairs that are not told apart: ${name(systems)}`);
  find(section, ".answer").textContent = isOneOfMany ? answer(systems) : "";
  showSystems(section, systems);
  showPairs(section, systems);
  return section;
}

/** @param {{lp: string, criterion: string}} judged */
const name = ({ lp, criterion }) => (criterion ? `${lp}, ${criterion}` : lp);

/**
 * @param {HTMLElement} section
 * @param {any} systems
 */
function showSystems(section, systems) {
  const known = systems.rows.flatMap((/** @type {any} */ row) => row.interval ?? (row.mean === null ? [] : [row.mean]));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const digits = digitsFor(systems.rows);
  find(section, ".low").textContent = known.length ? fixed(low, digits) : "";
  find(section, ".high").textContent = known.length ? fixed(high, digits) : "";
  find(section, ".systems").replaceChildren(...systems.rows.map((/** @type {any} */ row) => make("tr", { role: "row" },
    make("td", { role: "cell", class: "rank soft" }, row.best === row.worst ? `${row.best}` : `${row.best}–${row.worst}`),
    make("th", { role: "rowheader", scope: "row" }, make("bdi", {}, row.system)),
    make("td", { role: "cell", class: "number score" }, fixed(row.mean, digits)),
    make("td", { role: "cell", class: "bar-cell" }, ...bar(row, low, high)),
    make("td", { role: "cell", class: "number interval-cell soft" }, ends(row.interval, digits)),
    make("td", { role: "cell", class: "number" }, whole(row.n)),
  )));
}

/** @param {any} systems */
function answer(systems) {
  const { pairs, apart } = systems;
  if (!pairs) return "Too little is judged to say anything of the systems.";
  const left = pairs - apart;
  if (!left) return pairs === 1 ? "Both systems are told apart: nothing more is needed." : `All ${pairs} pairs of systems are told apart: nothing more is needed.`;
  const told = pairs === 1 ? "Both systems are still tied." : `${whole(apart)} of ${whole(pairs)} pairs of systems are told apart, ${whole(left)} ${left === 1 ? "is" : "are"} still tied.`;
  return systems.is_over ? `${told} All that was planned is judged.` : told;
}

/**
 * @param {any} row
 * @param {number} low
 * @param {number} high
 */
function bar(row, low, high) {
  if (row.mean === null || high <= low) return [];
  const at = (/** @type {number} */ value) => `${Math.round((1000 * (value - low)) / (high - low))}`;
  const [from, to] = row.interval ?? [row.mean, row.mean];
  return [draw("svg", { class: "bar", viewBox: "0 0 1000 12", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("line", { class: "ground", x1: "0", x2: "1000", y1: "6", y2: "6" }),
    draw("line", { class: "interval", x1: at(from), x2: at(to), y1: "6", y2: "6" }),
    draw("line", { class: "mean", x1: at(row.mean), x2: at(row.mean), y1: "1", y2: "11" }))];
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {Element[]} children
 */
function draw(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const STATES = { leaning: "significant at a single look, not after correcting for repeated looks", tied: "tied", unknown: "too few judged for both" };

/**
 * @param {HTMLElement} section
 * @param {any} systems
 */
function showPairs(section, systems) {
  find(section, ".tied").hidden = !systems.open.length;
  const digits = digitsFor(systems.rows);
  find(section, ".pairs").replaceChildren(...systems.open.map((/** @type {any} */ pair) => make("tr", {},
    heading(pair.first),
    make("td", {}, make("bdi", {}, pair.second)),
    cell(fixed(pair.difference, digits), true),
    cell(pValue(pair.p), true),
    cell(whole(pair.n), true),
    cell(pair.needed === null ? "–" : whole(pair.needed), true),
    cell(STATES[/** @type {keyof typeof STATES} */ (pair.state)]),
  )));
}

// Progress...

/** @param {any} progress */
function showProgress(progress) {
  const done = progress.items ? ` (${share(progress.items_done, progress.items)})` : "";
  const rows = [
    ["Items done", `${whole(progress.items_done)} of ${whole(progress.items)}${done}`],
    ...(progress.items_given_back ? [["Done besides, in tasks that were given back", whole(progress.items_given_back)]] : []),
    ["Tasks done", `${whole(progress.tasks_done)} of ${whole(progress.tasks)}, ${whole(progress.under_way)} under way`],
    ["Pace", progress.an_hour === null ? "–" : `${fixed(progress.an_hour, 1)} items an hour`],
    ["Work so far", progress.active === null ? "–" : duration(progress.active)],
    ["Work to do", progress.active_left === null ? "–" : duration(progress.active_left)],
    [progress.items_done < progress.items ? "The end, at this pace" : "The end", progress.ends_at === null ? "–" : date(progress.ends_at)],
  ];
  fill("progress", rows.map(([name, value]) => make("tr", {}, heading(name), cell(value, true))));
}

// People...

/**
 * @param {(Told & {lp: string, criterion: string})[]} agreement
 * @param {number} shown judgements of people who saw what others had said
 */
function showAgreement(agreement, shown) {
  const told = agreement.filter((one) => one.value !== null);
  const nothing = agreement.length ? "Two people judged the same, and what they said does not vary enough yet to be compared." : "Nothing is judged by two people yet.";
  const lines = told.map((one) => `${name(one)}: ${one.name} ${fixed(one.value, 2)} (${ends(one.interval, 2)}; n = ${whole(one.n)})`);
  const apart = shown ? [`Not in these numbers: ${whole(shown)} judgements of people who were shown what others said.`] : [];
  find(document, "#agreement").replaceChildren(...(lines.length ? lines : [nothing]).concat(apart).map((line) => make("li", {}, line)));
}

/**
 * Why somebody gets no work.
 * @param {any} one
 */
const outOf = (one) => [...(one.is_revoked ? ["shut out"] : []), ...(one.is_failed ? ["failed the test"] : [])];

/** @param {any[]} people */
function showPeople(people) {
  fill("people", people.filter((one) => one.role !== "organiser").map((one) => make("tr", {},
    make("th", { scope: "row" }, make("bdi", {}, one.name), ...outOf(one).flatMap((why) => [" ", make("span", { class: "badge" }, why)])),
    cell(one.lps.join(" ")),
    cell(one.documents ? whole(one.documents) : "–", true),
    cell(one.held ? whole(one.held) : "–", true),
    cell(whole(one.items), true),
    cell(one.left === null ? "–" : whole(one.left), true),
    cell(one.checks ? `${one.passed} of ${one.checks} (${ends(one.interval?.map((/** @type {number} */ end) => 100 * end), 0)} %)` : "–", true),
    ofEach(one.judged, ({ agreement }) => (agreement?.value == null ? "–" : `${fixed(agreement.value, 2)} (${whole(agreement.n)})`)),
    ofEach(one.judged, ({ above }) => withEnds(above)),
    ofEach(one.judged, ({ drift }) => withEnds(drift)),
    ofEach(one.judged, ({ seconds }) => (seconds === null ? "–" : fixed(seconds, 0))),
    cell(one.last_at === null ? "–" : date(one.last_at)),
  )));
}

/**
 * A number of each language pair in which somebody judged; of a single one without its name.
 * @param {any[]} judged
 * @param {(one: any) => string} tell
 */
function ofEach(judged, tell) {
  if (judged.length < 2) return cell(judged.length ? tell(judged[0]) : "–", true);
  return make("td", { class: "number" }, ...judged.map((one) => make("div", {}, `${one.lp}: ${tell(one)}`)));
}

/** @param {Told | null} told */
const withEnds = (told) => (told?.value == null ? "–" : `${fixed(told.value, 1)} (${ends(told.interval, 1)})`);

/** @type {Map<number, boolean>} who was just shut out or let in, and whether they are out: the numbers come later */
const justTold = new Map();

/**
 * Who there is; only a change of that makes the list anew, so that a button does not vanish under a hand.
 * @param {any[]} told
 */
function showWays(told) {
  const people = told.map((one) => {
    if (justTold.get(one.id) === one.is_revoked) justTold.delete(one.id);
    return { ...one, is_revoked: justTold.get(one.id) ?? one.is_revoked };
  });
  const list = find(document, "#ways");
  const key = JSON.stringify(people.map((one) => [one.id, one.name, one.is_revoked, one.is_failed]));
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(...people.map((one) => {
    const showOut = (/** @type {boolean} */ isOut) => {
      justTold.set(one.id, isOut);
      showWays(told);
    };
    const link = act("New link", one.name, () => askBeside(link, "The link before, and all sessions, end.", "Make a new link", async () => {
      if (await wayIn(`/api/people/${one.id}/link`)) showOut(false);
    }));
    const out = act("Shut out", one.name, () => askBeside(out, "They cannot go on; what they did stays.", "Shut them out", async () => {
      if (await change(`/api/people/${one.id}/revoke`, "refused")) showOut(true);
    }));
    const isOrganiser = one.role === "organiser"; // one shuts nobody out who could do the same
    return make("li", {}, make("bdi", {}, one.name), " ", make("span", { class: "badge" }, outOf(one)[0] ?? one.role), " ", ...(isOrganiser ? [] : [link]), ...(isOrganiser || one.is_revoked ? [] : [out]));
  }));
}

/**
 * @param {string} words
 * @param {string} name
 * @param {() => void} does
 */
function act(words, name, does) {
  const button = make("button", { type: "button", "aria-label": `${words}: ${name}` }, words);
  button.addEventListener("click", does);
  return button;
}

/**
 * Asks for a change; what is refused is said until the next one is asked for.
 * @param {string} path
 * @param {string} id of where it is said
 * @param {object} [body]
 * @returns {Promise<any>} what the server said; null where it did not do it
 */
async function change(path, id, body = {}) {
  const { status, body: said } = await post(path, body);
  const notice = find(document, `#${id}`);
  notice.textContent = status === 200 ? "" : said.message ?? "The server cannot be reached.";
  if (notice.classList.contains("notice")) notice.hidden = status === 200;
  return status === 200 ? said : null;
}

/**
 * @param {string} path
 * @param {object} [body]
 */
async function wayIn(path, body) {
  const said = await change(path, "refused", body);
  if (!said) return null;
  find(document, "#whose").textContent = `${said.name}:`;
  find(document, "#link").textContent = `${location.origin}${said.path}`;
  find(document, "#copied").textContent = "";
  find(document, "#way-in").hidden = false;
  return said;
}

/** @param {any} said what the gate decided */
const decided = (said) => `${whole(said.first)} of ${whole(said.segments)} segments decided on: ${whole(said.failed)} sent out again, ${whole(said.second)} of these judged again, ${whole(said.dropped)} dropped.`;

/**
 * @param {number} number
 * @param {number} released from how many people
 */
function taken(number, released) {
  if (!released) return `Nobody was working on task ${number}.`;
  return `Task ${number} was taken back from ${released === 1 ? "one person" : `${released} people`}.`;
}

/** The language pair that is chosen for files, as the server is asked for it. */
function ofPair() {
  const chosen = document.querySelector("#of-pair");
  return chosen instanceof HTMLSelectElement && chosen.value ? `?lp=${encodeURIComponent(chosen.value)}` : "";
}

/**
 * Has the browser keep a file that the server makes; what the server says in its place is said here.
 * @param {HTMLAnchorElement} link
 */
async function download(link) {
  const said = find(document, "#exported");
  said.textContent = "One moment…";
  try {
    const response = await fetch(`${link.href}${ofPair()}`, { credentials: "same-origin" });
    if (!response.ok) throw new Error((await response.json()).message);
    const [, name = ""] = /filename\*?="?(?:utf-8'')?([^"]+)/.exec(response.headers.get("Content-Disposition") ?? "") ?? [];
    const address = URL.createObjectURL(await response.blob());
    make("a", { href: address, download: decodeURIComponent(name) }).click();
    setTimeout(() => URL.revokeObjectURL(address), PAUSE);
    said.textContent = "";
  } catch (error) {
    const isSaid = error instanceof Error && error.name === "Error";
    said.textContent = isSaid ? error.message : "The server does not answer. Try again in a moment.";
  }
}

place("exports")?.addEventListener("click", (event) => {
  if (!(event.target instanceof HTMLAnchorElement)) return;
  event.preventDefault();
  download(event.target);
});
place("copy")?.addEventListener("click", () => copy(find(document, "#link"), find(document, "#copied")));
place("add")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = find(document, "#name", HTMLInputElement);
  const [role, lp] = ["#role", "#lp"].map((id) => find(document, id, HTMLSelectElement).value);
  await wayIn("/api/people", { name: field.value, role, lps: lp ? [lp] : [] });
  field.value = "";
});
place("release")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const number = find(document, "#number", HTMLInputElement).valueAsNumber;
  const said = await change(`/api/tasks/${number}/release`, "taken");
  if (said) find(document, "#taken").textContent = taken(number, said.released);
});
place("gate")?.addEventListener("click", () => {
  askBeside(find(document, "#gate"), "What fails twice is dropped, and nothing takes that back.", "Send it out again", async () => {
    find(document, "#decided").textContent = "One moment…";
    const said = await change("/api/gate", "decided");
    if (said) find(document, "#decided").textContent = decided(said);
  });
});
document.addEventListener("visibilitychange", () => { if (!document.hidden) last = ""; });
refresh();
