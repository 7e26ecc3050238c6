// A session in a page or a worker of another origin than the server's. The test in test/browser loads it.
import { APIError, Shortline } from '../src/index.js';

/**
 * Returns what it has seen, as a text.
 *
 * @param {{ url: string, apiKey: string, slug: string }} settings
 */
export async function session({ url, apiKey, slug }) {
  const shortline = new Shortline({ url, apiKey });
  const link = await shortline.urls.create({ originalUrl: 'https://shop.example/', customSlug: slug, tags: [slug] });
  const { etag, requestId } = await shortline.urls.get(link.id).withResponse();
  const seen = [requestId ? 'request id' : 'no request id'];
  await shortline.urls.patch(link.id, { title: 'first' }, { ifMatch: etag });
  const stale = await shortline.urls.patch(link.id, { title: 'second' }, { ifMatch: etag }).catch((error) => error);
  seen.push(stale instanceof APIError ? `${stale.status}` : String(stale));
  for await (const { title } of shortline.urls.list({ tag: slug })) seen.push(String(title));
  const code = await shortline.urls.qrCode(link.id, { format: 'png' });
  seen.push(code.type);
  const visits = setInterval(() => void fetch(`${url}/${slug}`, { mode: 'no-cors' }).catch(() => {}), 100);
  for await (const click of shortline.analytics.live({ urlId: link.id, includeBots: true })) {
    seen.push(click.slug);
    break;
  }
  clearInterval(visits);
  return seen.join(', ');
}
