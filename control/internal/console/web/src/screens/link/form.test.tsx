import { render } from 'preact';
import { useState } from 'preact/hooks';
import { afterEach, expect, it, vi } from 'vitest';
import { Part } from './form';

afterEach(() => render(null, document.body));

function Field() {
  const [value, setValue] = useState('');
  return (
    <Part title="Schedule" open={value !== ''}>
      <button type="button" onClick={() => setValue(value === '' ? 'tomorrow' : '')}>
        {value}
      </button>
    </Part>
  );
}

it('keeps a part open whose last field is cleared', async () => {
  render(<Field />, document.body);
  const part = document.querySelector('details');
  const button = document.querySelector('button');
  expect(part?.open).toBe(false);
  button?.click();
  await vi.waitFor(() => expect(button?.textContent).toBe('tomorrow'));
  expect(part?.open).toBe(true);
  button?.click();
  await vi.waitFor(() => expect(button?.textContent).toBe(''));
  expect(part?.open).toBe(true);
});
