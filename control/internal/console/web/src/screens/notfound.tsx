import { to } from '../route';
import { t } from '../text';

export function NotFound() {
  return (
    <div class="empty">
      <h1 tabIndex={-1}>{t('state.notFound')}</h1>
      <p>{t('state.notFoundHint')}</p>
      <a class="button plain" href={to('/links')}>
        {t('links.title')}
      </a>
    </div>
  );
}
