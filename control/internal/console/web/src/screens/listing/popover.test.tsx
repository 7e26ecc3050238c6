import { render } from 'preact';
import { afterEach, expect, it, vi } from 'vitest';
import { Popover } from './popover';

afterEach(() => render(null, document.body));

const show = (name: string, onClose: () => void) =>
  render(
    <Popover key={name} label={name} of="filter" onClose={onClose}>
      <input name={name} />
    </Popover>,
    document.body,
  );

it('is not closed by what an earlier popover listened to', async () => {
  const first = vi.fn();
  const second = vi.fn();
  show('first', first);
  // The next frame is when effects that wait for a picture have run.
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  render(null, document.body);
  show('second', second);
  expect(document.activeElement?.getAttribute('name')).toBe('second');
  expect(first).not.toHaveBeenCalled();
  document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }));
  expect(second).toHaveBeenCalledOnce();
});
