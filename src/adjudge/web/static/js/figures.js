// @ts-check
/* Numbers as people read them: fixed digits, a real minus sign, a dash where there is none. */

/** @typedef {{name: string, value: number | null, interval: number[] | null, n: number, reason: string}} Told */

const NOTHING = "–";

/**
 * @param {number | null | undefined} value
 * @param {number} digits after the point
 */
export function fixed(value, digits) {
  if (value === null || value === undefined) return NOTHING;
  const text = Math.abs(value).toFixed(digits);
  return (value < 0 && /[1-9]/.test(text) ? "−" : "") + text;
}

/** @param {number} amount */
export const whole = (amount) => amount.toLocaleString("en");

/**
 * A share in per cent, neither 0 nor 100 unless it is exactly that.
 * @param {number} part
 * @param {number} all
 */
export function share(part, all) {
  const percent = (100 * part) / all;
  if (percent > 0 && percent < 1) return "<1 %";
  return percent > 99 && percent < 100 ? ">99 %" : `${Math.round(percent)} %`;
}

/**
 * @param {number[] | null | undefined} interval
 * @param {number} digits
 */
export const ends = (interval, digits) => (interval ? `${fixed(interval[0], digits)} to ${fixed(interval[1], digits)}` : NOTHING);

/** @param {number | null} value */
export const pValue = (value) => (value === null ? NOTHING : value < 0.001 ? "<0.001" : value.toFixed(3));

/**
 * Digits that scores can bear: two significant ones of the usual interval.
 * @param {{interval: number[] | null}[]} rows
 */
export function digitsFor(rows) {
  const widths = rows.flatMap(({ interval }) => (interval && interval[1] > interval[0] ? [interval[1] - interval[0]] : [])).sort((a, b) => a - b);
  if (!widths.length) return 1;
  return Math.min(4, Math.max(1, 1 - Math.floor(Math.log10(widths[Math.floor(widths.length / 2)]))));
}

/** @param {number} seconds since 1970 */
export const date = (seconds) => new Date(1000 * seconds).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
