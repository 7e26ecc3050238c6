import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { verifyWebhook, WebhookError } from '@shortline/client';

const body = '{"event":"url.created","timestamp":"2026-11-30T00:00:00.000Z","data":{"slug":"ü"}}';
const secret = `whsec_${Buffer.from('a key of some bytes').toString('base64')}`;
const now = () => Math.floor(Date.now() / 1000);
const mac = (/** @type {string | Buffer} */ key, /** @type {string} */ text) => createHmac('sha256', key).update(text);

/** The headers that the server sends. */
function signed({
  id = 'd1',
  at = now(),
  key = /** @type {string | Buffer} */ (Buffer.from('a key of some bytes')),
  text = secret,
} = {}) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${mac(key, `${id}.${at}.${body}`).digest('base64')}`,
    'x-webhook-signature': `sha256=${mac(text, body).digest('hex')}`,
  };
}

test('a delivery is its event', async () => {
  const event = await verifyWebhook({ body, headers: signed(), secret });
  assert.equal(event.event, 'url.created');
  assert.equal(event.event === 'url.created' && event.data.slug, 'ü');
  await verifyWebhook({ body: Buffer.from(body), headers: new Headers(signed()), secret });
  await verifyWebhook({ body: new TextEncoder().encode(body).buffer, headers: signed(), secret });
  const upper = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]));
  await verifyWebhook({ body, headers: upper, secret });
});

test('a secret without the prefix, or without base64 after it, is the key itself', async () => {
  for (const key of ['plain secret', 'whsec_not base64', 'whsec_YWI']) {
    await verifyWebhook({ body, headers: signed({ key }), secret: key });
  }
});

test('two secrets during a rotation, and several signatures', async () => {
  await verifyWebhook({ body, headers: signed(), secret: ['whsec_b3RoZXI=', secret] });
  const headers = signed();
  headers['webhook-signature'] = `v1a,unknown v1,AAAA ${headers['webhook-signature']}`;
  await verifyWebhook({ body, headers, secret });
});

test('X-Webhook-Signature, if the caller chooses it', async () => {
  const { 'x-webhook-signature': only } = signed();
  const headers = { 'x-webhook-signature': only };
  assert.equal((await verifyWebhook({ body, headers, secret, scheme: 'body' })).event, 'url.created');
  await assert.rejects(verifyWebhook({ body, headers, secret }), WebhookError);
  await assert.rejects(verifyWebhook({ body: body + ' ', headers, secret, scheme: 'body' }), WebhookError);
});

test('anything else is refused', async () => {
  const late = signed({ at: now() - 400 });
  /** @type {[string, Partial<import('@shortline/client').WebhookRequest>][]} */
  const cases = [
    ['another body', { body: body.replace('ü', 'u') }],
    ['another secret', { secret: 'whsec_b3RoZXI=' }],
    ['another id', { headers: { ...signed(), 'webhook-id': 'd2' } }],
    ['another time', { headers: { ...signed(), 'webhook-timestamp': String(now() - 1) } }],
    ['an old request', { headers: late }],
    ['a request of the future', { headers: signed({ at: now() + 400 }) }],
    ['no time', { headers: { ...signed(), 'webhook-timestamp': undefined } }],
    ['no number', { headers: { ...signed(), 'webhook-timestamp': 'NaN' } }],
    ['no signature', { headers: { ...signed(), 'webhook-signature': '' } }],
    [
      'another version',
      { headers: { ...signed(), 'webhook-signature': signed()['webhook-signature'].replace('v1', 'v2') } },
    ],
    ['a signature that is no base64', { headers: { ...signed(), 'webhook-signature': 'v1,ü' } }],
    ['an empty secret', { secret: '' }],
    ['no secret', { secret: [] }],
  ];
  for (const [what, more] of cases) {
    await assert.rejects(verifyWebhook({ body, headers: signed(), secret, ...more }), WebhookError, what);
  }
  await verifyWebhook({ body, headers: late, secret, tolerance: 500 });
});
