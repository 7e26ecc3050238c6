import { search } from '../../route';
import { t } from '../../text';
import { Select, Tick } from '../../ui/field';
import { columns, display, setDisplay } from '../links/display';
import { orders, type Order, type Selection } from '../links/list';
import { Popover } from './popover';

/** The order, the density and the columns of the list. The order is in the address; the others belong to the user. */
export function DisplayMenu({ selection, onClose }: { selection: Selection; onClose: () => void }) {
  const { compact, hidden } = display.value;
  return (
    <Popover label={t('links.display')} of="display" onClose={onClose}>
      <Select
        label={t('links.sort')}
        name="sort"
        value={selection.sort as Order}
        options={(Object.keys(orders) as Order[]).map((one) => [one, t(`links.sort.${one}`)] as const)}
        onValue={(sort) => search({ sort: sort === 'newest' ? '' : sort })}
      />
      <Select
        label={t('links.density')}
        name="density"
        value={compact ? 'compact' : 'comfortable'}
        options={[
          ['comfortable', t('links.comfortable')],
          ['compact', t('links.compact')],
        ]}
        onValue={(next) => setDisplay({ compact: next === 'compact', hidden })}
      />
      <fieldset class="columnchoice">
        <legend class="label">{t('links.columns')}</legend>
        {columns.map((one) => (
          <Tick
            key={one}
            label={t(`links.column.${one}`)}
            name={one}
            checked={!hidden.includes(one)}
            onValue={(on) =>
              setDisplay({ compact, hidden: on ? hidden.filter((other) => other !== one) : [...hidden, one] })
            }
          />
        ))}
      </fieldset>
    </Popover>
  );
}
