// The screens that manage everything except links. They are one file of the build, because together they are a fifth smaller than alone.
import './manage.css';
export { Account, Door, enter, Factors } from './account';
export { Providers } from './access/providers';
export { Settings } from './access/settings';
export { Alerts } from './alerts';
export { Audit } from './audit/audit';
export { DomainScreen, DomainSettings, Domains } from './domains';
export { Keys } from './keys/keys';
export { BundleScreen, Bundles, LabelLinks, Tags, Templates } from './labels';
export { MailReports } from './mailreports/reports';
export { Members } from './members/members';
export { UserScreen, Users } from './people';
export { EdgesScreen, Reports } from './system';
export { ShareDialog } from './sharing/form';
export { WebhookScreen, Webhooks } from './webhooks';
export { CreateWorkspace } from './workspace/create';
export { MoveLinks } from './workspace/move';
export { WorkspaceScreen } from './workspace/workspace';
