// The examples of the README run, one after the other, against a running standalone.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { signIn, url } from './session.js';

test('the README', async (t) => {
  const admin = await signIn();
  const { key } = await admin.apiKeys.create({ name: 'README' });
  const secret = `whsec_${Buffer.from('secret').toString('base64')}`;
  Object.assign(process.env, { SHORTLINE_API_KEY: key, WEBHOOK_SECRET: secret });
  const text = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
  assert.equal(blocks.length, 8);
  const source = new URL('../../src/index.js', import.meta.url).href;
  const module = [...blocks, 'export { changed, receive };']
    .join('\n')
    .replaceAll("'@shortline/client'", `'${source}'`)
    .replace("'https://go.example.com'", `'${url}'`);

  /** @type {string[]} */
  const printed = [];
  t.mock.method(console, 'log', (/** @type {unknown[]} */ ...words) => printed.push(words.join(' ')));
  const visits = setInterval(() => void fetch(`${url}/fair`, { redirect: 'manual' }).catch(() => {}), 100);
  const { changed, receive } = await import(`data:text/javascript,${encodeURIComponent(module)}`).finally(() =>
    clearInterval(visits),
  );

  assert.notEqual(changed, undefined); // the title has changed
  assert.match(printed.join('\n'), /\/fair\n.*<svg.*\n1 1\n.*\/fair \d+\n400 \w+ originalUrl originalUrl: .*\nfair /s);
  const at = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({
    event: 'url.created',
    timestamp: new Date(),
    data: { shortUrl: 'https://go.example.com/made' },
  });
  const delivery = (/** @type {string} */ signature) =>
    new Request('https://hooks.example.com/', {
      method: 'POST',
      body,
      headers: { 'webhook-id': 'd', 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` },
    });
  assert.equal(
    (await receive(delivery(createHmac('sha256', 'secret').update(`d.${at}.${body}`).digest('base64')))).status,
    204,
  );
  assert.equal((await receive(delivery('AAAA'))).status, 401);
  assert.equal(printed.at(-1), 'https://go.example.com/made');
});
