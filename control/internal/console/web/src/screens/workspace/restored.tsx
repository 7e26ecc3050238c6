import { t } from '../../text';
import { Button } from '../../ui/button';
import type { Draft } from '../../ui/draft';

/** Tells that a form has what somebody typed before, and offers to begin again. */
export function Restored<T extends object>({ draft, initial }: { draft: Draft<T>; initial: T }) {
  if (!draft.restored) return null;
  return (
    <div class="notice">
      <p>{t('create.draft')}</p>
      <Button onClick={() => draft.discard(initial)}>{t('create.discard')}</Button>
    </div>
  );
}
