// The editors for the values of conditions, one for each kind of value.
import { useId, useMemo } from 'preact/hooks';
import { language, t, weekday } from '../text';
import { Chips, type Option } from '../ui/chips';
import { DateLine } from '../ui/datetime';
import type { Condition } from './model';
import { countries, spoken } from './places';
import { choiceKey, daysOf, isType, spanOf, takesList, types, type Type } from './types';

interface EditorProps {
  condition: Condition;
  onValue: (value: unknown) => void;
}

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? (value as unknown[]) : value === '' || value === undefined ? [] : [value]).map((one) =>
    typeof one === 'string' ? one : JSON.stringify(one),
  );

/** One text, or several of them, with suggestions. */
function Words({
  value,
  many,
  options,
  only,
  onValue,
}: {
  value: unknown;
  many: boolean;
  options: readonly Option[];
  only: boolean;
  onValue: (value: unknown) => void;
}) {
  const id = useId();
  const own = texts(value);
  if (many) return <Chips label={t('rules.values')} values={own} options={options} only={only} onValues={onValue} />;
  if (only) {
    return (
      <select
        aria-label={t('rules.value')}
        value={own[0] ?? ''}
        onChange={(event) => onValue(event.currentTarget.value)}
      >
        {!options.some(([one]) => one === own[0]) && <option value={own[0] ?? ''}>{own[0] ?? ''}</option>}
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    );
  }
  return (
    <>
      <input
        aria-label={t('rules.value')}
        value={own[0] ?? ''}
        list={options.length > 0 ? id : undefined}
        autocomplete="off"
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      {options.length > 0 && (
        <datalist id={id}>
          {options.map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </datalist>
      )}
    </>
  );
}

function Texts({ condition, onValue }: EditorProps) {
  const spec: Type | undefined = isType(condition.type) ? types[condition.type] : undefined;
  const spoke = language.value;
  const options = useMemo<readonly Option[]>(() => {
    if (spec?.editor === 'country') return countries();
    if (spec?.editor === 'language') return spoken();
    return (spec?.values ?? []).map((one) => {
      const key = choiceKey(condition.type, one);
      return [one, key ? t(key as 'visitor.new') : one] as const;
    });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the texts depend on the language
  }, [spec, condition.type, spoke]);
  const only = spec?.editor === 'country' || spec?.editor === 'choice';
  const many = takesList(condition.operator);
  return <Words value={condition.value} many={many} options={options} only={only} onValue={onValue} />;
}

function Query({ condition, onValue }: EditorProps) {
  const { name = '', value } = (condition.value ?? {}) as { name?: string; value?: unknown };
  return (
    <>
      <input
        aria-label={t('rules.parameter')}
        placeholder={t('rules.parameter')}
        value={name}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onValue({ name: event.currentTarget.value, value })}
      />
      <Words
        value={value}
        many={takesList(condition.operator)}
        options={[]}
        only={false}
        onValue={(next) => onValue({ name, value: next })}
      />
    </>
  );
}

function Zone({ value, onValue }: { value: string | undefined; onValue: (zone: string) => void }) {
  const id = useId();
  return (
    <>
      <input
        aria-label={t('report.timezone')}
        placeholder={t('report.timezone')}
        list={id}
        value={value ?? ''}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <datalist id={id}>
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
}

function Days({ condition, onValue }: EditorProps) {
  const value = daysOf(condition.value);
  const { days } = value;
  const toggle = (n: number) =>
    days.includes(n) ? days.filter((one) => one !== n) : [...days, n].sort((a, b) => a - b);
  return (
    <>
      <fieldset class="days">
        <legend class="offscreen">{t('rules.values')}</legend>
        {[1, 2, 3, 4, 5, 6, 7].map((n) => (
          <label key={n}>
            <input type="checkbox" checked={days.includes(n)} onChange={() => onValue({ ...value, days: toggle(n) })} />
            {weekday(n)}
          </label>
        ))}
      </fieldset>
      <Zone value={value.timezone} onValue={(timezone) => onValue({ ...value, timezone })} />
    </>
  );
}

/** A time of day or a date, or two of them, with their zone. */
function SpanEditor({ condition, onValue }: EditorProps) {
  const kind = condition.type === 'time' ? 'time' : 'datetime';
  const span = spanOf(condition.value);
  return (
    <>
      <DateLine
        label={t('rules.from')}
        kind={kind}
        zone={span.timezone}
        value={span.start ?? ''}
        onValue={(start) => onValue({ ...span, start })}
      />
      {condition.operator === 'between' && (
        <DateLine
          label={t('rules.to')}
          kind={kind}
          zone={span.timezone}
          value={span.end ?? ''}
          onValue={(end) => onValue({ ...span, end })}
        />
      )}
      <Zone value={span.timezone} onValue={(timezone) => onValue({ ...span, timezone })} />
    </>
  );
}

function Percentage({ condition, onValue }: EditorProps) {
  const value = Number(condition.value);
  const common = { min: 0, max: 100, step: 'any', value };
  return (
    <>
      <input
        type="range"
        {...common}
        step={1}
        aria-label={t('rules.percent')}
        onInput={(event) => onValue(Number(event.currentTarget.value))}
      />
      <input
        type="number"
        {...common}
        class="narrow"
        aria-label={t('rules.percent')}
        onInput={(event) => onValue(Number(event.currentTarget.value))}
      />
    </>
  );
}

/** The editor for the value of a condition. A type that this console does not know is shown as JSON. */
export function Value(props: EditorProps) {
  const { condition } = props;
  if (!isType(condition.type)) return <code>{JSON.stringify(condition.value)}</code>;
  switch (types[condition.type].editor) {
    case 'query':
      return <Query {...props} />;
    case 'days':
      return <Days {...props} />;
    case 'time':
    case 'date':
      return <SpanEditor {...props} />;
    case 'percentage':
      return <Percentage {...props} />;
    default:
      return <Texts {...props} />;
  }
}
