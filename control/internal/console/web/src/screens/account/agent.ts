import { t } from '../../text';

// The order matters: most browsers also name the ones that they are compatible with.
const browsers = [
  [/Edg/, 'Edge'],
  [/OPR/, 'Opera'],
  [/Firefox|FxiOS/, 'Firefox'],
  [/Chrom|CriOS/, 'Chrome'],
  [/Safari/, 'Safari'],
] as const;

const systems = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS/, 'Mac'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
] as const;

/** The browser and system of a User-Agent, such as Firefox on Windows. */
export function agent(text: string | null): string {
  if (!text) return t('sessions.unknown');
  const browser = browsers.find(([pattern]) => pattern.test(text))?.[1];
  const system = systems.find(([pattern]) => pattern.test(text))?.[1];
  if (browser && system) return t('sessions.on', { browser, system });
  return browser ?? text.slice(0, 60);
}
