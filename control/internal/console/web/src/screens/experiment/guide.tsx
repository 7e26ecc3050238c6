// The guide from a question to a test that runs: the goal, the variants, how long it takes, and what happens from now on.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { number, t } from '../../text';
import { Button } from '../../ui/button';
import { Choice } from '../../ui/choice';
import { Input, Select, Tick } from '../../ui/field';
import { refused, useSaving } from '../../ui/form';
import { Waiting } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { changeWhole } from '../link/whole';
import { bare, complete } from '../links/changes';
import { Arms, type Arm } from './arms';
import { Duration } from './duration';
import { partsOf, Shares, shown } from './shares';
import { rateOf, trafficOf, type Traffic } from './traffic';

type Link = Schema<'URL'>;

/** What the choice of the goal has besides names. No name begins with a space. */
const other = ' other';
const none = ' none';

interface Plan {
  goal: string;
  /** The name of another goal. */
  typed: string;
  arms: Arm[];
  stickiness: Link['stickiness'];
  autopilot: boolean;
  promote: boolean;
}

/** The name of the goal; '' if visitors are only split. */
const goalOf = ({ goal, typed }: Plan): string => (goal === none ? '' : goal === other ? typed.trim() : goal);

/** The numbered parts of the guide. */
function Step({ n, title, children }: { n: number; title: string; children: preact.ComponentChildren }) {
  return (
    <li class="planstep">
      <h3>
        <span class="stepnumber" aria-hidden="true">
          {number(n)}
        </span>
        {title}
      </h3>
      {children}
    </li>
  );
}

interface PartProps {
  plan: Plan;
  set: (values: Partial<Plan>) => void;
  traffic: Traffic;
  problem: (field: string) => string | undefined;
}

function GoalStep({ plan, set, traffic, problem }: PartProps) {
  const seen = traffic.goals.map(
    ({ name, converted }) =>
      [name, name, t('plan.goalSeen', { n: converted, clicks: number(traffic.clicks) })] as const,
  );
  return (
    <Step n={1} title={t('plan.goal')}>
      <Choice<string>
        label={t('plan.success')}
        name="success"
        value={plan.goal}
        options={[
          ...seen,
          [other, seen.length > 0 ? t('plan.goalOther') : t('plan.goalNew'), t('plan.goalOtherHint')],
          [none, t('plan.goalNone'), t('plan.goalNoneHint')],
        ]}
        onValue={(goal) => set({ goal })}
      />
      {plan.goal === other && (
        <Input
          label={t('test.goalName')}
          name="goal"
          value={plan.typed}
          options={traffic.others}
          spellcheck={false}
          onValue={(typed) => set({ typed })}
          problem={problem('goal')}
        />
      )}
    </Step>
  );
}

/** What is true as soon as the test begins. */
function Future({ plan, set, link }: Pick<PartProps, 'plan' | 'set'> & { link: Link }) {
  const goal = goalOf(plan);
  const [kept = 0] = partsOf(plan.arms.map((one) => one.weight));
  return (
    <Step n={4} title={t('plan.future')}>
      <Shares of={plan.arms} />
      <ul class="future">
        <li>{t('plan.split', { part: shown(kept), destination: bare(link.originalUrl), rest: shown(1 - kept) })}</li>
        {link.isSmartRouting && <li>{t('plan.rules')}</li>}
        {goal && <li>{t('plan.parameter', { goal })}</li>}
        <li>{goal ? t(plan.promote ? 'plan.endPromote' : 'plan.endNotify') : t('plan.endNone')}</li>
      </ul>
      <details class="part">
        <summary>{t('plan.more')}</summary>
        <div class="pair">
          <Select<Link['stickiness']>
            label={t('test.sticky')}
            name="stickiness"
            value={plan.stickiness}
            options={(['none', 'cookie', 'hash'] as const).map((one) => [one, t(`test.sticky.${one}`)] as const)}
            onValue={(stickiness) => set({ stickiness })}
          />
          {goal && (
            <>
              <Tick
                label={t('test.autopilot')}
                hint={t('test.autopilotHint')}
                name="optimize"
                checked={plan.autopilot}
                onValue={(autopilot) => set({ autopilot })}
              />
              <Tick
                label={t('test.promoteAtEnd')}
                hint={t('test.promoteAtEndHint')}
                name="onWinner"
                checked={plan.promote}
                onValue={(promote) => set({ promote })}
              />
            </>
          )}
        </div>
      </details>
    </Step>
  );
}

/** Makes the variants, and begins the experiment if there is a goal. */
async function start(link: Link, plan: Plan): Promise<void> {
  const goal = goalOf(plan);
  if (plan.goal === other && !goal) throw refused('goal', t('plan.goalMissing'));
  const variants = plan.arms.map((one) => ({ ...one, name: one.name.trim(), targetUrl: complete(one.targetUrl) }));
  await changeWhole(link, { variants, stickiness: plan.stickiness, ...(goal && { trackConversions: true }) });
  if (!goal) return;
  const body = {
    goal,
    optimize: plan.autopilot ? 'bandit' : 'off',
    onWinner: plan.promote ? 'promote' : 'notify',
  } as const;
  // The visitors are split already, so the screen shows the test, and the form of its goal, whatever happens here.
  await api.put('/api/urls/{id}/experiment', { path: { id: link.id }, body }).catch(complain);
}

function Form({ link, traffic, onStarted }: { link: Link; traffic: Traffic; onStarted: () => void }) {
  const saving = useSaving(['goal', 'variants']);
  const [plan, setPlan] = useState<Plan>(() => ({
    goal: traffic.goals[0]?.name ?? other,
    typed: traffic.others[0] ?? 'purchase',
    arms: [
      { name: 'A', targetUrl: link.originalUrl, weight: 50 },
      { name: 'B', targetUrl: '', weight: 50 },
    ],
    stickiness: link.stickiness,
    autopilot: false,
    promote: false,
  }));
  const set = (values: Partial<Plan>) => setPlan((last) => ({ ...last, ...values }));
  const goal = goalOf(plan);
  const save = async () => {
    if (!(await saving.run(() => start(link, plan)))) return;
    notify(t('test.begun'));
    onStarted();
  };
  return (
    <form
      class="plan"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <ol>
        <GoalStep plan={plan} set={set} traffic={traffic} problem={saving.problem} />
        <Step n={2} title={t('test.variants')}>
          <Arms arms={plan.arms} onArms={(arms) => set({ arms })} problem={saving.problem} />
        </Step>
        <Step n={3} title={t('plan.duration')}>
          {goal ? (
            <Duration
              key={goal}
              rate={rateOf(traffic, goal)}
              perDay={traffic.perDay}
              weights={plan.arms.map((one) => one.weight)}
            />
          ) : (
            <p class="hint">{t('plan.noGoal')}</p>
          )}
        </Step>
        <Future plan={plan} set={set} link={link} />
      </ol>
      {saving.error !== undefined && <Problem error={saving.error} />}
      <footer>
        <Button kind="primary" type="submit" busy={saving.busy}>
          {t('test.start')}
        </Button>
      </footer>
    </form>
  );
}

/** The guide for a link without variants. */
export function Guide({ link, onStarted }: { link: Link; onStarted: () => void }) {
  const traffic = useResource(`traffic ${link.id}`, (signal) => trafficOf(link, signal));
  return (
    <section class="section">
      <h2>{t('test.plan')}</h2>
      <p class="hint lead">{t('test.noneHint')}</p>
      {traffic.data ? <Form link={link} traffic={traffic.data} onStarted={onStarted} /> : <Waiting of={traffic} />}
    </section>
  );
}
