import { t } from '../../text';
import { Tabs } from '../../ui/page';

/** The screens of a link. */
export function LinkTabs({ id, here }: { id: string; here: '' | '/rules' | '/analytics' }) {
  const root = `/links/${id}`;
  return (
    <Tabs
      label={t('edit.tabs')}
      here={root + here}
      tabs={[
        [root, t('edit.link')],
        [`${root}/rules`, t('rules.short')],
        [`${root}/analytics`, t('nav.analytics')],
      ]}
    />
  );
}
