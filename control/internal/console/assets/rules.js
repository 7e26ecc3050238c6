// A link's routing rules in the order of evaluation, and the simulator.
import { h, replace, safeLink } from './dom.js';
import { get, post, put, patch, del, wrong } from './api.js';
import { may } from './choice.js';
import { attempt, button, card, confirm, dialog, empty, field, form, iconButton, notify, opener } from './ui.js';
import { number, percent } from './format.js';
import { explain } from './explain.js';
import { adder, sentence } from './conditions.js';
import { changed, edited, guarded } from './conflict.js';

const example = { operator: 'AND', conditions: [{ type: 'device', operator: 'equals', value: 'MOBILE' }, { type: 'country', operator: 'in', value: ['DE', 'AT', 'CH'] }] };

export async function rules(u, { signal }) {
  const path = `/api/urls/${u.id}/routing-rules`;
  const list = h('div');
  let smart = u.isSmartRouting, defaultUrl = u.defaultUrl;
  const settings = h('div');

  async function load() {
    const got = await get(path, { signal });
    const parts = new Map(got.stats.map((s) => [s.ruleId, s.matchPercentage]));
    replace(list, got.rules.length ? h('ol', { class: 'rules' }, got.rules.map((r) => shown(r, parts.get(r.id)))) :
      empty('No rules', 'All visitors get the same destination. A rule sends some visitors elsewhere, by device, country, language, time and more.'));
  }

  // The first rule turns routing on, and deleting the last one turns it off, so read the link again.
  async function refresh(text) {
    notify(text);
    const [now] = await Promise.all([get(`/api/urls/${u.id}`, { signal }), load()]);
    smart = now.isSmartRouting;
    defaultUrl = now.defaultUrl;
    drawSettings();
  }

  function shown(r, part) {
    const toggle = iconButton(r.isActive ? 'pause' : 'play', `${r.isActive ? 'Disable' : 'Enable'} ${r.name}`, () => attempt(toggle, async () => {
      await put(`${path}/${r.id}`, { isActive: !r.isActive });
      await refresh(r.isActive ? 'Disabled.' : 'Enabled.');
    }));
    return h('li', { class: r.isActive ? 'rule' : 'rule off' }, h('div', { class: 'what' }, h('h3', null, r.name, ' ', !r.isActive && h('span', { class: 'badge inactive' }, 'Disabled')),
      h('p', { class: 'target' }, '\u2192 ', safeLink(r.targetUrl)), h('p', { class: 'condition' }, sentence(r.conditions))),
    h('div', { class: 'meta' }, h('span', null, `priority ${number(r.priority)}`), h('span', null, `${number(r.matchCount)} matches \u00b7 ${percent(part)}`)),
    h('div', { class: 'tools' }, may('EDITOR') && [iconButton('edit', `Edit ${r.name}`, opener(() => get(`${path}/${r.id}`, { signal }), edit)), toggle,
      iconButton('trash', `Delete ${r.name}`, () => confirm('Delete this rule?', `\u201c${r.name}\u201d stops applying immediately.`, 'Delete', async () => {
        await del(`${path}/${r.id}`);
        await refresh('Deleted.');
      }), 'danger')]));
  }

  // edit asks for the fields of a new rule (null) or of one that was just read.
  function edit(r) {
    const conditions = field('conditions', 'Conditions', { rows: 12, class: 'code', value: JSON.stringify(r?.conditions ?? example, null, 2), help: 'JSON: a group with AND or OR. Groups can contain groups.' });
    dialog(r ? 'Edit rule' : 'New rule', (close) => form([
      field('name', 'Name', { value: r?.name ?? '', maxlength: 100, autofocus: true }),
      field('targetUrl', 'Destination', { type: 'url', value: r?.targetUrl ?? '', placeholder: 'https://example.com/mobile' }),
      field('priority', 'Priority', { type: 'number', min: 0, max: 10000, value: r?.priority ?? 0, help: 'The highest priority is evaluated first.' }),
      conditions, adder(conditions.querySelector('textarea')),
    ], 'Save', async (v) => {
      let group;
      try {
        group = JSON.parse(v.conditions);
      } catch (err) {
        throw wrong('conditions', `Invalid JSON: ${err.message}`);
      }
      const body = { name: v.name, targetUrl: v.targetUrl.trim(), priority: Number(v.priority), conditions: group };
      const saved = r ? await guarded(`${path}/${r.id}`, r, edited(r, body), { kind: 'rule', author: changed(u.id, 'routingRules', r.id), reload: async (now) => {
        close();
        await load();
        edit(now);
      } }) : await post(path, body);
      if (!saved) return;
      close();
      await refresh('Saved. The rule applies within a second.');
    }, { cancel: close, class: 'body' }), { wide: true });
  }

  async function fromTemplate() {
    const { templates } = await get('/api/routing-templates', { signal });
    dialog('Rule from a template', (close) => {
      const about = h('p', { class: 'help' }, templates[0].description);
      return form([
        field('templateKey', 'Template', { options: templates.map((t) => [t.key, t.name]), onchange: (e) => replace(about, templates.find((t) => t.key === e.target.value).description) }), about,
        field('targetUrl', 'Destination', { type: 'url', placeholder: 'https://example.com/mobile', autofocus: true }),
        field('priority', 'Priority', { type: 'number', min: 0, max: 10000, value: 0, help: 'The highest priority is evaluated first.' }),
      ], 'Add rule', async (v) => {
        await post(`${path}/from-template`, { templateKey: v.templateKey, targetUrl: v.targetUrl.trim(), priority: Number(v.priority) });
        close();
        await refresh('Added. The rule applies within a second.');
      }, { cancel: close, class: 'body' });
    });
  }

  function drawSettings() {
    if (!may('EDITOR')) return replace(settings, h('p', { class: 'help' }, smart ? 'The rules are in use.' : 'The rules are not in use.', defaultUrl && [' If no rule matches, visitors get ', safeLink(defaultUrl), '.']));
    replace(settings, form([
      field('isSmartRouting', 'Use the rules', { type: 'checkbox', checked: smart }),
      field('defaultUrl', 'If no rule matches', { type: 'url', value: defaultUrl ?? '', placeholder: 'the link\u2019s own destination' }),
    ], 'Save', async (v) => {
      await patch(`${path}/settings`, { isSmartRouting: v.isSmartRouting, defaultUrl: v.defaultUrl.trim() || null });
      await refresh('Saved.');
    }, { class: 'inline', kind: '' }));
  }

  drawSettings();
  await load();
  const template = button('From a template', () => attempt(template, fromTemplate), { symbol: 'plus' });
  return [card(null, h('header', { class: 'heading' }, h('h2', null, 'Rules'), may('EDITOR') && h('div', { class: 'actions' }, template, button('New rule', () => edit(null), { kind: 'primary', symbol: 'plus' }))), list, settings),
    explain(u)];
}
