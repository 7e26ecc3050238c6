import type { Schema } from '../../api/client';
import { percent, t, weekday } from '../../text';
import { strength } from './strength';

/** Clicks by weekday and hour. It is a table, so a screen reader can walk through it. */
export function Heatmap({ map }: { map: Schema<'Heatmap'> }) {
  const most = Math.max(1, ...map.weekdays.flatMap((one) => one.hours));
  return (
    // On a phone, it is wider than the window, and without a mouse only what has the focus can be moved.
    <div class="heat" tabIndex={0} role="group" aria-label={t('report.heat')}>
      <table>
        <caption class="offscreen">{t('report.heat')}</caption>
        <thead>
          <tr>
            <td />
            {Array.from({ length: 24 }, (_, hour) => (
              <th key={hour} scope="col">
                <span class={hour % 3 === 0 ? undefined : 'offscreen'}>{hour}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {map.weekdays.map((row, i) => (
            <tr key={row.weekday}>
              <th scope="row">{weekday((i + 1) % 7)}</th>
              {row.hours.map((n, hour) => (
                <td
                  key={hour}
                  title={t('report.heatCell', {
                    day: weekday((i + 1) % 7),
                    hour,
                    n,
                    share: percent(map.totalClicks ? (n / map.totalClicks) * 100 : 0),
                  })}
                >
                  <span class="cell" style={{ opacity: strength(n, most) }} />
                  <span class="offscreen">{n}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
