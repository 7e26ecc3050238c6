// The form of a webhook. A new secret is shown once.
import { useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { user } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Area, Input, Select, Tick } from '../../ui/field';
import { refused, useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Secret } from '../../ui/secret';
import { notify } from '../../ui/toast';
import { headersOf, linesOf, type Hook } from './health';

/** The events, in groups of the same kind. */
export const events = [
  'url.created',
  'url.updated',
  'url.deleted',
  'url.restored',
  'url.clicked',
  'link.started',
  'link.expired',
  'link.exhausted',
  'link.destination_broken',
  'link.destination_recovered',
  'routing.rule_created',
  'routing.rule_updated',
  'routing.rule_deleted',
  'routing.rule_matched',
  'conversion.created',
  'experiment.decided',
  'domain.verified',
  'domain.failed',
  'domain.certificate.issued',
  'domain.certificate.failed',
  'domain.certificate.expiring',
  'alert.fired',
  'alert.resolved',
] as const;

interface Fields {
  name: string;
  url: string;
  events: string[];
  scope: 'own' | 'all';
  headers: string;
}

const empty: Fields = { name: '', url: '', events: [], scope: 'own', headers: '' };

const fieldsOf = ({ name, url, events: chosen, scope, headers }: Hook): Fields => ({
  name,
  url,
  events: chosen,
  scope,
  headers: linesOf(headers),
});

interface Shown {
  fields: Fields;
  set: (values: Partial<Fields>) => void;
  problem: (field: string) => string | undefined;
}

function Events({ fields, set, problem }: Shown) {
  const wrong = problem('events');
  return (
    <fieldset class={wrong ? 'hookevents wrong' : 'hookevents'}>
      <legend class="label">{t('hook.events')}</legend>
      <div>
        {events.map((event) => (
          <Tick
            key={event}
            name={event}
            label={<span class="mono">{event}</span>}
            hint={t(`hook.event.${event}`)}
            checked={fields.events.includes(event)}
            onValue={(on) =>
              set({ events: events.filter((one) => (one === event ? on : fields.events.includes(one))) })
            }
          />
        ))}
      </div>
      <p class="problem" role="alert">
        {wrong}
      </p>
    </fieldset>
  );
}

function Basics({ fields, set, problem }: Shown) {
  return (
    <>
      <Input
        label={t('labels.name')}
        name="name"
        value={fields.name}
        onValue={(name) => set({ name })}
        problem={problem('name')}
        autocomplete="off"
        first
      />
      <Input
        label={t('share.address')}
        hint={t('hook.urlHint')}
        name="url"
        type="url"
        value={fields.url}
        onValue={(url) => set({ url })}
        problem={problem('url')}
        autocomplete="off"
      />
      <Events fields={fields} set={set} problem={problem} />
      {user.value?.role === 'ADMIN' && (
        <Select
          label={t('links.title')}
          name="scope"
          value={fields.scope}
          options={[
            ['own', t('hook.scope.own')],
            ['all', t('hook.scope.all')],
          ]}
          onValue={(scope) => set({ scope })}
          problem={problem('scope')}
        />
      )}
      <Area
        label={t('hook.headers')}
        hint={t('hook.headersHint')}
        name="headers"
        rows={2}
        class="mono"
        value={fields.headers}
        onValue={(headers) => set({ headers })}
        problem={problem('headers')}
      />
    </>
  );
}

/** A request's body. Headers that cannot be read are a problem of their field. */
function bodyOf(fields: Fields) {
  const read = headersOf(fields.headers);
  if ('wrong' in read) {
    throw refused('headers', t('hook.headersWrong', { line: read.wrong }));
  }
  const { name, url, events: chosen, scope } = fields;
  return {
    name,
    url: url.trim(),
    events: chosen as Schema<'Webhook'>['events'],
    headers: read.headers,
    ...(scope === 'all' ? { scope } : {}),
  };
}

/** What the user has changed since the form was opened. */
function changesOf(was: Fields, now: Fields) {
  const body = { ...bodyOf(now), scope: now.scope };
  const changed = (name: keyof Fields) => JSON.stringify(now[name]) !== JSON.stringify(was[name]);
  return Object.fromEntries(Object.entries(body).filter(([name]) => changed(name as keyof Fields)));
}

const shown = ['name', 'url', 'events', 'scope', 'headers', 'secret'];

/** Shows a secret that cannot be read again. */
export function Once({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog title={t('hook.secretOnce')} onClose={onClose}>
      <form method="dialog">
        <p>{t('hook.secretOnceHint')}</p>
        <Secret label={t('hook.secret')} value={secret} />
        <footer>
          <Button kind="primary" onClick={onClose}>
            {t('hook.secretKept')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** The dialog of a new webhook. `onMade` gets its id after the user has seen the secret. */
export function Create({ onMade, onClose }: { onMade: (id: string) => void; onClose: () => void }) {
  const draft = useDraft<Fields>('webhook', empty);
  const saving = useSaving(shown);
  const [made, setMade] = useState<{ id: string; secret: string }>();
  const save = async () => {
    setMade(await api.post('/api/webhooks', { body: bodyOf(draft.value) }));
    draft.discard(empty);
  };
  if (made) return <Once secret={made.secret} onClose={() => onMade(made.id)} />;
  return (
    <FormDialog title={t('hook.new')} action={t('hook.create')} saving={saving} save={save} onClose={onClose}>
      {draft.restored && <Restored onDiscard={() => draft.discard(empty)} />}
      <Basics
        fields={draft.value}
        set={(values) => draft.set({ ...draft.value, ...values })}
        problem={saving.problem}
      />
      <p class="hint">{t('hook.secretLater')}</p>
    </FormDialog>
  );
}

type SecretChoice = 'keep' | 'set' | 'none';

/** Tells that the form has what was typed before. */
function Restored({ onDiscard }: { onDiscard: () => void }) {
  return (
    <div class="notice">
      <p>{t('create.draft')}</p>
      <Button onClick={onDiscard}>{t('create.discard')}</Button>
    </div>
  );
}

/** The dialog that changes a webhook. It sends only what was changed. */
export function Edit({ hook, onSaved, onClose }: { hook: Hook; onSaved: () => void; onClose: () => void }) {
  const [base, setBase] = useState(hook);
  const begin = { was: fieldsOf(hook), now: fieldsOf(hook) };
  const draft = useDraft(`webhook.${hook.id}`, begin);
  const { was, now } = draft.value;
  const [choice, setChoice] = useState<SecretChoice>('keep');
  const [secret, setSecret] = useState('');
  const saving = useSaving(shown);
  const save = async () => {
    const body = {
      ...changesOf(was, now),
      ...(choice === 'keep' ? {} : { secret: choice === 'set' ? secret : null }),
    };
    try {
      await api.put('/api/webhooks/{id}', { path: { id: hook.id }, body, ifMatch: base });
    } catch (failed) {
      // The next attempt changes the webhook as it is now, and still only what the user changed.
      if (failed instanceof ApiError && failed.stale) setBase(failed.current as Hook);
      throw failed;
    }
    draft.discard();
    notify(t('hook.saved'));
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={t('hook.edit')}
      action={base === hook ? t('action.save') : t('rules.keepMine')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      {draft.restored && <Restored onDiscard={() => draft.discard(begin)} />}
      <Basics fields={now} set={(values) => draft.set({ was, now: { ...now, ...values } })} problem={saving.problem} />
      <Select
        label={t('hook.secret')}
        name="secretChoice"
        value={choice}
        options={[
          ['keep', hook.hasSecret ? t('hook.secret.keep') : t('hook.secret.missing')],
          ['set', t('hook.secret.set')],
          ...(hook.hasSecret ? [['none', t('hook.secret.none')] as const] : []),
        ]}
        onValue={setChoice}
      />
      {choice === 'set' && (
        <Input
          label={t('hook.secretNew')}
          name="secret"
          type="password"
          autocomplete="new-password"
          value={secret}
          onValue={setSecret}
          problem={saving.problem('secret')}
        />
      )}
    </FormDialog>
  );
}
