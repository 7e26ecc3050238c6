// What people call the values of filters.
import { country, t, tongue } from '../../text';
import type { FilterName } from './selection';

/** What people call a value of a filter. */
export function nameOf(filter: FilterName, value: string): string {
  if (value === 'Unknown') return t('report.unknown');
  if (filter === 'country') return country(value);
  if (filter === 'language') return tongue(value);
  if (filter === 'device' && /^(MOBILE|DESKTOP|TABLET)$/.test(value)) {
    return t(`report.device.${value as 'MOBILE' | 'DESKTOP' | 'TABLET'}`);
  }
  if (value === 'Direct') return t('report.direct');
  return value;
}
