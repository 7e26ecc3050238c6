// The shared reports of the workspace, in its settings.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { search } from '../../route';
import { workspace } from '../../session';
import { moment, t } from '../../text';
import { IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { copy } from '../../ui/copy';
import { Loading, Section } from '../../ui/page';
import { pageOf, Pager } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { notify } from '../../ui/toast';
import { Made, ShareForm, type Shared } from './form';

type Asking = { kind: 'edit' | 'revoke' | 'made'; of: Shared } | undefined;

function Name({ of }: { of: Shared }) {
  return (
    <>
      <p>
        <bdi>{of.name}</bdi> {!of.available && <span class="badge bad">{t('share.unavailable')}</span>}{' '}
        {of.hasPassword && <span class="badge">{t('share.withPassword')}</span>}
      </p>
      {of.origins.length > 0 && <p class="hint">{of.origins.join(', ')}</p>}
    </>
  );
}

function Actions({ of, onAsk }: { of: Shared; onAsk: (asking: Asking) => void }) {
  const { address, name } = of;
  return (
    <>
      {address !== null && (
        <IconButton icon="copy" label={t('share.copyOne', { name })} onClick={() => void copy(address)} />
      )}
      <IconButton icon="edit" label={t('share.editOne', { name })} onClick={() => onAsk({ kind: 'edit', of })} />
      <IconButton icon="trash" label={t('share.revokeOne', { name })} onClick={() => onAsk({ kind: 'revoke', of })} />
    </>
  );
}

/** The list. */
export function SharedReports() {
  const page = pageOf('shared');
  const list = useResource(`shared ${workspace.value?.id ?? ''} ${page}`, (signal) =>
    api.get('/api/shared-reports', { query: { page }, signal }),
  );
  const [asking, setAsking] = useState<Asking>();
  const close = () => setAsking(undefined);
  const rows = list.data?.data;
  const revoke = async ({ id, name }: Shared) => {
    await api.delete('/api/shared-reports/{id}', { path: { id } });
    notify(t('share.revoked', { name }));
    if (rows?.length === 1 && page > 1) search({ shared: '' });
    list.reload();
  };
  return (
    <Section title={t('share.list')}>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!list.data && list.error === undefined && <Loading />}
      {rows?.length === 0 && <p class="hint">{t('share.none')}</p>}
      {rows && rows.length > 0 && (
        <Table
          label={t('share.list')}
          rows={rows}
          keyOf={(one) => one.id}
          columns={[
            { name: t('share.name'), cell: (one) => <Name of={one} /> },
            {
              name: t('share.aboutHead'),
              cell: (one) => (
                <>
                  <p>{t(`share.about.${one.about}`)}</p>
                  {one.subject && (
                    <p class="hint">
                      <bdi>{one.subject}</bdi>
                    </p>
                  )}
                </>
              ),
            },
            { name: t('share.expires'), cell: (one) => (one.expiresAt ? moment(one.expiresAt) : t('share.never')) },
            { name: t('test.actions'), cell: (one) => <Actions of={one} onAsk={setAsking} /> },
          ]}
        />
      )}
      <Pager name="shared" page={page} totalPages={list.data?.totalPages ?? 1} />
      {asking?.kind === 'edit' && (
        <ShareForm
          of={asking.of}
          onClose={close}
          onSaved={(saved) => {
            list.reload();
            // The HTML for embedding is of use as soon as there is an origin.
            setAsking(saved.origins.length > asking.of.origins.length ? { kind: 'made', of: saved } : undefined);
          }}
        />
      )}
      {asking?.kind === 'made' && <Made made={asking.of} onClose={close} />}
      {asking?.kind === 'revoke' && (
        <Confirm
          title={t('share.revokeOne', { name: asking.of.name })}
          action={t('share.revoke')}
          onConfirm={() => revoke(asking.of)}
          onClose={close}
        >
          <p>{t('share.revokeHint')}</p>
        </Confirm>
      )}
    </Section>
  );
}
