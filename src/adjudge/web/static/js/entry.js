// @ts-check
/* The way in: the secret behind the # of a person's link is exchanged for a session, and leaves the address. */

import { address, post } from "./api.js";
import { find, make } from "./dom.js";
import { t } from "./words.js";

async function enter() {
  const secret = location.hash.slice(1);
  if (!secret) return;
  history.replaceState(null, "", location.pathname);
  const status = find(document, "#status");
  status.textContent = t("One moment…");
  const { status: code, body } = await post("/api/enter", { secret });
  if (code === 200) location.replace(body.to);
  else if (code === 0) status.textContent = t("There is no connection to the server. Open your link again in a moment.");
  else {
    const why = code === 401 ? t("This link is not valid (any more). Ask the organiser for a new one.") : body.message ?? t("This link does not work (any more).");
    status.replaceChildren(why, " ", make("a", { href: address("/work") }, t("Go on where you were")));
  }
}

addEventListener("hashchange", enter);
enter();
