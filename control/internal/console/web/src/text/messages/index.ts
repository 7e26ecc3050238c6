// The messages of the console, a file for each area. Each message has its text in every language. Words in braces are replaced. A message
// with a number has a form for each plural category of the language (Intl.PluralRules) and takes the number as n.
import type { Language } from '../index';
import type { Catalogue } from '../message';
import { abuse } from './abuse';
import { access } from './access';
import { account } from './account';
import { alertlimits } from './alertlimits';
import { alerts } from './alerts';
import { app } from './app';
import { audit } from './audit';
import { audited } from './audited';
import { certificate } from './certificate';
import { conditions } from './conditions';
import { controls } from './controls';
import { create } from './create';
import { deliveries } from './deliveries';
import { domains } from './domains';
import { domainsettings } from './domainsettings';
import { edges } from './edges';
import { entrance } from './entrance';
import { experiment } from './experiment';
import { experimentoutcome } from './experimentoutcome';
import { experimentplan } from './experimentplan';
import { experimentreasons } from './experimentreasons';
import { factors } from './factors';
import { health } from './health';
import { history } from './history';
import { importplan } from './importplan';
import { imports } from './imports';
import { keys } from './keys';
import { labels } from './labels';
import { link } from './link';
import { linkedits } from './linkedits';
import { linkrows } from './linkrows';
import { links } from './links';
import { live } from './live';
import { liveclicks } from './liveclicks';
import { mailreports } from './mailreports';
import { members } from './members';
import { missing } from './missing';
import { navigation } from './navigation';
import { notices } from './notices';
import { overview } from './overview';
import { palette } from './palette';
import { people } from './people';
import { qr } from './qr';
import { report } from './report';
import { reportcontrols } from './reportcontrols';
import { reportfigures } from './reportfigures';
import { reportmarks } from './reportmarks';
import { rulecopies } from './rulecopies';
import { rules } from './rules';
import { rulestarts } from './rulestarts';
import { said } from './said';
import { saidalerts } from './saidalerts';
import { saidimports } from './saidimports';
import { saidvalues } from './saidvalues';
import { share } from './share';
import { social } from './social';
import { trash } from './trash';
import { tryout } from './tryout';
import { views } from './views';
import { webhookhealth } from './webhookhealth';
import { webhooks } from './webhooks';
import { webhooksecret } from './webhooksecret';
import { workspace } from './workspace';

export const messages = {
  ...access,
  ...account,
  ...factors,
  ...alertlimits,
  ...alerts,
  ...app,
  ...controls,
  ...navigation,
  ...entrance,
  ...audit,
  ...audited,
  ...health,
  ...history,
  ...social,
  ...domains,
  ...certificate,
  ...domainsettings,
  ...experiment,
  ...experimentoutcome,
  ...experimentplan,
  ...imports,
  ...importplan,
  ...keys,
  ...labels,
  ...views,
  ...link,
  ...overview,
  ...linkedits,
  ...linkrows,
  ...links,
  ...create,
  ...live,
  ...liveclicks,
  ...workspace,
  ...mailreports,
  ...members,
  ...missing,
  ...notices,
  ...palette,
  ...people,
  ...qr,
  ...reportcontrols,
  ...reportfigures,
  ...reportmarks,
  ...report,
  ...share,
  ...rulecopies,
  ...rules,
  ...rulestarts,
  ...conditions,
  ...tryout,
  ...edges,
  ...abuse,
  ...said,
  ...saidvalues,
  ...saidimports,
  ...saidalerts,
  ...experimentreasons,
  ...webhooks,
  ...webhookhealth,
  ...webhooksecret,
  ...deliveries,
  ...trash,
} as const;

/** The messages of one language. The build puts the result in the place of the module that calls this. */
export const only = (language: Language): Catalogue =>
  Object.fromEntries(Object.entries(messages).map(([name, message]) => [name, message[language]])) as Catalogue;
