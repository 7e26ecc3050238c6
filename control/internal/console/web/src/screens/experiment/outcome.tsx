// What the experiment has found so far. docs/users/experiments.md explains each figure.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { may } from '../../session';
import { moment, number, percent, t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Section } from '../../ui/page';
import { Table } from '../../ui/table';
import { Chart, Legend, type Series } from '../analytics/chart';
import { namesOf } from '../analytics/points';
import { rough } from './plan';
import type { Test } from './test';

type Experiment = Schema<'Experiment'>;
type Arm = Schema<'ExperimentArm'>;

const kinds = { RUNNING: '', WINNER: 'good', NO_DIFFERENCE: 'warn', INVALID: 'bad' } as const;

/** A share between 0 and 1 with two decimals. */
const share = (n: number): string => percent(Math.round(n * 10_000) / 100);

const signed = (n: number): string => `${n > 0 ? '+' : n < 0 ? '−' : '±'}${share(Math.abs(n))}`;

/** The sentence of a decision, with its figures in the format of the language. */
function why({ reasonCode, reasonValues }: Experiment['decision']): string {
  const values = Object.entries(reasonValues).map(([name, value]) => [
    name,
    typeof value !== 'number' || ['visitors', 'conversions', 'needed'].includes(name)
      ? value
      : (['uplift', 'low', 'high'].includes(name) ? signed : share)(value),
  ]);
  return t(`test.why.${reasonCode}`, Object.fromEntries(values) as never);
}

/** The range in which the true rate lies, on the scale of all variants. */
function Interval({ arm, most }: { arm: Arm; most: number }) {
  const [low = 0, high = 0] = arm.interval;
  const at = (n: number) => `${(n / most) * 100}%`;
  return (
    <span class="interval" dir="ltr" title={`${share(low)} – ${share(high)}`}>
      <span class="span" style={{ left: at(low), width: at(high - low) }} />
      <span class="rate" style={{ left: at(arm.rate) }} />
    </span>
  );
}

/** How much a variant differs from the first one, and the range in which the true difference lies. */
function Uplift({ arm: { uplift, upliftInterval, visitors }, first }: { arm: Arm; first: boolean }) {
  if (first) return <span class="hint">{t('test.control')}</span>;
  if (uplift === null) return '–';
  const [low = 0, high = 0] = upliftInterval ?? [];
  if (!upliftInterval || visitors === 0) return signed(uplift);
  return (
    <span class={`change ${low > 0 ? 'good' : high < 0 ? 'bad' : ''}`}>
      <b>{signed(uplift)}</b>
      <span class="hint">{t('test.likely', { low: signed(low), high: signed(high) })}</span>
    </span>
  );
}

interface ArmsProps {
  experiment: Experiment;
  onPromote: (arm: Arm) => void;
}

function Arms({ experiment, onPromote }: ArmsProps) {
  const { arms, decision, currency } = experiment;
  const most = Math.max(1e-9, ...arms.map((one) => one.interval[1] ?? one.rate));
  const money = arms.some((one) => one.revenue > 0);
  return (
    <table class="table arms">
      <caption class="offscreen">{t('test.outcome')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('labels.name')}</th>
          <th scope="col" class="figure">
            {t('report.metric.visitors')}
          </th>
          <th scope="col" class="figure">
            {t('report.metric.conversions')}
          </th>
          <th scope="col">{t('test.rate')}</th>
          <th scope="col" class="figure" title={t('test.upliftHint')}>
            {t('test.uplift')}
          </th>
          <th scope="col" class="figure" title={t('test.bestHint')}>
            {t('test.best')}
          </th>
          <th scope="col" class="figure" title={t('test.lossHint')}>
            {t('test.loss')}
          </th>
          {money && (
            <th scope="col" class="figure">
              {t('test.revenue', { currency: currency ?? '' })}
            </th>
          )}
          {may('EDITOR') && <th scope="col">{t('test.actions')}</th>}
        </tr>
      </thead>
      <tbody>
        {arms.map((one) => (
          <tr key={one.variantId} class={one.variantId === decision.variantId ? 'winner' : undefined}>
            <th scope="row">
              <bdi>{one.name}</bdi>
              {one.variantId === decision.variantId && <span class="badge good">{t('test.winner')}</span>}
            </th>
            <td class="figure" data-name={t('report.metric.visitors')}>
              {number(one.visitors)}
            </td>
            <td class="figure" data-name={t('report.metric.conversions')}>
              {number(one.conversions)}
            </td>
            <td data-name={t('test.rate')}>
              <span class="rated">
                <b>{share(one.rate)}</b>
                <Interval arm={one} most={most} />
              </span>
            </td>
            <td class="figure" data-name={t('test.uplift')}>
              <Uplift arm={one} first={one === arms[0]} />
            </td>
            <td class="figure" data-name={t('test.best')}>
              {share(one.probabilityBest)}
            </td>
            <td class="figure" data-name={t('test.loss')}>
              {share(one.expectedLoss)}
            </td>
            {money && (
              <td class="figure" data-name={t('test.revenue', { currency: currency ?? '' })}>
                {number(Math.round(one.revenuePerVisitor * 100) / 100)}
              </td>
            )}
            {may('EDITOR') && (
              <td data-name={t('test.actions')}>
                <Button onClick={() => onPromote(one)}>{t('test.promote')}</Button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The conversion rate of each variant, by day. */
function Course({ experiment }: { experiment: Experiment }) {
  const days = experiment.series;
  if (days.length < 2) return null;
  const names = namesOf(days, 'day', 'UTC');
  const lines: Series['kind'][] = ['main', 'second', 'before'];
  const series = experiment.arms.slice(0, lines.length).map((arm, i): Series => {
    const values = days.map((day) => (day.arms.find((one) => one.variantId === arm.variantId)?.rate ?? 0) * 100);
    return { name: arm.name, kind: lines[i] ?? 'before', values };
  });
  return (
    <>
      <h3>{t('test.course')}</h3>
      <Chart label={t('test.course')} series={series} names={names} />
      <Legend series={series} />
      <details>
        <summary>{t('report.table')}</summary>
        <Table
          label={t('test.course')}
          rows={days.map((_, at) => at)}
          keyOf={(at) => `${at}`}
          columns={[
            { name: t('report.when'), cell: (at) => names[at]?.long },
            ...series.map(({ name, values }) => ({
              name,
              figure: true,
              cell: (at: number) => percent(Math.round((values[at] ?? 0) * 100) / 100),
            })),
          ]}
        />
      </details>
    </>
  );
}

/** How conversions get here, as long as there are none. The program comes from the host of the link, which need not be the console's. */
export function NoConversions({ goal, link }: { goal: string; link: Pick<Test['link'], 'shortUrl'> }) {
  const line = `<script src="${new URL(link.shortUrl).origin}/sl.js" defer></script>`;
  return (
    <p class="hint">
      {t('test.noConversions', { goal })}{' '}
      <code class="mono" dir="ltr">
        {line}
      </code>
    </p>
  );
}

interface OutcomeProps {
  test: Test;
  experiment: Experiment;
  onChanged: () => void;
}

/** The decision and the figures behind it. */
export function Outcome({ test, experiment, onChanged }: OutcomeProps) {
  const [promoting, setPromoting] = useState<Arm>();
  const [restarting, setRestarting] = useState(false);
  const { decision, sampleRatio } = experiment;
  const path = { id: test.link.id };
  return (
    <Section
      title={t('test.outcome')}
      hint={t('test.since', { goal: experiment.goal, date: moment(experiment.startedAt) })}
    >
      <div class={`notice ${kinds[decision.status]}`} role="status">
        <div>
          <p>
            <b>{t(`test.decision.${decision.status}`)}</b>
          </p>
          <p>{why(decision)}</p>
          {experiment.onWinner && decision.status === 'RUNNING' && <p class="hint">{t('test.asOf')}</p>}
          {decision.paused && <p>{t('test.paused', { reason: t(`test.why.${decision.pausedCode ?? 'LATE'}`) })}</p>}
        </div>
      </div>
      {!sampleRatio.ok && (
        <div class="notice bad" role="alert">
          <p>{t('test.ratio', { p: share(sampleRatio.p) })}</p>
        </div>
      )}
      <div class="scroll">
        <Arms experiment={experiment} onPromote={setPromoting} />
      </div>
      <p class="hint">{t('test.readHint')}</p>
      {experiment.requiredVisitors !== null && (
        <p class="hint">{t('test.required', { n: rough(experiment.requiredVisitors) })}</p>
      )}
      {experiment.arms.every((one) => one.conversions === 0) && (
        <NoConversions goal={experiment.goal} link={test.link} />
      )}
      {experiment.mixedCurrencies && (
        <p class="hint">{t('test.currencies', { currency: experiment.currency ?? '' })}</p>
      )}
      <Course experiment={experiment} />
      {may('EDITOR') && experiment.onWinner && (
        <p class="actions start">
          <Button icon="refresh" onClick={() => setRestarting(true)}>
            {t('test.restart')}
          </Button>
        </p>
      )}
      {promoting && (
        <Confirm
          title={t('test.promoteTitle', { name: promoting.name })}
          action={t('test.promote')}
          onClose={() => setPromoting(undefined)}
          onConfirm={() =>
            api
              .post('/api/urls/{id}/experiment/promote', { path, body: { variantId: promoting.variantId } })
              .then(onChanged)
          }
        >
          <p>{decision.status === 'WINNER' ? t('test.promoteHint') : t('test.promoteEarly')}</p>
        </Confirm>
      )}
      {restarting && (
        <Confirm
          title={t('test.restartTitle')}
          action={t('test.restart')}
          onClose={() => setRestarting(false)}
          onConfirm={() => api.post('/api/urls/{id}/experiment/restart', { path }).then(onChanged)}
        >
          <p>{t('test.restartHint')}</p>
        </Confirm>
      )}
    </Section>
  );
}
