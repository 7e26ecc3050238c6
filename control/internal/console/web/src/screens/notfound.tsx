import { to } from '../route';
import { t } from '../text';
import { Heading } from '../ui/page';

export function NotFound() {
  return (
    <div class="empty">
      <Heading title={t('state.notFound')} />
      <p>{t('state.notFoundHint')}</p>
      <a class="button plain" href={to('/links')}>
        {t('links.title')}
      </a>
    </div>
  );
}
