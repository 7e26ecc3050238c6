/**
 * A request that was sent. It is a promise of what the answer contains. Of a list, it also iterates over all rows.
 *
 * @template T
 * @implements {Promise<T>}
 */
export class Call {
  #sent;

  /** @param {Promise<{ response: Response, data: T }>} sent */
  constructor(sent) {
    this.#sent = sent;
  }

  get [Symbol.toStringTag]() {
    return 'Call';
  }

  /** @type {Promise<T>['then']} */
  then(resolved, rejected) {
    return this.#sent.then(({ data }) => data).then(resolved, rejected);
  }

  /** @type {Promise<T>['catch']} */
  catch(rejected) {
    return this.then(undefined, rejected);
  }

  /** @type {Promise<T>['finally']} */
  finally(settled) {
    return this.then().finally(settled);
  }

  /** The content with what came beside it, such as the version for If-Match. */
  async withResponse() {
    const { response, data } = await this.#sent;
    const { status, headers } = response;
    const header = (/** @type {string} */ name) => headers.get(name) ?? undefined;
    return { data, status, headers, etag: header('etag'), requestId: header('x-request-id') };
  }
}

/**
 * @typedef {{ data: any[], page?: number, pageSize?: number, totalPages?: number, totalIsExact?: boolean,
 *   nextCursor?: string | null }} Page
 */

/** @extends {Call<Page>} */
export class List extends Call {
  #more;

  /**
   * @param {Promise<{ response: Response, data: Page }>} sent
   * @param {(query: object) => Promise<Page>} more gets another page of the same list
   */
  constructor(sent, more) {
    super(sent);
    this.#more = more;
  }

  /** The pages of the list. Pages with a cursor neither skip nor repeat rows that come or go meanwhile. */
  async *pages() {
    for (let page = /** @type {Page} */ (await this); ;) {
      yield page;
      const { nextCursor, page: number = 1, pageSize = 0, totalPages = 0, totalIsExact, data } = page;
      // If the total is not exact, there are more pages, up to one that is not full.
      const more = totalIsExact === false ? data.length >= pageSize : number < totalPages;
      if (nextCursor) page = await this.#more({ after: nextCursor });
      else if (nextCursor === undefined && data.length && more) page = await this.#more({ page: number + 1 });
      else return;
    }
  }

  async *[Symbol.asyncIterator]() {
    for await (const { data } of this.pages()) yield* data;
  }
}
