// The places of the navigation, in groups that can be closed.
import { signal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { countAt, useAttention } from './attention';
import { path, to } from './route';
import { places, visible, type Group, type Place } from './screens';
import { number, t } from './text';
import { Icon } from './ui/icon';

const stored = 'shortline.closed';

/** The names of the groups that the user has closed. */
const closed = signal<readonly string[]>((localStorage.getItem(stored) ?? '').split(' '));

function toggle(name: string): void {
  const now = closed.value;
  closed.value = now.includes(name) ? now.filter((one) => one !== name) : [...now, name];
  localStorage.setItem(stored, closed.value.join(' '));
}

/** How many things need a person, if any. */
function Count({ at }: { at: readonly string[] }) {
  const n = countAt(at);
  if (n === 0) return null;
  return (
    <span class="badge bad">
      {number(n)} <span class="offscreen">{t('hook.attention')}</span>
    </span>
  );
}

const isHere = (at: string): boolean => {
  const here = path.value === '/' ? '/links' : path.value;
  return here === at || here.startsWith(`${at}/`);
};

function Entry({ at, icon, name }: Place) {
  return (
    <li>
      <a href={to(at)} aria-current={isHere(at) ? 'page' : undefined}>
        <Icon name={icon} />
        {t(name)}
        <Count at={[at]} />
      </a>
    </li>
  );
}

/** A group. If it is closed, only the present place is left, and the heading has the badges. */
function Part({ group, shown }: { group: Group; shown: readonly Place[] }) {
  const id = useId();
  const open = !group.closes || !closed.value.includes(group.name);
  const left = open ? shown : shown.filter(({ at }) => isHere(at));
  return (
    <div>
      {group.closes && (
        <button
          type="button"
          class="navgroup"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => toggle(group.name)}
        >
          {t(group.name)}
          {!open && <Count at={shown.map(({ at }) => at)} />}
          <Icon name={open ? 'down' : 'next'} />
        </button>
      )}
      <ul id={id} aria-label={t(group.name)}>
        {left.map((place) => (
          <Entry key={place.at} {...place} />
        ))}
      </ul>
    </div>
  );
}

export function Places() {
  useAttention();
  const ref = useRef<HTMLDivElement>(null);
  const here = path.value;
  useEffect(() => ref.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }), [here]);
  return (
    <div class="places" ref={ref}>
      {places.map((group) => {
        const shown = group.places.filter(visible);
        return shown.length > 0 && <Part key={group.name} group={group} shown={shown} />;
      })}
    </div>
  );
}
