// How many visitors a test needs, and how long that takes.
import { useState } from 'preact/hooks';
import { number, t } from '../../text';
import { Input, Select } from '../../ui/field';
import { daysFor, rough, sampleSize } from './plan';
import { partsOf } from './shares';

interface DurationProps {
  /** The part of the visitors who convert now; undefined if nobody knows. */
  rate: number | undefined;
  /** Visitors a day. */
  perDay: number;
  weights: readonly number[];
}

/** A number in percent that is typed; undefined while it is none. A comma is a decimal point in many languages. */
function parsed(typed: string): number | undefined {
  const n = Number(typed.replace(',', '.').replace('%', ''));
  return typed.trim() !== '' && n > 0 ? n / 100 : undefined;
}

/** What the figures mean: the visitors of each variant and the days, or why there are none. */
function verdict(rate: number | undefined, effect: number | undefined, power: number, props: DurationProps): string[] {
  if (rate === undefined) return [t('plan.rateUnknown')];
  const parts = partsOf(props.weights).filter((part) => part > 0);
  const n = effect === undefined ? undefined : sampleSize(rate, effect, power, parts.length);
  if (n === undefined) return [t('plan.impossible')];
  const days = daysFor(n, props.perDay, Math.min(...parts));
  if (days === undefined) return [t('plan.needs', { visitors: number(rough(n)) }), t('plan.noTraffic')];
  const visitors = number(rough(n));
  const perDay = number(Math.max(1, Math.round(props.perDay)));
  if (days > 365) return [t('plan.needs', { visitors }), t('plan.tooLong', { perDay })];
  return [t('plan.needs', { visitors }), t('plan.takes', { n: rough(days), perDay }), t('plan.earlier')];
}

export function Duration(props: DurationProps) {
  const [rate, setRate] = useState(props.rate === undefined ? '' : String(Math.round(props.rate * 10_000) / 100));
  const [effect, setEffect] = useState('20');
  const [power, setPower] = useState<'80' | '90'>('80');
  return (
    <>
      <div class="planned">
        <Input
          label={t('plan.rate')}
          hint={props.rate === undefined ? t('plan.rateGuess') : t('plan.rateSeen')}
          name="rate"
          value={rate}
          onValue={setRate}
        />
        <Input label={t('plan.effect')} hint={t('plan.effectHint')} name="effect" value={effect} onValue={setEffect} />
        <Select<'80' | '90'>
          label={t('plan.power')}
          hint={t('plan.powerHint')}
          name="power"
          value={power}
          options={[
            ['80', t('plan.power.80')],
            ['90', t('plan.power.90')],
          ]}
          onValue={setPower}
        />
      </div>
      <p class="sentence" role="status">
        {verdict(parsed(rate), parsed(effect), Number(power) / 100, props).join(' ')}
      </p>
    </>
  );
}
