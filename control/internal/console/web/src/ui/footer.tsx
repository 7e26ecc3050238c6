import { t } from '../text';
import { Button } from './button';

/** The buttons at the end of a form. */
export function Footer({ busy, onCancel }: { busy: boolean; onCancel: () => void }) {
  return (
    <footer>
      <Button onClick={onCancel}>{t('action.cancel')}</Button>
      <Button kind="primary" type="submit" busy={busy}>
        {t('action.save')}
      </Button>
    </footer>
  );
}
