// The visitors that the simulator offers.
import type { Schema } from '../../api/client';

type Visit = Schema<'ExplainInBody'>;

/** The facts that the API takes as a text. */
type Texts = Exclude<keyof Visit, 'draft' | 'time' | 'returning'>;

/** A visitor as the form of the simulator has it; '' is unknown. */
export interface Visitor extends Partial<Record<Texts, string>> {
  userAgent: string;
  /** As a datetime-local input has it, in the zone of the browser; '' is now. */
  time: string;
  returning: boolean;
}

const agents = {
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  android:
    'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
  windows:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  mac: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
  crawler: 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
} as const;

export type AgentName = keyof typeof agents;

export const agentNames = Object.keys(agents) as AgentName[];

/** The User-Agent of a name, and the name of a User-Agent; '' if it has none. */
export const agentOf = (name: AgentName): string => agents[name];
export const nameOfAgent = (agent: string): AgentName | '' => agentNames.find((name) => agents[name] === agent) ?? '';

export const somebody: Visitor = {
  userAgent: agents.iphone,
  country: 'DE',
  language: 'de-DE',
  time: '',
  returning: false,
};

const known = (value: string | null): string => (value === 'Unknown' || value === 'Direct' ? '' : (value ?? ''));

/** The visitor of a click, as far as clicks have the facts. */
export function visitorOf(click: Schema<'Click'>): Visitor {
  const { country, region, city, referer, ip, timestamp, utmSource, utmMedium, utmCampaign, utmTerm, utmContent } =
    click;
  const campaign = { source: utmSource, medium: utmMedium, campaign: utmCampaign, term: utmTerm, content: utmContent };
  const query = Object.entries(campaign).flatMap(([name, value]) => (value ? [[`utm_${name}`, value]] : []));
  return {
    userAgent: click.isBot ? (click.botName ?? '') : 'Mozilla/5.0',
    device: known(click.device),
    os: known(click.os),
    browser: known(click.browser),
    country: known(country),
    region: known(region),
    city: known(city),
    referer: known(referer),
    query: new URLSearchParams(query).toString(),
    ip: ip ?? '',
    time: timestamp,
    returning: false,
  };
}

/** The body of the request that explains a visit, without the draft. Unknown facts are left out. */
export function visitOf(visitor: Visitor): Omit<Visit, 'draft'> {
  const { time, returning, ...texts } = visitor;
  const known = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== ''));
  return { ...known, ...(time && { time: new Date(time).toISOString() }), ...(returning && { returning }) };
}
