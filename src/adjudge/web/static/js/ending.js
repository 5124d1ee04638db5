// @ts-check
/* That nothing was left when the last task was finished: the overview says so at once, and shows the code. */

const KEY = "adjudge-ended";

export function markEnd() {
  try {
    sessionStorage.setItem(KEY, "");
  } catch {
    // a browser that keeps nothing: the overview's button says it
  }
}

/** Whether it was so, and nobody was told yet. */
export function takeEnd() {
  try {
    const isEnd = sessionStorage.getItem(KEY) !== null;
    sessionStorage.removeItem(KEY);
    return isEnd;
  } catch {
    return false;
  }
}
