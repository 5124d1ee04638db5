// @ts-check
/* Small words for elements. Texts become text nodes, never markup. */

/**
 * Makes an element; strings among its children become text.
 * @param {string} tag
 * @param {Record<string, string>} [attributes]
 * @param {(Node | string)[]} children
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * The one element that a selector names.
 * @template {HTMLElement} T
 * @param {ParentNode} scope
 * @param {string} selector
 * @param {new () => T} [type]
 * @returns {T}
 */
export function find(scope, selector, type) {
  const element = scope.querySelector(selector);
  if (!(element instanceof (type ?? HTMLElement))) throw new Error(`the page has no ${selector}`);
  return /** @type {T} */ (element);
}

/**
 * All elements that a selector names.
 * @template {HTMLElement} T
 * @param {ParentNode} scope
 * @param {string} selector
 * @param {new () => T} [type]
 * @returns {T[]}
 */
export const all = (scope, selector, type) => /** @type {T[]} */ ([...scope.querySelectorAll(selector)]
  .filter((element) => element instanceof (type ?? HTMLElement)));

/**
 * A copy of what stands in a template.
 * @param {string} id
 */
export function copyOf(id) {
  const content = find(document, `template#${id}`, HTMLTemplateElement).content;
  const copy = document.importNode(content, true).firstElementChild;
  if (!(copy instanceof HTMLElement)) throw new Error(`template ${id} is empty`);
  return copy;
}

/**
 * Sets a group of radio buttons to a value, or to none.
 * @param {ParentNode} scope
 * @param {string | null} value
 */
export function check(scope, value) {
  for (const input of all(scope, "input[type=radio]", HTMLInputElement)) input.checked = input.value === value;
}

/**
 * Whether the letters typed into an element are its own.
 * @param {EventTarget | null} target
 */
export function takesLetters(target) {
  return target instanceof HTMLElement
    && target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=range])");
}
