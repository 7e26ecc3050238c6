// The second factor that administrators require before anything else.
import { useState } from 'preact/hooks';
import { supported } from '../../passkey';
import { signOut } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Problem } from '../../ui/problem';
import { complain } from '../../ui/toast';
import { useMethods } from './methods';
import { AddPasskey } from './passkeys';
import { SetUp } from './totp';
import './account.css';

/** The ways to set a second factor up. */
export function Factors({ onDone }: { onDone: () => void }) {
  const methods = useMethods();
  const [open, setOpen] = useState<'app' | 'passkey'>();
  const close = () => setOpen(undefined);
  const done = () => {
    close();
    onDone();
  };
  return (
    <div class="factors">
      <Button kind="primary" icon="phone" onClick={() => setOpen('app')}>
        {t('totp.setUpTitle')}
      </Button>
      {methods.error !== undefined && <Problem error={methods.error} retry={methods.reload} />}
      {methods.data?.passkeys && supported() && (
        <Button icon="key" onClick={() => setOpen('passkey')}>
          {t('passkeys.add')}
        </Button>
      )}
      <Button kind="quiet" icon="signOut" onClick={() => void signOut().catch(complain)}>
        {t('account.signOut')}
      </Button>
      {open === 'app' && <SetUp onClose={close} onDone={done} />}
      {open === 'passkey' && <AddPasskey onClose={close} onDone={done} />}
    </div>
  );
}
