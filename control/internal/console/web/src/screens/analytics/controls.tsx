// The choices of a report: range, interval, audience, comparison and goal, and the filters that are on.
import type { ComponentChildren } from 'preact';
import { api } from '../../api/client';
import { search } from '../../route';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { DateTime } from '../../ui/datetime';
import { Select } from '../../ui/field';
import { Icon } from '../../ui/icon';
import { useResource } from '../../ui/resource';
import { local } from '../../ui/time';
import { nameOf } from './names';
import {
  comparisonsOf,
  endsOf,
  filterNames,
  instantIn,
  intervalsOf,
  isDay,
  moved,
  ownZone,
  ranges,
  type Audience,
  type Compare,
  type FilterName,
  type RangeName,
  type Selection,
} from './selection';
import { rangeText } from './span';

/** Turns a value of a filter on or off. */
export function toggle(s: Selection, filter: FilterName, value: string): void {
  const now = s.filters[filter] ?? [];
  search({ [filter]: now.includes(value) ? now.filter((one) => one !== value) : [...now, value] });
}

/** The name of a bundle, of which the address has the id. */
function BundleName({ id }: { id: string }) {
  const found = useResource(`name of bundle ${id}`, (signal) => api.get('/api/bundles/{id}', { path: { id }, signal }));
  return <bdi>{found.data?.name ?? '…'}</bdi>;
}

interface RangeProps {
  s: Selection;
  timezone: string;
}

/** The filters that are on. A click on one turns it off. */
function FilterChips({ s }: { s: Selection }) {
  const on = filterNames.flatMap((filter) => (s.filters[filter] ?? []).map((value) => ({ filter, value })));
  return (
    <>
      {on.map(({ filter, value }) => (
        <li key={`${filter} ${value}`}>
          <button type="button" onClick={() => toggle(s, filter, value)}>
            <span class="kind">{t(`report.filter.${filter}`)}</span>
            {filter === 'bundleId' ? <BundleName id={value} /> : <bdi>{nameOf(filter, value)}</bdi>}
            <Icon name="close" label={t('action.clear')} />
          </button>
        </li>
      ))}
      {on.length > 1 && (
        <li>
          <Button kind="quiet" onClick={() => search(Object.fromEntries(filterNames.map((name) => [name, ''])))}>
            {t('links.clearFilters')}
          </Button>
        </li>
      )}
    </>
  );
}

/** What the report shows besides the choices above: an own range, the filters, and the time zone. The line is always there. */
export function Chips({ s, timezone, children }: RangeProps & { children: ComponentChildren }) {
  return (
    <div class="shown">
      <ul class="filterchips" aria-label={t('report.filters')}>
        {s.range === 'custom' && (
          <li>
            <button type="button" onClick={() => search({ from: '', to: '', range: '', interval: '' }, { step: true })}>
              <span class="kind">{t('report.range')}</span>
              <bdi>{rangeText(s, timezone)}</bdi>
              <Icon name="close" label={t('action.clear')} />
            </button>
          </li>
        )}
        <FilterChips s={s} />
        <li class="zone">
          <span>
            <span class="kind">{t('report.timezone')}</span>
            <bdi>{timezone}</bdi>
          </span>
          {timezone !== ownZone() && (
            <Button kind="quiet" onClick={() => search({ zone: ownZone() })}>
              {t('report.ownZone')}
            </Button>
          )}
        </li>
      </ul>
      {children}
    </div>
  );
}

/** The first or the last day, or instant, of an own range. */
function End({ s, timezone, name }: RangeProps & { name: 'from' | 'to' }) {
  const value = s[name];
  const days = isDay(value);
  return (
    <DateTime
      label={name === 'from' ? t('report.from') : t('report.to')}
      name={name}
      kind={days ? 'date' : 'datetime'}
      zone={timezone}
      whole
      value={days ? value : local(value, timezone)}
      onValue={(typed) => {
        if (typed) search({ ...moved(s, name, days ? typed : instantIn(typed, timezone)), interval: '' });
      }}
    />
  );
}

function Range({ s, timezone }: RangeProps) {
  const names = Object.keys(ranges) as RangeName[];
  return (
    <>
      <Select
        label={t('report.range')}
        name="range"
        value={s.range}
        options={[
          ...names.map((one) => [one, t(`report.range.${one}`)] as const),
          ['custom', t('report.range.custom')] as const,
        ]}
        onValue={(next) =>
          search({
            range: next === 'month' || next === 'custom' ? '' : next,
            interval: '',
            from: '',
            to: '',
            ...(next === 'custom' && s.range !== 'custom' && endsOf(s.range, timezone)),
          })
        }
      />
      {s.range === 'custom' && (
        <>
          <End s={s} timezone={timezone} name="from" />
          <End s={s} timezone={timezone} name="to" />
        </>
      )}
    </>
  );
}

/** All choices in one line, which wraps. */
export function Controls({
  s,
  timezone,
  goals,
  children,
}: RangeProps & { goals: readonly string[]; children: ComponentChildren }) {
  const intervals = intervalsOf(s);
  // The goal of the address may have had no conversions of late.
  const choices = s.goal && !goals.includes(s.goal) ? [...goals, s.goal] : goals;
  return (
    <div class="controls" role="group" aria-label={t('report.choices')}>
      <Range s={s} timezone={timezone} />
      <Select
        label={t('report.interval')}
        name="interval"
        value={s.interval}
        options={intervals.map((one) => [one, t(`report.interval.${one}`)] as const)}
        onValue={(interval) => search({ interval: interval === intervals[0] ? '' : interval })}
      />
      <Select<Audience>
        label={t('report.audience')}
        name="audience"
        value={s.audience}
        options={(['people', 'all', 'bots'] as const).map((one) => [one, t(`report.audience.${one}`)] as const)}
        onValue={(audience) => search({ audience: audience === 'people' ? '' : audience })}
      />
      <Select<Compare>
        label={t('report.compare')}
        name="compare"
        value={s.compare}
        options={comparisonsOf(s).map((one) => [one, t(`report.compare.${one || 'none'}`)] as const)}
        onValue={(compare) => search({ compare })}
      />
      {choices.length > 0 && (
        <Select
          label={t('report.goal')}
          name="goal"
          value={s.goal}
          options={[['', t('report.goal.all')], ...choices.map((one) => [one, one] as const)]}
          onValue={(goal) => search({ goal })}
        />
      )}
      {children}
    </div>
  );
}
