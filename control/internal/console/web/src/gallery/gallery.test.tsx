// What screen readers get of every part, compared with a text. Pictures would depend on the fonts of the machine.
import { render } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Gallery } from './gallery';

const roles: Record<string, string> = {
  A: 'link',
  BUTTON: 'button',
  DIALOG: 'dialog',
  H1: 'heading',
  H2: 'heading',
  INPUT: 'textbox',
  NAV: 'navigation',
  SELECT: 'combobox',
  TABLE: 'table',
  TEXTAREA: 'textbox',
};

const states = ['aria-expanded', 'aria-haspopup', 'aria-busy', 'aria-invalid', 'aria-disabled', 'aria-keyshortcuts'];

const textOf = (element: Element | null): string => (element?.textContent ?? '').replace(/\s+/g, ' ').trim();

/** The name of an element, as far as the gallery needs the rules for it. */
function nameOf(element: Element): string {
  const own = element.getAttribute('aria-label');
  if (own !== null) return own;
  const by = element.getAttribute('aria-labelledby');
  if (by) return textOf(document.getElementById(by));
  if (element.matches('fieldset, table')) return textOf(element.querySelector('legend, caption'));
  if (element.matches('input, select, textarea')) {
    const label = element.closest('label') ?? document.querySelector(`label[for="${element.id}"]`);
    return textOf(label);
  }
  return textOf(element);
}

/** A line of the snapshot: the role, the name, the states, and what describes the element. */
function line(element: Element): string {
  const type = element.getAttribute('type') ?? '';
  const usual = ['checkbox', 'radio'].includes(type) ? type : roles[element.tagName];
  const described = element.getAttribute('aria-describedby')?.split(' ') ?? [];
  const parts = [
    element.getAttribute('role') ?? usual ?? element.tagName.toLowerCase(),
    JSON.stringify(nameOf(element)),
    ...states.flatMap((one) =>
      element.hasAttribute(one) ? [`${one.slice(5)}=${element.getAttribute(one) ?? ''}`] : [],
    ),
    ...(described.length > 0 ? [`(${described.map((id) => textOf(document.getElementById(id))).join(' ')})`] : []),
  ];
  return parts.join(' ');
}

const seen = 'a, button, h1, h2, input, select, textarea, table, nav, dialog, [role]';

const snapshot = (): string =>
  [...document.body.querySelectorAll(seen)]
    .filter((element) => !element.closest('[aria-hidden=true]') && nameOf(element) !== '')
    .map(line)
    .join('\n') + '\n';

beforeEach(() => {
  HTMLElement.prototype.showPopover = () => undefined; // happy-dom has no popovers
  vi.spyOn(navigator, 'languages', 'get').mockReturnValue(['en-US']);
});

afterEach(() => render(null, document.body));

it('says what each part is', async () => {
  render(<Gallery />, document.body);
  await vi.waitFor(() => expect(document.querySelectorAll('[data-kind]').length).toBe(5), { timeout: 4000 });
  await expect(snapshot()).toMatchFileSnapshot('gallery.aria.txt');
});

it.each(['Open a dialog', 'Open a sheet'])('%s: the focus goes inside and comes back', async (name) => {
  render(<Gallery />, document.body);
  const button = [...document.querySelectorAll('button')].find((one) => one.textContent === name);
  button?.focus();
  button?.click();
  await vi.waitFor(() => expect(document.querySelector('dialog')).not.toBeNull());
  const close = document.querySelector<HTMLElement>('dialog header button');
  close?.click();
  await vi.waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  expect(document.activeElement).toBe(button);
});
