// The campaign parameters of a link, and the templates that fill them in.
import { h, replace } from './dom.js';
import { get, post, query } from './api.js';
import { may } from './choice.js';
import { button, complain, dialog, field, form } from './ui.js';

export const parameters = [['utmSource', 'Source'], ['utmMedium', 'Medium'], ['utmCampaign', 'Campaign'], ['utmTerm', 'Term'], ['utmContent', 'Content'], ['utmId', 'Campaign id'], ['utmSourcePlatform', 'Source platform']];

const most = 100; // templates to choose from

// parameterFields returns the inputs of the parameters of a link or a template, or empty ones for null.
export const parameterFields = (of) => h('div', { class: 'pair' }, parameters.map(([name, label]) => field(name, label, { value: of?.[name] ?? '', maxlength: 255, autocomplete: 'off' })));

// campaign returns the part of a link's form about campaign parameters.
export function campaign(u) {
  const fields = parameterFields(u), said = h('p', { class: 'help', role: 'status' });
  const inputs = () => [...fields.querySelectorAll('input')];
  let templates = [], asked = false;
  const picker = field('template', 'Fill in from a template', { options: [['', 'Choose a template\u2026']], onchange: (e) => {
    const t = templates.find((one) => one.id === e.target.value);
    if (!t) return;
    for (const input of inputs()) input.value = t[input.name] ?? '';
    replace(said, `Filled in from \u201c${t.name}\u201d.`);
  } });
  const select = picker.querySelector('select');

  async function load() {
    const got = await get(`/api/utm-templates${query({ limit: most })}`);
    templates = got.data;
    replace(select, h('option', { value: '' }, templates.length ? 'Choose a template\u2026' : 'No templates yet'), templates.map((t) => h('option', { value: t.id }, t.name)));
    select.disabled = !templates.length;
  }

  function save() {
    dialog('Save as a template', (close) => form(field('name', 'Name', { maxlength: 100, autofocus: true, autocomplete: 'off', help: 'Everybody in this workspace can use the template.' }), 'Save template', async (v) => {
      const made = await post('/api/utm-templates', { name: v.name.trim(), ...Object.fromEntries(inputs().filter((i) => i.value).map((i) => [i.name, i.value])) });
      close();
      await load();
      replace(said, `Saved as the template \u201c${made.name}\u201d.`); // a notice would be outside the dialog of the link
    }, { cancel: close, class: 'body' }));
  }

  return h('details', { open: u && parameters.some(([name]) => u[name]), ontoggle: (e) => {
    if (!e.target.open || asked) return;
    asked = true;
    load().catch(complain);
  } }, h('summary', null, 'Campaign parameters'), h('div', { class: 'inside' },
    h('p', { class: 'help' }, 'Added to the destination as utm_\u2026 parameters. Parameters in the visitor\u2019s address take precedence.'),
    h('div', { class: 'picker' }, picker, may('EDITOR') && button('Save as template\u2026', save)), said, fields));
}
