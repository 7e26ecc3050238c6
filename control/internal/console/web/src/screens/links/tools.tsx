// The row between the heading and the links: search, saved views, filters and display. While links are selected, it has what can
// be done with them.
import { useEffect, useState } from 'preact/hooks';
import { may } from '../../session';
import { t } from '../../text';
import { Icon } from '../../ui/icon';
import { lazy } from '../../ui/lazy';
import { SearchField } from '../../ui/search';
import { complain } from '../../ui/toast';
import { isFiltered, type List, type Selection } from './list';
import { Views } from './views';

const loading = () => import('../listing');
const Bulk = lazy(async () => (await loading()).Bulk, null);
const Filters = lazy(async () => (await loading()).Filters, null);
const DisplayMenu = lazy(async () => (await loading()).DisplayMenu, null);

const pause = 1000; // milliseconds until the rest of the code is loaded, so that menus open at once

interface ToolsProps {
  selection: Selection;
  list: List;
  workspace: string;
}

export function Tools({ selection, list, workspace }: ToolsProps) {
  const [open, setOpen] = useState<'filter' | 'display'>();
  useEffect(() => {
    const timer = setTimeout(() => void loading().catch(() => undefined), pause);
    return () => clearTimeout(timer);
  }, []);
  const chosen = list.chosen.value.size > 0;
  const button = (name: 'filter' | 'display', text: string) => (
    <button
      type="button"
      class="button plain"
      aria-haspopup="dialog"
      aria-expanded={open === name}
      data-menu={name}
      onClick={() => setOpen(open === name ? undefined : name)}
    >
      <Icon name={name} />
      {text}
    </button>
  );
  const close = () => setOpen(undefined);
  return (
    <div class={chosen ? 'listtools chosen' : 'listtools'}>
      <div class="find" role="search">
        {may('EDITOR') && (
          <label class="pick">
            <input
              type="checkbox"
              aria-label={t('links.selectAll')}
              title={t('links.selectAll')}
              checked={false}
              disabled={!list.count.value}
              onClick={(event) => {
                event.preventDefault();
                void list.selectAll().catch(complain);
              }}
            />
          </label>
        )}
        <SearchField label={t('links.search')} hint={t('links.searchHint')} value={selection.search} />
        <Views selection={selection} workspace={workspace} />
        {(isFiltered({ ...selection, search: '' }) || open === 'filter') && (
          <Filters selection={selection} workspace={workspace} open={open === 'filter'} onClose={close} />
        )}
        {button('filter', t('links.filter'))}
        <span class="pop last">
          {button('display', t('links.display'))}
          {open === 'display' && <DisplayMenu selection={selection} onClose={close} />}
        </span>
      </div>
      {chosen && <Bulk list={list} selection={selection} />}
    </div>
  );
}
