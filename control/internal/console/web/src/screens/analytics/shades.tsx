// The legend of a map or a heat map.
import { compact, t } from '../../text';
import { steps, strength } from './strength';

/** Which shade stands for how many clicks. */
export function Shades({ most }: { most: number }) {
  return (
    <p class="shades">
      <span>{t('report.metric.clicks')}</span>
      <span class="scale">
        {steps(most).map((n) => (
          <span key={n} class="step">
            <span class="swatch">
              <span style={{ opacity: strength(n, most) }} />
            </span>
            {compact(n)}
          </span>
        ))}
      </span>
      <span>{t('report.rootScale')}</span>
    </p>
  );
}
