import type { Schema } from '../../api/client';
import { percent, t, weekday } from '../../text';
import { Button } from '../../ui/button';
import { saveRows } from './export';
import { Shades } from './shades';
import { strength } from './strength';

/** The weekdays and hours as the rows of a file, with their head. */
const rowsOf = (map: Schema<'Heatmap'>): (string | number)[][] => [
  [t('report.heat'), ...Array.from({ length: 24 }, (_, hour) => hour)],
  ...map.weekdays.map((row, i) => [weekday((i + 1) % 7), ...row.hours]),
];

/** The grid. It is a table, so a screen reader can walk through it. */
function Grid({ map, most }: { map: Schema<'Heatmap'>; most: number }) {
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

/** Clicks by weekday and hour, on a card. */
export function Heatmap({ map }: { map: Schema<'Heatmap'> }) {
  const most = Math.max(0, ...map.weekdays.flatMap((one) => one.hours));
  return (
    <section class="card wide" aria-label={t('report.heat')}>
      <h2>{t('report.heat')}</h2>
      <Grid map={map} most={Math.max(1, most)} />
      <div class="cardfoot">
        <Shades most={most} />
        <Button
          kind="quiet"
          icon="download"
          aria-label={t('report.csvOf', { name: t('report.heat') })}
          onClick={() => saveRows(t('report.heat'), rowsOf(map))}
        >
          {t('report.csv')}
        </Button>
      </div>
    </section>
  );
}
