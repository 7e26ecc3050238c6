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
    [['?'], t('palette.keys')],
    ...leads,
  ];
  return (
    <Dialog title={t('palette.keys')} onClose={() => (opened.value = undefined)}>
      <dl class="keylist">
        {rows.map(([keys, name]) => (
          <div key={name}>
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
