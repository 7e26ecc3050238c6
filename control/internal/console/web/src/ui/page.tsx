// The parts that most screens begin with.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ApiError } from '../api/client';
import { to } from '../route';
import { t } from '../text';
import { Elsewhere } from './elsewhere';
import { Problem } from './problem';

/** Shown while a screen's data are on their way. It keeps the height of a screen, so that nothing jumps. */
export function Loading() {
  return (
    <div class="loading" role="status" aria-busy="true">
      <span class="offscreen">{t('state.loading')}</span>
    </div>
  );
}

/** A screen whose object has not been loaded yet, or cannot be. */
export function Waiting({ of: { error, reload } }: { of: { error: unknown; reload: () => void } }) {
  if (error === undefined) return <Loading />;
  return (
    <>
      <Head title={t('problem.title')} />
      <Problem error={error} retry={reload} />
      {error instanceof ApiError && error.status === 404 && <Elsewhere />}
    </>
  );
}

/** The heading of a screen. While it is shown, the browser's tab has its name. */
export function Heading({ title }: { title: string }) {
  useLayoutEffect(() => {
    document.title = `${title} · ${t('app.name')}`;
  }, [title]);
  return (
    <h1 tabIndex={-1} dir="auto">
      {title}
    </h1>
  );
}

interface HeadProps {
  title: string;
  /** The screen above this one, as the path and name of a link before the title. */
  above?: readonly [string, string];
  /** A figure or an address beside the title. */
  note?: ComponentChildren;
  /** Buttons and links at the end of the line. */
  children?: ComponentChildren;
}

/** The beginning of a screen: its heading and what can be done there. */
export function Head({ title, above, note, children }: HeadProps) {
  return (
    <header class="head">
      {above && (
        <p class="trail">
          <a href={to(above[0])}>{above[1]}</a>
        </p>
      )}
      <Heading title={title} />
      {note !== undefined && (
        <p class="count" role="status">
          {note}
        </p>
      )}
      {children && <div class="actions">{children}</div>}
    </header>
  );
}

/** A part of a screen with a title of its own. */
export function Section({ title, hint, children }: { title: string; hint?: string; children: ComponentChildren }) {
  return (
    <section class="section">
      <h2>{title}</h2>
      {hint && <p class="hint">{hint}</p>}
      {children}
    </section>
  );
}

/** What a screen shows instead of an empty list: what the list is for, and how to begin. */
export function Empty({ title, hint, children }: { title: string; hint: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{hint}</p>
      {children}
    </div>
  );
}

interface TabsProps {
  label: string;
  /** The path and name of each tab. A tab is a link, so that it can be opened beside this one. */
  tabs: readonly (readonly [string, string])[];
  /** The path of the present tab. */
  here: string;
}

/** Links between the screens of one object. */
export function Tabs({ label, tabs, here }: TabsProps) {
  const ref = useRef<HTMLElement>(null);
  // On a phone, the present tab may be beyond the edge.
  useLayoutEffect(() => {
    const present = ref.current?.querySelector('[aria-current]')?.getBoundingClientRect();
    if (!ref.current || !present) return;
    const { left, width } = ref.current.getBoundingClientRect();
    ref.current.scrollLeft += present.left + present.width / 2 - (left + width / 2);
  }, [here]);
  return (
    <nav class="tabs" aria-label={label} ref={ref}>
      {tabs.map(([path, name]) => (
        <a key={path} href={to(path)} aria-current={path === here ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}
