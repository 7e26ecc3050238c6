// API keys of the workspace. The key itself is shown once, after it was made.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { query, search } from '../../route';
import { user, workspace } from '../../session';
import { moment, t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Dialog } from '../../ui/dialog';
import { Empty, Head, Loading } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Secret } from '../../ui/secret';
import { Table } from '../../ui/table';
import { notify } from '../../ui/toast';
import { KeyForm } from './form';
import { nameOfScope } from './scopes';

type Key = Schema<'APIKey'>;

/** Shows a new key. It cannot be left by accident: only the button closes it. */
function Made({ made, onClose }: { made: Schema<'NewAPIKey'>; onClose: () => void }) {
  return (
    <Dialog title={t('keys.made', { name: made.name })}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
        }}
      >
        <p role="status">{t('keys.once')}</p>
        <Secret label={t('keys.key')} value={made.key} />
        <footer>
          <Button kind="primary" type="submit">
            {t('keys.kept')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

const expired = (key: Key): boolean => key.expiresAt !== null && Date.parse(key.expiresAt) < Date.now();

function Name({ of: key }: { of: Key }) {
  return (
    <>
      <p>
        <bdi>{key.name}</bdi> {key.isLegacy && <span class="badge warn">{t('keys.legacy')}</span>}{' '}
        {expired(key) && <span class="badge bad">{t('keys.expired')}</span>}
      </p>
      <p class="hint mono">{`${key.prefix}…`}</p>
    </>
  );
}

function Rights({ of: key }: { of: Key }) {
  return (
    <>
      <p>{key.scopes.length === 0 ? t('keys.everything') : key.scopes.map(nameOfScope).join(', ')}</p>
      {key.allowedIps.length > 0 && <p class="hint mono">{key.allowedIps.join(', ')}</p>}
      {key.createdBy.id !== user.value?.id && <p class="hint">{t('keys.by', { name: key.createdBy.email })}</p>}
    </>
  );
}

function Used({ of: key }: { of: Key }) {
  if (key.lastUsedAt === null) return <>{t('keys.never')}</>;
  return (
    <>
      <p>{moment(key.lastUsedAt)}</p>
      {key.lastUsedIp && <p class="hint mono">{key.lastUsedIp}</p>}
    </>
  );
}

interface Asking {
  kind: 'rotate' | 'delete';
  key: Key;
}

/** The question before a key changes or goes. */
function Question({
  asking,
  onClose,
  onMade,
  onChanged,
}: {
  asking: Asking;
  onClose: () => void;
  onMade: (made: Schema<'NewAPIKey'>) => void;
  onChanged: () => void;
}) {
  const { kind, key } = asking;
  const path = { id: key.id };
  const act = async () => {
    if (kind === 'rotate')
      onMade(await api.post('/api/api-keys/{id}/rotate', { path, body: expired(key) ? { expiresAt: null } : {} }));
    else {
      await api.delete('/api/api-keys/{id}', { path });
      notify(t('keys.deleted', { name: key.name }));
    }
    onChanged();
  };
  return (
    <Confirm
      title={t(`keys.ask.${kind}Title`, { name: key.name })}
      action={t(`keys.ask.${kind}`)}
      onConfirm={act}
      onClose={onClose}
    >
      <p>{t(`keys.ask.${kind}Hint`)}</p>
      <p>{key.lastUsedAt === null ? t('keys.neverUsed') : t('keys.lastUsed', { date: moment(key.lastUsedAt) })}</p>
    </Confirm>
  );
}

interface ListProps {
  keys: readonly Key[];
  onAsk: (asking: Asking) => void;
}

function List({ keys, onAsk }: ListProps) {
  return (
    <Table
      label={t('keys.title')}
      rows={keys}
      keyOf={(one) => one.id}
      columns={[
        { name: t('labels.name'), cell: (one) => <Name of={one} /> },
        { name: t('keys.rights'), cell: (one) => <Rights of={one} /> },
        { name: t('keys.used'), cell: (one) => <Used of={one} /> },
        { name: t('keys.expires'), cell: (one) => (one.expiresAt ? moment(one.expiresAt) : t('keys.never')) },
        {
          name: t('test.actions'),
          cell: (one) => (
            <>
              {one.createdBy.id === user.value?.id && (
                <IconButton
                  icon="refresh"
                  label={t('keys.rotateOne', { name: one.name })}
                  onClick={() => onAsk({ kind: 'rotate', key: one })}
                />
              )}
              <IconButton
                icon="trash"
                label={t('labels.deleteOne', { name: one.name })}
                onClick={() => onAsk({ kind: 'delete', key: one })}
              />
            </>
          ),
        },
      ]}
    />
  );
}

/** The screen of API keys. */
export function Keys() {
  const list = useResource(`keys ${workspace.value?.id ?? ''}`, (signal) => api.get('/api/api-keys', { signal }));
  const [made, setMade] = useState<Schema<'NewAPIKey'>>();
  const [asking, setAsking] = useState<Asking>();
  const creating = query.value.has('new');
  const keys = list.data?.apiKeys;
  const legacy = keys?.filter((one) => one.isLegacy).length ?? 0;
  const add = (
    <Button kind="primary" icon="plus" data-shortcut="c" onClick={() => search({ new: '1' })}>
      {t('keys.new')}
    </Button>
  );
  return (
    <>
      <Head title={t('keys.title')}>{add}</Head>
      <p class="hint lead">{t('keys.hint')}</p>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!keys && list.error === undefined && <Loading />}
      {legacy > 0 && (
        <div class="notice">
          <p>{t('keys.legacyHint', { n: legacy })}</p>
        </div>
      )}
      {keys?.length === 0 && (
        <Empty title={t('keys.none')} hint={t('keys.noneHint')}>
          {add}
        </Empty>
      )}
      {keys && keys.length > 0 && <List keys={keys} onAsk={setAsking} />}
      {creating && (
        <KeyForm
          onClose={() => search({ new: '' })}
          onMade={(one) => {
            search({ new: '' });
            setMade(one);
            list.reload();
          }}
        />
      )}
      {asking && (
        <Question asking={asking} onClose={() => setAsking(undefined)} onMade={setMade} onChanged={list.reload} />
      )}
      {made && <Made made={made} onClose={() => setMade(undefined)} />}
    </>
  );
}
