import { useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { user } from '../../session';
import { t } from '../../text';
import { Dialog } from '../../ui/dialog';
import { Input, Tick } from '../../ui/field';
import { Footer } from '../../ui/footer';
import { useSaving } from '../../ui/form';
import { Problem } from '../../ui/problem';
import { complete } from '../links/create';
import { events, nameOfEvent } from './events';

interface EventsProps {
  chosen: readonly string[];
  onChosen: (chosen: string[]) => void;
  problem: string | undefined;
}

function Events({ chosen, onChosen, problem }: EventsProps) {
  return (
    <fieldset class="ticks" aria-invalid={problem ? 'true' : undefined} tabIndex={-1}>
      <legend class="label">{t('hook.events')}</legend>
      {(Object.keys(events) as (keyof typeof events)[]).map((group) => (
        <details key={group} open={group === 'links' || events[group].some((one) => chosen.includes(one))}>
          <summary>{t(`hook.group.${group}`)}</summary>
          {events[group].map((event) => (
            <Tick
              key={event}
              name={event}
              label={nameOfEvent(event)}
              checked={chosen.includes(event)}
              onValue={(on) => onChosen(on ? [...chosen, event] : chosen.filter((one) => one !== event))}
            />
          ))}
        </details>
      ))}
      {problem && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

interface FormProps {
  /** undefined: a new one. */
  hook: Schema<'Webhook'> | undefined;
  onClose: () => void;
  onSaved: (hook: Schema<'Webhook'> | Schema<'NewWebhook'>) => void;
}

/** The dialog for a webhook. The API makes the secret of a new one. */
export function WebhookForm({ hook, onClose, onSaved }: FormProps) {
  const saving = useSaving(['name', 'url', 'events', 'scope']);
  const [name, setName] = useState(hook?.name ?? '');
  const [url, setURL] = useState(hook?.url ?? '');
  const [chosen, setChosen] = useState<string[]>(hook?.events ?? []);
  const [everybody, setEverybody] = useState(hook?.scope === 'all');
  const stale = saving.error instanceof ApiError && saving.error.stale;
  const save = async () => {
    let saved: Schema<'Webhook'> | Schema<'NewWebhook'> | undefined;
    const body = { name, url: complete(url), events: chosen, scope: everybody ? 'all' : 'own' };
    const done = await saving.run(async () => {
      saved = hook
        ? await api.put('/api/webhooks/{id}', { path: { id: hook.id }, body, ifMatch: hook })
        : await api.post('/api/webhooks', { body });
    });
    if (done && saved) onSaved(saved);
  };
  return (
    <Dialog title={hook ? t('hook.edit', { name: hook.name }) : t('hook.new')} onClose={onClose}>
      <form
        novalidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {stale && <p class="notice warn">{t('hook.stale')}</p>}
        {saving.error !== undefined && !stale && <Problem error={saving.error} />}
        <Input
          label={t('keys.name')}
          name="name"
          value={name}
          onValue={setName}
          problem={saving.problem('name')}
          first
        />
        <Input
          label={t('hook.url')}
          hint={t('hook.urlHint')}
          name="url"
          inputmode="url"
          spellcheck={false}
          value={url}
          onValue={setURL}
          problem={saving.problem('url')}
        />
        <Events chosen={chosen} onChosen={setChosen} problem={saving.problem('events')} />
        {user.value?.role === 'ADMIN' && (
          <Tick label={t('hook.everybody')} name="scope" checked={everybody} onValue={setEverybody} />
        )}
        <Footer busy={saving.busy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
