// What the experiment compares, and what happens at its end.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { may } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Input, Select, Tick } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { Section } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { notify } from '../../ui/toast';
import type { Test } from './test';

type Stickiness = 'none' | 'cookie' | 'hash';

/** Ends the experiment, after a question. */
function End({ id, onEnded }: { id: string; onEnded: () => void }) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button onClick={() => setAsking(true)}>{t('test.end')}</Button>
      {asking && (
        <Confirm
          title={t('test.endTitle')}
          action={t('test.end')}
          onClose={() => setAsking(false)}
          onConfirm={() => api.delete('/api/urls/{id}/experiment', { path: { id } }).then(onEnded)}
        >
          <p>{t('test.endHint')}</p>
        </Confirm>
      )}
    </>
  );
}

/** The form of the experiment. */
export function Goal({ test, onChanged }: { test: Test; onChanged: () => void }) {
  const { link, goals, experiment } = test;
  const saving = useSaving(['goal', 'optimize', 'onWinner']);
  const [goal, setGoal] = useState(experiment?.goal ?? goals[0]?.name ?? 'purchase');
  const [optimize, setOptimize] = useState(experiment?.optimize ?? 'off');
  const [onWinner, setOnWinner] = useState(experiment?.onWinner ?? 'notify');
  const [stickiness, setStickiness] = useState<Stickiness>(link.stickiness);
  const id = link.id;
  const save = async () => {
    const saved = await saving.run(async () => {
      if (!link.trackConversions || stickiness !== link.stickiness)
        await api.put('/api/urls/{id}', { path: { id }, body: { trackConversions: true, stickiness }, ifMatch: link });
      await api.put('/api/urls/{id}/experiment', { path: { id }, body: { goal: goal.trim(), optimize, onWinner } });
    });
    if (!saved) return;
    notify(experiment ? t('labels.saved') : t('test.begun'));
    onChanged();
  };
  return (
    <Section title={t('test.goal')} hint={experiment ? t('test.goalChange') : t('test.goalHint')}>
      <form
        class="form"
        novalidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {saving.error !== undefined && <Problem error={saving.error} />}
        <Input
          label={t('test.goalName')}
          hint={
            goals.length > 0
              ? t('test.goalsSeen', { list: goals.map((one) => one.name).join(', ') })
              : t('test.goalsNone')
          }
          name="goal"
          value={goal}
          onValue={setGoal}
          problem={saving.problem('goal')}
        />
        <Select<Stickiness>
          label={t('test.sticky')}
          name="stickiness"
          value={stickiness}
          options={(['none', 'cookie', 'hash'] as const).map((one) => [one, t(`test.sticky.${one}`)] as const)}
          onValue={setStickiness}
        />
        <Tick
          label={t('test.autopilot')}
          hint={t('test.autopilotHint')}
          name="optimize"
          checked={optimize === 'bandit'}
          onValue={(on) => setOptimize(on ? 'bandit' : 'off')}
        />
        <Tick
          label={t('test.promoteAtEnd')}
          hint={t('test.promoteAtEndHint')}
          name="onWinner"
          checked={onWinner === 'promote'}
          onValue={(on) => setOnWinner(on ? 'promote' : 'notify')}
        />
        {may('EDITOR') && (
          <footer>
            {experiment && <End id={id} onEnded={onChanged} />}
            <Button kind="primary" type="submit" busy={saving.busy}>
              {experiment ? t('action.save') : t('test.begin')}
            </Button>
          </footer>
        )}
      </form>
    </Section>
  );
}
