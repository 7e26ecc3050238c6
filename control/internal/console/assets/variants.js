// A link's A/B test: variants, their weights and results.
import { h, replace, safeLink } from './dom.js';
import { get, post, put, del } from './api.js';
import { may } from './choice.js';
import { attempt, bar, button, card, confirm, dialog, empty, field, form, iconButton, notify, opener } from './ui.js';
import { number, percent } from './format.js';
import { changed, edited, guarded } from './conflict.js';

export async function variants(u, { signal }) {
  const path = `/api/urls/${u.id}/variants`;
  const list = h('div'), state = h('p', { class: 'help', role: 'status' });
  const toggle = button('', () => attempt(toggle, async () => {
    await put(`/api/urls/${u.id}`, { isABTesting: !u.isABTesting });
    await refresh(u.isABTesting ? 'Test stopped.' : 'Test started.');
  }));

  async function load() {
    const got = await get(path, { signal });
    toggle.hidden = !got.variants.length;
    replace(toggle, u.isABTesting ? 'Stop the test' : 'Start the test');
    replace(state, got.variants.length ? (u.isABTesting ? 'The test is running. Visitors that match no rule are split by weight.' : 'The test is stopped. No visitor gets a variant.') : '');
    replace(list, got.variants.length ? h('ul', { class: 'rules' }, got.variants.map((v) => shown(v, got))) :
      empty('No test', 'Split visitors between destinations by weight, and compare the results. The first variant starts the test.'));
  }

  async function refresh(text) {
    notify(text);
    u = await get(`/api/urls/${u.id}`, { signal });
    await load();
  }

  function shown(v, { totalWeight, stats }) {
    // Rounds like the API: halves up, in integers.
    const chance = v.isActive && totalWeight ? Math.floor((v.weight * 2000 + totalWeight) / (2 * totalWeight)) / 10 : 0;
    const share = stats.find((s) => s.variant.id === v.id).clickThroughRate;
    const pause = iconButton(v.isActive ? 'pause' : 'play', `${v.isActive ? 'Disable' : 'Enable'} ${v.name}`, () => attempt(pause, async () => {
      await put(`${path}/${v.id}`, { isActive: !v.isActive });
      await refresh(v.isActive ? 'Disabled.' : 'Enabled.');
    }));
    return h('li', { class: v.isActive ? 'rule' : 'rule off' },
      h('div', { class: 'what' }, h('h3', null, v.name, ' ', !v.isActive && h('span', { class: 'badge inactive' }, 'Disabled')), h('p', { class: 'target' }, '\u2192 ', safeLink(v.targetUrl)),
        bar(chance, 100)),
      h('div', { class: 'meta' }, h('span', null, `weight ${v.weight} \u00b7 ${percent(chance)}`), h('span', null, `${number(v.clickCount)} clicks \u00b7 ${percent(share)}`)),
      h('div', { class: 'tools' }, may('EDITOR') && [iconButton('edit', `Edit ${v.name}`, opener(() => get(`${path}/${v.id}`, { signal }), edit)), pause,
        iconButton('trash', `Delete ${v.name}`, () => confirm('Delete this variant?', `\u201c${v.name}\u201d gets no more visitors.`, 'Delete', async () => {
          await del(`${path}/${v.id}`);
          await refresh('Deleted.');
        }), 'danger')]));
  }

  // edit asks for the fields of a new variant (null) or of one that was just read.
  function edit(v) {
    dialog(v ? 'Edit variant' : 'New variant', (close) => form([
      field('name', 'Name', { value: v?.name ?? '', maxlength: 100, autofocus: true }),
      field('targetUrl', 'Destination', { type: 'url', value: v?.targetUrl ?? '', placeholder: 'https://example.com/b' }),
      field('weight', 'Weight', { type: 'number', min: 0, max: 100, value: v?.weight ?? 50, help: '0 to 100. The probability is this weight divided by the sum of the weights of all active variants.' }),
    ], 'Save', async (x) => {
      const body = { name: x.name, targetUrl: x.targetUrl.trim(), weight: Number(x.weight) };
      const saved = v ? await guarded(`${path}/${v.id}`, v, edited(v, body), { kind: 'variant', author: changed(u.id, 'variants', v.id), reload: async (now) => {
        close();
        await load();
        edit(now);
      } }) : await post(path, body);
      if (!saved) return;
      close();
      await refresh('Saved.');
    }, { cancel: close, class: 'body' }));
  }

  await load();
  return card(null, h('header', { class: 'heading' }, h('h2', null, 'A/B test'), may('EDITOR') && h('div', { class: 'actions' }, toggle, button('New variant', () => edit(null), { kind: 'primary', symbol: 'plus' }))), state, list);
}
