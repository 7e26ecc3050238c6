// One delivery at the side: its attempts, what was sent and what came back, and the way to send it again.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { query, search } from '../../route';
import { second, t } from '../../text';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Loading } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Secret } from '../../ui/secret';
import { Sheet } from '../../ui/sheet';
import { complain, notify } from '../../ui/toast';
import { Body, outcome, type Attempt } from './outcome';

interface AttemptsProps {
  all: readonly Attempt[];
  shown: Attempt;
}

/** The attempts, newest first. The address names the one that is shown. */
function Attempts({ all, shown }: AttemptsProps) {
  return (
    <ol class="tries picks" aria-label={t('hook.attempts')}>
      {all.map((one) => (
        <li key={one.id}>
          <button
            type="button"
            aria-current={one === shown ? 'true' : undefined}
            onClick={() => search({ attempt: one.id })}
          >
            <Badge tone={one.isSuccess ? 'good' : 'bad'}>
              {one.isSuccess ? t('hook.status.success') : t('hook.status.failed')}
            </Badge>
            <span>
              {t('hook.attempt', { number: one.attempt })}
              <time class="hint" dateTime={one.sentAt}>
                {second(one.sentAt)}
              </time>
            </span>
            <span>{outcome(one)}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}

interface DeliveryProps {
  hook: string;
  id: string;
  onSent: () => void;
  onClose: () => void;
}

/** The pane of a delivery. */
export function Delivery({ hook, id, onSent, onClose }: DeliveryProps) {
  const list = useResource(id, (signal) =>
    api.get('/api/webhooks/{id}/logs', { path: { id: hook }, query: { deliveryId: id, pageSize: 100 }, signal }),
  );
  const [busy, setBusy] = useState(false);
  const all = list.data?.logs ?? [];
  const shown = all.find((one) => one.id === query.value.get('attempt')) ?? all[0];
  const done = all.some((one) => one.isSuccess);
  const again = async (attempt: Attempt) => {
    setBusy(true);
    try {
      const path = { webhookId: hook, logId: attempt.id };
      const now = await api.post('/api/webhooks/{webhookId}/logs/{logId}/retry', { path });
      notify(`${now.isSuccess ? t('hook.sent') : t('hook.failedAgain')} ${outcome(now)}`);
      search({ attempt: '' });
      list.reload();
      onSent();
    } catch (failed) {
      complain(failed);
    }
    setBusy(false);
  };
  return (
    <Sheet title={shown?.event ?? t('hook.delivery')} onClose={onClose}>
      <div class="body delivery">
        {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
        {!list.data && list.error === undefined && <Loading />}
        {list.data && !shown && <p>{t('hook.deliveryGone')}</p>}
        {shown && (
          <>
            <Attempts all={all} shown={shown} />
            {!done && (
              <p>
                <Button icon="refresh" busy={busy} onClick={() => void again(shown)}>
                  {t('hook.again')}
                </Button>
              </p>
            )}
            <Secret label={t('hook.delivery')} value={id} />
            <Body title={t('hook.request')} text={JSON.stringify(shown.payload, null, 2)} />
            <Body title={t('hook.response')} text={shown.response ?? ''} />
          </>
        )}
      </div>
    </Sheet>
  );
}
