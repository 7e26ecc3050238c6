// The A/B test of a link: its variants, what to compare, and the outcome.
import { api } from '../../api/client';
import { may } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Empty, Head, Waiting } from '../../ui/page';
import { useResource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { bare, nameOf } from '../links/changes';
import { forget } from '../links/list';
import { LinkTabs } from '../link/tabs';
import { Goal } from './goal';
import { Guide } from './guide';
import { Outcome } from './outcome';
import { Shares } from './shares';
import type { Test } from './test';
import { VariantList } from './variants';
import { Weights } from './weights';
import './experiment.css';

async function load(id: string, signal: AbortSignal): Promise<Test> {
  const [link, variants, goals] = await Promise.all([
    api.get('/api/urls/{id}', { path: { id }, signal }),
    api.get('/api/urls/{id}/variants', { path: { id }, signal }),
    api.get('/api/urls/{id}/goals', { path: { id }, signal }),
  ]);
  const experiment = variants.hasExperiment
    ? await api.get('/api/urls/{id}/experiment', { path: { id }, signal })
    : undefined;
  return { link, variants, goals: Array.isArray(goals) ? goals : goals.data, experiment };
}

/** Says whether visitors are split, and changes it. */
function Switch({ test: { link, variants }, onChanged }: { test: Test; onChanged: () => void }) {
  const turn = async () => {
    await api.put('/api/urls/{id}', { path: { id: link.id }, body: { isABTesting: !link.isABTesting }, ifMatch: link });
    forget();
    notify(link.isABTesting ? t('test.stopped') : t('test.started'));
    onChanged();
  };
  return (
    <div class={link.isABTesting ? 'notice good' : 'notice'}>
      <div>
        <p>{link.isABTesting ? t('test.on') : t('test.off')}</p>
        {link.isABTesting && <Shares of={variants.variants.filter((one) => one.isActive)} />}
      </div>
      {may('EDITOR') && (
        <Button onClick={() => void turn().catch(complain)}>
          {link.isABTesting ? t('test.stop') : t('test.start')}
        </Button>
      )}
    </div>
  );
}

/** The screen of a link's A/B test. */
export function ExperimentScreen({ id }: { id: string }) {
  const loaded = useResource(id, (signal) => load(id, signal));
  if (loaded.error !== undefined || !loaded.data) return <Waiting of={loaded} />;
  const test = loaded.data;
  const { link, variants, experiment } = test;
  const active = variants.variants.filter((one) => one.isActive && one.weight > 0);
  return (
    <>
      <Head
        title={nameOf(link)}
        above={['/links', t('links.title')]}
        note={<bdi class="mono">{bare(link.shortUrl)}</bdi>}
      />
      <LinkTabs id={id} here="/experiment" />
      {variants.variants.length > 0 ? (
        <Switch test={test} onChanged={loaded.reload} />
      ) : may('EDITOR') ? (
        <Guide link={link} onStarted={loaded.reload} />
      ) : (
        <Empty title={t('test.none')} hint={t('test.noneHint')} />
      )}
      {experiment && <Outcome test={test} experiment={experiment} onChanged={loaded.reload} />}
      {variants.variants.length > 0 && <VariantList link={link} variants={variants} onChanged={loaded.reload} />}
      {link.isABTesting && active.length > 1 && (
        <Goal key={experiment?.goal ?? ''} test={test} onChanged={loaded.reload} />
      )}
      {experiment?.onWinner && <Weights id={id} variants={variants.variants} />}
    </>
  );
}
