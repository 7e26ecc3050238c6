import type { Schema } from '../api/client';
import { moment, t } from '../text';

type Link = Schema<'URL'>;

/** What is wrong with the destination of a link; nothing if it works or is not known. */
export function HealthBadge({ link: { health, healthReason } }: { link: Link }) {
  if (health !== 'broken' && health !== 'redirected') return null;
  const why = healthReason ? t(`health.reason.${healthReason}`) : undefined;
  return (
    <span class={health === 'broken' ? 'badge bad' : 'badge warn'} title={why}>
      {t(`health.${health}`)}
    </span>
  );
}

/** Why a destination does not work, and when it was checked. */
export function HealthNotice({ link: { health, healthReason, healthUrl, healthCheckedAt } }: { link: Link }) {
  if ((health !== 'broken' && health !== 'redirected') || !healthReason || !healthCheckedAt) return null;
  const facts = { url: healthUrl ?? '', date: moment(healthCheckedAt) };
  return (
    <p class={health === 'broken' ? 'notice bad' : 'notice'} role="status">
      {health === 'broken'
        ? t('health.notice', { ...facts, reason: t(`health.reason.${healthReason}`) })
        : t('health.moved', facts)}
    </p>
  );
}
