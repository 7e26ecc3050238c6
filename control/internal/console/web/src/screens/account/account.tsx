// The user's own account.
import { user } from '../../session';
import { t } from '../../text';
import { Head, Loading, Section, Tabs } from '../../ui/page';
import { Problem } from '../../ui/problem';
import type { ScreenProps } from '../props';
import { TotpSection } from './totp';
import { useMethods } from './methods';
import { PasskeySection } from './passkeys';
import { ChangePassword } from './password';
import { Profile } from './profile';
import { Sessions } from './sessions';
import './account.css';

/** How the user signs in. */
function Security() {
  const methods = useMethods();
  if (methods.error !== undefined) return <Problem error={methods.error} retry={methods.reload} />;
  if (!methods.data) return <Loading />;
  return (
    <>
      <Section title={t('signin.password')}>
        {methods.data.password ? <ChangePassword /> : <p class="hint">{t('signin.noPasswords')}</p>}
      </Section>
      <TotpSection />
      <PasskeySection offered={methods.data.passkeys} />
    </>
  );
}

/** The screen of the account. Its tabs are parts of the path. */
export function Account({ id: tab }: ScreenProps) {
  return (
    <>
      <Head title={t('nav.account')} note={<bdi>{user.value?.email}</bdi>} />
      <Tabs
        label={t('nav.account')}
        here={tab ? `/account/${tab}` : '/account'}
        tabs={[
          ['/account', t('account.profile')],
          ['/account/security', t('account.security')],
          ['/account/sessions', t('sessions.title')],
        ]}
      />
      {tab === '' && <Profile />}
      {tab === 'security' && <Security />}
      {tab === 'sessions' && <Sessions />}
    </>
  );
}
