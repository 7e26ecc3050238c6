// What the types allow and refuse. The compiler checks this file, nothing runs it. It has no types of browsers, as a program for Node.js.
import { and, condition, Shortline, verifyWebhook } from '@shortline/client';
import type { Link, OperatorGroup } from '@shortline/client';

const shortline = new Shortline({ url: 'https://go.example.com', headers: { 'x-team': 'growth' } });

export const link: Link = await shortline.urls.get('1');
export const rows: Link[] = await shortline.urls.export({ format: 'json' });
export const csv: string = await shortline.urls.export();
export const pdf: Blob = await shortline.urls.qrCode('1', { format: 'pdf' });
export const code: string = (await shortline.urls.qrCode('1')).qrCode;
export const conditions: OperatorGroup = and(
  condition('day_of_week', 'in', [6, 7]),
  condition('city', 'equals', 'Berlin'),
);

const known = await shortline.urls.get('1', { ifNoneMatch: '"7"' });
// @ts-expect-error It is undefined if nothing has changed.
known.slug;

const { data } = await shortline.urls.list({ fields: ['slug', 'clickCount'], sortBy: 'clickCount' });
export const clicks: number | undefined = data[0]?.clickCount;
// @ts-expect-error The answer lacks fields that were not chosen.
data[0]?.title;
// @ts-expect-error A row has no such field.
shortline.urls.list({ fields: ['nothing'] });
// @ts-expect-error The list has no such parameter.
shortline.urls.list({ nothing: 1 });
// @ts-expect-error The id is a text.
shortline.urls.get(7);
// @ts-expect-error A link needs a destination.
shortline.urls.create({ title: 'none' });
// @ts-expect-error 303 is no status of a link.
shortline.urls.create({ originalUrl: 'https://example.com/', redirectCode: 303 });
// @ts-expect-error A list has no version.
shortline.bundles.list({ ifMatch: '"7"' });
// @ts-expect-error A percentage is a number.
condition('percentage', 'less_than', '50');
// @ts-expect-error Addresses are compared with in and not_in only.
condition('ip', 'contains', '203.0.113.7');
// @ts-expect-error There is no such type.
condition('weather', 'equals', 'rain');
// @ts-expect-error A client needs an address.
new Shortline({ apiKey: 'sl_key' });

export async function titleOf(body: string, headers: Headers): Promise<string | null> {
  const event = await verifyWebhook({ body, headers, secret: 'whsec_' });
  // @ts-expect-error Not every event has a title.
  event.data.title;
  return event.event === 'url.created' ? event.data.title : null;
}

for await (const click of shortline.analytics.live({ urlId: '1' })) console.log(click.slug, click.country);
