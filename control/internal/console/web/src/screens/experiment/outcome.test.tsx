import { render } from 'preact';
import { expect, test } from 'vitest';
import { NoConversions } from './outcome';

test('the program comes from the host of the link, not from that of the console', () => {
  render(<NoConversions goal="purchase" link={{ shortUrl: 'https://go.example:8443/spring' }} />, document.body);
  expect(document.querySelector('code')?.textContent).toBe(
    '<script src="https://go.example:8443/sl.js" defer></script>',
  );
});
