import { useEffect, useRef, useState } from 'preact/hooks';
import { listen, type Event } from '../../api/events';
import { query, search } from '../../route';
import { workspace } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Empty } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { Tick } from '../../ui/field';
import { Clicks } from './clicks';
import { added, kept, nothing, recent, resumed, type Click, type Feed } from './feed';

type State = 'connecting' | 'on' | 'lost';

const told = 15_000; // milliseconds between two announcements to screen readers
const catching = 3000; // what arrives this soon after a repair was missed before

/** The clicks of a link, or of the workspace, while the screen is shown. */
function useFeed(link: string, bots: boolean, paused: boolean) {
  const [feed, setFeed] = useState<Feed>(nothing);
  const [state, setState] = useState<State>('connecting');
  const [error, setError] = useState<unknown>(undefined);
  const [turn, setTurn] = useState(0);
  const stopped = useRef(paused);
  stopped.current = paused;
  const place = workspace.value?.id ?? '';

  useEffect(() => {
    const abort = new AbortController();
    let repaired = 0;
    let wasLost = false;
    setFeed(nothing);
    setState('connecting');
    setError(undefined);
    const event = ({ type, data }: Event) => {
      const body: unknown = JSON.parse(data);
      const now = Date.now();
      if (type === 'dropped') {
        const { count } = body as { count: number };
        setFeed((last) => ({ ...last, dropped: last.dropped + count }));
      } else {
        const late = now < repaired + catching;
        setFeed((last) => added(last, body as Click, now, { paused: stopped.current, late }));
      }
    };
    const open = () => {
      if (wasLost) repaired = Date.now();
      wasLost = false;
      setState('on');
    };
    const lost = () => {
      wasLost = true;
      setFeed((last) => ({ ...last, missed: 0 }));
      setState('lost');
    };
    const ask = { urlId: link, includeBots: bots };
    listen('/api/analytics/live', ask, abort.signal, { open, lost, event }).catch(setError);
    return () => abort.abort();
  }, [link, bots, place, turn]);

  useEffect(() => {
    if (!paused) setFeed(resumed);
  }, [paused]);
  return { feed, state, error, retry: () => setTurn((n) => n + 1) };
}

/** Tells screen readers how many clicks came, at most every few seconds. */
function News({ newest, count }: { newest: string; count: number }) {
  const [text, setText] = useState('');
  const total = useRef(count);
  const before = useRef(count);
  total.current = count;
  useEffect(() => {
    const timer = setInterval(() => {
      const n = total.current - before.current;
      before.current = total.current;
      if (n > 0) setText(t('live.news', { n }));
    }, told);
    return () => clearInterval(timer);
  }, []);
  return (
    <p class="offscreen" role="status" data-newest={newest}>
      {text}
    </p>
  );
}

function Rate({ arrivals }: { arrivals: readonly number[] }) {
  const [, draw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => draw((n) => n + 1), 5000);
    return () => clearInterval(timer);
  }, []);
  return <p class="rate">{t('live.rate', { n: recent(arrivals, Date.now()).length })}</p>;
}

const texts = { connecting: 'live.connecting', on: 'live.title', lost: 'live.lost' } as const;

/** Clicks as they happen. */
export function Now({ link }: { link: string }) {
  const bots = query.value.get('bots') === '1';
  const paused = query.value.get('paused') === '1';
  const { feed, state, error, retry } = useFeed(link, bots, paused);
  if (error !== undefined) return <Problem error={error} retry={retry} />;
  const held = feed.held.length;
  return (
    <>
      <div class="livebar">
        <p class={`signal ${state}`} role="status">
          {t(texts[state])}
        </p>
        {state === 'connecting' ? <p class="rate" /> : <Rate arrivals={feed.arrivals} />}
        <Tick label={t('live.bots')} name="bots" checked={bots} onValue={(on) => search({ bots: on ? '1' : '' })} />
        <Button
          icon={paused ? 'play' : 'pause'}
          aria-pressed={paused}
          onClick={() => search({ paused: paused ? '' : '1' })}
        >
          {paused ? t('live.resume') : t('live.pause')}
        </Button>
        {held > 0 && <span class="badge warn">{t('live.held', { n: held })}</span>}
      </div>
      {feed.missed > 0 && (
        <p class="notice calm" role="status">
          {t('live.missed', { n: feed.missed })}
        </p>
      )}
      {feed.dropped > 0 && <p class="notice calm">{t('live.dropped', { n: feed.dropped })}</p>}
      {feed.rows.length === 0 ? (
        <Empty title={t('live.empty')} hint={t('live.emptyHint')} />
      ) : (
        <>
          <Clicks rows={feed.rows} link={link} now />
          {feed.rows.length === kept && <p class="hint">{t('live.kept', { n: kept })}</p>}
        </>
      )}
      <News newest={feed.rows[0]?.id ?? ''} count={feed.rows.length + held} />
    </>
  );
}
