// What the reports of edges say about their health.
import type { Schema } from '../../api/client';

type Reported = Schema<'Edge'>;

// The OpenAPI document does not say that these can be missing.
type Optional = 'twin' | 'latency';
export type Edge = Omit<Reported, Optional> & { [K in Optional]: Reported[K] | null };

/** What can be wrong with an edge, the worst first. */
export const troubles = ['silent', 'refused', 'differs', 'dropped', 'late', 'waiting', 'twin', 'aside'] as const;
export type Trouble = (typeof troubles)[number];

const patience = 60_000; // milliseconds that clicks may wait for their delivery

const place = (e: Edge): string => `${e.incarnation} ${e.appliedRevision}`;

/** Whether an edge has other links than most edges with the same revision. */
function differs(e: Edge, all: readonly Edge[]): boolean {
  const peers = all.filter((one) => place(one) === place(e) && one.stateHash !== '');
  const same = peers.filter((one) => one.stateHash === e.stateHash).length;
  return e.stateHash !== '' && same * 2 <= peers.length;
}

/** What is wrong with an edge. A silent one is late, too, but its last report no longer says by how much. */
export function troublesOf(e: Edge, all: readonly Edge[]): Trouble[] {
  const has: Record<Trouble, boolean> = {
    silent: !e.isAlive,
    refused: e.refused !== null,
    differs: e.isAlive && differs(e, all),
    dropped: e.spool.dropped > 0,
    late: e.isAlive && e.lag > 0,
    waiting: e.spool.pending > 0 && e.spool.oldestMs > patience,
    twin: e.twin !== null,
    aside: e.setAsideCount > 0,
  };
  return troubles.filter((one) => has[one]);
}

/** Whether an edge needs somebody at once. */
export const isBad = (one: Trouble): boolean => troubles.indexOf(one) < troubles.indexOf('late');

/** What people call an edge. */
export const nameOf = (e: Edge): string => e.name || e.address || e.id;

/** The edges by region, each list by name, so that no row moves when a state changes. Edges without a region are the last. */
export function regionsOf(all: readonly Edge[]): [region: string, edges: Edge[]][] {
  const regions = [...new Set(all.map((e) => e.region))].sort((a, b) =>
    (a === '') === (b === '') ? a.localeCompare(b) : a === '' ? 1 : -1,
  );
  const order = (a: Edge, b: Edge) => nameOf(a).localeCompare(nameOf(b)) || a.id.localeCompare(b.id);
  return regions.map((region) => [region, all.filter((e) => e.region === region).sort(order)]);
}
