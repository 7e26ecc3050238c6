// The button that shares the report as it is shown now.
import { useState } from 'preact/hooks';
import { query } from '../../route';
import { may } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { lazy } from '../../ui/lazy';
import type { Subject } from '../sharing/form';
import { parametersOf, selectionOf, zoneOf } from './selection';

const ShareDialog = lazy(async () => (await import('../manage')).ShareDialog, null);

/** What the present address shows, as a subject to share. One bundle or domain is the subject itself. */
export function subjectOf(address: URLSearchParams, link: string, name: string): Subject {
  const s = selectionOf(address);
  // Shared reports have no minutes, which would show single visits, and neither goals nor revenue.
  const interval = s.interval === 'minute' ? 'hour' : s.interval;
  const { series, goal, ...selection } = parametersOf({ ...s, interval }, zoneOf(address));
  if (link !== '') return { about: 'link', target: link, selection, name };
  const { bundleId, domain, ...rest } = selection;
  if (bundleId?.length === 1)
    return { about: 'bundle', target: bundleId[0] ?? '', selection: { ...rest, ...(domain && { domain }) }, name };
  if (domain?.length === 1)
    return { about: 'domain', target: domain[0] ?? '', selection: { ...rest, ...(bundleId && { bundleId }) }, name };
  return { about: 'workspace', selection, name };
}

/** The button with its dialog. Only people who may change the workspace see it. */
export function Share({ id, name }: { id: string; name: string }) {
  const [of, setOf] = useState<Subject>();
  if (!may('EDITOR')) return null;
  return (
    <>
      <Button icon="share" onClick={() => setOf(subjectOf(query.value, id, name))}>
        {t('share.share')}
      </Button>
      {of && <ShareDialog of={of} onClose={() => setOf(undefined)} />}
    </>
  );
}
