// @ts-check
/* Messages to the server. */

/** @typedef {{status: number, body: any}} Reply status 0 where no reply came */

const ROOT = document.documentElement.dataset.root ?? "";
const PATIENCE = 20_000; // milliseconds
const KEEPALIVE_LIMIT = 60_000; // characters; browsers refuse more than 64 KiB

/**
 * The address of a page or route; the server says what it begins with.
 * @param {string} path
 */
export const address = (path) => ROOT + path;

/**
 * Posts JSON; never throws.
 * @param {string} path
 * @param {object} body
 */
export function post(path, body) {
  const text = JSON.stringify(body);
  const headers = { "Content-Type": "application/json" };
  return send(path, { method: "POST", headers, body: text, keepalive: text.length < KEEPALIVE_LIMIT });
}

/**
 * Asks for JSON; never throws.
 * @param {string} path
 */
export const get = (path) => send(path, { cache: "no-store" });

/**
 * @param {string} path
 * @param {RequestInit} options
 * @returns {Promise<Reply>}
 */
async function send(path, options) {
  try {
    const response = await fetch(address(path), { ...options, credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE) });
    return { status: response.status, body: await response.json().catch(() => ({})) };
  } catch {
    return { status: 0, body: {} };
  }
}
