// The settings of conversions, which belong to the workspace.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { may, workspace } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { copy } from '../../ui/copy';
import { useDraft } from '../../ui/draft';
import { Area, Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { Loading, Section } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Secret } from '../../ui/secret';
import { notify } from '../../ui/toast';
import { Restored } from './restored';
import './workspace.css';

type Settings = Schema<'ConversionSettings'>;

const fieldsOf = ({ hosts, clickParameter }: Settings) => ({ hosts: hosts.join('\n'), clickParameter });

function Form({ settings, onSaved }: { settings: Settings; onSaved: (settings: Settings) => void }) {
  const draft = useDraft(`conversions.${workspace.value?.id ?? ''}`, fieldsOf(settings));
  const saving = useSaving(['hosts', 'clickParameter']);
  const { hosts, clickParameter } = draft.value;
  const save = async () => {
    const body = { hosts: hosts.split(/[\s,;]+/).filter(Boolean), clickParameter: clickParameter.trim() || null };
    const saved = await api.put('/api/conversions/settings', { body });
    draft.saved(draft.value, fieldsOf(saved));
    notify(t('labels.saved'));
    onSaved(saved);
  };
  return (
    <form
      class="form"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        void saving.run(save);
      }}
    >
      <Restored draft={draft} initial={fieldsOf(settings)} />
      {saving.error !== undefined && <Problem error={saving.error} />}
      <Area
        label={t('conv.hosts')}
        hint={t('conv.hostsHint')}
        name="hosts"
        class="mono"
        rows={3}
        value={hosts}
        onValue={(hosts) => draft.patch({ hosts })}
        problem={saving.problem('hosts')}
      />
      <Input
        label={t('conv.parameter')}
        hint={t('conv.parameterHint')}
        name="clickParameter"
        autocomplete="off"
        spellcheck={false}
        value={clickParameter}
        onValue={(clickParameter) => draft.patch({ clickParameter })}
        problem={saving.problem('clickParameter')}
      />
      <footer>
        <Button type="submit" busy={saving.busy}>
          {t('action.save')}
        </Button>
      </footer>
    </form>
  );
}

function Key({ value, onReplaced }: { value: string | null; onReplaced: (settings: Settings) => void }) {
  const [asking, setAsking] = useState(false);
  if (value === null) return <p class="hint">{t('conv.noKey')}</p>;
  const replace = async () => {
    onReplaced(await api.post('/api/conversions/settings/rotate-key'));
    notify(t('conv.replaced'));
  };
  return (
    <div class="form">
      <Secret label={t('conv.key')} value={value} />
      <p class="hint">{t('conv.keyHint')}</p>
      {may('ADMIN') && (
        <footer>
          <Button icon="refresh" onClick={() => setAsking(true)}>
            {t('conv.replace')}
          </Button>
        </footer>
      )}
      {asking && (
        <Confirm
          title={t('conv.replaceTitle')}
          action={t('conv.replace')}
          onConfirm={replace}
          onClose={() => setAsking(false)}
        >
          <p>{t('conv.replaceHint')}</p>
        </Confirm>
      )}
    </div>
  );
}

/** The program of a page, as in docs/users/conversions.md. It comes from the host of the short links, which need not be the console's. */
function Snippet({ settings: { publishableKey, clickParameter } }: { settings: Settings }) {
  const newest = useResource(workspace.value?.id ?? '', (signal) =>
    api.get('/api/urls', { query: { pageSize: 1 }, signal }),
  );
  if (publishableKey === null || (!newest.data && newest.error === undefined)) return null;
  const address = newest.data?.data[0]?.shortUrl;
  const host = address === undefined ? location.origin : new URL(address).origin;
  const parameter = clickParameter === 'sl_click' ? '' : ` data-param="${clickParameter}"`;
  const code = `<script>
  window.sl = window.sl || {q: [], track: function () { sl.q.push(arguments); }};
</script>
<script async src="${host}/sl.js" data-key="${publishableKey}"${parameter}></script>

<script>
  sl.track("purchase", {value: 49.90, currency: "EUR", externalId: "order-1001"});
</script>`;
  return (
    <div class="form">
      <h3>{t('conv.snippet')}</h3>
      <p class="hint">{t('conv.snippetHint')}</p>
      <pre class="snippet mono" tabIndex={0} aria-label={t('conv.snippet')} dir="ltr">
        {code}
      </pre>
      <footer>
        <Button icon="copy" onClick={() => void copy(code)}>
          {t('action.copy')}
        </Button>
      </footer>
    </div>
  );
}

/** Which websites may send conversions, and the key for their pages. */
export function Conversions() {
  const loaded = useResource('conversions', (signal) => api.get('/api/conversions/settings', { signal }));
  const [newer, setNewer] = useState<Settings>();
  const settings = newer ?? loaded.data;
  return (
    <Section title={t('nav.conversions')} hint={t('conv.hint')}>
      {loaded.error !== undefined && <Problem error={loaded.error} retry={loaded.reload} />}
      {!settings && loaded.error === undefined && <Loading />}
      {settings && may('ADMIN') && <Form settings={settings} onSaved={setNewer} />}
      {settings && !may('ADMIN') && settings.hosts.length > 0 && <p class="mono">{settings.hosts.join(', ')}</p>}
      {settings && <Key value={settings.publishableKey} onReplaced={setNewer} />}
      {settings && <Snippet settings={settings} />}
    </Section>
  );
}
