import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { t } from '../../text';
import { useDraft } from '../../ui/draft';
import { Input, Tick } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { notify } from '../../ui/toast';

type Provider = Schema<'OIDCProvider'>;

const names = ['name', 'slug', 'discoveryUrl', 'clientId', 'scopes', 'allowedDomains'] as const;

type Fields = Record<(typeof names)[number], string>;

const fieldsOf = (of: Provider | undefined): Fields => ({
  name: of?.name ?? '',
  slug: of?.slug ?? '',
  discoveryUrl: of?.discoveryUrl ?? '',
  clientId: of?.clientId ?? '',
  scopes: of?.scopes ?? 'openid email profile',
  allowedDomains: of?.allowedDomains.join(' ') ?? '',
});

/** What to send: everything of a new provider, and what was changed of another one. */
function bodyOf(fields: Fields, base: Fields | undefined) {
  const changed = names.filter((name) => fields[name] !== base?.[name]);
  return Object.fromEntries(
    changed.map((name) => [
      name,
      name === 'allowedDomains' ? fields[name].split(/[\s,]+/).filter(Boolean) : fields[name].trim(),
    ]),
  );
}

interface ProviderFormProps {
  of: Provider | undefined;
  onClose: () => void;
  onSaved: () => void;
}

/** The dialog for a new provider, or one that exists. */
export function ProviderForm({ of, onClose, onSaved }: ProviderFormProps) {
  const base = fieldsOf(of);
  // The browser stores drafts, so the secret is not one.
  const [clientSecret, setSecret] = useState('');
  const draft = useDraft<Fields>(`provider ${of?.slug ?? ''}`, base);
  const [trustEmail, setTrust] = useState(of?.trustEmail ?? false);
  const saving = useSaving([...names, 'clientSecret', 'trustEmail']);
  const save = async () => {
    // The API never returns the secret. Without a new one, it keeps the present one.
    const trust = trustEmail !== (of?.trustEmail ?? false) && { trustEmail };
    const body = { ...bodyOf(draft.value, of && base), ...(clientSecret && { clientSecret }), ...trust };
    if (of) await api.put('/api/admin/oidc-providers/{slug}', { path: { slug: of.slug }, body });
    else await api.post('/api/admin/oidc-providers', { body: body as Schema<'CreateOIDCProviderRequest'> });
    draft.discard(base);
    notify(t('labels.saved'));
    onSaved();
    onClose();
  };
  const field = (name: (typeof names)[number]) => ({
    name,
    autocomplete: 'off' as const,
    value: draft.value[name],
    onValue: (value: string) => draft.patch({ [name]: value }),
    problem: saving.problem(name),
  });
  return (
    <FormDialog
      title={of ? t('labels.editOne', { name: of.name }) : t('access.new')}
      action={t('action.save')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      <Input {...field('name')} label={t('labels.name')} hint={t('access.nameHint')} first />
      {!of && <Input {...field('slug')} label={t('create.slug')} hint={t('access.slugHint')} spellcheck={false} />}
      <Input
        {...field('discoveryUrl')}
        label={t('access.issuer')}
        hint={t('access.issuerHint')}
        inputmode="url"
        spellcheck={false}
      />
      <Input {...field('clientId')} label={t('access.clientId')} spellcheck={false} />
      <Input
        label={t('access.clientSecret')}
        name="clientSecret"
        type="password"
        value={clientSecret}
        onValue={setSecret}
        problem={saving.problem('clientSecret')}
        autocomplete="new-password"
        hint={of?.hasClientSecret ? t('access.secretKept') : undefined}
      />
      <Input {...field('scopes')} label={t('access.scopes')} hint={t('access.scopesHint')} spellcheck={false} />
      <Input
        {...field('allowedDomains')}
        label={t('access.domains')}
        hint={t('access.domainsHint')}
        spellcheck={false}
      />
      <Tick
        label={t('access.trust')}
        name="trustEmail"
        checked={trustEmail}
        onValue={setTrust}
        hint={saving.problem('trustEmail') ?? t('access.trustHint')}
      />
    </FormDialog>
  );
}
