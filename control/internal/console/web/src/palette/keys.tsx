import { visiblePlaces } from '../screens';
import { opened, paletteKeys } from '../shortcuts';
import { t } from '../text';
import { Dialog } from '../ui/dialog';
import './palette.css';

/** The list of all keys. */
export function Keys() {
  const leads = visiblePlaces().flatMap(({ key, name }) => (key ? [[['g', key], t(name)] as const] : []));
  const rows: readonly (readonly [readonly string[], string])[] = [
    [paletteKeys(), t('palette.title')],
    [['c'], t('create.title')],
    [['/'], t('links.search')],
    [['j', 'k'], t('links.key.move')],
    [['x'], t('links.key.select')],
    [['e'], t('links.key.edit')],
    [['c'], t('links.key.copy')],
    [['o'], t('links.key.open')],
    [['?'], t('palette.keys')],
    ...leads,
  ];
  return (
    <Dialog title={t('palette.keys')} onClose={() => (opened.value = undefined)}>
      <dl class="keylist">
        {rows.map(([keys, name]) => (
          <div key={keys.join(' ') + name}>
            <dt>{name}</dt>
            <dd dir="ltr">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
