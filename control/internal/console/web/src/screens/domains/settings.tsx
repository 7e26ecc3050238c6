// The settings of a domain.
import { api, ApiError } from '../../api/client';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { useDraft } from '../../ui/draft';
import { Area, Input, Select, Tick } from '../../ui/field';
import { useSaving, type Saving } from '../../ui/form';
import { Section } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { notify } from '../../ui/toast';
import { changesOf, fieldsOf, invalid, type Fields } from './fields';
import type { Domain } from './state';

const ages = ['0', '300', '86400', '2592000', '31536000', '63072000'] as const;

const shown = [
  'isDefault',
  'caseSensitive',
  'slugs',
  'minSlugLength',
  'rootUrl',
  'notFoundUrl',
  'expiredUrl',
  'hsts',
  'brandName',
  'brandLogoUrl',
  'appLinks',
] as const;

interface PartProps {
  fields: Fields;
  set: (values: Partial<Fields>) => void;
  saving: Saving;
}

type Text = 'rootUrl' | 'notFoundUrl' | 'expiredUrl' | 'brandName' | 'brandLogoUrl';

function Line({ fields, set, saving, name, address = true }: PartProps & { name: Text; address?: boolean }) {
  return (
    <Input
      label={t(`domain.set.${name}`)}
      {...(name === 'brandName' ? {} : { hint: t(`domain.set.${name}Hint`) })}
      name={name}
      value={fields[name]}
      onValue={(value) => set({ [name]: value })}
      problem={saving.problem(name)}
      autocomplete="off"
      {...(address ? { type: 'url' } : {})}
    />
  );
}

function Slugs({ fields, set, saving }: PartProps) {
  return (
    <Section title={t('domain.slugs')}>
      <Tick
        label={t('domain.anyCase')}
        hint={t('domain.anyCaseHint')}
        name="caseSensitive"
        checked={!fields.caseSensitive}
        onValue={(any) => set({ caseSensitive: !any })}
      />
      {saving.problem('caseSensitive') && (
        <p class="problem" role="alert">
          {saving.problem('caseSensitive')}
        </p>
      )}
      <Select
        label={t('domain.slugForm')}
        name="slugs"
        value={fields.slugs}
        options={(['basic', 'extended'] as const).map((form) => [form, t(`domain.slugForm.${form}`)] as const)}
        onValue={(value) => set({ slugs: value })}
        problem={saving.problem('slugs')}
      />
      <Select
        label={t('domain.minSlugLength')}
        name="minSlugLength"
        value={String(fields.minSlugLength)}
        options={['1', '2', '3'].map((n) => [n, n] as const)}
        onValue={(value) => set({ minSlugLength: Number(value) })}
        problem={saving.problem('minSlugLength')}
      />
    </Section>
  );
}

function Https({ fields, set, saving }: PartProps) {
  const own = String(fields.hsts);
  const named = (ages as readonly string[]).includes(own);
  const options = ages.map((age) => [age as string, t(`domain.hsts.${age}`)] as const);
  return (
    <Section title={t('domain.https')}>
      <Select
        label={t('domain.hsts')}
        hint={t('domain.hstsHint')}
        name="hsts"
        value={own}
        options={named ? options : [...options, [own, t('domain.hsts.seconds', { n: fields.hsts })]]}
        onValue={(value) => set({ hsts: Number(value) })}
        problem={saving.problem('hsts')}
      />
      {fields.hsts > 0 && (
        <div class="notice warn" role="note">
          <p>{t('domain.hstsWarning')}</p>
        </div>
      )}
    </Section>
  );
}

function Apps({ fields, set, saving }: PartProps) {
  return (
    <Section title={t('domain.apps')} hint={t('domain.appsHint')}>
      {(['apple', 'android'] as const).map((name) => (
        <Area
          key={name}
          label={t(`domain.set.${name}`)}
          name={name}
          rows={6}
          class="mono"
          value={fields[name]}
          onValue={(value) => set({ [name]: value })}
          problem={saving.problem(`appLinks.${name}`)}
        />
      ))}
    </Section>
  );
}

/** The form of the settings. */
export function Settings({ domain: d, onSaved }: { domain: Domain; onSaved: (d: Domain) => void }) {
  const draft = useDraft<Fields>(`domain.${d.id}`, fieldsOf(d));
  const saving = useSaving(shown);
  const fields = draft.value;
  const save = async () => {
    const errors = invalid(fields).map(([name, error]) => ({
      field: `appLinks.${name}`,
      message: t('domain.json', { error }),
    }));
    if (errors.length > 0) throw new ApiError(400, { errors });
    const saved = await api.put('/api/domains/{id}', { path: { id: d.id }, body: changesOf(d, fields) });
    draft.saved(fields, fieldsOf(saved));
    notify(t('domain.saved'));
    onSaved(saved);
  };
  const part = { fields, saving, set: (values: Partial<Fields>) => draft.set({ ...fields, ...values }) };
  return (
    <form
      class="form domainform"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        void saving.run(save);
      }}
    >
      {draft.restored && (
        <div class="notice">
          <p>{t('create.draft')}</p>
          <Button onClick={() => draft.discard(fieldsOf(d))}>{t('create.discard')}</Button>
        </div>
      )}
      {saving.error !== undefined && <Problem error={saving.error} />}
      <Section title={t('domain.links')}>
        <Tick
          label={t('domain.isDefault')}
          hint={t('domain.isDefaultHint')}
          name="isDefault"
          checked={fields.isDefault}
          onValue={(isDefault) => part.set({ isDefault })}
        />
      </Section>
      <Slugs {...part} />
      <Section title={t('domain.visitors')} hint={t('domain.visitorsHint')}>
        <Line {...part} name="rootUrl" />
        <Line {...part} name="notFoundUrl" />
        <Line {...part} name="expiredUrl" />
      </Section>
      <Section title={t('domain.brand')} hint={t('domain.brandHint')}>
        <Line {...part} name="brandName" address={false} />
        <Line {...part} name="brandLogoUrl" />
      </Section>
      <Https {...part} />
      <Apps {...part} />
      <footer>
        <Button kind="primary" type="submit" busy={saving.busy}>
          {t('action.save')}
        </Button>
      </footer>
    </form>
  );
}
