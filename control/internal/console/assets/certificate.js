// The certificate of a domain: its state in words, and the upload of one's own.
import { h, safeLink } from './dom.js';
import { put, del } from './api.js';
import { may } from './choice.js';
import { button, card, confirm, dialog, field, form, notify } from './ui.js';
import { date, since, time } from './format.js';

const soon = 14 * 86400e3; // milliseconds; an uploaded certificate needs a successor by then

const served = (c) => Boolean(c?.notAfter) && new Date(c.notAfter) > new Date();
const uploaded = (c) => c?.source === 'UPLOADED';
const ending = (c) => uploaded(c) && new Date(c.notAfter) - Date.now() < soon;

// briefly returns the state of a certificate for a list.
export function briefly({ certificate: c }) {
  if (c === undefined) return null; // a replica of an earlier release during an upgrade
  if (served(c)) return h('span', { class: ending(c) ? 'late' : null }, `Certificate until ${date(c.notAfter)}`);
  if (c?.notAfter) return h('span', { class: 'late' }, `Certificate expired ${since(c.notAfter)}`);
  return { PENDING: 'Certificate is being issued', FAILED: h('span', { class: 'late' }, 'Certificate not issued') }[c?.status] ?? 'No certificate';
}

function mark(c) {
  if (served(c)) return h('span', { class: `badge ${ending(c) ? 'warn' : 'active'}` }, ending(c) ? 'Expires soon' : 'Valid');
  if (c?.notAfter) return h('span', { class: 'badge expired' }, 'Expired');
  return { PENDING: h('span', { class: 'badge warn' }, 'In progress'), FAILED: h('span', { class: 'badge expired' }, 'Not issued') }[c?.status] ?? h('span', { class: 'badge' }, 'None');
}

// words says what happens next, or what the owner has to do.
function words(d, c) {
  if (!c && d.status !== 'ACTIVE') return 'There is none before the DNS records are found.';
  if (!c) return 'A service that orders certificates has one within minutes. If yours does not, upload your own, or put a proxy with a certificate in front of the edges.';
  if (c.status === 'FAILED') return served(c) ? 'The certificate could not be renewed. The present one stays in use.' : 'The certificate authority did not issue a certificate.';
  if (c.status === 'PENDING') return d.status === 'ACTIVE' ? 'The certificate authority checks the domain. This usually takes less than a minute.' : 'A certificate is requested as soon as the DNS records are found.';
  if (!served(c)) return uploaded(c) ? 'Browsers refuse the domain. Upload a new certificate.' : 'Browsers refuse the domain. The certificate is being renewed.';
  return uploaded(c) ? 'You uploaded this certificate. Upload the next one before it expires.' : 'The certificate renews itself.';
}

// certificateCard returns the card of a domain's certificate. changed is called with the domain after an upload.
export function certificateCard(d, changed) {
  const c = d.certificate, works = d.status === 'ACTIVE' && served(c), fact = (name, value) => [h('dt', null, name), h('dd', null, value)];
  const back = () => confirm('Remove the uploaded certificate?', 'If the service orders certificates, the uploaded one stays in use until there is a new one. If it orders none, browsers can no longer open the domain over https.', 'Remove', async () => {
    await del(`/api/domains/${d.id}/certificate`);
    notify('The uploaded certificate was removed.');
    await changed();
  });
  return card(null, h('header', { class: 'heading' }, h('h2', null, 'Certificate'), mark(c)),
    h('div', { role: 'status', class: 'list tight' },
      works && h('p', { class: 'good' }, safeLink(`https://${d.hostname}/`, { class: 'mono' }), ' works.'),
      h('p', { class: works ? 'help' : null }, words(d, c)),
      c?.lastError && h('p', { class: 'alert', dir: 'auto' }, c.lastError, c.nextAttemptAt && ` Next attempt ${since(c.nextAttemptAt)}.`)),
    c?.notAfter && h('dl', { class: 'facts' }, fact('Issued by', h('span', { dir: 'auto' }, c.issuer || 'unknown')), fact('Valid', [h('time', { datetime: c.notBefore }, date(c.notBefore)), ' \u2013 ', h('time', { datetime: c.notAfter }, time(c.notAfter))])),
    may('ADMIN') && h('div', { class: 'actions start' }, button(uploaded(c) ? 'Upload a new one\u2026' : 'Upload your own\u2026', () => upload(d, changed)), uploaded(c) && button('Back to the automatic one\u2026', back)));
}

// pem returns a field for text in PEM, with a button that reads it from a file.
function pem(name, label, rows, help) {
  const place = field(name, label, { rows, class: 'code', placeholder: `-----BEGIN ${name === 'certificate' ? 'CERTIFICATE' : 'PRIVATE KEY'}-----`, autocomplete: 'off', help });
  const text = place.querySelector('textarea');
  const file = h('input', { type: 'file', 'aria-label': `${label} from a file`, accept: '.pem,.crt,.cer,.key,.txt', onchange: async () => {
    if (file.files[0]) text.value = await file.files[0].text();
  } });
  text.after(file);
  return place;
}

function upload(d, changed) {
  dialog(`Certificate for ${d.displayName}`, (close) => form([
    pem('certificate', 'Certificate chain', 6, 'PEM: the certificate of the domain first, then the intermediate ones.'),
    pem('privateKey', 'Private key', 5, 'PEM, without a passphrase. It is stored encrypted and never shown.'),
  ], 'Upload', async (v) => {
    await put(`/api/domains/${d.id}/certificate`, { certificate: v.certificate.trim(), privateKey: v.privateKey.trim() });
    close();
    notify('Uploaded. Edges use it within seconds.');
    await changed();
  }, { cancel: close, class: 'body' }), { wide: true });
}
