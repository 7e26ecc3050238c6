// The simulator: the API decides a visit with the code of the edges, and this shows the trace.
import { h, replace, safeLink } from './dom.js';
import { post } from './api.js';
import { card, field, form } from './ui.js';
import { percent } from './format.js';
import { condition } from './conditions.js';

const agents = [
  ['iPhone, Safari', 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1'],
  ['Android phone, Chrome', 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36'],
  ['Windows, Chrome', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'],
  ['Mac, Safari', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15'],
  ['iPad, Safari', 'Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1'],
  ['This browser', navigator.userAgent],
];
const outcomes = {
  REDIRECT: 'The visitor is redirected.', GONE: 'The visitor gets the status 410 (Gone).',
  ABSENT: 'The link has not started. The visitor gets the status 404 (Not Found).', ENDED: 'The link has ended. The visitor goes to its address for afterwards.', PREVIEW: 'A crawler gets the preview page.',
  PASSWORD: 'The visitor must enter the password first.', LOOP: 'The visit is stopped, because the destination leads back to this link.',
};
const reasons = { RULE: 'a rule', VARIANT: 'a variant, chosen by weight', DEFAULT: 'the default, because no rule matches', ORIGINAL: 'the link\u2019s own destination' };

export function explain(u) {
  const answer = h('div', { class: 'explained', role: 'status' });
  return card('Where does a visitor go?', form(h('div', { class: 'pair' },
    field('userAgent', 'Device', { options: agents.map(([name, agent]) => [agent, name]) }),
    field('country', 'Country', { placeholder: 'DE', maxlength: 2, autocomplete: 'off' }),
    field('language', 'Language', { placeholder: 'de-DE', autocomplete: 'off' }),
    field('referer', 'Referrer', { placeholder: 'https://news.example/', autocomplete: 'off' }),
    field('query', 'Parameters', { placeholder: 'utm_source=mail', autocomplete: 'off' }),
    field('ip', 'IP address', { placeholder: '203.0.113.7', autocomplete: 'off' }),
    field('returning', 'Has been here before', { type: 'checkbox' }),
    field('time', 'Time', { type: 'datetime-local', help: 'Leave empty for now.' })), 'Explain', async (v) => {
    const body = {};
    for (const [name, value] of Object.entries(v)) if (value) body[name] = name === 'time' ? new Date(value).toISOString() : value === true || value.trim();
    const e = await post(`/api/urls/${u.id}/explain`, body);
    const d = e.destination;
    replace(answer, h('p', null, h('b', null, outcomes[e.outcome] ?? e.outcome), ` Destination from: ${reasons[d.chosenBy] ?? d.chosenBy}.`), h('p', { class: 'target' }, '\u2192 ', safeLink(d.location)),
      d.clickParameter ? h('p', { class: 'help' }, `Shortline adds the id of the click as ${d.clickParameter}.`) : null,
      e.rules.length ? h('ol', { class: 'trace' }, e.rules.map((r) => h('li', null, verdict(r.matched, r.wins ? 'wins' : r.matched ? 'matches' : 'does not match'), ' ', h('b', null, r.name), !r.evaluated && ' (not evaluated)', h('ul', null, trace(r.trace))))) : null,
      e.variants.length ? h('p', { class: 'help' }, 'Variants: ', e.variants.map((x) => `${x.name} ${percent(x.percentage)}`).join(', ')) : null);
  }, { kind: '' }), answer);
}

function verdict(yes, text) {
  return h('span', { class: yes ? 'yes' : 'no' }, text);
}

function trace(c) {
  if (c.logicalOperator) return h('li', null, verdict(c.matched, c.matched ? 'yes' : 'no'), ` ${c.logicalOperator === 'AND' ? 'all of' : 'any of'}`, h('ul', null, c.children.map(trace)));
  return h('li', null, verdict(c.matched, c.matched ? 'yes' : 'no'), ` ${condition(c)}`,
    h('small', null, c.visitorValue === null ? ' \u2013 unknown for this visitor' : ` \u2013 the visitor has ${c.visitorValue}`));
}
