// How people may sign in: the rules for everybody, and identity providers.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { query, search } from '../../route';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Deletion } from '../../ui/deletion';
import { Empty, Head, Section, Waiting } from '../../ui/page';
import { useResource } from '../../ui/resource';
import { Secret } from '../../ui/secret';
import { complain, notify } from '../../ui/toast';
import { ProviderForm } from './form';
import { Rule } from './rules';

type Provider = Schema<'OIDCProvider'>;

interface OneProps {
  of: Provider;
  onEdit: () => void;
  onDelete: () => void;
  onChanged: () => void;
}

function One({ of, onEdit, onDelete, onChanged }: OneProps) {
  const toggle = async () => {
    await api.put('/api/admin/oidc-providers/{slug}', { path: { slug: of.slug }, body: { isActive: !of.isActive } });
    notify(of.isActive ? t('access.disabled') : t('access.enabled'));
    onChanged();
  };
  const facts: [string, string][] = [
    [t('access.issuer'), of.discoveryUrl],
    [t('access.clientId'), of.clientId],
    [t('access.scopes'), of.scopes],
    [t('access.domains'), of.allowedDomains.join(', ') || t('links.any')],
    [t('access.trust'), of.trustEmail ? t('totp.on') : t('totp.off')],
  ];
  return (
    <Section title={of.name}>
      <p>
        <span class={of.isActive ? 'badge good' : 'badge'}>{of.isActive ? t('totp.on') : t('totp.off')}</span>
      </p>
      <dl class="factlist">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="mono">{value}</dd>
          </div>
        ))}
      </dl>
      <Secret label={t('access.callback')} value={of.callbackUrl} />
      <div class="choices">
        <Button icon="edit" onClick={onEdit}>
          {t('action.edit')}
        </Button>
        <Button icon={of.isActive ? 'pause' : 'play'} onClick={() => void toggle().catch(complain)}>
          {of.isActive ? t('totp.turnOff') : t('totp.turnOn')}
        </Button>
        <Button icon="trash" kind="danger" onClick={onDelete}>
          {t('action.delete')}
        </Button>
      </div>
    </Section>
  );
}

/** The screen of identity providers and of the rules for signing in. */
export function Providers() {
  const list = useResource('providers', async (signal) => {
    const [providers, settings] = await Promise.all([
      api.get('/api/admin/oidc-providers', { signal }),
      api.get('/api/settings/system', { signal }),
    ]);
    return { providers, settings };
  });
  const [doomed, doom] = useState<Provider>();
  if (list.error !== undefined || !list.data) return <Waiting of={list} />;
  const { providers, settings } = list.data;
  const chosen = query.value.get('edit');
  const edited = providers.find((one) => one.slug === chosen);
  const create = (
    <Button kind="primary" icon="plus" onClick={() => search({ new: '1' })}>
      {t('access.new')}
    </Button>
  );
  return (
    <>
      <Head title={t('nav.providers')}>{providers.length > 0 && create}</Head>
      <Section title={t('access.rules')}>
        <Rule kind="factor" settings={settings} onChanged={list.reload} />
        <Rule
          kind="passwords"
          settings={settings}
          blocked={!providers.some((one) => one.isActive)}
          onChanged={list.reload}
        />
      </Section>
      {providers.length === 0 && (
        <Empty title={t('access.none')} hint={t('access.noneHint')}>
          {create}
        </Empty>
      )}
      {providers.map((one) => (
        <One
          key={one.id}
          of={one}
          onEdit={() => search({ edit: one.slug })}
          onDelete={() => doom(one)}
          onChanged={list.reload}
        />
      ))}
      {(edited ?? query.value.has('new')) && (
        <ProviderForm
          key={edited?.id}
          of={edited}
          onClose={() => search({ new: '', edit: '' })}
          onSaved={list.reload}
        />
      )}
      {doomed && (
        <Deletion
          name={doomed.name}
          remove={() => api.delete('/api/admin/oidc-providers/{slug}', { path: { slug: doomed.slug } })}
          onDeleted={list.reload}
          onClose={() => doom(undefined)}
        >
          {t('access.deleteHint')}
        </Deletion>
      )}
    </>
  );
}
