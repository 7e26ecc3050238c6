// What came of an attempt.
import type { Schema } from '../../api/client';
import { number, t } from '../../text';

export type Attempt = Schema<'WebhookLog'>;

interface Result {
  statusCode: number | null;
  error: string | null;
  duration: number;
}

/** What came of an attempt, in a sentence. */
export const outcome = ({ statusCode, error, duration }: Result): string =>
  `${error ?? t('hook.answered', { status: String(statusCode ?? '–') })} ${t('hook.took', { ms: number(duration) })}`;

/** The body of an answer, which may be empty. */
export function Body({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h3 class="label">{title}</h3>
      <pre class="attemptbody mono" tabIndex={0} aria-label={title} dir="ltr">
        {text || '–'}
      </pre>
    </>
  );
}
