// Whole lists of small objects, for choices.
import { api } from '../../api/client';

const pageSize = 100; // the most that the API allows
const most = 1000;

interface Page<Row> {
  data: Row[];
  totalPages: number;
}

async function all<Row>(load: (page: number) => Promise<Page<Row>>): Promise<Row[]> {
  const first = await load(1);
  const rows = [...first.data];
  for (let page = 2; page <= first.totalPages && rows.length < most; page++) rows.push(...(await load(page)).data);
  return rows;
}

/** The names of the tags of the workspace, up to 1,000. */
export const allTags = async (signal: AbortSignal): Promise<string[]> =>
  (await all((page) => api.get('/api/tags', { query: { page, pageSize }, signal }))).map((one) => one.name);

/** The ids and names of the bundles that are not archived, up to 1,000. */
export const allBundles = async (signal: AbortSignal): Promise<(readonly [string, string])[]> =>
  (await all((page) => api.get('/api/bundles', { query: { page, pageSize }, signal }))).map(
    (one) => [one.id, one.name] as const,
  );
