import { describe, expect, it } from 'vitest';
import { ranked, score } from './match';

describe('score', () => {
  it('prefers beginnings, then words, then parts, then letters in their order', () => {
    expect(score('New link', 'new')).toBe(4);
    expect(score('New link', 'li')).toBe(3);
    expect(score('New link', 'link new')).toBe(3);
    expect(score('New link', 'ink')).toBe(2);
    expect(score('New link', 'nwlk')).toBe(1);
    expect(score('New link', 'xyz')).toBe(0);
    expect(score('New link', 'z')).toBe(0);
  });

  it('ignores case and accents', () => {
    expect(score('Étiquettes', 'etiq')).toBe(4);
    expect(score('Bündel', 'BUN')).toBe(4);
  });
});

describe('ranked', () => {
  it('keeps the order of equals and leaves out what does not match', () => {
    const names = ['Domains', 'Members', 'Dark theme', 'Live'];
    expect(ranked(names, 'd', (name) => name)).toEqual(['Domains', 'Dark theme']);
    expect(ranked(names, '', (name) => name)).toEqual(names);
    expect(ranked(names, 'live', (name) => name)[0]).toBe('Live');
  });
});
