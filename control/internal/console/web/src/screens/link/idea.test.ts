import { expect, test } from 'vitest';
import { ideaOf } from './idea';

test('a slug is made of the title, or else of the address', () => {
  expect(ideaOf('The Spring Fair!', 'https://example.com/x')).toBe('the-spring-fair');
  expect(ideaOf('Frühling in Besançon', 'https://example.com/')).toBe('fruhling-in-besancon');
  expect(ideaOf('A very long title that goes on and on', 'https://example.com/')).toBe(
    'a-very-long-title-that-goes-on',
  );
  expect(ideaOf('', 'https://shop.example.com/collections/Autumn_Sale.html?a=b')).toBe('autumn-sale');
  expect(ideaOf('春のセール', 'https://www.example.com/')).toBe('example');
  expect(ideaOf('', 'https://example.com/%ff')).toBe('example');
  expect(ideaOf('', 'not an address')).toBe('');
});
