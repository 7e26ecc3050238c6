// A region whose clicks are not all in reports, because it is cut off.
import type { Schema } from '../api/client';
import { moment, t } from '../text';

/** Whether a region is further behind than is normal. */
export const isBehind = (region: Schema<'RegionFreshness'>): boolean => region.lagSeconds > 300;

/** Says since when clicks of a region are missing. */
export function Behind({ region: { region, completeUntil } }: { region: Schema<'RegionFreshness'> }) {
  return (
    <p class="notice warn" role="status">
      {t('report.late', { region: region || t('edges.noRegion'), time: completeUntil ? moment(completeUntil) : '…' })}
    </p>
  );
}
