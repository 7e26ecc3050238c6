import { t } from '../../text';
import { Tabs } from '../../ui/page';

/** The screens of a link. */
export function LinkTabs({
  id,
  here,
}: {
  id: string;
  here: '' | '/rules' | '/experiment' | '/analytics' | '/live' | '/qr' | '/history';
}) {
  const root = `/links/${id}`;
  const live = `/live?link=${id}`;
  return (
    <Tabs
      label={t('edit.tabs')}
      here={here === '/live' ? live : root + here}
      tabs={[
        [root, t('live.link')],
        [`${root}/rules`, t('rules.short')],
        [`${root}/experiment`, t('test.tab')],
        [`${root}/analytics`, t('nav.analytics')],
        [live, t('nav.live')],
        [`${root}/qr`, t('qr.title')],
        [`${root}/history`, t('history.tab')],
      ]}
    />
  );
}
