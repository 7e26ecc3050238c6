// The name of the user, and how the console looks in this browser.
import { api } from '../../api/client';
import { user } from '../../session';
import { day, language, languages, speak, t, type Language } from '../../text';
import { theme, themes, type Theme } from '../../theme';
import { Button } from '../../ui/button';
import { useDraft } from '../../ui/draft';
import { Input, Select } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { Section } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { complain, notify } from '../../ui/toast';

function Name() {
  const own = user.value;
  const draft = useDraft('account', { name: own?.name ?? '' });
  const saving = useSaving(['name']);
  const save = async () => {
    const { name } = draft.value;
    const saved = await api.put('/api/auth/me', { body: { name } });
    user.value = saved;
    draft.saved({ name }, { name: saved.name });
    notify(t('labels.saved'));
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
      {saving.error !== undefined && <Problem error={saving.error} />}
      <Input
        label={t('labels.name')}
        hint={t('account.nameHint')}
        name="name"
        autocomplete="name"
        value={draft.value.name}
        onValue={(name) => draft.set({ name })}
        problem={saving.problem('name')}
      />
      <footer>
        <Button kind="primary" type="submit" busy={saving.busy}>
          {t('action.save')}
        </Button>
      </footer>
    </form>
  );
}

/** The tab of the profile. */
export function Profile() {
  const own = user.value;
  return (
    <>
      <Section title={t('account.profile')}>
        <dl class="factlist">
          <div>
            <dt>{t('signin.email')}</dt>
            <dd dir="auto">{own?.email}</dd>
          </div>
          <div>
            <dt>{t('members.role')}</dt>
            <dd>{own?.role === 'ADMIN' ? t('account.admin') : t('account.user')}</dd>
          </div>
          <div>
            <dt>{t('account.since')}</dt>
            <dd>{own && day(own.createdAt)}</dd>
          </div>
        </dl>
        <Name />
      </Section>
      <Section title={t('account.look')} hint={t('account.lookHint')}>
        <div class="looks">
          <Select
            label={t('theme.label')}
            name="theme"
            value={theme.value}
            options={themes.map((one) => [one, t(`theme.${one}`)] as const)}
            onValue={(one: Theme) => (theme.value = one)}
          />
          <Select
            label={t('language.label')}
            name="language"
            value={language.value}
            options={(Object.keys(languages) as Language[]).map((one) => [one, languages[one]] as const)}
            onValue={(one) => void speak(one).catch(complain)}
          />
        </div>
      </Section>
    </>
  );
}
