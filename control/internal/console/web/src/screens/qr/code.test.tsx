import { render } from 'preact';
import { expect, test, vi } from 'vitest';
import { Code, type Style } from './code';

const style: Style = { color: '#000000', background: '#ffffff', shape: 'square', level: 'M', margin: 4, width: 400 };

test('the request for a picture ends with its place on the page', async () => {
  const asked = vi.spyOn(globalThis, 'fetch').mockReturnValue(new Promise(() => undefined));
  render(<Code id="a" address="sho.rt/a" style={style} />, document.body);
  await vi.waitFor(() => expect(asked).toHaveBeenCalledOnce());
  const signal = asked.mock.calls[0]?.[1]?.signal;
  expect(signal?.aborted).toBe(false);
  render(null, document.body);
  await vi.waitFor(() => expect(signal?.aborted).toBe(true));
});
