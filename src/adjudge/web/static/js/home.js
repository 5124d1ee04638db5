// @ts-check
/* Where a person goes on, and what is still on its way to the server. */

import { address, post } from "./api.js";
import { copy } from "./copying.js";
import { find } from "./dom.js";
import { takeEnd } from "./ending.js";
import { ask, askWayIn, savedWords } from "./notices.js";
import { Queue, newId } from "./queue.js";
import { Store } from "./store.js";
import { t } from "./words.js";

const go = find(document, "#go", HTMLButtonElement);
const saved = find(document, "#saved");

/** Sends what earlier pages left behind. */
async function sendLeft() {
  const listener = {
    moved: () => { saved.textContent = queue.waiting ? savedWords(queue) : ""; },
    saved: () => {},
    stale: () => explain(t("Some of what you did was changed elsewhere, too: open the task to choose what counts.")),
    refused: (/** @type {number} */ _item, /** @type {string} */ why) => explain(t("The server did not take some of what you did: {why}.", { why })),
  };
  const queue = new Queue({ store: await Store.open(), post, person: go.dataset.person ?? "", page: newId(), listener });
  await queue.adopt();
  addEventListener("online", () => queue.flush());
  await queue.flush();
}

/** @param {string} text */
function explain(text) {
  ask("left", `${text} ${t("It is kept in this browser.")}`, {});
}

const ENDS = {
  tomorrow: t("That is enough for today. Please come again tomorrow."),
  test: t("You did not pass the test that comes before the work. Thank you for taking it!"),
};

/**
 * @param {string} code
 * @param {number} held tasks that others are at work on
 * @param {"" | "tomorrow" | "test"} why there is nothing where not all is done
 */
function showEnd(code, held, why) {
  find(document, "#end").hidden = false;
  if (why) find(document, "#end h2").textContent = ENDS[why];
  if (held) {
    find(document, "#end h2").textContent = t("Nothing to do at the moment");
    find(document, "#others").textContent = t("Tasks that others are at work on: {held}. What they give back comes to you: look in again later.", { held });
    find(document, "#others").hidden = false;
  }
  find(document, "#code").textContent = code;
  find(document, "#code-part").hidden = !code;
  go.hidden = true;
  find(document, "#end h2").scrollIntoView({ block: "nearest" });
}

go.addEventListener("click", async () => {
  const { status, body } = await post("/api/next", {});
  if (status === 200 && body.assignment) location.assign(address(`/work/${body.assignment}`));
  else if (status === 200) showEnd(body.code ?? "", body.held ?? 0, body.why ?? "");
  else if (status === 401) askWayIn(() => go.click());
  else ask("next", body.message ?? t("There is no connection to the server. Try again in a moment."), {});
});

find(document, "#copy").addEventListener("click", () => copy(find(document, "#code"), find(document, "#copied")));

find(document, "#leave").addEventListener("click", async () => {
  const { body } = await post("/api/leave", {});
  location.assign(body.to ?? address("/"));
});

const language = find(document, "#language", HTMLSelectElement);
language.addEventListener("change", async () => {
  const { status, body } = await post("/api/language", { language: language.value });
  if (status === 200) location.reload();
  else ask("language", body.message ?? t("There is no connection to the server. Try again in a moment."), {});
});

sendLeft();
if (takeEnd()) go.click();
