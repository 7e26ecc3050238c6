// The chart of a report with its table and its files.
import { useRef } from 'preact/hooks';
import type { Schema } from '../../api/client';
import { search } from '../../route';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { complain } from '../../ui/toast';
import { Chart, Legend } from './chart';
import { savePNG, saveReport, saveSVG } from './export';
import { Marks, pointOf, saidBy, useAnnotations } from './marks';
import type { Metric } from './figures';
import { namesOf, seriesOf } from './points';
import { zoomed, type Parameters, type Selection } from './selection';
import { SeriesTable } from './seriestable';

interface TimelineProps {
  s: Selection;
  report: Schema<'Report'>;
  metric: Metric;
  /** Of revenue. */
  currency: string | undefined;
  timezone: string;
  /** The endpoint that gives this report as a file, and its parameters. */
  file: { path: string; query: Parameters };
  /** The link of the report; '' for the workspace. */
  id: string;
}

function Files({ file, chart }: Pick<TimelineProps, 'file'> & { chart: () => SVGSVGElement | null }) {
  const draw = (how: (svg: SVGSVGElement, name: string) => unknown) => {
    const svg = chart();
    if (svg) void Promise.resolve(how(svg, 'clicks')).catch(complain);
  };
  return (
    <p class="files">
      <Button kind="quiet" icon="download" onClick={() => void saveReport(file.path, file.query).catch(complain)}>
        {t('report.csv')}
      </Button>
      <Button kind="quiet" onClick={() => draw(savePNG)}>
        {t('report.png')}
      </Button>
      <Button kind="quiet" onClick={() => draw(saveSVG)}>
        {t('report.svg')}
      </Button>
    </p>
  );
}

/** The course of a figure over the range. */
export function Timeline({ s, report, metric, currency, timezone, file, id }: TimelineProps) {
  const box = useRef<HTMLDivElement>(null);
  const days = report.timeSeries;
  const series = seriesOf(report, metric, timezone, currency);
  const names = namesOf(days, s.interval, timezone);
  const first = days[0];
  const list = useAnnotations(id, file.query);
  const marks = (list.data?.annotations ?? [])
    .map((one) => ({ at: pointOf(one.at, days, timezone), said: saidBy(one), note: one.kind === 'NOTE' }))
    .filter((one) => one.at >= 0);
  const zoom = (from: number, to: number) => {
    const [a, b] = [days[from], days[to]];
    if (a && b) search({ ...zoomed(a, b, s.interval), range: '', interval: '' }, { step: true });
  };
  const total = series
    .filter((one) => one.kind !== 'before')
    .reduce((n, one) => n + one.values.reduce((a, b) => a + b, 0), 0);
  return (
    <div class="timeline" ref={box}>
      <Chart
        label={t('report.chartLabel', { what: t(`report.metric.${metric}`), n: total, points: days.length })}
        series={series}
        names={names}
        marks={marks}
        {...(s.interval !== 'minute' && { onZoom: zoom })}
      />
      <Legend series={series} />
      <div class="below">
        <p class="hint">{first && t('report.zone', { zone: timezone })}</p>
        <Files file={file} chart={() => box.current?.querySelector('svg') ?? null} />
      </div>
      <Marks id={id} list={list} timezone={timezone} />
      <SeriesTable series={series} names={names} />
    </div>
  );
}
