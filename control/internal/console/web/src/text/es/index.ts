import type { Catalogue } from '../message';
import { access } from './access';
import { account } from './account';
import { app } from './app';
import { audit } from './audit';
import { history } from './history';
import { social } from './social';
import { domains } from './domains';
import { entrance } from './entrance';
import { experiment } from './experiment';
import { imports } from './imports';
import { keys } from './keys';
import { labels } from './labels';
import { link } from './link';
import { links } from './links';
import { live } from './live';
import { members } from './members';
import { missing } from './missing';
import { palette } from './palette';
import { people } from './people';
import { qr } from './qr';
import { report } from './report';
import { rules } from './rules';
import { safety } from './safety';
import { said } from './said';
import { webhooks } from './webhooks';
import { trash } from './trash';

export const es: Catalogue = {
  ...access,
  ...account,
  ...app,
  ...audit,
  ...history,
  ...social,
  ...domains,
  ...entrance,
  ...experiment,
  ...imports,
  ...keys,
  ...labels,
  ...link,
  ...links,
  ...live,
  ...members,
  ...missing,
  ...palette,
  ...people,
  ...qr,
  ...report,
  ...rules,
  ...safety,
  ...said,
  ...webhooks,
  ...trash,
};
