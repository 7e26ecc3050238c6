import { query, search } from '../route';
import { t } from '../text';
import { Button } from './button';

/** The page of a list in the address; the first one is 1. A second list of a screen has its own name there. */
export const pageOf = (name = 'page'): number => Math.max(1, Number(query.value.get(name)) || 1);

interface PagerProps {
  page: number;
  totalPages: number;
  name?: string;
}

/** The way to the other pages of a list. It shows nothing if there is one page. */
export function Pager({ page, totalPages, name = 'page' }: PagerProps) {
  if (totalPages <= 1) return null;
  const show = (next: number) => {
    search({ [name]: next > 1 ? String(next) : '' });
    scrollTo({ top: 0 });
  };
  return (
    <nav class="pager" aria-label={t('pager.label')}>
      <Button disabled={page <= 1} onClick={() => show(page - 1)}>
        {t('pager.before')}
      </Button>
      <span>{t('pager.page', { page, pages: totalPages })}</span>
      <Button disabled={page >= totalPages} onClick={() => show(page + 1)}>
        {t('pager.next')}
      </Button>
    </nav>
  );
}
