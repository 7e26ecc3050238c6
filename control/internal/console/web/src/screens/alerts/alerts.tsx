// Alerts: what fired, the rules that look for it, and the channels that are told.
import { t } from '../../text';
import { Head, Tabs } from '../../ui/page';
import type { ScreenProps } from '../props';
import { Channels } from './channels';
import { Fired } from './fired';
import { Rules } from './rules';
import './alerts.css';

/** The screen, or one of its tabs. */
export function Alerts({ id }: ScreenProps) {
  const tabs = [
    ['/alerts', t('alert.list')],
    ['/alerts/rules', t('copies.rules')],
    ['/alerts/channels', t('alert.channels')],
  ] as const;
  return (
    <>
      <Head title={t('nav.alerts')} />
      <Tabs label={t('nav.alerts')} tabs={tabs} here={id ? `/alerts/${id}` : '/alerts'} />
      {id === 'rules' ? <Rules /> : id === 'channels' ? <Channels /> : <Fired />}
    </>
  );
}
