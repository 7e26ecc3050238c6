// Invitations that nobody has accepted yet.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { may, workspace } from '../../session';
import { moment, t } from '../../text';
import { IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Section } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import type { Resource } from '../../ui/resource';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { notify } from '../../ui/toast';
import { invite, Made, type Invited } from './invite';
import { nameOfRole } from './roles';

type Invitation = Schema<'Invitation'>;
type Page = Schema<'ListInvitation'>;

/** Who invited somebody; '' if that user was deleted, which the document of the API does not tell. */
function inviter({ invitedBy }: Invitation): string {
  const by = invitedBy;
  return by?.name || by?.email || '';
}

const pageName = 'invitations'; // in the address, beside the page of members

/** Reads the invitations of the workspace, if the user may see them. */
export function useInvitations(): Resource<Page | undefined> {
  const id = workspace.value?.id ?? '';
  const page = pageOf(pageName);
  const allowed = may('ADMIN') && !workspace.value?.isPersonal;
  return useResource(`${id} ${allowed} ${page}`, async (signal) =>
    allowed
      ? await api.get('/api/workspaces/{id}/invitations', { path: { id }, query: { page, pageSize: 50 }, signal })
      : undefined,
  );
}

interface Asking {
  kind: 'again' | 'withdraw';
  one: Invitation;
}

function Question({
  asking: { kind, one },
  onClose,
  onMade,
  onChanged,
}: {
  asking: Asking;
  onClose: () => void;
  onMade: (made: Invited) => void;
  onChanged: () => void;
}) {
  const act = async () => {
    if (kind === 'again') onMade(await invite(one.email, one.role));
    else {
      const path = { id: workspace.value?.id ?? '', invitationId: one.id };
      await api.delete('/api/workspaces/{id}/invitations/{invitationId}', { path });
      notify(t('invite.withdrawn'));
    }
    onChanged();
  };
  return (
    <Confirm
      title={t(`invite.ask.${kind}Title`, { email: one.email })}
      action={t(`invite.ask.${kind}`)}
      onConfirm={act}
      onClose={onClose}
    >
      <p>{t(`invite.ask.${kind}Hint`)}</p>
    </Confirm>
  );
}

function Validity({ of: one }: { of: Invitation }) {
  return (
    <>
      {moment(one.expiresAt)} {one.status === 'EXPIRED' && <span class="badge warn">{t('keys.expired')}</span>}
    </>
  );
}

/** The list of invitations, with what can be done with them. */
export function Invitations({ list }: { list: Resource<Page | undefined> }) {
  const [asking, setAsking] = useState<Asking>();
  const [made, setMade] = useState<Invited>();
  return (
    <Section title={t('invite.list')}>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {list.data?.total === 0 && <p class="hint">{t('invite.none')}</p>}
      {list.data && list.data.total > 0 && (
        <Table
          label={t('invite.list')}
          rows={list.data.data}
          keyOf={(one) => one.id}
          columns={[
            { name: t('signin.email'), cell: (one) => <bdi>{one.email}</bdi> },
            { name: t('members.role'), cell: (one) => nameOfRole(one.role) },
            { name: t('invite.by'), cell: (one) => <bdi>{inviter(one)}</bdi> },
            { name: t('invite.until'), cell: (one) => <Validity of={one} /> },
            {
              name: t('test.actions'),
              cell: (one) =>
                (one.role !== 'OWNER' || may('OWNER')) && (
                  <>
                    <IconButton
                      icon="refresh"
                      label={t('invite.againOne', { email: one.email })}
                      onClick={() => setAsking({ kind: 'again', one })}
                    />
                    <IconButton
                      icon="trash"
                      label={t('invite.withdrawOne', { email: one.email })}
                      onClick={() => setAsking({ kind: 'withdraw', one })}
                    />
                  </>
                ),
            },
          ]}
        />
      )}
      <Pager page={pageOf(pageName)} totalPages={list.data?.totalPages ?? 1} name={pageName} />
      {asking && (
        <Question asking={asking} onClose={() => setAsking(undefined)} onMade={setMade} onChanged={list.reload} />
      )}
      {made && <Made made={made} onClose={() => setMade(undefined)} />}
    </Section>
  );
}
