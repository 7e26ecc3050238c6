// The parts that react to keys: menus, fields for dates and for files.
import { render } from 'preact';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { changed } from './stat';
import { pointsOf } from './sparkline';
import { dayAfter } from './calendar';
import { DateTime } from './datetime';
import { accepts, FilePicker, size } from './filepicker';
import { Menu } from './menu';
import { nextItem } from './menulist';

function found(selector: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(selector);
  if (!element) throw new Error(`there is no ${selector}`);
  return element;
}

const show = (content: ComponentChildren) => render(content, document.body);
const see = (check: () => void) => vi.waitFor(check, { timeout: 4_000 });
const press = (key: string, at: Element | null = document.activeElement) =>
  at?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));

beforeEach(() => {
  // happy-dom has no popovers.
  HTMLElement.prototype.showPopover = () => undefined;
  vi.spyOn(navigator, 'languages', 'get').mockReturnValue(['en-US']);
});

afterEach(() => render(null, document.body));

describe('a menu', () => {
  it.each<[string, number, string, number | undefined]>([
    ['ArrowDown', 3, '', 0],
    ['ArrowUp', 0, '', 3],
    ['Home', 2, '', 0],
    ['End', 0, '', 3],
    ['d', 0, 'd', 2],
    ['d', 2, 'dd', 3],
    ['e', 2, 'de', 3],
    ['x', 0, 'x', undefined],
    ['Shift', 0, '', undefined],
  ])('goes with %s from %i after "%s" to %s', (key, at, typed, want) =>
    expect(nextItem(key, at, ['Copy', 'Edit', 'Disable', 'Delete'], typed)).toBe(want),
  );

  it('opens, runs an action, and gives the focus back', async () => {
    const pick = vi.fn();
    show(
      <Menu
        label="Actions"
        items={[
          { text: 'Edit', onPick: vi.fn() },
          false,
          'line',
          { text: 'Delete', onPick: pick },
          { text: 'Move', onPick: pick, disabled: 'It is locked.' },
        ]}
      />,
    );
    press('ArrowUp', found('button'));
    await see(() => expect(document.activeElement?.textContent).toBe('Move'));
    document.activeElement?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    expect(pick).not.toHaveBeenCalled();
    press('d');
    expect(document.activeElement?.textContent).toBe('Delete');
    document.activeElement?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    expect(pick).toHaveBeenCalledOnce();
    await see(() => expect(document.querySelector('[role=menu]')).toBeNull());
    expect(document.activeElement).toBe(found('button'));
  });

  it('closes with Escape, which nothing around it sees', async () => {
    const outside = vi.fn();
    show(
      <div onKeyDown={outside}>
        <Menu label="Actions" items={[{ text: 'Edit' }]} />
      </div>,
    );
    found('button').click();
    await see(() => expect(document.activeElement?.textContent).toBe('Edit'));
    press('Escape');
    await see(() => expect(document.querySelector('[role=menu]')).toBeNull());
    expect(outside).not.toHaveBeenCalled();
    expect(document.activeElement).toBe(found('button'));
  });

  it('is not there without items', () => {
    show(<Menu label="Actions" items={[false, undefined]} />);
    expect(document.querySelector('button')).toBeNull();
  });
});

describe('a field for a time', () => {
  const values: string[] = [];
  function Field({ first, whole = false }: { first: string; whole?: boolean }) {
    const [value, setValue] = useState(first);
    return (
      <DateTime
        label="End"
        name="end"
        zone="UTC"
        value={value}
        whole={whole}
        onValue={(next) => {
          values.push(next);
          setValue(next);
        }}
      />
    );
  }
  const input = () => found('[name=end]') as HTMLInputElement;
  const type = (text: string) => {
    input().value = text;
    input().dispatchEvent(new Event('input', { bubbles: true }));
  };
  const leave = () => input().dispatchEvent(new Event('change', { bubbles: true }));
  beforeEach(() => (values.length = 0));

  it('takes what is typed and writes it as the language does', async () => {
    show(<Field first="" />);
    await see(input);
    type('2026-11-29 18:33');
    expect(values).toEqual(['2026-11-29T18:33']);
    leave();
    await see(() => expect(input().value).toBe('Nov 29, 2026, 6:33 PM'));
    expect(input().dataset['value']).toBe('2026-11-29T18:33');
  });

  it('keeps and reports what it does not understand', async () => {
    show(<Field first="2026-11-29T18:33" />);
    await see(input);
    type('soon');
    leave();
    await see(() => expect(input().getAttribute('aria-invalid')).toBe('true'));
    expect([input().value, values.at(-1)]).toEqual(['soon', 'soon']);
    expect(found('.problem').textContent).toContain('2026-11-29 18:30');
    type('');
    leave();
    await see(() => expect(input().hasAttribute('aria-invalid')).toBe(false));
    expect(values.at(-1)).toBe('');
  });

  it('tells a filter whole values only', async () => {
    show(<Field first="" whole />);
    await see(input);
    type('2026-11-2');
    type('2026-11-29');
    expect(values).toEqual([]);
    leave();
    expect(values).toEqual(['2026-11-29T00:00']);
  });

  it('has a calendar that takes a day and keeps the time', async () => {
    show(<Field first="2026-11-29T18:33" />);
    await see(input);
    found('.dateline button').click();
    await see(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Sunday, November 29, 2026'));
    press('PageDown');
    await see(() => expect(found('.calendar h2').textContent).toBe('December 2026'));
    press('ArrowRight');
    await see(() => expect(document.activeElement?.textContent).toBe('30'));
    press('Enter');
    expect(values).toEqual(['2026-12-30T18:33']);
    press('Escape', found('.calendar input'));
    await see(() => expect(document.querySelector('.calendar')).toBeNull());
    expect(document.activeElement).toBe(found('.dateline button'));
  });
});

it.each<[string, boolean, boolean, string | undefined]>([
  ['ArrowLeft', false, false, '2026-11-28'],
  ['ArrowLeft', false, true, '2026-11-30'],
  ['ArrowDown', false, false, '2026-12-06'],
  ['Home', false, false, '2026-11-29'],
  ['End', false, false, '2026-12-05'],
  ['PageUp', true, false, '2025-11-29'],
  ['a', false, false, undefined],
])('%s in the calendar (shift: %s, from right to left: %s) goes to %s', (key, shift, turned, want) =>
  expect(dayAfter(key, '2026-11-29', shift, turned)).toBe(want),
);

describe('a field for a file', () => {
  it('knows kinds by their ending and their media type', () => {
    expect(accepts('.csv,text/*', { name: 'LINKS.CSV', type: '' })).toBe(true);
    expect(accepts('.csv,text/*', { name: 'links', type: 'text/plain' })).toBe(true);
    expect(accepts('image/png', { name: 'a.svg', type: 'image/svg+xml' })).toBe(false);
  });

  it('writes sizes', () => {
    expect([size(12), size(1234), size(56_789), size(1_200_000)]).toEqual(['12 byte', '1.2 kB', '57 kB', '1 MB']);
  });

  it('shows what was chosen, and removes it', () => {
    const taken = vi.fn();
    show(<FilePicker label="Logo" accept="image/png" file={{ name: 'a.png', size: 12 }} onFile={taken} />);
    expect(found('.file').textContent).toContain('a.png');
    found('.file button').click();
    expect(taken).toHaveBeenCalledWith(undefined);
    expect(document.activeElement?.textContent).toBe('Choose another');
  });
});

it('draws a line inside its box', () => expect(pointsOf([0, 10, 5])).toBe('1,19.0 3,1.0 5,10.0'));

it('compares with nothing as with nothing', () =>
  expect([changed(12, 10), changed(10, 12), changed(3, 0)]).toEqual([20, -16.7, undefined]));
