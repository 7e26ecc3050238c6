import type { Call, AnyOptions, Settings } from './runtime.js';
import type { Resources } from './resources.js';
import type { URL as Link } from './schemas.js';

export * from './runtime.js';
export * from './resources.js';
export * from './schemas.js';

/** A link. The document names it URL, as the global class is named. */
export type { Link };

/** A client of one Shortline. It has a member for each group of operations, such as `urls`. */
export interface Shortline extends Resources {}
export class Shortline {
  constructor(settings: Settings);

  /** Returns a client with other settings, such as another workspace. */
  with(settings: Partial<Settings>): Shortline;

  /** Sends a request that this client has no method for, such as of a newer server. It is repeated like any other. */
  request<T = unknown>(method: string, path: string, options?: AnyOptions): Call<T>;

  /** Like request, but returns the response without reading its body, for large files. Only the signal ends it then. */
  fetch(method: string, path: string, options?: AnyOptions): Promise<Response>;
}
