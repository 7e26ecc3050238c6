// Changes of links together with all of their rules or variants. Each link is changed as a whole, or not at all.
import { api, refusal, versionOf, type ApiError, type Schema } from '../../api/client';

type Item = Schema<'UpsertItem'>;

/** A link, and what it is to be. */
export interface Change {
  link: Schema<'URL'>;
  item: Pick<Item, 'rules' | 'variants' | 'trackConversions' | 'stickiness' | 'isSmartRouting'>;
}

/**
 * Changes links, unless somebody else has changed them since they were read. The result has the errors of those that were refused, in
 * the order of the changes. A trial changes nothing.
 */
export async function changeAll(changes: readonly Change[], trial = false): Promise<(ApiError | undefined)[]> {
  const items = changes.map(({ link, item }): Item => {
    const version = versionOf(link);
    return { domain: link.domain, customSlug: link.slug, ...(version && { ifMatch: version }), ...item };
  });
  const answer = await api.put('/api/urls/bulk', { query: { dryRun: trial }, body: { items } });
  return answer.items.map((one) => (one.error ? refusal(one.error) : undefined));
}

/** Changes one link, or throws the ApiError. */
export async function changeWhole(link: Change['link'], item: Change['item']): Promise<void> {
  const [error] = await changeAll([{ link, item }]);
  if (error) throw error;
}
