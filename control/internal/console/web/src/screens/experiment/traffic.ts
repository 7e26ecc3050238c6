// What a plan of a test is computed from: the clicks and the conversions of the last 30 days.
import { api, type Schema } from '../../api/client';

export interface Traffic {
  /** Visitors a day that no rule sends elsewhere. */
  perDay: number;
  /** Clicks of the last 30 days. */
  clicks: number;
  /** What visitors of the link have done since, most frequent first: the name and the clicks that led to it. */
  goals: { name: string; converted: number }[];
  /** What visitors of other links of the workspace have done. */
  others: string[];
}

const day = 86_400_000; // milliseconds
const timeRange = 'last_30_days';

export async function trafficOf(link: Schema<'URL'>, signal: AbortSignal): Promise<Traffic> {
  const path = { id: link.id };
  const query = { timeRange };
  const [routing, goals, all] = await Promise.all([
    api.get('/api/analytics/urls/{id}/routing', { path, query, signal }),
    api.get('/api/urls/{id}/goals', { path, query: { ...query, pageSize: 100 }, signal }),
    api.get('/api/analytics/conversions', { query: { ...query, limit: 1 }, signal }),
  ]);
  const days = Math.min(30, Math.max(1, Math.ceil((Date.now() - Date.parse(link.createdAt)) / day)));
  const list: readonly Schema<'Goal'>[] = Array.isArray(goals) ? goals : goals.data;
  const own = list
    .map(({ name, convertedClicks }) => ({ name, converted: convertedClicks }))
    .sort((a, b) => b.converted - a.converted);
  return {
    perDay: Math.max(0, routing.totalClicks - routing.totalMatches) / days,
    clicks: routing.totalClicks,
    goals: own,
    others: all.goals.map((one) => one.name).filter((name) => !own.some((one) => one.name === name)),
  };
}

/** The part of the clicks that led to a goal; undefined if none did. */
export function rateOf(traffic: Traffic, goal: string): number | undefined {
  const converted = traffic.goals.find((one) => one.name === goal)?.converted ?? 0;
  return converted > 0 && traffic.clicks > 0 ? Math.min(1, converted / traffic.clicks) : undefined;
}
