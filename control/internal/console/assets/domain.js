// One custom domain: its DNS records, its certificate and its settings. The page follows the set-up by itself.
import { h, icon, replace } from './dom.js';
import { del, get, post } from './api.js';
import { address, may } from './choice.js';
import { attempt, button, card, copy, dialog, field, form, iconButton, notify, table } from './ui.js';
import { seconds } from './format.js';
import { certificateCard } from './certificate.js';
import { domainSettings } from './domainsettings.js';
import { remove, standardMark, state } from './domains.js';

const least = 5200; // milliseconds between two checks; the API answers earlier ones from the last check
const often = 6000, seldom = 30000, eager = 5 * 60e3; // milliseconds: pauses, and how long the shorter one is used

// settled reports whether the DNS records are right.
const settled = (d) => d.status === 'SUSPENDED' || d.status === 'ACTIVE' && d.records.every((r) => r.found);
// waiting reports whether a certificate may come. The first order of a service that issues none never does.
const waiting = (d) => d.status === 'ACTIVE' && (d.certificate === null || ['PENDING', 'FAILED'].includes(d.certificate?.status));

export async function domain({ id, user, signal, go }) {
  const path = `/api/domains/${encodeURIComponent(id)}`;
  const top = h('div', { class: 'list' }), certificate = h('div', { hidden: true }), records = recordCard();
  const change = may('ADMIN');
  let d = await get(path, { signal }), shown = {};

  // draw shows the domain. It keeps parts that have not changed, and with them the focus.
  function draw(now) {
    d = now;
    document.title = `${d.displayName} \u00b7 Shortline`;
    const part = (name, value, render) => {
      const key = JSON.stringify(value);
      if (shown[name] !== key) render();
      shown[name] = key;
    };
    part('top', [d.status, d.isDefault, d.suspendReason], () => replace(top, heading(),
      d.status === 'SUSPENDED' && h('p', { class: 'alert', role: 'note' }, h('b', null, 'This domain is suspended.'), d.suspendReason && [' ', h('span', { dir: 'auto' }, d.suspendReason)])));
    certificate.hidden = d.certificate === undefined;
    if (!certificate.hidden) part('certificate', [d.status, d.certificate], () => replace(certificate, certificateCard(d, load)));
    records.draw(d);
  }

  const heading = () => h('header', { class: 'heading link' },
    h('div', null, h('h1', { tabindex: '-1' }, d.displayName), h('p', { class: 'address' }, d.displayName !== d.hostname && h('span', { class: 'mono' }, d.hostname), state(d), standardMark(d))),
    h('div', { class: 'actions' }, h('a', { class: 'button', href: address('/console/links', { domain: d.hostname }) }, icon('links'), 'Links'), user.role === 'ADMIN' && (d.status === 'SUSPENDED' ? lifter() : d.status === 'ACTIVE' && button('Suspend\u2026', () => suspend(d, draw), { symbol: 'pause' })),
      change && button('Delete', () => remove(d, () => go('/console/domains')), { kind: 'danger-quiet', symbol: 'trash' })));

  function lifter() {
    const control = button('Lift suspension', () => attempt(control, async () => {
      await del(`${path}/suspend`);
      notify('The suspension was lifted.');
      await load();
    }), { symbol: 'play' });
    return control;
  }

  const load = async () => draw(await get(path, { signal }));

  // check makes the service look for the records. The API does so at most every few seconds, so it may ask twice.
  async function check() {
    const before = d.checkedAt;
    draw(await post(`${path}/verify`, {}, { signal }));
    if (before && d.checkedAt === before) {
      await new Promise((done) => setTimeout(done, least));
      draw(await post(`${path}/verify`, {}, { signal }));
    }
  }

  const now = button('Check now', () => attempt(now, async () => {
    records.busy();
    try {
      await check();
    } finally {
      records.draw(d);
    }
  }), { symbol: 'again' });

  draw(d);
  watch(signal, () => (settled(d) ? (waiting(d) ? load : null) : change ? async () => !now.disabled && draw(await post(`${path}/verify`, {}, { signal })) : load));
  return [h('nav', { 'aria-label': 'Back', class: 'back' }, h('a', { href: '/console/domains' }, '\u2190 All domains')), top,
    records.element(change && now), certificate, change && domainSettings(d, load)];
}

// suspend asks an administrator of the system for a reason, and takes the domain out of service. It calls done with the
// domain that the API returns.
function suspend(d, done) {
  dialog(`Suspend ${d.displayName}?`, (close) => form([
    h('p', null, 'Its links stop working within seconds. Its owners see the reason, and can neither lift the suspension nor delete the domain.'),
    field('reason', 'Reason', { maxlength: 500, required: true, autofocus: true, autocomplete: 'off' }),
  ], 'Suspend', async (v) => {
    const now = await post(`/api/domains/${d.id}/suspend`, { reason: v.reason });
    close();
    notify('Suspended.');
    done(now);
  }, { cancel: close, kind: 'danger', class: 'body' }));
}

// watch runs what next returns again and again: often at first, and not while the page is hidden. next returns null if
// nothing is to be done. It ends with the signal.
function watch(signal, next) {
  const begun = Date.now();
  let timer, busy = false;
  function plan() {
    clearTimeout(timer);
    if (!signal.aborted && !document.hidden) timer = setTimeout(run, Date.now() - begun < eager ? often : seldom);
  }
  async function run() {
    const what = next();
    if (busy || !what) return plan();
    busy = true;
    try {
      await what();
    } catch {
      // The next attempt may succeed, and the button shows errors.
    } finally {
      busy = false;
      plan();
    }
  }
  signal.addEventListener('abort', () => clearTimeout(timer));
  document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : run()), { signal });
  plan();
}

// recordCard returns the card of the DNS records. draw shows the state of a domain without replacing the rows, so that the
// focus stays on a button.
function recordCard() {
  const list = h('div', { class: 'domain-records' }), said = h('p', { class: 'help' }), title = h('p', { role: 'status' });
  let rows = '', cells = [], notes = [];

  // build makes the rows. Their state is drawn separately.
  function build(d) {
    cells = d.records.map(() => h('div', { class: 'found' }));
    notes = d.records.map(() => h('tr', { class: 'note', hidden: true }));
    const value = (text, what) => h('span', { class: 'copied' }, h('span', { class: 'mono' }, text), iconButton('copy', `Copy the ${what}`, () => copy(text, `Copied the ${what}.`)));
    const all = table('DNS records', [['Type'], ['Name'], ['Value'], ['State']], d.records.map((r, i) => [h('b', null, r.type), value(r.name, `name of the ${r.type} record`), value(r.value, `value of the ${r.type} record`), cells[i]]));
    [...all.querySelectorAll('tbody tr')].forEach((row, i) => row.after(notes[i]));
    replace(list, all, h('details', null, h('summary', null, 'How to set them'), h('ul', { class: 'points' },
        h('li', null, 'Add both records where you manage the DNS of the domain. Keep the TXT record: it proves that the name is yours.'),
        h('li', null, 'Some providers add the domain to names by themselves. Then enter only the part before it.'),
        h('li', null, 'A name such as example.com cannot have a CNAME record. Use an ALIAS or ANAME record of your provider, or A and AAAA records with the addresses of the edges.'),
        h('li', null, 'Changes of DNS usually take minutes. They can take as long as the old record may be cached.'))));
  }

  function draw(d) {
    const now = JSON.stringify(d.records.map((r) => [r.type, r.name, r.value]));
    if (now !== rows) build(d);
    rows = now;
    d.records.forEach((r, i) => {
      replace(cells[i], h('span', { class: r.found ? 'yes' : 'no' }, icon(r.found ? 'check' : 'clock'), r.found ? 'Found' : d.checkedAt ? 'Not found' : 'Not checked'));
      replace(notes[i], h('td', { colspan: 4 }, h('p', { class: 'hint', dir: 'auto' }, r.message)));
      notes[i].hidden = !r.message;
    });
    const left = d.records.filter((r) => !r.found).length;
    says(title, d.status === 'SUSPENDED' ? 'The records are not checked while the domain is suspended.' : left ? 'Set these records at your DNS provider. This page checks them by itself.' : d.status === 'ACTIVE' ? 'All records are right. Visitors reach this service.' : 'The records are right.');
    says(said, d.checkedAt ? `Last checked at ${seconds(d.checkedAt)}.` : 'Not checked yet.');
  }
  return { draw, busy: () => says(said, 'Looking for the records\u2026'), element: (check) => card(null, h('header', { class: 'heading' }, h('h2', null, 'DNS records'), check), title, list, said) };
}

// says changes a text. Screen readers announce only what differs.
function says(place, text) {
  if (place.textContent !== text) replace(place, text);
}
