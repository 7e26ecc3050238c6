// What a new rule can begin with: a question that is asked often, or a template of the API.
import { useId } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { condition, group, parse, toJSON, type Group } from '../../rules/model';
import { describe } from '../../rules/sentence';
import { create } from '../../rules/types';
import { language, t } from '../../text';
import { Button } from '../../ui/button';
import { useResource } from '../../ui/resource';

type Template = Schema<'Template'>;

/** The questions that have a button. */
const quick = ['device', 'country', 'language', 'hours'] as const;
type Quick = (typeof quick)[number];

/** The templates that the console has words for. */
const worded = [
  'APP_DOWNLOAD_IOS',
  'APP_DOWNLOAD_ANDROID',
  'MULTILANG_TW',
  'MULTILANG_CN',
  'BUSINESS_HOURS',
  'MOBILE_ONLY',
  'DESKTOP_ONLY',
] as const;
type Worded = (typeof worded)[number];

const isQuick = (name: string): name is Quick => (quick as readonly string[]).includes(name);
const isWorded = (key: string): key is Worded => (worded as readonly string[]).includes(key);

const nameOf = (one: Template): string => (isWorded(one.key) ? t(`template.${one.key}`) : one.name);
const hintOf = (one: Template): string => (isWorded(one.key) ? t(`template.${one.key}.hint`) : one.description);

/** The condition of a button. `country` is where most visitors come from, if that is known. */
function quickCondition(name: Quick, country: string) {
  switch (name) {
    case 'device':
      return condition('device', 'equals', 'MOBILE');
    case 'country':
      return condition('country', 'equals', country || (new Intl.Locale(navigator.language).maximize().region ?? 'US'));
    case 'language':
      return condition('language', 'starts_with', language.value);
    case 'hours':
      return create('time');
  }
}

/** A rule that has not been typed. */
export interface Start {
  name: string;
  conditions: Group;
}

/** The beginning of that name: one of the buttons, or the key of a template. undefined: there is none. */
export async function startOf(name: string, country: string): Promise<Start | undefined> {
  if (isQuick(name)) return { name: '', conditions: group('AND', [quickCondition(name, country)]) };
  const { templates } = await api.get('/api/routing-templates');
  const found = templates.find((one) => one.key === name);
  return found && { name: nameOf(found), conditions: parse(found.conditions) };
}

/** The name of a rule whose user has not named it; '' if nothing can be said about it. */
export const nameFor = (root: Group): string => (root.parts.length > 0 ? describe(root).slice(0, 100) : '');

export const conditionsOf = (root: Group) => toJSON(root) as Schema<'ConditionGroup'>;

function Cards({ onStart }: { onStart: (name: string) => void }) {
  const id = useId();
  const list = useResource('templates', (signal) => api.get('/api/routing-templates', { signal }));
  return (
    <ul class="templates">
      {list.data?.templates.map((one) => (
        <li key={one.key}>
          <button
            type="button"
            class="template"
            aria-label={nameOf(one)}
            aria-describedby={`${id}-${one.key}`}
            onClick={() => onStart(one.key)}
          >
            <b dir="auto">{nameOf(one)}</b>
            <span class="hint" dir="auto" id={`${id}-${one.key}`}>
              {hintOf(one)}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The ways to begin a rule. `open` shows the templates at once. */
export function Starts({ open, onStart }: { open: boolean; onStart: (name: string) => void }) {
  return (
    <section class="starts" aria-label={t('starts.title')}>
      <p class="quick">
        <span class="label">{t('starts.title')}</span>
        {quick.map((name) => (
          <Button key={name} icon="plus" onClick={() => onStart(name)}>
            {t(`starts.${name}`)}
          </Button>
        ))}
      </p>
      {open ? (
        <Cards onStart={onStart} />
      ) : (
        <details>
          <summary>{t('starts.templates')}</summary>
          <Cards onStart={onStart} />
        </details>
      )}
    </section>
  );
}
