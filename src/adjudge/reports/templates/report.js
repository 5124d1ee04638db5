// @ts-check
/* The list of segments: its filters, its order, and the address that brings it back. Uses said.js, and `find`
 * of find.js or served.js. */

const FIRST = 20;
const MORE = 50;
const PAUSE = 200; // milliseconds without a key before a search begins
/** @type {[string, string][]} how an order begins in the address, and in the form */
const ORDERS = [["lowest", "low"], ["highest", "high"], ["disagreement", "spread"], ["difference", "gap"]];

const form = /** @type {HTMLFormElement} */ (byId("filters"));
const list = byId("list");
const more = byId("more");
const all = make("button", { type: "button", hidden: "" }, "Show all segments");
const notice = make("p", { class: "notice", role: "alert", hidden: "" });

/** @type {Found} */
let found = { found: 0, total: 0, page: async () => [] };
let shown = 0;
/** Id of the only segment to show. */
let single = "";
/** Number of the last question: an answer to an older one comes too late. */
let turn = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;
/** Whether the form is being set by the address, and not by a reader. */
let isRestoring = false;

// Form...

/** @returns {Query} */
const readForm = () => Object.fromEntries([...new FormData(form), ["segment", single]]);

// Address: names instead of positions, so that a link outlives the page that it was copied from...

/** @param {string} name */
function namesOf(name) {
  if (name === "system" || name === "against") return data.systems;
  if (name === "domain") return data.domains.map((domain) => domain || "none");
  return name === "annotator" ? data.annotators.map(({ label }) => label) : null;
}

/**
 * @param {string} name
 * @param {string} value
 */
function nameValue(name, value) {
  if (name !== "sort") return namesOf(name)?.[Number(value)] ?? value;
  const [order, by] = value.split(":");
  const word = ORDERS.find((pair) => pair[1] === order)?.[0] ?? order;
  return by ? `${word}:${data.annotators[Number(by)].label}` : word;
}

/**
 * @param {string} name
 * @param {string} words
 * @returns {string} value of the form; one that no field has where the words mean nothing here
 */
function readValue(name, words) {
  const at = (/** @type {string[]} */ names, /** @type {string} */ word) => String(names.indexOf(word));
  if (name !== "sort") {
    const names = namesOf(name);
    return names ? at(names, words) : words;
  }
  const [word, ...label] = words.split(":");
  const order = ORDERS.find((pair) => pair[0] === word)?.[1] ?? "?";
  return `${order}:${label.length ? at(data.annotators.map((annotator) => annotator.label), label.join(":")) : ""}`;
}

/** @param {Query} query */
function renderAddress(query) {
  const named = Object.entries(query).filter(([, value]) => value).map(([name, value]) => [name, nameValue(name, value)]);
  return named.length ? "#" + new URLSearchParams(named).toString() : "";
}

/** Whether the address says what to show; `#en-de` only names a part of the page. */
const isState = () => location.hash.includes("=");

/** Set the form by the address; what it asks for and this page does not have is said. */
function readAddress() {
  const wanted = new URLSearchParams(isState() ? location.hash.slice(1) : "");
  /** @type {string[]} */
  const missing = [];
  isRestoring = true;
  form.reset();
  isRestoring = false;
  single = wanted.get("segment") ?? "";
  for (const [name, words] of wanted) {
    if (name === "segment") continue;
    const field = form.elements.namedItem(name);
    const value = readValue(name, words);
    if (field instanceof HTMLInputElement && field.type === "checkbox") field.checked = words === "on";
    else if (field instanceof HTMLInputElement) field.value = value;
    else if (field instanceof HTMLSelectElement && [...field.options].some((option) => option.value === value)) field.value = value;
    else missing.push(`${name} ${words}`);
  }
  notice.hidden = !missing.length;
  notice.replaceChildren("The address asks for what this page does not have, and that part of it is left out: ",
    make("bdi", {}, plain(missing.join(", "))), ".");
}

/** Keep what is shown in the address, so that the view can be shared. */
function keepAddress() {
  const address = renderAddress(readForm());
  if (!address && !isState()) return;
  history.replaceState(null, "", address || location.pathname + location.search);
}

/**
 * The address of one segment, and a button that copies it.
 * @param {Segment} segment
 */
function renderLink(segment) {
  const { view = "" } = readForm();
  const lp = Object.keys(data.lps).length > 1 ? segment.lp : "";
  const address = renderAddress({ segment: segment.id, lp, view });
  const link = make("a", { href: address, "aria-label": `Link to segment ${segment.id} alone` }, "Link");
  const copy = make("button", { type: "button", class: "plain", "aria-live": "polite" }, "Copy link");
  copy.addEventListener("click", () => copyLink(address, copy));
  return make("span", { class: "links" }, link, copy);
}

/**
 * @param {string} address
 * @param {HTMLElement} button
 */
async function copyLink(address, button) {
  try {
    await navigator.clipboard.writeText(new URL(address, location.href).href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed to copy: copy the address of “Link”";
  }
}

// Parts of the page that are folded...

/** Open what the address leads to; a browser that does it by itself has done so. */
function unfold() {
  const part = isState() ? null : document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = part?.closest("details"); at; at = at.parentElement?.closest("details")) at.open = true;
  part?.scrollIntoView();
}

/** What was folded before the page was printed. @type {HTMLDetailsElement[]} */
let folded = [];

// Tables that can be sorted...

/**
 * What a cell is sorted by: the number that it begins with, else its words; what is empty comes last.
 * @param {HTMLTableRowElement} row
 * @param {number} column
 */
function valueOf(row, column) {
  const words = (row.cells[column]?.textContent ?? "").trim().replace("−", "-").replace(/(\d),(?=\d)/g, "$1");
  const value = words.startsWith("<") ? 0 : Number.parseFloat(words);
  return { words, value: words === "·" ? 0 : value };
}

/**
 * @param {HTMLTableRowElement[]} rows
 * @param {number} column
 * @param {number} sign 1 for the lowest first, -1 for the highest
 */
const sortedRows = (rows, column, sign) => rows.map((row) => ({ row, ...valueOf(row, column) })).sort((a, b) => {
  const [hasNone, otherHasNone] = [a, b].map(({ words }) => words === "" || words === "–");
  if (hasNone || otherHasNone) return Number(hasNone) - Number(otherHasNone);
  if (Number.isNaN(a.value) || Number.isNaN(b.value)) return sign * a.words.localeCompare(b.words);
  return sign * (a.value - b.value);
}).map(({ row }) => row);

/** Make each heading of a table a button: the highest first, the lowest first, and as it was. @param {HTMLTableElement} table */
function makeSortable(table) {
  const [body] = table.tBodies;
  const rows = [...body.rows];
  if (rows.length < 2) return;
  const headings = [...table.querySelectorAll("thead th")];
  for (const [column, heading] of headings.entries()) {
    if (heading.matches(".bar-cell") || !heading.textContent?.trim()) continue;
    const button = make("button", { type: "button", class: "plain sort" }, ...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const [up, down] = heading.matches(".number") ? ["descending", "ascending"] : ["ascending", "descending"];
      const now = heading.getAttribute("aria-sort");
      const next = now === up ? down : now === down ? "" : up;
      for (const other of headings) other.removeAttribute("aria-sort");
      if (next) heading.setAttribute("aria-sort", next);
      body.append(...(next ? sortedRows(rows, column, next === "ascending" ? 1 : -1) : rows));
    });
  }
}

for (const table of document.querySelectorAll("table:is(.ranking, .counts:not(.matrix))")) {
  if (table instanceof HTMLTableElement) makeSortable(table);
}

// List...

/** @param {number} amount */
async function show(amount) {
  const mine = turn;
  const view = viewOf(readForm());
  const segments = await found.page(shown, amount);
  if (mine !== turn) return;
  list.append(...segments.map((segment) => renderSegment(segment, view)));
  shown += segments.length;
  byId("shown").replaceChildren(...shownWords());
  more.hidden = shown >= found.found;
  all.hidden = !single;
  list.removeAttribute("aria-busy");
}

/** What the list holds; where that is nothing, what was asked for and how to see more. */
function shownWords() {
  const of = `of ${count(found.total)}`;
  if (found.found === 1 && single) return [`Showing this segment alone, ${of}.`];
  const rest = found.found === found.total ? "" : ` that match, ${of}`;
  if (found.found) return [`Showing ${count(shown)} of ${count(found.found)} segments${rest}.`];
  if (!single) return [`No segment matches, ${of}: change a filter, or clear them all.`];
  return ["No segment ", make("bdi", {}, plain(single)), " matches what the address asks for: the button below leads to all."];
}

async function filter() {
  clearTimeout(waiting);
  const mine = ++turn;
  list.setAttribute("aria-busy", "true");
  if (!found.total) byId("shown").textContent = "Reading the segments …";
  await attempt(async () => {
    const answer = await find(readForm());
    if (mine !== turn) return;
    found = answer;
    shown = 0;
    serial = 0;
    list.replaceChildren();
    await show(FIRST);
  });
}

/**
 * Do what may fail where a server is asked; then say so.
 * @param {() => Promise<void>} work
 */
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    byId("shown").textContent = error instanceof Error ? error.message : String(error);
    list.removeAttribute("aria-busy");
  }
}

async function showMore() {
  if (list.getAttribute("aria-busy")) return;
  list.setAttribute("aria-busy", "true");
  const first = list.children.length;
  await attempt(() => show(MORE));
  const next = list.children[first];
  if (next instanceof HTMLElement) {
    next.tabIndex = -1;
    next.focus({ preventScroll: true });
  }
}

/** @param {Event} event */
function change(event) {
  const isTyping = event.target instanceof HTMLInputElement && event.target.type === "search";
  single = "";
  turn += 1; // what is on its way is no longer wanted
  list.setAttribute("aria-busy", "true");
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    keepAddress();
    filter();
  }, isTyping ? PAUSE : 0);
}

/** Show what the address says; at first, and when a link or the back button changed it. */
function restore() {
  readAddress();
  if (isState()) byId("segments").scrollIntoView();
  return filter();
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", change);
form.addEventListener("reset", (event) => {
  if (!isRestoring) change(event);
});
more.addEventListener("click", showMore);
all.addEventListener("click", () => {
  single = "";
  keepAddress();
  filter();
});
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("main section > details:not([open]), .part details:not([open])")].filter((one) => one instanceof HTMLDetailsElement);
  for (const one of folded) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of folded) one.open = false;
});
addEventListener("hashchange", async () => {
  if (!isState() && location.hash) {
    unfold();
    return;
  }
  await restore();
  if (single) all.focus({ preventScroll: true });
});
for (const type of ["mouseover", "mouseout", "focusin", "focusout"]) list.addEventListener(type, lightMark);
list.addEventListener("keydown", moveMark);
byId("shown").before(notice);
byId("shown").after(all);
form.hidden = false;
byId("unscripted").hidden = true;
if (location.hash) unfold();
restore();
