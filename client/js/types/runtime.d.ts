import type { Answer, Condition, ConditionGroup, LinkClick, OperatorGroup, WebhookEvent } from './schemas.js';

/** Settings of a client. */
export interface Settings {
  /** The address of Shortline, such as `https://go.example.com`. */
  url: string;
  /** An API key. Everybody who can read a page can read the keys in it. */
  apiKey?: string | undefined;
  /** The access token of a session, in place of an API key. */
  token?: string | undefined;
  /** The id or slug of the workspace in which requests work. Without it, that of the key, or your personal one. */
  workspace?: string | undefined;
  /** Attempts after the first one, if they can help and do no harm. Default: 3. */
  retries?: number | undefined;
  /** The most seconds of Retry-After that a request waits for. If the server names more, it fails. Default: 60. */
  maxRetryAfter?: number | undefined;
  /** Milliseconds for one attempt, with its body. Default: 60,000; 0 for no limit. */
  timeout?: number | undefined;
  /** Headers of all requests. */
  headers?: ConstructorParameters<typeof Headers>[0] | undefined;
  /** Whether requests carry cookies, as in the function fetch. */
  credentials?: 'omit' | 'same-origin' | 'include' | undefined;
  /** Sends requests in place of the function fetch, for tests and proxies. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** Options of one request. They stand beside the parameters of its query, and come before the settings of the client. */
export interface RequestOptions extends Pick<
  Settings,
  'headers' | 'maxRetryAfter' | 'retries' | 'timeout' | 'token' | 'workspace'
> {
  /** Ends the request. It then fails with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

export interface Idempotent {
  /** A name of this request. A repetition with the same name takes effect once. Without it, each call has a random one. */
  idempotencyKey?: string | undefined;
}

export interface IfMatch {
  /** The version that the object must still have: `etag` of `withResponse()`. Otherwise the request fails with status 412. */
  ifMatch?: string | undefined;
}

export interface IfNoneMatch {
  /** The version that you have. If it is still the present one, the result is undefined. */
  ifNoneMatch: string;
}

/** Nothing has changed since the version of If-None-Match. */
export type NotModified = undefined;

export interface Fields<F> {
  /** The fields to return; of a list, those of its rows. Without it, all. */
  fields?: readonly F[] | undefined;
}

/** An object with only some fields. */
export type Only<T, F extends keyof T> = [keyof T] extends [F] ? T : Pick<T, F>;

/** A time: a Date, or a text in RFC 3339, or a day. */
export type Time = string | Date;

/** The content of a file. A File also has a name. */
export type FileBody = Blob | Uint8Array | string | FormData;

/** A redirect, which was not followed. Browsers hide its status and address: they are 0 and null. */
export interface Redirect {
  status: number;
  location: string | null;
}

/** A request that was sent: a promise of the content of its answer. */
export interface Call<T> extends Promise<T> {
  /** The content with what came beside it. */
  withResponse(): Promise<{
    data: T;
    status: number;
    headers: Headers;
    /** The version of the object, for `ifMatch` and `ifNoneMatch`. */
    etag: string | undefined;
    requestId: string | undefined;
  }>;
}

interface Rows {
  data: unknown[];
}

/** A page of a list, with only some fields of its rows. */
export type Page<P extends Rows, F extends keyof P['data'][number]> = {
  [K in keyof P]: P[K] extends P['data'] ? Only<P['data'][number], F>[] : P[K];
};

/** The first page of a list. As an iterator, it reads all rows of the list, page by page. */
export interface List<P extends Rows, F extends keyof P['data'][number] = keyof P['data'][number]>
  extends Call<Page<P, F>>, AsyncIterable<Only<P['data'][number], F>> {
  /** The pages of the list, one after the other. */
  pages(): AsyncIterable<Page<P, F>>;
}

export interface LiveOptions extends Omit<RequestOptions, 'retries'> {
  /** Is called if clicks were lost, because the reader was too slow or away for too long. */
  onDropped?: ((count: number) => void) | undefined;
  /** Is called before a new connection, with the problem of the last one, if it did not just end. */
  onReconnect?: ((problem: unknown) => void) | undefined;
}

/** Clicks as they happen. The stream connects when it is read, and again when a connection ends. It ends when you stop reading. */
export interface LiveStream extends AsyncIterable<LinkClick> {
  /** The id of the last event. Another stream continues there, if it gets it as `lastEventId`. */
  readonly lastEventId: string | undefined;
}

export interface AnyOptions extends RequestOptions, Idempotent, IfMatch, Partial<IfNoneMatch> {
  query?: Record<string, unknown> | undefined;
  /** A text, bytes, a Blob and a FormData are sent as they are, anything else as JSON. */
  body?: unknown;
}

/** The server refused a request, or failed. */
export class APIError extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** The code of the problem, or of the first field's problem. It is stable; messages are not. */
  readonly code: string | undefined;
  /** The field of the request that is wrong; the first, if there are several. */
  readonly field: string | undefined;
  /** All problems of fields. */
  readonly errors: NonNullable<Answer['errors']>;
  /** The address of the problem's documentation, if there is one. */
  readonly docs: string | undefined;
  /** What to quote when asking for help. */
  readonly requestId: string | undefined;
  /** The seconds of Retry-After. */
  readonly retryAfter: number | undefined;
  /** The complete body. With a 412, it has `current` and `changed`. */
  readonly body: Answer;
  readonly headers: Headers;
  /** How often the request was sent. After more than one attempt, a DELETE that gets 404 may have taken effect. */
  readonly attempts: number;
  private constructor();
}

/** No complete answer came: the connection failed, or the time was over. The cause says more. */
export class ConnectionError extends Error {
  /** How often the request was sent. */
  readonly attempts: number;
  private constructor();
}

/** A request that claims to be a delivery of a webhook is not one, or is too old. */
export class WebhookError extends Error {
  private constructor();
}

export interface WebhookRequest {
  /** The body as it came, before anything has parsed it. */
  body: string | ArrayBuffer | Uint8Array;
  /** The headers of the request: a Headers, or an object such as that of Node.js. */
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The secret of the webhook. During a rotation, both. */
  secret: string | readonly string[];
  /** The seconds that the time of the request may differ from the present. Default: 300. */
  tolerance?: number;
  /**
   * Which signature must be right: that of Standard Webhooks (default), or `body` for X-Webhook-Signature. The latter does not
   * contain the time, so it is also right in an old request that somebody has recorded.
   */
  scheme?: 'standard' | 'body';
}

/** Checks that a request is a delivery of a webhook, and returns its event. Otherwise it throws a WebhookError. */
export function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent>;

/** A condition of a rule, such as `condition('country', 'in', ['DE', 'AT'])`. */
export function condition<T extends Condition['type']>(
  type: T,
  operator: ConditionFor<T>['operator'],
  value: ConditionFor<T>['value'],
): Condition;

/** The member of Condition that has a type, also if that member has several. */
export type ConditionFor<T, C = Condition> = C extends { type: infer U } ? (T extends U ? C : never) : never;

/** All conditions match. */
export function and(...conditions: (Condition | ConditionGroup)[]): OperatorGroup;

/** Any of the conditions matches. */
export function or(...conditions: (Condition | ConditionGroup)[]): OperatorGroup;
