// @ts-check
import { post } from "./api.js";
import { t } from "./words.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("sign-in"));
const status = /** @type {HTMLElement} */ (document.getElementById("status"));

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  status.textContent = "";
  const { status: code, body } = await post("/api/sign-in", Object.fromEntries(new FormData(form)));
  if (code === 200) location.replace(body.to);
  else status.textContent = body.message ?? t("The server does not answer. Try again.");
});
