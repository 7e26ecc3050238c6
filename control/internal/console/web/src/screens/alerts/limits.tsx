// What a rule takes for unusual, and how early it tells.
import type { Schema } from '../../api/client';
import { t } from '../../text';
import { Input, Select } from '../../ui/field';
import type { Cause } from './causes';

type Rule = Schema<'AlertRule'>;

export interface Limits {
  days: string;
  exhaustionPercent: string;
  sensitivity: Rule['sensitivity'];
  direction: Rule['direction'];
  minRisePercent: string;
  minFallPercent: string;
  minClicks: string;
}

export const limitsOf = (rule: Rule | undefined): Limits => ({
  days: String(rule?.days ?? 7),
  exhaustionPercent: String(rule?.exhaustionPercent ?? 90),
  sensitivity: rule?.sensitivity ?? 'normal',
  direction: rule?.direction ?? 'both',
  minRisePercent: String(rule?.minRisePercent ?? 100),
  minFallPercent: String(rule?.minFallPercent ?? 50),
  minClicks: String(rule?.minClicks ?? 20),
});

/** What the API gets. */
export const limitsBody = (of: Limits) => ({
  sensitivity: of.sensitivity,
  direction: of.direction,
  days: Number(of.days) || 0,
  exhaustionPercent: Number(of.exhaustionPercent) || 0,
  minRisePercent: Number(of.minRisePercent) || 0,
  minFallPercent: Number(of.minFallPercent) || 0,
  minClicks: Number(of.minClicks) || 0,
});

interface LimitFieldsProps {
  causes: readonly Cause[];
  fields: Limits;
  set: (values: Partial<Limits>) => void;
  problem: (field: string) => string | undefined;
}

/** The limits of the chosen causes. */
export function LimitFields({ causes, fields, set, problem }: LimitFieldsProps) {
  const number = (
    name: 'days' | 'exhaustionPercent' | 'minRisePercent' | 'minFallPercent' | 'minClicks',
    label: string,
  ) => (
    <Input
      label={label}
      name={name}
      type="number"
      inputmode="numeric"
      value={fields[name]}
      onValue={(value) => set({ [name]: value })}
      problem={problem(name)}
    />
  );
  const { direction, sensitivity } = fields;
  return (
    <>
      {causes.includes('clicks') && (
        <fieldset class="alertlimits">
          <legend class="label">{t('alert.cause.clicks')}</legend>
          <Select
            label={t('alert.direction')}
            name="direction"
            value={direction}
            options={(['both', 'above', 'below'] as const).map((one) => [one, t(`alert.direction.${one}`)] as const)}
            onValue={(value) => set({ direction: value })}
            problem={problem('direction')}
          />
          <Select
            label={t('alert.sensitivity')}
            name="sensitivity"
            value={sensitivity}
            options={(['low', 'normal', 'high'] as const).map((one) => [one, t(`alert.sensitivity.${one}`)] as const)}
            onValue={(value) => set({ sensitivity: value })}
            problem={problem('sensitivity')}
          />
          {direction !== 'below' && number('minRisePercent', t('alert.minRise'))}
          {direction !== 'above' && number('minFallPercent', t('alert.minFall'))}
          {number('minClicks', t('alert.minClicks'))}
        </fieldset>
      )}
      {causes.includes('expiry') && number('days', t('alert.days'))}
      {causes.includes('exhaustion') && number('exhaustionPercent', t('alert.exhaustion'))}
    </>
  );
}
