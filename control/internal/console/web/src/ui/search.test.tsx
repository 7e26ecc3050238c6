import { render } from 'preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { query, search } from '../route';
import { SearchField } from './search';

const Screen = () => <SearchField label="Search" hint="Name" value={query.value.get('search') ?? ''} />;

function input(): HTMLInputElement {
  const found = document.querySelector('input');
  if (!found) throw new Error('there is no field');
  return found;
}

function type(text: string) {
  input().value = text;
  input().dispatchEvent(new Event('input', { bubbles: true }));
}

/** Lets the time pass, and lets the page follow. */
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

beforeEach(async () => {
  vi.useFakeTimers();
  search({ search: '' });
  render(<Screen />, document.body);
  await pass(0);
});

afterEach(() => {
  render(null, document.body);
  vi.useRealTimers();
});

it('keeps letters that are typed while the list follows', async () => {
  type('n');
  vi.advanceTimersByTime(200); // the address changes, and the page has not been drawn yet
  type('no');
  await pass(100);
  expect(input().value).toBe('no');
  type('nothing');
  await pass(1000);
  expect(input().value).toBe('nothing');
  expect(query.value.get('search')).toBe('nothing');
});

it('keeps the space between two words', async () => {
  type('spring ');
  await pass(1000);
  expect(query.value.get('search')).toBe('spring');
  expect(input().value).toBe('spring ');
});

it('follows the address, also while something is typed', async () => {
  type('spring');
  await pass(1000);
  type('spring s');
  search({ search: 'summer' });
  await pass(1000);
  expect(input().value).toBe('summer');
  expect(query.value.get('search')).toBe('summer');
});
