/** @import * as types from '../types/index.js' */

/** The server refused a request, or failed. */
export class APIError extends Error {
  /**
   * @param {number} status
   * @param {types.Answer} body
   * @param {Headers} headers
   * @param {number} attempts
   */
  constructor(status, body, headers, attempts) {
    super(body.message);
    this.name = 'APIError';
    const first = body.errors?.[0];
    this.status = status;
    this.code = body.code ?? first?.code;
    this.field = first?.field;
    this.errors = body.errors ?? [];
    this.docs = /** @type {{ docs?: string }} */ (body).docs;
    this.requestId = body.requestId ?? headers.get('x-request-id') ?? undefined;
    this.retryAfter = retryAfter(headers);
    this.body = body;
    this.headers = headers;
    this.attempts = attempts;
  }

  /**
   * Reads the body of an answer, which a proxy may have written.
   *
   * @param {Response} response
   * @param {number} attempts
   */
  static async of(response, attempts) {
    const text = await response.text();
    let body;
    try {
      body = JSON.parse(text);
    } catch {
      // The page of a proxy. Its text is of no use in a message.
    }
    if (typeof body?.message !== 'string') {
      const { status, type } = response; // browsers hide the status of a redirect
      const error = response.statusText || (type === 'opaqueredirect' ? 'Redirect' : 'Error');
      const to = response.headers.get('location');
      body = { statusCode: status, error, message: `The server answered ${status} ${error}${to ? `: ${to}` : ''}.` };
    }
    return new APIError(response.status, body, response.headers, attempts);
  }
}

/** No complete answer came: the connection failed, or the time was over. The cause says more. */
export class ConnectionError extends Error {
  /**
   * @param {string} message
   * @param {unknown} cause
   * @param {number} attempts
   */
  constructor(message, cause, attempts) {
    super(message, { cause });
    this.name = 'ConnectionError';
    this.attempts = attempts;
  }
}

/** A request that claims to be a delivery of a webhook is not one, or is too old. */
export class WebhookError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'WebhookError';
  }
}

/**
 * The seconds of Retry-After, which is a number or a date. A date is compared with the server's own clock, if Date can be read.
 *
 * @param {Headers} headers
 * @returns {number | undefined}
 */
function retryAfter(headers) {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const until = Date.parse(value);
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  return Number.isNaN(until) ? undefined : Math.max(0, (until - now) / 1000);
}
