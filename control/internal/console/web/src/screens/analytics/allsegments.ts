import { api, type Schema } from '../../api/client';

/** All segments of the workspace. */
export async function allSegments(signal: AbortSignal): Promise<Schema<'Segment'>[]> {
  const found: Schema<'Segment'>[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const next = await api.get('/api/segments', { query: { page, pageSize: 100 }, signal });
    found.push(...next.data);
    pages = next.totalPages;
  }
  return found;
}
