// @ts-check
/* Messages to the server. */

/** @typedef {{status: number, body: any}} Reply status 0 where no reply came */

const PATIENCE = 20_000; // milliseconds
const KEEPALIVE_LIMIT = 60_000; // characters; browsers refuse more than 64 KiB

/**
 * Posts JSON; never throws.
 * @param {string} path
 * @param {object} body
 * @returns {Promise<Reply>}
 */
export async function post(path, body) {
  const text = JSON.stringify(body);
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: text,
      credentials: "same-origin",
      keepalive: text.length < KEEPALIVE_LIMIT,
      signal: AbortSignal.timeout(PATIENCE),
    });
    return { status: response.status, body: await readJson(response) };
  } catch {
    return { status: 0, body: {} };
  }
}

/** @param {Response} response */
async function readJson(response) {
  try {
    return await response.json();
  } catch {
    return {};
  }
}
