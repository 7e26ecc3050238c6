import { render } from 'preact';
import { afterEach, expect, it } from 'vitest';
import { Input } from './field';
import { refused, useSaving, type Saving } from './form';

afterEach(() => render(null, document.body));

let saving: Saving;

function Form() {
  saving = useSaving();
  return (
    <form>
      <Input label="Name" name="name" value="" onValue={() => undefined} />
      <Input label="Days" name="days" value="" onValue={() => undefined} problem={saving.problem('days')} />
      <Input label="Link" name="link" value="" onValue={() => undefined} />
    </form>
  );
}

const field = (name: string) => document.querySelector<HTMLInputElement>(`[name=${name}]`);

it('moves the focus to the wrong field when that is marked, and not later', async () => {
  render(<Form />, document.body);
  await saving.run(() => Promise.reject(refused('days', 'must be 1 to 90')));
  await expect.poll(() => field('days')?.getAttribute('aria-invalid')).toBe('true');
  expect(document.activeElement).toBe(field('days'));
  field('link')?.focus();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  expect(document.activeElement).toBe(field('link'));
});

it('says no more about a field once somebody has typed into it, until the form is sent again', async () => {
  const send = () => saving.run(() => Promise.reject(refused('days', 'must be 1 to 90')));
  const invalid = () => field('days')?.getAttribute('aria-invalid');
  const type = (name: string) => field(name)?.dispatchEvent(new InputEvent('input', { bubbles: true }));
  render(<Form />, document.body);
  await send();
  await expect.poll(invalid).toBe('true');
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  type('link');
  type('days');
  await expect.poll(invalid).toBe(null);
  await send();
  await expect.poll(invalid).toBe('true');
});
