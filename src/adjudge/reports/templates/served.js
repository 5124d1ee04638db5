// @ts-check
/* Finds segments by asking the server of `adjudge serve`, shows the conversation behind each judgement, and the
 * figures, which may still be drawn when the page is read.
 * Stands where find.js stands in a page that was written to a file. Uses said.js. */

/** @typedef {{id: string, name: string, arguments: unknown}} Call */
/** @typedef {{role: string, content: string, calls?: Call[]}} Message */
/**
 * @typedef {object} Exchange One question and its answer.
 * @property {string} stage
 * @property {string} role
 * @property {string} reason why the reply was not used
 * @property {string} detail
 * @property {Message[]} messages
 * @property {unknown} schema
 * @property {[number, number] | null} sample
 * @property {{reason: string, detail: string, time: string}[]} failed_attempts
 * @property {{text: string, reasoning: string, model: string, finish: string, tokens: Record<string, number>,
 *   calls?: Call[]} | null} reply
 * @property {{name: string, parameters: unknown}[]} [tools]
 * @property {string} time
 * @property {number | null} seconds
 * @property {string} asked
 * @property {string} price
 */

const AT_ONCE = 20;

/**
 * @param {string} address
 * @param {Record<string, string>} query
 */
async function ask(address, query) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(`${address}?${new URLSearchParams(query)}`);
  } catch {
    throw new Error("The server does not answer any more. Start adjudge serve again, then reload this page.");
  }
  const content = await response.json();
  if (!response.ok) throw new Error(content.message);
  return content;
}

/**
 * @param {Query} query
 * @returns {Promise<Found>}
 */
async function find(query) {
  const { view, sort, ...rest } = query;
  const [order, by] = (sort ?? "").split(":");
  const named = Object.entries({ ...rest, order, by: by ?? "" }).filter(([, value]) => value);
  /** @param {number} from @param {number} amount */
  const part = (from, amount) => ask("/api/segments", { ...Object.fromEntries(named), start: String(from), amount: String(amount) });
  const first = await part(0, AT_ONCE);
  return {
    found: first.found,
    total: first.total,
    page: async (from, amount) => (from === 0 && amount === AT_ONCE ? first : await part(from, amount)).segments,
  };
}

// Figures...

/**
 * Parsed by the browser as XML, in which no script runs.
 * @param {string} number
 * @returns {Promise<Element>}
 */
function askFigure(number) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", `/api/figure?number=${number}`);
    request.responseType = "document";
    request.addEventListener("loadend", () => {
      const svg = request.status === 200 && request.responseXML?.documentElement;
      if (svg) resolve(document.importNode(svg, true));
      else reject(new Error("The figure did not come: is adjudge serve still there? Reload this page."));
    });
    request.send();
  });
}

/** One after the other, as they are drawn: segments must not wait for a free connection. */
async function showFigures() {
  for (const place of document.querySelectorAll("[data-figure]")) {
    try {
      place.replaceWith(await askFigure(place.getAttribute("data-figure") ?? ""));
    } catch (error) {
      place.textContent = error instanceof Error ? error.message : String(error);
      return;
    }
  }
}

showFigures();

// Conversations...

/**
 * @param {Segment} segment
 * @param {Said} said
 * @returns {Node | null}
 */
function renderTalk(segment, said) {
  if (!data.annotators[said.by].talks) return null;
  const talk = make("details", { class: "talk" }, make("summary", {}, "Conversation"));
  const of = (said.pair ?? [said.of]).join(",");
  talk.addEventListener("toggle", async () => {
    if (!(talk instanceof HTMLDetailsElement) || !talk.open || talk.dataset.read) return;
    talk.querySelector("p")?.remove();
    const words = talk.appendChild(make("p", { class: "soft", role: "status" }, "Reading …"));
    try {
      const { exchanges } = await ask("/api/conversation", { row: String(segment.row), by: String(said.by), of });
      words.replaceWith(...renderConversation(exchanges));
      talk.dataset.read = "yes";
    } catch (error) {
      words.textContent = error instanceof Error ? error.message : String(error);
    }
  });
  return talk;
}

/** @param {Exchange[]} exchanges */
function renderConversation(exchanges) {
  if (!exchanges.length) return [make("p", { class: "soft" }, "No question was asked for this judgement.")];
  const seconds = exchanges.map((exchange) => exchange.seconds ?? 0).reduce((sum, one) => sum + one, 0);
  const calls = exchanges.length > 1 ? `${exchanges.length} calls` : "1 call";
  return [make("p", { class: "soft" }, `${calls}, ${timeWords(seconds)} of waiting for answers.`),
    make("ol", { class: "calls" }, ...exchanges.map(renderExchange))];
}

/** @param {number} seconds */
const timeWords = (seconds) => (seconds < 0.005 ? "0 s" : `${seconds < 10 ? seconds.toFixed(2) : Math.round(seconds)} s`);

/**
 * @param {Exchange} exchange
 * @param {number} index
 */
function renderExchange(exchange, index) {
  const [sample, again] = exchange.sample ?? [0, 0];
  const title = [exchange.role, sample ? `sample ${sample + 1}` : "", again ? `asked again (${again})` : ""];
  const name = make("strong", {}, `${index + 1}. `, plain(exchange.stage));
  const item = make("li", {}, make("header", {}, name, who(title.filter(Boolean).join(", "))));
  item.append(...exchange.failed_attempts.map((one) => renderFault("failed attempt", one)));
  if (exchange.messages.length) item.append(renderAsked(exchange));
  if (exchange.reply) item.append(...renderReply(exchange, exchange.reply));
  else item.append(make("p", { class: "soft" }, "No answer is stored."));
  if (exchange.reason) item.append(renderFault("not used", exchange));
  return item;
}

/**
 * @param {string} what
 * @param {{reason: string, detail: string}} fault
 */
const renderFault = (what, fault) => make("p", { class: "small" }, make("span", { class: "failed" }, `${what}: ${fault.reason}`),
  " ", make("bdi", {}, plain(fault.detail)));

/** @param {Exchange} exchange */
function renderAsked(exchange) {
  const amount = exchange.messages.length;
  const asked = make("details", {}, make("summary", {}, amount > 1 ? `Asked in ${amount} messages` : "Asked in 1 message"));
  for (const message of exchange.messages) asked.append(...renderMessage(message.role, message.content, message.calls));
  if (exchange.schema) asked.append(...renderMessage("schema of the answer", JSON.stringify(exchange.schema, null, 2)));
  for (const tool of exchange.tools ?? []) asked.append(...renderMessage(`tool ${tool.name}`, JSON.stringify(tool.parameters, null, 2)));
  return asked;
}

/**
 * @param {Exchange} exchange
 * @param {NonNullable<Exchange["reply"]>} reply
 */
function renderReply(exchange, reply) {
  const tokens = Object.entries(reply.tokens).filter(([, amount]) => amount).map(([name, amount]) => `${count(amount)} ${name}`);
  const facts = [reply.model || exchange.asked, reply.finish, tokens.length ? `tokens: ${tokens.join(", ")}` : "",
    exchange.price, exchange.seconds === null ? "" : timeWords(exchange.seconds), timeOf(exchange.time)];
  const thinking = reply.reasoning ? [make("details", {}, make("summary", {}, "Thinking"), renderWords(reply.reasoning))] : [];
  return [...thinking, ...renderMessage("reply", reply.text, reply.calls),
    make("p", { class: "soft small" }, plain(facts.filter(Boolean).join(" · ")))];
}

/** Date and time to the second; times never say what came first. @param {string} time */
const timeOf = (time) => time.replace("T", " ").replace(/\.\d+/, "").replace("+00:00", " UTC");

/** @param {string} text */
const renderWords = (text) => make("pre", { dir: "auto" }, plain(text));

/**
 * @param {string} role
 * @param {string} text
 * @param {Call[]} [calls] tools that are asked for, or the one that is answered
 */
function renderMessage(role, text, calls = []) {
  const named = role === "tool" && calls[0] ? `tool ${calls[0].name}` : role;
  const asks = role === "tool" ? [] : calls.map((call) => renderWords(`${call.name} ${JSON.stringify(call.arguments)}`));
  return [make("p", { class: "role" }, plain(named)), ...(text ? [renderWords(text)] : []), ...asks];
}
