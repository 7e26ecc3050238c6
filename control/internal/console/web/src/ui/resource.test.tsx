import { render } from 'preact';
import { afterEach, expect, it, vi } from 'vitest';
import { useResource, type Resource } from './resource';

afterEach(() => render(null, document.body));

it('stops the call under way, and calls again when it is to reload', async () => {
  const signals: AbortSignal[] = [];
  let resource: Resource<string> | undefined;
  const load = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<string>((_, fail) => signal.addEventListener('abort', () => fail(new Error('stopped'))));
  };
  function Screen() {
    resource = useResource('a key', load);
    return null;
  }
  render(<Screen />, document.body);
  await vi.waitFor(() => expect(signals).toHaveLength(1));
  resource?.stop();
  expect(signals[0]?.aborted).toBe(true);
  resource?.reload();
  await vi.waitFor(() => expect(signals).toHaveLength(2));
  expect(signals[1]?.aborted).toBe(false);
  expect(resource?.error).toBeUndefined();
});
