// What an edit of many links would do.
import { api, ApiError, type Schema } from '../../api/client';
import { to } from '../../route';
import { moment, t } from '../../text';
import { Problem } from '../../ui/problem';
import { useResource, type Resource } from '../../ui/resource';
import { labels } from '../link/fields';
import { bare } from '../links/changes';
import type { List } from '../links/list';
import { isEmpty, type Change } from './change';

type Found = Schema<'URLEditPreview'>;

interface Checked extends Resource<Found | undefined> {
  problem: (field: string) => string | undefined;
}

/** Asks for a dry run of a request, which is given as JSON. */
export function usePreview(request: string): Checked {
  const found = useResource(request, async (signal) => {
    const body = JSON.parse(request) as Schema<'EditURLs'> & { change: Change };
    return isEmpty(body.change) ? undefined : await api.post('/api/url-edits/dry-run', { body, signal });
  });
  const fields = found.error instanceof ApiError ? found.error.fields : [];
  return { ...found, problem: (field) => fields.find((one) => one.field.startsWith(field))?.message };
}

const places = {
  status: 'links.status',
  domain: 'links.domain',
  slug: 'create.slug',
  bundles: 'nav.bundles',
  bundleIds: 'nav.bundles',
} as const;

/** The name of a field. */
export function fieldOf(name: string): string {
  const known = { ...labels, ...places };
  return Object.hasOwn(known, name) ? t(known[name as keyof typeof known]) : name;
}

function valueOf(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.join(', ') || '–';
  if (typeof value === 'number') return `${value}`;
  if (name === 'domain' && value === null) return t('create.shared');
  if (typeof value !== 'string' || value === '') return '–';
  if (name === 'status') return t(value === 'ACTIVE' ? 'status.ACTIVE' : 'status.INACTIVE');
  return name.endsWith('At') ? moment(value) : value;
}

interface ProblemsProps {
  problems: readonly Schema<'EditProblem'>[];
  list: List;
}

/** Links that stay as they are, with the reason. */
export function Refused({ problems, list }: ProblemsProps) {
  const rows = new Map([...list.rows.value.values()].map((one) => [one.id, one]));
  return (
    <ul class="refused">
      {problems.map(({ id, field, message }) => (
        <li key={`${id} ${field}`}>
          <a href={to(`/links/${id}`)} target="_blank" rel="noreferrer" class="mono">
            <bdi>{bare(rows.get(id)?.shortUrl ?? id)}</bdi>
          </a>{' '}
          <span>
            {fieldOf(field)}: {message}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Samples({ samples }: { samples: Found['samples'] }) {
  return (
    <table class="samples">
      <caption class="offscreen">{t('links.edit.examples')}</caption>
      <thead class="offscreen">
        <tr>
          <th scope="col">{t('history.before')}</th>
          <th scope="col">{t('history.after')}</th>
        </tr>
      </thead>
      {samples.map((one) => (
        <tbody key={one.id}>
          <tr>
            <th colSpan={2} scope="rowgroup" class="mono">
              <bdi>{bare(one.shortUrl)}</bdi>
            </th>
          </tr>
          {one.changes.map(({ field, before, after }) => (
            <tr key={field} title={fieldOf(field)}>
              <td dir="auto">
                <del>{valueOf(field, before)}</del>
              </td>
              <td dir="auto">
                <ins>{valueOf(field, after)}</ins>
              </td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

interface PreviewProps {
  of: Checked;
  /** Whether nothing is to be changed yet. */
  empty: boolean;
  list: List;
}

/** The figures of the dry run, its first differences, and what it refuses. */
export function Preview({ of, empty, list }: PreviewProps) {
  const found = empty ? undefined : of.data;
  const placed = of.error instanceof ApiError && of.error.fields.every((one) => one.field.startsWith('change.'));
  return (
    <div
      class={of.loading && !empty ? 'preview stale' : 'preview'}
      role="group"
      aria-label={t('import.dryRun')}
      aria-busy={of.loading && !empty}
      tabIndex={0}
    >
      {empty && <p class="hint">{t('links.edit.hint')}</p>}
      {!empty && of.error !== undefined && !placed && <Problem error={of.error} retry={of.reload} />}
      <p role="status">
        {found && of.error === undefined && (
          <>
            <strong>{t('links.edit.changes', { n: found.changed })}</strong>
            {found.unchanged > 0 && <> · {t('links.edit.unchanged', { n: found.unchanged })}</>}
            {found.failed > 0 && <span class="bad"> · {t('links.edit.refused', { n: found.failed })}</span>}
          </>
        )}
      </p>
      {found && found.problems.length > 0 && <Refused problems={found.problems} list={list} />}
      {found && found.samples.length > 0 && <Samples samples={found.samples} />}
    </div>
  );
}
