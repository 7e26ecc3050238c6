// The rules of signing in that hold for everybody: two settings of the system.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { notify } from '../../ui/toast';

export type Setting = Schema<'Setting'>;

const isOn = (settings: readonly Setting[], key: string): boolean =>
  (settings.find((one) => one.key === key)?.value as { enabled?: boolean } | undefined)?.enabled === true;

interface RuleProps {
  kind: 'passwords' | 'factor';
  settings: readonly Setting[];
  /** Whether the rule cannot be turned on. */
  blocked?: boolean;
  onChanged: () => void;
}

const keys = { passwords: 'sso_enforce', factor: 'require_2fa' } as const;

/** One rule with its state. It is turned on after a question, because it may lock people out. */
export function Rule({ kind, settings, blocked = false, onChanged }: RuleProps) {
  const [asking, ask] = useState(false);
  const on = isOn(settings, keys[kind]);
  const set = async (enabled: boolean) => {
    await api.put('/api/settings/system/{key}', { path: { key: keys[kind] }, body: { value: { enabled } } });
    notify(t('labels.saved'));
    onChanged();
  };
  const close = () => ask(false);
  return (
    <div class="named">
      <span class={on ? 'badge good' : 'badge'}>{on ? t('totp.on') : t('totp.off')}</span>
      <p>{t(`access.rule.${kind}`)}</p>
      <Button onClick={() => ask(true)} disabled={!on && blocked}>
        {on ? t('totp.turnOff') : t('totp.turnOn')}
      </Button>
      {!on && blocked && <p class="hint">{t('access.blocked')}</p>}
      {asking && (
        <Confirm
          title={t(`access.rule.${kind}`)}
          action={on ? t('totp.turnOff') : t('totp.turnOn')}
          onConfirm={() => set(!on)}
          onClose={close}
        >
          <p>{on ? t(`access.rule.${kind}Off`) : t(`access.rule.${kind}On`)}</p>
        </Confirm>
      )}
    </div>
  );
}
