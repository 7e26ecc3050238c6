// The names of countries in a language, from the browser.

/** The codes of countries that are in use. The browser also knows withdrawn ones, such as DD, and groups, such as EU. */
export function codes(): string[] {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const none = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ']);
  return letters
    .flatMap((a) => letters.map((b) => a + b))
    .filter(
      (code) => !none.has(code) && names.of(code) !== undefined && new Intl.Locale(`und-${code}`).region === code,
    );
}

/** The names of all countries in a language, each with its code. */
export function countryNames(language: string): [name: string, code: string][] {
  const long = new Intl.DisplayNames(language, { type: 'region' });
  const short = new Intl.DisplayNames(language, { type: 'region', style: 'short' });
  return codes().flatMap((code): [string, string][] => [
    [long.of(code) ?? code, code],
    // Two letters would be words of some languages.
    ...[short.of(code) ?? ''].filter((name) => name.length > 2).map((name): [string, string] => [name, code]),
  ]);
}
