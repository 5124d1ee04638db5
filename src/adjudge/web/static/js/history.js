// @ts-check
/* Undo and redo over whole states. Pure. */

/**
 * @template T
 * @typedef {{past: T[], present: T, future: T[]}} History
 */

/**
 * @template T
 * @param {T} present
 * @returns {History<T>}
 */
export const newHistory = (present) => ({ past: [], present, future: [] });

/**
 * Goes on to a new state. What `replaces` the present, as a longer comment does, is one step with it.
 * @template T
 * @param {History<T>} history
 * @param {T} state
 * @param {boolean} [replaces]
 * @returns {History<T>}
 */
export function advance(history, state, replaces = false) {
  return { past: replaces ? history.past : [...history.past, history.present], present: state, future: [] };
}

/**
 * @template T
 * @param {History<T>} history
 * @returns {History<T>}
 */
export function undo(history) {
  const last = history.past.at(-1);
  if (last === undefined) return history;
  return { past: history.past.slice(0, -1), present: last, future: [history.present, ...history.future] };
}

/**
 * @template T
 * @param {History<T>} history
 * @returns {History<T>}
 */
export function redo(history) {
  const [next, ...future] = history.future;
  return next === undefined ? history : { past: [...history.past, history.present], present: next, future };
}
