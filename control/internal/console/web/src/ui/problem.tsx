import { ApiError } from '../api/client';
import { t } from '../text';
import { Button } from './button';
import { Icon } from './icon';

/** What to tell a user about an error. With `marked`, the problems of fields are shown at the fields. */
export function explain(error: unknown, marked = false): string {
  if (!(error instanceof ApiError)) return t('problem.title');
  if (error.unreachable) return t('problem.unreachable');
  if (error.status === 429 && !error.coded) return t('problem.tooMany', { n: Math.max(1, error.retryAfter) });
  if (marked && error.fields.length > 0) return t('problem.fields', { n: error.fields.length });
  return error.message || t('problem.status', { status: error.status });
}

/** An error in place of what could not be loaded. It names the request, so that an operator finds it in the log. */
export function Problem({ error, retry, marked }: { error: unknown; retry?: () => void; marked?: boolean }) {
  const id = error instanceof ApiError ? error.requestId : '';
  return (
    <div class="notice bad" role="alert">
      <Icon name="warning" />
      <div>
        <p>{explain(error, marked)}</p>
        {id && <p class="hint mono">{t('problem.request', { id })}</p>}
      </div>
      {retry && <Button onClick={retry}>{t('action.retry')}</Button>}
    </div>
  );
}
