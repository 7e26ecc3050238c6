/** @import * as types from '../types/index.js' */

/** @type {typeof types.condition} */
export const condition = (type, operator, value) => /** @type {any} */ ({ type, operator, value });

/** @type {typeof types.and} */
export const and = (...conditions) => ({ operator: 'AND', conditions });

/** @type {typeof types.or} */
export const or = (...conditions) => ({ operator: 'OR', conditions });
