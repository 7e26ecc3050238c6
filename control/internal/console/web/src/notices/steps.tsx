// The first steps in a workspace. The API knows which are done, so nobody ticks them.
import { api } from '../api/client';
import { go } from '../route';
import { may, workspace, workspaces, type Workspace } from '../session';
import { opened } from '../shortcuts';
import { putAway } from '../steps';
import { number, t } from '../text';
import { Button } from '../ui/button';
import { Icon } from '../ui/icon';
import { Loading } from '../ui/page';
import { Problem } from '../ui/problem';
import { useResource } from '../ui/resource';
import { Sheet } from '../ui/sheet';
import './notices.css';

type Name = 'link' | 'click' | 'domain' | 'team' | 'space' | 'move' | 'connect';

interface Step {
  name: Name;
  done: boolean;
  /** The screen where it is done; 'workspace' opens the form for a new one. */
  at: string;
}

/** What the API knows about the steps. */
async function look(id: string, signal: AbortSignal): Promise<Step[]> {
  const one = { query: { pageSize: 1 }, signal };
  const admin = may('ADMIN');
  const [here, most, domains, keys, hooks] = await Promise.all([
    api.get('/api/workspaces/{id}', { path: { id }, signal }),
    api.get('/api/urls', { query: { pageSize: 1, sortBy: 'clickCount', sortOrder: 'desc' }, signal }),
    admin ? api.get('/api/domains', one) : undefined,
    admin ? api.get('/api/api-keys', one) : undefined,
    admin ? api.get('/api/webhooks', one) : undefined,
  ]);
  const steps: Step[] = [
    { name: 'link', done: here.urlCount > 0, at: '/links?new=1' },
    { name: 'click', done: (most.data[0]?.clickCount ?? 0) > 0, at: '/live' },
  ];
  if (admin) steps.push({ name: 'domain', done: (domains?.total ?? 0) > 0, at: '/domains' });
  if (here.isPersonal) steps.push(...alone(here));
  else if (admin) steps.push({ name: 'team', done: here.memberCount > 1, at: '/members' });
  if (admin) steps.push({ name: 'connect', done: (keys?.total ?? 0) + (hooks?.total ?? 0) > 0, at: '/keys' });
  return steps;
}

/** In the personal workspace nobody else can be invited: a workspace for the team, and then its links. */
function alone({ urlCount }: Workspace): Step[] {
  const shared = workspaces.value.some((one) => !one.isPersonal);
  const space: Step = { name: 'space', done: shared, at: 'workspace' };
  return shared && urlCount > 0 ? [space, { name: 'move', done: false, at: '/links' }] : [space];
}

function Line({ step: { name, done, at } }: { step: Step }) {
  const start = () => {
    opened.value = at === 'workspace' ? 'workspace' : undefined;
    if (at !== 'workspace') go(at);
  };
  return (
    <li class={done ? 'done' : undefined}>
      <span class="stepmark" aria-hidden="true">
        {done && <Icon name="check" />}
      </span>
      <div>
        <h3>
          {t(`steps.${name}`)}
          {done && <span class="offscreen"> ({t('steps.done')})</span>}
        </h3>
        {!done && <p class="hint">{t(`steps.${name}Hint`)}</p>}
      </div>
      {!done && (
        <Button aria-label={`${t('steps.start')}: ${t(`steps.${name}`)}`} onClick={start}>
          {t('steps.start')}
        </Button>
      )}
    </li>
  );
}

/** The first steps, and the way to put them away. */
export function Steps() {
  const here = workspace.value;
  const found = useResource(here?.id ?? '', (signal) => look(here?.id ?? '', signal));
  const close = () => (opened.value = undefined);
  const steps = found.data ?? [];
  const done = steps.filter((one) => one.done).length;
  return (
    <Sheet title={t('steps.title')} onClose={close}>
      <div class="body steplist">
        {found.error !== undefined ? (
          <Problem error={found.error} retry={found.reload} />
        ) : !found.data ? (
          <Loading />
        ) : (
          <>
            <progress value={done} max={steps.length} aria-hidden="true" />
            <p class="hint" role="status">
              {t('steps.count', { done: number(done), all: number(steps.length) })}
            </p>
            <ol>
              {steps.map((step) => (
                <Line key={step.name} step={step} />
              ))}
            </ol>
            <Button
              onClick={() => {
                if (here) putAway(here);
                close();
              }}
            >
              {t('steps.away')}
            </Button>
          </>
        )}
      </div>
    </Sheet>
  );
}
