// The codes of an authenticator app as a second factor.
import { useEffect, useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { user } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { copy } from '../../ui/copy';
import { Dialog } from '../../ui/dialog';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Section } from '../../ui/page';
import { save } from '../../ui/save';
import { Secret } from '../../ui/secret';
import { notify } from '../../ui/toast';

/** The answer of the API if the sign-in is some time ago: the password is needed. */
export const tooOld = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 403 && !error.needsFactor;

/** Shows the recovery codes. It cannot be left by accident, because they are not shown again. */
function Codes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const text = codes.join('\n');
  return (
    <Dialog title={t('totp.codes')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
        }}
      >
        <p role="status">{t('totp.once')}</p>
        <pre class="recovery mono" tabIndex={0}>
          {text}
        </pre>
        <div class="choices">
          <Button icon="copy" onClick={() => void copy(text)}>
            {t('action.copy')}
          </Button>
          <Button icon="download" onClick={() => save(new Blob([`${text}\n`]), 'shortline-recovery-codes.txt')}>
            {t('totp.download')}
          </Button>
        </div>
        <footer>
          <Button kind="primary" type="submit">
            {t('totp.kept')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** What an authenticator app needs, as a picture and as text. */
function Scan({ setup }: { setup: Schema<'TwoFactorSetup'> }) {
  return (
    <>
      <p>{t('totp.scan')}</p>
      <img class="scan" src={setup.qrCode} width={220} height={220} alt={t('totp.qr')} />
      <Secret label={t('setting.key')} value={setup.secret} />
    </>
  );
}

/** The dialogs to set an app up: the password if the sign-in is some time ago, a code of the app, the recovery codes. */
export function SetUp({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const saving = useSaving(['password', 'code']);
  const [password, setPassword] = useState('');
  const [confirming, setConfirming] = useState(false);
  const [setup, setSetup] = useState<Schema<'TwoFactorSetup'>>();
  const [code, setCode] = useState('');
  const [codes, setCodes] = useState<readonly string[]>();
  useEffect(
    () => document.querySelector<HTMLElement>('dialog :is([name=password], [name=code])')?.focus(),
    [confirming, setup],
  );
  const begin = async () => {
    try {
      setSetup(await api.post('/api/auth/2fa/setup', { body: password ? { password } : {} }));
    } catch (error) {
      if (!tooOld(error) || confirming) throw error;
      setConfirming(true);
    }
  };
  const enable = async () => {
    setCodes((await api.post('/api/auth/2fa/enable', { body: { code: code.trim() } })).recoveryCodes);
  };
  if (codes) return <Codes codes={codes} onClose={onDone} />;
  return (
    <FormDialog
      title={t('totp.setUpTitle')}
      action={setup ? t('totp.turnOn') : t('action.next')}
      saving={saving}
      save={setup ? enable : begin}
      onClose={onClose}
    >
      {!setup && <p>{confirming ? t('totp.confirm') : t('totp.need')}</p>}
      {!setup && confirming && (
        <Input
          label={t('signin.password')}
          name="password"
          type="password"
          autocomplete="current-password"
          value={password}
          onValue={setPassword}
          problem={saving.problem('password')}
        />
      )}
      {setup && <Scan setup={setup} />}
      {setup && (
        <Input
          label={t('totp.code')}
          name="code"
          autocomplete="one-time-code"
          inputmode="numeric"
          value={code}
          onValue={setCode}
          problem={saving.problem('code')}
        />
      )}
    </FormDialog>
  );
}

function TurnOff({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const saving = useSaving(['password', 'code']);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const turnOff = async () => {
    await api.post('/api/auth/2fa/disable', { body: { password, code: code.trim() } });
    notify(t('totp.isOff'));
    onDone();
  };
  return (
    <FormDialog
      title={t('totp.turnOffTitle')}
      action={t('totp.turnOff')}
      kind="danger"
      saving={saving}
      save={turnOff}
      onClose={onClose}
    >
      <p>{t('totp.turnOffHint')}</p>
      <Input
        label={t('signin.password')}
        name="password"
        type="password"
        autocomplete="current-password"
        first
        value={password}
        onValue={setPassword}
        problem={saving.problem('password')}
      />
      <Input
        label={t('totp.anyCode')}
        name="code"
        autocomplete="one-time-code"
        value={code}
        onValue={setCode}
        problem={saving.problem('code')}
      />
    </FormDialog>
  );
}

/** The part of the account about the authenticator app. */
export function TotpSection() {
  const [open, setOpen] = useState(false);
  const on = user.value?.twoFactorEnabled ?? false;
  const close = () => setOpen(false);
  const done = () => {
    close();
    if (user.value) user.value = { ...user.value, twoFactorEnabled: !on };
  };
  return (
    <Section title={t('user.app')} hint={on ? t('totp.onHint') : t('totp.hint')}>
      <div class="choices">
        <span class={on ? 'badge good' : 'badge'}>{on ? t('totp.on') : t('totp.off')}</span>
      </div>
      <div class="choices">
        <Button kind={on ? 'danger' : 'plain'} onClick={() => setOpen(true)}>
          {on ? t('totp.turnOff') : t('totp.setUp')}
        </Button>
      </div>
      {open && (on ? <TurnOff onClose={close} onDone={done} /> : <SetUp onClose={close} onDone={done} />)}
    </Section>
  );
}
