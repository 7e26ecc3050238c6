import { describe, expect, it } from 'vitest';
import { agent } from './agent';

describe('agent', () => {
  it.each([
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 CriOS/130.0 Safari/604.1',
      'Chrome on iPhone',
    ],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) AppleWebKit/605.1 Version/18.0 Safari/605.1', 'Safari on Mac'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0', 'Firefox on Linux'],
    ['curl/8.0', 'curl/8.0'],
    [null, 'Unknown device'],
  ])('names %s', (text, name) => {
    expect(agent(text)).toBe(name);
  });
});
