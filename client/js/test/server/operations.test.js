// Calls each operation of the API once against a running standalone. The last test fails if one of the document was not called.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { and, condition, or } from '@shortline/client';
import { anonymous, notCalled, password, picture, refused, signIn, totp, until, url } from './session.js';

/** @type {import('@shortline/client').Shortline} */
let admin;
const nobody = '01970000-0000-7000-8000-000000000000';
const germany = or(
  condition('country', 'in', ['DE', 'AT']),
  condition('query', 'equals', { name: 'lang', value: 'de' }),
);
/** @param {Partial<import('@shortline/client').CreateURL>} [more] */
const newLink = (more) => admin.urls.create({ originalUrl: 'https://example.com/', ...more });

before(async () => {
  admin = await signIn();
});

test('account', async () => {
  const { data, status, requestId } = await admin.account.getMe().withResponse();
  assert.equal(status, 200);
  assert.ok(requestId);
  assert.equal((await admin.account.updateMe({ name: 'Ann' })).id, data.id);
  assert.ok((await admin.account.listSessions()).data.length >= 1);
  await refused(404, admin.account.endSession(nobody));
  await refused(400, admin.account.changePassword({ currentPassword: password, newPassword: 'short' }));
  await refused(400, admin.account.putPassword({ oldPassword: password, newPassword: 'short' }));
  await refused(403, anonymous.account.forgotPassword({ email: 'ann@example.com' }));
  await refused(400, anonymous.account.resetForgottenPassword({ token: 'unknown', newPassword: 'battery staple' }));
});

test('users, a second factor', async () => {
  const bob = await admin.users.create({ email: 'bob@example.com', password: 'battery staple horse' });
  const his = await signIn('bob@example.com', 'battery staple horse');
  const { secret } = await his.account.setUp2FA({ password: 'battery staple horse' });
  await his.account.enable2FA({ code: totp(secret) });
  await his.account.endOtherSessions(); // not the administrator's, of which another test may have one
  await refused(400, his.account.disable2FA({ code: '000000', password: 'battery staple horse' }));
  await admin.users.turnOff2FA(bob.id, { enabled: false });
  await his.account.logout();
  await refused(401, his.account.getMe());
  assert.equal((await admin.users.get(bob.id)).email, 'bob@example.com');
  assert.ok((await admin.users.list({ search: 'bob' })).data.length);
  await admin.users.setName(bob.id, { name: 'Bob' });
  await admin.users.setRole(bob.id, { role: 'ADMIN' });
  await admin.users.setStatus(bob.id, { status: 'INACTIVE' });
  await admin.users.resetPassword(bob.id, { newPassword: 'another long password' });
  await admin.users.patchPassword(bob.id, { newPassword: 'yet another password' });
  assert.deepEqual(await admin.users.listOIDCAccounts(bob.id), []);
  await refused(404, admin.users.deleteOIDCAccount(bob.id, nobody));
  await admin.users.delete(bob.id, { deleteLinks: true });
});

test('passkeys', async () => {
  assert.deepEqual((await admin.passkeys.list()).data, []);
  const { publicKey } = await admin.passkeys.beginRegistration({ password });
  assert.ok(publicKey.challenge);
  const response = { clientDataJSON: 'e30', attestationObject: 'oA' };
  await refused(400, admin.passkeys.finishRegistration({ name: 'Laptop', credential: { response } }));
  await anonymous.passkeys.beginLogin();
  const asserted = { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA', userHandle: 'AA' };
  const credential = { id: 'dGhlIGlk', response: asserted }; // the document does not have the id, which the server needs
  await refused(400, anonymous.passkeys.finishLogin({ credential }));
  await refused(404, admin.passkeys.rename(nobody, { name: 'Laptop' }));
  await refused(404, admin.passkeys.delete(nobody));
});

test('identity providers, single sign-on', async () => {
  const discoveryUrl = 'https://id.example.com/.well-known/openid-configuration';
  await admin.identityProviders.create({
    name: 'Company',
    slug: 'company',
    discoveryUrl,
    clientId: 'a',
    clientSecret: 'b',
  });
  assert.equal((await admin.identityProviders.list()).length, 1);
  assert.equal((await admin.identityProviders.get('company')).clientId, 'a');
  await admin.identityProviders.update('company', { name: 'The company' });
  assert.equal((await anonymous.sso.listSignInMethods()).passkeys, true);
  assert.equal((await anonymous.sso.list())[0]?.name, 'The company');
  const finished = await anonymous.sso.finish('company', { state: 'unknown', code: 'unknown' });
  assert.equal(finished.status, 302);
  await admin.identityProviders.delete('company');
  const begun = await anonymous.sso.begin('company', { redirect: '/' });
  assert.equal(begun.status, 302);
});

test('links', async () => {
  const link = await newLink({ tags: ['spring'], externalId: 'crm:42', password: 'open sesame' });
  const { data, etag } = await admin.urls.get(link.id).withResponse();
  assert.deepEqual(data, link);
  assert.equal(await admin.urls.get(link.id, { ifNoneMatch: etag ?? '' }), undefined);
  assert.deepEqual(await admin.urls.get(link.id, { fields: ['id', 'slug'] }), { id: link.id, slug: link.slug });
  await admin.urls.update(link.id, { title: 'Launch' }, { ifMatch: etag });
  const stale = await refused(412, admin.urls.patch(link.id, { title: 'Too late' }, { ifMatch: etag }));
  assert.equal(stale.code, 'STALE');
  assert.equal((await admin.urls.getByExternalID('crm:42')).id, link.id);
  await admin.urls.putByExternalID('crm:42', { title: 'Launch day' });
  const { data: history } = await admin.urls.history(link.id);
  await admin.urls.rollBack(link.id, { revision: history.at(-1)?.revision ?? 0 });
  const copy = await admin.urls.duplicate(link.id, { customSlug: 'copy' });
  assert.equal((await admin.urls.checkSlug({ slug: 'copy' })).status, 'TAKEN');
  assert.ok((await admin.urls.stats()).totalUrls >= 2);
  await admin.urls.utmSuggestions({ field: 'utmSource' });
  const edit = { urlIds: [link.id], change: { tags: ['edited'] } };
  assert.equal((await admin.urls.previewEdit(edit)).changed, 1);
  const { id: editId } = await admin.urls.startEdit(edit);
  await until('the edit', async () => (await admin.urls.getEdit(editId)).status === 'DONE');
  assert.equal((await admin.urls.listEdits()).total, 1);
  assert.equal((await admin.urls.listEditProblems(editId)).total, 0);
  await admin.urls.undoEdit(editId);
  await until('the undo', async () => (await admin.urls.getEdit(editId)).status === 'UNDONE');
  await admin.urls.delete(copy.id);
  assert.equal((await admin.urls.restore(copy.id, {})).slug, 'copy');
  await admin.urls.delete(copy.id);
  await admin.urls.delete(copy.id, { permanently: true });
  assert.match(await admin.urls.export({ tag: ['spring'] }), /^id,|,id,|slug/);
  assert.equal((await admin.urls.export({ tag: 'spring', format: 'json' })).length, 1);
  assert.equal((await admin.urls.qrCode(link.id, { format: 'svg' })).type, 'image/svg+xml');
  assert.match((await admin.urls.qrCode(link.id)).qrCode, /^data:image/);
  await admin.urls.qrCodeWithLogo(link.id, new Blob([picture], { type: 'image/png' }), { format: 'png' });
  assert.ok(await admin.urls.explain(link.id, { country: 'DE' }));
  await admin.urls.replay(link.id, {
    draft: { rules: [{ name: 'a', targetUrl: 'https://example.com/de', conditions: germany }] },
  });
  await admin.urls.explainNew({ draft: { originalUrl: 'https://example.com/' } });
  const { data: image } = await admin.images.upload(link.id, new File([picture], 'a.png', { type: 'image/png' }));
  assert.match((await anonymous.images.get(image.key)).type, /^image/);
  assert.ok((await admin.urls.previewPage({ url: 'http://127.0.0.1:1/' })).problem);
  assert.equal(await admin.urls.siteIcon({ url: 'http://127.0.0.1:1/' }), undefined);
});

test('many links, pages, a transfer', async () => {
  const urls = Array.from({ length: 25 }, (_, i) => ({ originalUrl: `https://example.com/${i}`, tags: ['many'] }));
  const { succeeded } = await admin.urls.bulkCreate({ urls });
  const urlIds = succeeded.map(({ url: link }) => link.id);
  const found = [];
  for await (const { id } of admin.urls.list({ tag: 'many', limit: 10, fields: ['id'] })) found.push(id);
  assert.deepEqual(found.sort(), urlIds.sort());
  await admin.urls.bulkUpdate({ urlIds, status: 'INACTIVE' });
  const items = [{ externalId: 'crm:43', originalUrl: 'https://example.com/fair', tags: ['fair'] }];
  const planned = await admin.urls.upsert({ items }, { dryRun: true });
  assert.deepEqual([planned.dryRun, planned.createdCount], [true, 1]);
  assert.equal((await admin.urls.upsert({ items })).createdCount, 1);
  assert.equal((await admin.urls.upsert({ items })).unchangedCount, 1);
  const team = await admin.workspaces.create({ name: 'Growth team', slug: 'growth' });
  await admin.urls.transfer({ urlIds, workspaceId: team.id });
  const there = admin.with({ workspace: 'growth' });
  assert.equal((await there.urls.list()).total, 25);
  await there.urls.bulkDelete({ urlIds });
  assert.equal((await admin.workspaces.get(team.id)).slug, 'growth');
  await admin.workspaces.update(team.id, { name: 'Growth' });
  assert.equal((await admin.workspaces.list()).data.length, 2);
  const [me] = (await admin.workspaces.listMembers(team.id)).data;
  assert.ok(me);
  await refused(400, admin.workspaces.setMemberRole(team.id, me.userId, { role: 'VIEWER' }));
  await refused(400, admin.workspaces.removeMember(team.id, me.userId));
  const invitation = await admin.invitations.create(team.id, { email: 'cleo@example.com', role: 'EDITOR' });
  assert.equal((await admin.invitations.list(team.id)).data.length, 1);
  await admin.invitations.revoke(team.id, invitation.id);
  await refused(
    404,
    anonymous.invitations.accept({ token: 'unknown', name: 'Cleo', password: 'battery staple horse' }),
  );
  const archive = await admin.archives.exportWorkspace(team.id);
  assert.equal(archive.type, 'application/zip');
  const report = await admin.archives.importWorkspace(team.id, archive, { dryRun: true });
  assert.deepEqual([report.dryRun, report.problemCount], [true, 0]);
  await admin.workspaces.delete(team.id, { deleteLinks: true });
});

test('rules, variants, experiments', async () => {
  const link = await newLink();
  const rule = await admin.routingRules.create(link.id, {
    name: 'German',
    targetUrl: 'https://example.com/de',
    conditions: germany,
  });
  assert.deepEqual(rule.conditions, germany);
  await admin.routingRules.update(link.id, rule.id, {
    conditions: and(germany, condition('device', 'equals', 'MOBILE')),
  });
  assert.equal((await admin.routingRules.get(link.id, rule.id)).name, 'German');
  assert.ok((await admin.routingRules.listTemplates()).templates.length);
  await admin.routingRules.createFromTemplate(link.id, {
    templateKey: 'MOBILE_ONLY',
    targetUrl: 'https://example.com/m',
  });
  assert.equal((await admin.routingRules.list(link.id)).rules.length, 2);
  await admin.routingRules.updateSettings(link.id, { defaultUrl: 'https://example.com/other' });
  await admin.routingRules.delete(link.id, rule.id);
  const variant = await admin.variants.create(link.id, { name: 'A', targetUrl: 'https://example.com/a', weight: 50 });
  await admin.variants.create(link.id, { name: 'B', targetUrl: 'https://example.com/b', weight: 50 });
  await admin.variants.update(link.id, variant.id, { weight: 60 });
  assert.equal((await admin.variants.get(link.id, variant.id)).weight, 60);
  assert.equal((await admin.variants.list(link.id)).variants.length, 2);
  await admin.urls.patch(link.id, { isABTesting: true, trackConversions: true });
  await admin.experiments.put(link.id, { goal: 'purchase' });
  assert.equal((await admin.experiments.get(link.id)).goal, 'purchase');
  assert.ok((await admin.experiments.listWeights(link.id)).data);
  await admin.experiments.restart(link.id);
  await admin.experiments.promoteVariant(link.id, { variantId: variant.id });
  await admin.experiments.delete(link.id);
  await admin.variants.delete(link.id, variant.id);
});

test('bundles, tags, templates, views', async () => {
  const [one, two] = [await newLink(), await newLink()];
  const bundle = await admin.bundles.create({ name: 'Launch' });
  await admin.bundles.addURL(bundle.id, { urlId: one.id });
  await admin.bundles.addURLs(bundle.id, { urlIds: [two.id] });
  await admin.bundles.moveURL(bundle.id, two.id, { order: 0 });
  await admin.bundles.removeURL(bundle.id, one.id);
  await admin.bundles.update(bundle.id, { name: 'Launch day' });
  await admin.bundles.stats(bundle.id);
  await admin.bundles.archive(bundle.id);
  await admin.bundles.restore(bundle.id);
  assert.equal((await admin.bundles.get(bundle.id)).name, 'Launch day');
  assert.equal((await admin.bundles.list()).total, 1);
  await admin.bundles.delete(bundle.id);
  const tag = await admin.tags.create({ name: 'Autumn' });
  await admin.tags.update(tag.id, { color: '#10B981' });
  assert.equal((await admin.tags.list({ search: 'autumn' })).data[0]?.color, '#10B981');
  await admin.tags.delete(tag.id);
  const template = await admin.utmTemplates.create({ name: 'Newsletter', utmSource: 'newsletter' });
  await admin.utmTemplates.update(template.id, { utmMedium: 'email' });
  assert.equal((await admin.utmTemplates.list()).total, 1);
  await admin.utmTemplates.delete(template.id);
  const view = await admin.views.create({ name: 'Spring', screen: 'links', query: 'tag=spring' });
  await admin.views.update(view.id, { name: 'Spring links' });
  assert.equal((await admin.views.list({ screen: 'links' })).total, 1);
  await admin.views.delete(view.id);
  const segment = await admin.segments.create({ name: 'Phones', filters: { device: ['MOBILE'] } });
  await admin.segments.update(segment.id, { name: 'All phones' });
  assert.equal((await admin.segments.list()).total, 1);
  const report = await admin.mailReports.create({ name: 'Weekly', every: 'WEEK', segmentId: segment.id });
  await admin.mailReports.update(report.id, { isActive: false });
  assert.equal((await admin.mailReports.list()).total, 1);
  await admin.mailReports.delete(report.id);
  await admin.segments.delete(segment.id);
  const note = await admin.annotations.create({ at: new Date().toISOString(), text: 'Newsletter' });
  await admin.annotations.update(note.id, { text: 'Newsletter sent' });
  const { annotations } = await admin.annotations.list(); // of the links' histories, too
  assert.equal(annotations.find(({ id }) => id === note.id)?.text, 'Newsletter sent');
  await admin.annotations.delete(note.id);
});

test('alerts', async () => {
  const { email } = await admin.account.getMe();
  const channel = await admin.alerts.createChannel({ name: 'Mine', kind: 'mail', target: email });
  await admin.alerts.updateChannel(channel.id, { quietFrom: '22:00', quietTo: '07:00', timeZone: 'Europe/Berlin' });
  assert.equal((await admin.alerts.listChannels()).total, 1);
  const rule = await admin.alerts.createRule({ name: 'All', causes: ['destination'], channelIds: [channel.id] });
  await admin.alerts.updateRule(rule.id, { days: 3 });
  assert.equal((await admin.alerts.listRules()).total, 1);
  assert.equal((await admin.alerts.list({ ruleId: rule.id })).total, 0);
  await admin.alerts.deleteRule(rule.id);
  await admin.alerts.deleteChannel(channel.id);

  const shared = await admin.sharedReports.create({ name: 'Spring', about: 'workspace', password: 'battery staple' });
  await admin.sharedReports.update(shared.id, { name: 'Spring figures' });
  assert.equal((await admin.sharedReports.get(shared.id)).name, 'Spring figures');
  assert.equal((await admin.sharedReports.list({ about: 'workspace' })).total, 1);
  const token = shared.address?.split('/').at(-1) ?? '';
  const { pass } = await admin.sharedReports.unlock(token, { password: 'battery staple' });
  assert.ok(pass);
  assert.equal((await admin.sharedReports.view(token, { headers: { 'X-Report-Pass': pass } })).name, 'Spring figures');
  await admin.sharedReports.delete(shared.id);
});

test('imports', async () => {
  const file = await admin.imports.create('long_url,keyword\nhttps://example.com/i,imported\nnothing,here\n', {
    name: 'links.csv',
  });
  const plan = { mapping: { originalUrl: 'long_url', slug: 'keyword' } };
  assert.equal((await admin.imports.preview(file.id, plan)).create, 1);
  await admin.imports.start(file.id, plan);
  await until('the import', async () => (await admin.imports.get(file.id)).status === 'DONE');
  assert.equal((await admin.imports.listProblems(file.id)).total, 1);
  assert.match(await admin.imports.exportProblems(file.id), /nothing/);
  await refused(409, admin.imports.cancel(file.id));
  assert.equal((await admin.imports.list()).total, 1);
  await admin.imports.delete(file.id);
});

test('clicks: visits, reports, conversions', async () => {
  const link = await newLink({ trackConversions: true });
  await until('the link works', async () => {
    const answer = await anonymous.visitors.followLink(link.slug).catch(() => '');
    return typeof answer === 'object' && answer.status === 302;
  });
  await anonymous.visitors.linkInfo(link.slug);
  assert.match(await anonymous.visitors.reportForm(link.slug), /<form/);
  await anonymous.visitors.reportLink(link.slug, { reason: 'PHISHING', text: 'It asks for my password.' });
  const locked = await newLink({ password: 'open sesame' });
  await until('the locked link opens', () =>
    anonymous.visitors.openLink(locked.slug, { password: 'open sesame' }).catch(() => false),
  );
  assert.match(await anonymous.visitors.conversionScript(), /sl_click/);
  const settings = await admin.conversionSettings.put({ hosts: ['shop.example.com'] });
  assert.deepEqual((await admin.conversionSettings.get()).hosts, settings.hosts);
  const { publishableKey } = await admin.conversionSettings.rotateKey();
  const sent = { key: publishableKey ?? '', clickId: 'AAAeJAaHuVl57wU2e4T1xzbsPwSbOLy1', name: 'purchase' };
  const headers = { origin: 'https://shop.example.com' };
  await until('the key is known', () => anonymous.visitors.sendBrowserConversion(sent, { headers }).catch(() => false));
  await admin.conversions.send({
    clickId: 'AAAeJAaHuVl57wU2e4T1xzbsPwSbOLy1',
    name: 'purchase',
    value: 49.9,
    currency: 'EUR',
  });
  await admin.conversions.send('{"clickId":"AAAeJAaHuVl57wU2e4T1xzbsPwSbOLy1","name":"purchase"}\n');
  assert.equal((await admin.conversions.list(link.id)).total, 0);
  assert.ok(await admin.conversions.export(link.id));
  assert.ok((await admin.conversions.listGoals(link.id)).data);
  const { analytics } = admin;
  await until(
    'the click is stored',
    async () => (await analytics.recentClicks(link.id, { includeBots: true })).total > 0,
  );
  await analytics.recentClicksAlias(link.id);
  const {
    overview,
    topURLs,
    freshness,
    abTests,
    abTestsAlias,
    bots,
    botsAlias,
    groupsReport,
    conversionsReport,
    heatmap,
  } = analytics;
  const { linkReport, abTest, linkBots, linkHeatmap, routingReport } = analytics;
  const ofAll = [
    overview(),
    topURLs(),
    freshness(),
    abTests(),
    abTestsAlias(),
    bots(),
    botsAlias(),
    groupsReport(),
    conversionsReport(),
    heatmap(),
  ];
  const ofOne = [linkReport(link.id), abTest(link.id), linkBots(link.id), linkHeatmap(link.id), routingReport(link.id)];
  for (const report of await Promise.all([...ofAll, ...ofOne])) assert.ok(report);
  await analytics.listMissingSlugs({ from: new Date(Date.now() - 86_400_000) });
  await analytics.trends({ urlIds: [link.id, locked.id] });
  assert.match(await analytics.export({ timeRange: 'last_7_days', country: ['DE', 'AT'] }), /,/);
  assert.ok((await analytics.exportLink(link.id, { format: 'json' })).exportDate);
});

test('abuse, privacy, audit, edges, settings', async () => {
  const link = await newLink();
  const [report] = (await admin.abuse.listReports()).data;
  assert.ok(report);
  assert.equal((await admin.abuse.getReport(report.id)).id, report.id);
  await admin.abuse.resolveReport(report.id, { action: 'dismiss' });
  await admin.abuse.suspendURL(link.id, { reason: 'Phishing' });
  await admin.abuse.liftSuspension(link.id);
  assert.ok(await admin.privacy.eraseVisitor({ ip: '203.0.113.77' }));
  assert.ok((await admin.audit.list({ action: 'URL_CREATED' })).data.length);
  assert.ok((await admin.edges.list()).edges);
  assert.ok((await admin.systemSettings.getVersion()).go);
  const [setting] = await admin.systemSettings.list();
  await admin.systemSettings.put('sso_only', { value: { enabled: false } });
  await admin.systemSettings.get(setting?.key ?? 'sso_only');
  await admin.systemSettings.delete('sso_only');
});

test('domains', async () => {
  const domain = await admin.domains.create({ hostname: 'go.acme-example.com' });
  assert.equal((await admin.domains.get(domain.id)).hostname, 'go.acme-example.com');
  await admin.domains.update(domain.id, { notFoundUrl: 'https://example.com/lost' });
  assert.equal((await admin.domains.list()).total, 1);
  await admin.domains.verify(domain.id);
  await refused(400, admin.domains.uploadCertificate(domain.id, { certificate: 'none', privateKey: 'none' }));
  await admin.domains.deleteCertificate(domain.id);
  await refused(409, admin.abuse.suspendDomain(domain.id, { reason: 'Phishing' })); // it is not in service
  await admin.abuse.liftDomainSuspension(domain.id);
  await admin.domains.delete(domain.id);
});

test('API keys', async () => {
  const created = await admin.apiKeys.create({ name: 'Deployment', scopes: ['links:write'] });
  const { key } = await admin.apiKeys.rotate(created.id, {});
  const byKey = anonymous.with({ apiKey: key });
  assert.ok((await byKey.urls.list()).data);
  assert.equal((await refused(403, byKey.users.list())).status, 403);
  assert.equal((await admin.apiKeys.get(created.id)).name, 'Deployment');
  assert.ok((await admin.apiKeys.list()).total);
  await admin.apiKeys.delete(created.id);
});

test('pairing', async () => {
  const begun = await anonymous.pairing.begin({ name: 'a program' });
  assert.equal((await admin.pairing.get({ code: begun.userCode })).name, 'a program');
  await admin.pairing.approve({ code: begun.userCode, name: 'a program' });
  const { status, key } = await anonymous.pairing.redeem({ deviceCode: begun.deviceCode });
  assert.equal(status, 'APPROVED');
  assert.ok(key);
  await anonymous.with({ apiKey: key }).pairing.revokeOwnKey({ prefix: key.slice(0, 10) });
  const other = await anonymous.pairing.begin({ name: 'another program' });
  await admin.pairing.refuse({ code: other.userCode });
});

test('webhooks', async () => {
  const hook = await admin.webhooks.create({ name: 'CRM', url: 'https://hooks.example.com/', events: ['url.created'] });
  assert.ok(hook.secret);
  const { etag } = await admin.webhooks.get(hook.id).withResponse();
  await admin.webhooks.update(hook.id, { name: 'Our CRM' }, { ifMatch: etag });
  assert.notEqual((await admin.webhooks.rotateSecret(hook.id, { overlapSeconds: 60 })).secret, hook.secret);
  await admin.webhooks.test(hook.id);
  assert.ok((await admin.webhooks.listLogs(hook.id)).data);
  await admin.webhooks.retryFailures(hook.id);
  await refused(404, admin.webhooks.retry(hook.id, nobody));
  assert.equal((await admin.webhooks.list()).total, 1);
  await admin.webhooks.delete(hook.id);
});

test('live clicks', async () => {
  const link = await newLink({ title: 'live' });
  const stream = admin.analytics.live({ urlId: link.id, includeBots: true });
  const visits = until('visits', async () => {
    await fetch(`${url}/${link.slug}`, { redirect: 'manual' });
    return stream.lastEventId?.length && found;
  });
  let found = 0;
  for await (const click of stream) {
    assert.equal(click.slug, link.slug);
    if (++found === 2) break;
  }
  await visits;
  const again = admin.analytics.live({ urlId: link.id, includeBots: true, lastEventId: stream.lastEventId });
  await fetch(`${url}/${link.slug}`, { redirect: 'manual' });
  for await (const click of again) {
    assert.equal(click.urlId, link.id);
    break;
  }
});

test('each operation of the document was called', async () => {
  assert.deepEqual(await notCalled(), []);
});
