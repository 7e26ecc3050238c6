import { useState } from 'preact/hooks';
import { api, type ApiError, type Schema } from '../../api/client';
import { t } from '../../text';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Picker } from '../../ui/picker';
import { notify } from '../../ui/toast';
import { domains } from '../link/address';
import { bare, shared } from '../links/changes';

const fields = ['slug', 'domain', 'externalId'] as const;

interface ElsewhereProps {
  link: Schema<'URL'>;
  /** Why the link cannot be restored as it was. Its fields are what has to be chosen anew. */
  error: ApiError;
  onClose: () => void;
  onRestored: () => void;
}

/** The dialog that restores a link under another slug, domain or key, because the old one is not free any more. */
export function Elsewhere({ link, error, onClose, onRestored }: ElsewhereProps) {
  const saving = useSaving(fields);
  // The server names one of them after the other. Those that were chosen before stay.
  const [needed] = useState(() => new Set(error.fields.map((one) => one.field)));
  for (const field of fields) if (saving.problem(field)) needed.add(field);
  const [slug, setSlug] = useState(needed.has('domain') ? link.slug : '');
  const [domain, setDomain] = useState(shared);
  const [externalId, setExternalId] = useState('');
  const [tried, setTried] = useState(false);
  const problem = (field: string) =>
    tried ? saving.problem(field) : error.fields.find((one) => one.field === field)?.message;
  const save = async () => {
    setTried(true);
    const restored = await api.post('/api/urls/{id}/restore', {
      path: { id: link.id },
      body: {
        ...((needed.has('slug') || needed.has('domain')) && slug.trim() && { slug: slug.trim() }),
        ...(needed.has('domain') && { domain: domain === shared ? null : domain }),
        ...(needed.has('externalId') && { externalId: externalId.trim() || null }),
      },
    });
    notify(t('create.ready', { link: bare(restored.shortUrl) }));
    onRestored();
    onClose();
  };
  return (
    <FormDialog
      title={t('trash.restoreOf', { link: bare(link.shortUrl) })}
      action={t('links.restore')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      {needed.has('domain') && (
        <Picker
          label={t('links.domain')}
          name="domain"
          shown={domain === shared ? t('create.shared') : domain}
          find={domains}
          onPick={setDomain}
          problem={problem('domain')}
        />
      )}
      {(needed.has('slug') || needed.has('domain')) && (
        <Input
          label={t('create.slug')}
          name="slug"
          autocomplete="off"
          spellcheck={false}
          value={slug}
          onValue={setSlug}
          problem={problem('slug')}
          first
        />
      )}
      {needed.has('externalId') && (
        <Input
          label={t('edit.externalId')}
          name="externalId"
          hint={t('edit.externalIdHint')}
          value={externalId}
          onValue={setExternalId}
          problem={problem('externalId')}
        />
      )}
    </FormDialog>
  );
}
