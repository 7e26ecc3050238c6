// Filters of reports: their names, their chips, and the dialog that adds one.
import { h, icon, replace } from './dom.js';
import { all, get, query, wrong } from './api.js';
import { button, complain, dialog, field, form } from './ui.js';
import { country, device, language } from './format.js';

// The filters of the API that every report has. rows and value name the part of a report that has values of a filter.
const kinds = {
  country: { label: 'Country', many: 'Countries', show: country, rows: (r) => r.countries },
  device: { label: 'Device', many: 'Devices', show: (v) => (v.toUpperCase() === 'UNKNOWN' ? 'Unknown' : device(v.toUpperCase())), rows: (r) => r.devices },
  os: { label: 'Operating system', many: 'Operating systems', rows: (r) => r.operatingSystems },
  browser: { label: 'Browser', many: 'Browsers', rows: (r) => r.browsers },
  referer: { label: 'Referring site', many: 'Referring sites', rows: (r) => r.sites, value: (x) => x.site },
  language: { label: 'Language', many: 'Languages', show: language, rows: (r) => r.languages },
  variantId: { label: 'Variant', many: 'Variants', show: (v) => (v === 'none' ? 'No variant' : v), rows: (r) => r.variants, value: (x) => x.id },
  ruleId: { label: 'Rule', many: 'Rules', show: (v) => (v === 'none' ? 'No rule' : v), rows: (r) => r.rules, value: (x) => x.id },
  domain: { label: 'Domain' },
  tag: { label: 'Tag' },
  bot: { label: 'Bots', show: (v) => ({ true: 'Only bots', false: 'Only people' }[v] ?? v), rows: (r) => r.bots },
};
const examples = { country: 'DE', os: 'iOS', browser: 'Firefox', referer: 'instagram.com', language: 'de', variantId: 'id, or none', ruleId: 'id, or none' };
const ofLinks = ['domain', 'tag']; // they select links, so the report of one link does without

export const names = Object.keys(kinds);
export const many = (name) => kinds[name].many;

// values returns the rows of a report that have values of a filter, as [value, row].
export const values = (name, report) => (kinds[name].rows?.(report) ?? []).map((row) => [(kinds[name].value ?? ((x) => x.name))(row), row]);

// shown returns the name of a filter's value for people. known is a Map with names that the value does not tell, by filter and value.
export const shown = (name, value, known) => known?.get(`${name} ${value}`) ?? kinds[name].show?.(value) ?? value;

// chips returns the filters in use, each with a button that removes it. set changes filters by name.
export function chips(used, known, set) {
  const chosen = names.flatMap((name) => used[name].map((value) => [name, value]));
  if (!chosen.length) return null;
  const remove = ([name, value]) => set({ [name]: used[name].filter((v) => v !== value) });
  return h('ul', { class: 'chips', 'aria-label': 'Filters' }, chosen.map(([name, value]) => {
    const text = shown(name, value, known);
    return h('li', { class: 'chip' }, h('span', { class: 'of' }, `${kinds[name].label}:`), h('span', { dir: 'auto' }, text),
      h('button', { type: 'button', 'aria-label': `Remove the filter ${kinds[name].label}: ${text}`, onclick: () => remove([name, value]) }, icon('close')));
  }), chosen.length > 1 && h('li', null, button('Clear all', () => set(Object.fromEntries(names.map((name) => [name, []]))), { kind: 'quiet' })));
}

// adder returns the button that opens the dialog for a new filter. path is that of the report, link the link that it is
// about, or null. current returns the parameters of the present report and its filters. known and set are as in chips; set may
// fail.
export function adder(path, link, current, known, set) {
  const offered = names.filter((name) => !link || !ofLinks.includes(name));
  const add = () => dialog('Add a filter', (close) => {
    const place = h('div'), found = new Map(); // options by filter
    let name = offered[0];

    // closed reports whether a filter has no values but those of its list.
    const closed = (of) => ['device', 'tag', 'domain', 'bot'].includes(of) || Boolean(link) && ['variantId', 'ruleId'].includes(of);

    // draw shows the input for the chosen filter. A list that comes later leaves what was typed meanwhile.
    async function draw() {
      const mine = name = kind.querySelector('select').value;
      replace(place, closed(mine) ? select(mine, found.get(mine)) : input(mine));
      if (!found.has(mine)) found.set(mine, await options(mine));
      if (name !== mine) return;
      if (closed(mine)) replace(place, select(mine, found.get(mine)));
      else replace(place.querySelector('datalist'), free(mine).map(([, text]) => h('option', { value: text })));
    }

    // free returns the options that are no filters yet.
    const free = (of) => found.get(of).filter(([value]) => !current()[of].includes(value));

    // options returns the values to choose from, as [value, name]. They are those of the present report.
    async function options(of) {
      if (of === 'device') return ['MOBILE', 'DESKTOP', 'TABLET', 'Unknown'].map((v) => [v, shown(of, v)]);
      if (of === 'tag') return (await all('/api/tags')).map((t) => [t.name, t.name]);
      if (of === 'domain') return (await get('/api/analytics/groups?by=domain')).groups.map((g) => [g.name, g.name]);
      if (of === 'bot') return [['true', 'Only bots'], ['false', 'Only people'], ...(await get(`${path === '/api/analytics/overview' ? '/api/analytics' : path}/bots${query({ ...current(), compare: '', bot: '', limit: 100 })}`)).botTypes.map((b) => [b.botName, b.botName])];
      if (of === 'variantId') return [...(link ? (await get(`/api/urls/${link.id}/variants`)).variants : []).map((v) => [v.id, v.name]), ['none', 'No variant']];
      if (of === 'ruleId') return [...(link ? (await get(`/api/urls/${link.id}/routing-rules`)).rules : []).map((r) => [r.id, r.name]), ['none', 'No rule']];
      const got = await get(path + query({ ...current(), compare: '', [of]: '', limit: 100 }));
      return values(of, got).map(([value, row]) => [value, shown(of, value, new Map([[`${of} ${value}`, of === 'referer' ? row.name : undefined]]))]);
    }

    function select(of, list) {
      const options_ = list ? free(of) : [];
      const none = !list ? 'Loading\u2026' : of === 'tag' && !list.length ? 'There are no tags' : 'There are no others';
      return field('value', kinds[of].label, options_.length ? { options: options_ } : { options: [['', none]], disabled: true });
    }

    function input(of) {
      const id = `values-${of}`;
      return [field('value', kinds[of].label, { list: id, autocomplete: 'off', autocapitalize: 'none', placeholder: examples[of], help: 'Several values of one filter mean any of them.' }), h('datalist', { id })];
    }

    const kind = field('filter', 'Filter by', { options: offered.map((of) => [of, kinds[of].label]), autofocus: true, onchange: () => draw().catch(complain) });
    draw().catch(complain);
    return form([kind, place], 'Add filter', async (v) => {
      const text = (v.value ?? '').trim(), of = v.filter;
      const option = found.get(of)?.find(([one, as]) => one === text || as.toLowerCase() === text.toLowerCase()), value = option?.[0] ?? text;
      if (!value) throw wrong('value', 'is required');
      if (current()[of].includes(value)) throw wrong('value', 'is a filter already');
      if (option) known.set(`${of} ${value}`, option[1]);
      try {
        await set({ [of]: [...current()[of], value] });
      } catch (err) {
        const problem = err.fields?.find((f) => f.field === of);
        throw problem ? wrong('value', problem.message) : err;
      }
      close();
    }, { cancel: close, class: 'body' });
  });
  return button('Add filter', add, { symbol: 'filter' });
}
