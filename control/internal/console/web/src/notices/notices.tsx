// The notices: what needs a person, as sentences that lead to the place where it is mended.
import { needs, type Kind } from '../attention';
import { to } from '../route';
import { opened } from '../shortcuts';
import { t } from '../text';
import { Icon, type IconName } from '../ui/icon';
import { Sheet } from '../ui/sheet';
import './notices.css';

/** The kinds by how much they hurt. Visitors notice the first ones. */
const grades: readonly (readonly [title: 'notices.visitors' | 'notices.waiting', kinds: readonly Kind[]])[] = [
  ['notices.visitors', ['domain', 'certificate', 'destination']],
  ['notices.waiting', ['webhook', 'alert', 'abuse']],
];

const looks: Record<Kind, readonly [icon: IconName, at: string]> = {
  domain: ['domain', '/domains'],
  certificate: ['lock', '/domains'],
  destination: ['link', '/links?health=broken'],
  webhook: ['webhook', '/webhooks'],
  alert: ['warning', '/links'],
  abuse: ['abuse', '/reports'],
};

function Sentence({ kind, n }: { kind: Kind; n: number }) {
  const [icon, at] = looks[kind];
  return (
    <li>
      <a href={to(at)} onClick={() => (opened.value = undefined)}>
        <Icon name={icon} />
        <span>{t(`notice.${kind}`, { n })}</span>
        <Icon name="next" />
      </a>
    </li>
  );
}

/** The notices of the present workspace. */
export function Notices() {
  const list = needs();
  return (
    <Sheet title={t('notices.title')} onClose={() => (opened.value = undefined)}>
      <div class="body notices">
        {list.length === 0 && (
          <div class="empty">
            <Icon name="check" />
            <h3>{t('notices.none')}</h3>
            <p>{t('notices.noneHint')}</p>
          </div>
        )}
        {grades.map(([title, kinds]) => {
          const here = kinds.flatMap((kind) => list.filter((one) => one.kind === kind));
          return (
            here.length > 0 && (
              <section key={title} aria-label={t(title)}>
                <h3>{t(title)}</h3>
                <ul>
                  {here.map(({ kind, count }) => (
                    <Sentence key={kind} kind={kind} n={count} />
                  ))}
                </ul>
              </section>
            )
          );
        })}
      </div>
    </Sheet>
  );
}
