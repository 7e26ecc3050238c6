// Generated from the OpenAPI document by generate/generate.js. Do not edit.

export type ProblemCode =
  | 'REQUIRED' | 'TOO_LONG' | 'TOO_MANY_BYTES' | 'LENGTH' | 'TOO_SHORT' | 'TOO_MANY' | 'CONTROL' | 'ADDRESS' | 'SCHEMES' | 'OWN_LINK'
  | 'HTTPS' | 'CREDENTIALS' | 'PRIVATE' | 'HOST' | 'RESERVED' | 'SLUG' | 'SLUG_OF_HOST' | 'SLUG_FORM' | 'SLUG_LENGTH' | 'CASE_MEETS'
  | 'WORKSPACE_SLUG' | 'TAKEN' | 'FUTURE' | 'AFTER_START' | 'BEFORE_END' | 'UP_TO' | 'FROM_TO' | 'CLICKS' | 'NUMBER' | 'TIME'
  | 'DATE_FORMAT' | 'DATE_NONE' | 'DATE_AMBIGUOUS' | 'TIME_UNSURE' | 'BOOLEAN' | 'REDIRECT' | 'EMAIL' | 'COMMON_PASSWORD'
  | 'PASSWORD_IS_EMAIL' | 'NOT_RIGHT' | 'MEMBER' | 'SKIPPED' | 'CELLS' | 'SLUGS_LOST' | 'SLUGS_MADE' | 'SLUGS_FROM' | 'OTHER_HOSTS'
  | 'OTHER_HOST' | 'DATES_KEPT' | 'PASSWORDS_LOST' | 'COLUMN_IGNORED' | 'TAGS_JOINED' | 'NO_JSON' | 'LAST_PART' | 'ADDRESSES_LOST'
  | 'CLICKS_LOST' | 'ROW_STATE' | 'STARTED_BY' | 'LINKS_FULL' | 'SIGN_IN' | 'NOT_FOUND' | 'STALE' | 'ADMIN_ONLY' | 'ROLE' | 'LAST_ADMIN'
  | 'LAST_OWNER' | 'CLICK_STORE' | 'UNAVAILABLE' | 'INTERNAL' | 'DOMAIN_HAS_LINKS' | 'LIMIT' | 'A_DAY' | 'ANSWERED' | 'SILENT'
  | 'UNRESOLVED' | 'CERTIFICATE' | 'CONNECTION' | 'NO_TXT' | 'OTHER_TXT' | 'NO_ROUTE' | 'OTHER_ROUTE' | 'MORE_ROUTES' | 'ONE_OF'
  | 'ORDER' | 'PAST' | 'DAYS_AHEAD' | 'IP' | 'COLOR' | 'FIXED' | 'TOO_LARGE' | 'TWICE' | 'EVENT' | 'HEADER' | 'SSO_ONLY' | 'OWN_ACCOUNT'
  | 'FACTOR_FIRST' | 'LAST_FACTOR' | 'SIGNED_IN_LONG_AGO' | 'USED' | 'INVITED_OTHER' | 'HAS_ACCOUNT' | 'PASSKEY' | 'NO_MAIL'
  | 'WEBHOOK_OFF' | 'DONE_ALREADY' | 'BUSY' | 'OWNER_ONLY' | 'MAKER_ONLY' | 'PERSONAL' | 'TEST_OFF' | 'FEW_VARIANTS' | 'OTHER_WORKSPACE'
  | 'DOMAIN_BOUND' | 'NO_TLS' | 'RULE_COST' | 'EMPTY_FILE' | 'NOT_UTF8' | 'NOT_CSV' | 'TOO_MANY_ROWS' | 'PASSWORD_COLUMN' | 'BLOCKED'
  | 'CHECK' | 'UNSIGNED' | 'DAMAGED' | 'FORMAT' | 'RULE_UNUSABLE' | 'IDEMPOTENCY_MISMATCH' | 'IDEMPOTENCY_RUNNING'
  | 'IDEMPOTENCY_UNKNOWN' | 'ALERT_BROKEN' | 'ALERT_MORE' | 'ALERT_FEWER' | 'ALERT_END' | 'ALERT_ENDS' | 'ALERT_EXHAUSTED'
  | 'ALERT_DOMAIN' | 'ALERT_CERTIFICATE' | 'ALERT_WEBHOOK' | 'ALERT_PAUSED' | 'QUIET_BOTH' | 'OF_MEMBER' | 'CHAT_ANSWERED'
  | 'CHAT_SILENT' | 'CHAT_PRIVATE' | 'NO_MAILS' | 'NO_MEMBER' | 'NO_DNS';

export type WebhookEventName =
  | 'alert.fired' | 'alert.resolved' | 'conversion.created' | 'domain.certificate.expiring' | 'domain.certificate.failed'
  | 'domain.certificate.issued' | 'domain.failed' | 'domain.verified' | 'experiment.decided' | 'link.destination_broken'
  | 'link.destination_recovered' | 'link.exhausted' | 'link.expired' | 'link.started' | 'routing.rule_created' | 'routing.rule_deleted'
  | 'routing.rule_matched' | 'routing.rule_updated' | 'url.clicked' | 'url.created' | 'url.deleted' | 'url.restored' | 'url.updated'
  | 'webhook.test';

export interface APIKey {
  /** Addresses and networks from which the key can be used. Empty means all. */
  allowedIps: string[];
  /** A time in RFC 3339. */
  createdAt: string;
  /** The user as whom the key acts. */
  createdBy: KeyUser;
  /** Null means never. */
  expiresAt: string | null;
  id: string;
  /** Whether the key was created by a release without checksums in keys. Rotate such a key. */
  isLegacy: boolean;
  /** With a precision of one minute. */
  lastUsedAt: string | null;
  /** The address of the last use. Null if it is unknown. */
  lastUsedIp: string | null;
  /** The API key with which this one was made, and with which it is deleted. Null if it was made in a session. */
  madeByKeyId: string | null;
  name: string;
  /** The key's first characters. */
  prefix: string;
  /** What the key is limited to. Empty means all that its user may do in the workspace. */
  scopes: ('links:read' | 'links:write' | 'analytics:read' | 'conversions:write' | 'webhooks' | 'domains' | 'members')[];
  /** The only workspace that the key reaches, unless it is an unlimited key of an administrator. */
  workspaceId: string;
}

export interface APIKeyList {
  apiKeys: APIKey[];
  data: APIKey[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface AbuseForm {
  /** Where the administrators can reach you. */
  email?: string;
  reason: 'PHISHING' | 'MALWARE' | 'SPAM' | 'ILLEGAL' | 'OTHER';
  /** Details, as plain text. */
  text?: string;
}

export interface AbuseFormSent {
  /** Always true. */
  success: boolean;
}

export interface AbuseMessageView {
  /** A time in RFC 3339. */
  at: string;
  /** Not verified. Removed when the report is resolved. */
  email: string | null;
  reason: 'PHISHING' | 'MALWARE' | 'SPAM' | 'ILLEGAL' | 'OTHER';
  text: string | null;
}

export interface AbuseReport {
  /** When the link was first reported. */
  createdAt: string;
  /** The blocked host or address; null for reports of visitors. */
  detail: string | null;
  id: string;
  /** When it was last reported. */
  lastAt: string;
  /** The first 20 reports. */
  messages: AbuseMessageView[];
  /** Null if the link was deleted. */
  originalUrl: string | null;
  /** How many reports gave each reason. */
  reasons: Record<string, number>;
  /** How often the link was reported. */
  reportCount: number;
  /** A time in RFC 3339. */
  resolvedAt: string | null;
  /** Id of the administrator; null if the report is open or the service resolved it. */
  resolvedBy: string | null;
  shortUrl: string;
  slug: string;
  /** Who found the link: visitors, the list of blocked destinations, or the check service. */
  source: 'VISITOR' | 'BLOCKLIST' | 'CHECK';
  status: 'OPEN' | 'DISMISSED' | 'ACTIONED';
  urlId: string;
  /** Status of the link; null if it was deleted. */
  urlStatus: 'ACTIVE' | 'INACTIVE' | 'EXPIRED' | 'SCHEDULED' | 'EXHAUSTED' | 'SUSPENDED' | null;
}

export interface AcceptInvitationInBody {
  /** For a new account. */
  name?: string;
  /**
   * For a new account, which requires it. At least 8 characters and at most 72 bytes. Common passwords and the user's email are
   * refused.
   */
  password?: string;
  /** What follows #invitation= in the link. */
  token: string;
}

export interface AcceptedInvitation {
  /** Of the session of a new account. It is also set as a cookie. */
  accessToken?: string;
  role: 'OWNER' | 'ADMIN' | 'EDITOR' | 'VIEWER';
  user: User;
  workspaceId: string;
}

export interface AccountHome {
  id: string;
  name: string;
  slug: string;
}

export interface AddManyToBundleRequest {
  /** 1 to 1,000 ids; all are added or none. */
  urlIds: string[];
}

export interface AddToBundleRequest {
  urlId: string;
}

export interface Alert {
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  /** A time in RFC 3339. */
  firedAt: string;
  id: string;
  kind: 'clicks' | 'destination' | 'expiry' | 'exhaustion' | 'domain' | 'webhook';
  /** A time in RFC 3339. */
  resolvedAt: string | null;
  ruleId: string;
  ruleName: string;
  status: 'open' | 'resolved';
  /** What has happened, as a sentence. */
  summary: string;
  /** Number of links that are concerned. */
  urlCount: number;
  /** Ids of the links that are concerned, at most ten. */
  urlIds: string[];
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
}

export interface AlertChanged {
  /** The alert's id. */
  alertId: string;
  /** When the alert fired. */
  firedAt: string;
  /** What the alert is about. */
  kind: 'clicks' | 'destination' | 'expiry' | 'exhaustion' | 'domain' | 'webhook';
  /** When the alert was resolved; null: it is open. */
  resolvedAt: string | null;
  /** The id of the alert rule. */
  ruleId: string;
  /** The name of the alert rule. */
  ruleName: string;
  /** What has happened, as a sentence. */
  summary: string;
  /** Number of links that are concerned. */
  urlCount: number;
  /** Ids of the links that are concerned, at most ten. */
  urlIds: string[];
}

export interface AlertChannel {
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  /** A time in RFC 3339. */
  createdAt: string;
  /** Address of a channel of the kind mail. */
  email: string | null;
  /** Host of the address of a chat. The address itself is never returned: whoever knows it can post there. */
  host: string | null;
  id: string;
  isActive: boolean;
  kind: 'mail' | 'slack' | 'teams' | 'discord';
  /** Why the last message was not accepted; null if it was. */
  lastError: string | null;
  /** When a message was last sent, or tried to be sent. */
  lastSentAt: string | null;
  name: string;
  /** Beginning of the quiet hours. Messages wait until their end. */
  quietFrom: string | null;
  quietTo: string | null;
  /** IANA time zone of the quiet hours. */
  timeZone: string;
  /** A time in RFC 3339. */
  updatedAt: string;
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
}

export interface AlertFiredEvent {
  data: AlertChanged;
  event: 'alert.fired';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface AlertResolvedEvent {
  data: AlertChanged;
  event: 'alert.resolved';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface AlertRule {
  causes: ('clicks' | 'destination' | 'expiry' | 'exhaustion' | 'domain' | 'webhook')[];
  channelIds: string[];
  /** A time in RFC 3339. */
  createdAt: string;
  /** How many days before the end of a link the cause expiry holds. */
  days: number;
  /** Whether clicks above the expected ones, below them or both are unusual. */
  direction: 'both' | 'above' | 'below';
  /** After which share of the clicks that a link may have the cause exhaustion holds. */
  exhaustionPercent: number;
  id: string;
  isActive: boolean;
  /** By how many clicks unusual ones differ from the expected ones at least. */
  minClicks: number;
  /** How far below the expected clicks unusual ones are at least: 100 is none. */
  minFallPercent: number;
  /** How far above the expected clicks unusual ones are at least: 100 is twice as many. */
  minRisePercent: number;
  name: string;
  /** How improbable clicks must be to be unusual: a chance below 1 in 10,000,000 (low), 100,000 (normal) or 10,000 (high). */
  sensitivity: 'low' | 'normal' | 'high';
  /** Names of tags. Only links with one of them, unless the list is empty. */
  tags: string[];
  /** A time in RFC 3339. */
  updatedAt: string;
  /** Only this link; null: all links of the workspace. Unusual clicks are then looked for in the 100 links with the most clicks. */
  urlId: string | null;
}

export interface Amount {
  /** Exact, with at most four decimals. */
  amount: number;
  /** ISO 4217 code. Empty for values without a currency. */
  currency: string;
}

export interface Annotation {
  /** A time in RFC 3339. */
  at: string;
  /** A time in RFC 3339. */
  createdAt: string;
  id: string;
  /** NOTE: written by a member. The others come from the history of links, and cannot be changed. */
  kind: 'NOTE' | 'DESTINATION_CHANGED' | 'RULES_CHANGED' | 'EXPERIMENT_STARTED' | 'EXPERIMENT_DECIDED';
  /** Of a note; null for other kinds. */
  text: string | null;
  /** A time in RFC 3339. */
  updatedAt: string;
  /** How many links a change concerns; 1 for notes. */
  urlCount: number;
  /** The link that it is about. Null if it is about the whole workspace, or several links. */
  urlId: string | null;
  /** Host name, slash and slug of the link. Links on the host of the service have no host name. */
  urlName: string | null;
  /** Who wrote the note or made the change. Null if it was the service, or if the user was deleted. */
  userId: string | null;
}

export interface AnnotationList {
  /** Oldest first. */
  annotations: Annotation[];
  /** Whether the range has more than 500 annotations; the oldest ones are left out. */
  isTruncated: boolean;
}

export interface Answer {
  /** With a 412, the last change of the object, if it is known. */
  changed?: LastChange;
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  /** With a 409 of a deletion: the workspaces, links and bundles that would be lost. */
  counts?: Counts;
  /** With a 412, the present object. */
  current?: unknown;
  /** The name of the status, Key Expired or Second Factor Required. */
  error: string;
  /** All problems, if validation failed. */
  errors?: FieldProblem[];
  /** The problem in one sentence. If validation failed, the first problem, such as originalUrl: must be an http or https address. */
  message: string;
  /** With a 500, the id to quote when asking for help. */
  requestId?: string;
  /** The HTTP status. */
  statusCode: number;
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
}

export interface AppLinks {
  /** For Android: the array at /.well-known/assetlinks.json, or null. */
  android: unknown;
  /** For iOS: the object at /.well-known/apple-app-site-association, or null. */
  apple: unknown;
}

export interface AppLinksFields {
  /** An array; null removes it. Both together have at most 16 KiB. */
  android?: unknown;
  /** An object; null removes it. */
  apple?: unknown;
}

export interface ApprovePairingInBody {
  code: string;
  /** As for POST /api/api-keys. */
  expiresAt?: string | null;
  /** Of the API key: 1 to 100 characters. */
  name: string;
  /** As for POST /api/api-keys. */
  scopes?: ('links:read' | 'links:write' | 'analytics:read' | 'conversions:write' | 'webhooks' | 'domains' | 'members')[] | null;
}

export interface ArchiveCounts {
  /** Objects that were added, or would be. Clicks and conversions that are stored already count, too. */
  created: number;
  kind: 'tag' | 'utm_template' | 'domain' | 'bundle' | 'url' | 'webhook' | 'click' | 'conversion';
  /** Objects that the workspace has already, which stay as they are. */
  present: number;
  /** Objects in the archive. */
  rows: number;
  /** Objects that cannot be imported, and clicks of their links. */
  skipped: number;
}

export interface ArchiveProblem {
  field: string;
  kind: 'tag' | 'utm_template' | 'domain' | 'bundle' | 'url' | 'webhook' | 'click' | 'conversion';
  message: string;
  name: string;
}

export interface ArchiveReport {
  /** Created links that are inactive because they had a password or were suspended. */
  deactivated: number;
  /** Whether nothing was changed, because the request asked what would happen. */
  dryRun: boolean;
  kinds: ArchiveCounts[];
  /** How many objects cannot be imported. */
  problemCount: number;
  /** The first 100 objects that cannot be imported. */
  problems: ArchiveProblem[];
  source: ArchiveSource;
}

export interface ArchiveSource {
  /** A time in RFC 3339. */
  exportedAt: string;
  /** Host of the installation. */
  host: string;
  /** Name of the workspace that was exported. */
  workspace: string;
}

export interface Aside {
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  domain: string;
  /** The problem with its rules; empty from an edge of an older release. */
  reason: string;
  slug: string;
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
}

export interface Attention {
  /** 1 or more; destinations are counted up to 1,000. */
  count: number;
  /**
   * webhook: fails or was paused by the service; domain: its records are missing; certificate: cannot be renewed or ends within
   * three days; destination: links whose destination is broken; alert: is open; abuse: reports of the installation, for its
   * administrators.
   */
  kind: 'webhook' | 'domain' | 'certificate' | 'destination' | 'alert' | 'abuse';
}

export interface AuditLog {
  action: 'URL_CREATED' | 'URL_UPDATED' | 'URL_DELETED' | 'URL_BULK_CREATED' | 'URL_BULK_UPDATED' | 'URL_BULK_DELETED' | 'URL_TRANSFERRED' | 'URL_RESTORED' | 'URL_ROLLED_BACK' | 'URL_SUSPENDED' | 'URL_UNSUSPENDED' | 'ABUSE_REPORTED' | 'ABUSE_REPORT_DISMISSED' | 'ABUSE_REPORT_ACTIONED' | 'USER_LOGIN' | 'USER_LOGOUT' | 'USER_CREATED' | 'USER_UPDATED' | 'USER_DELETED' | 'PASSWORD_CHANGED' | 'TWO_FACTOR_ENABLED' | 'TWO_FACTOR_DISABLED' | 'SESSION_REVOKED' | 'PASSWORD_RESET_REQUESTED' | 'API_KEY_CREATED' | 'API_KEY_ROTATED' | 'API_KEY_DELETED' | 'VARIANT_CREATED' | 'VARIANT_UPDATED' | 'VARIANT_DELETED' | 'TAG_CREATED' | 'TAG_UPDATED' | 'TAG_DELETED' | 'UTM_TEMPLATE_CREATED' | 'UTM_TEMPLATE_UPDATED' | 'UTM_TEMPLATE_DELETED' | 'VIEW_CREATED' | 'VIEW_UPDATED' | 'VIEW_DELETED' | 'SHARED_REPORT_CREATED' | 'SHARED_REPORT_UPDATED' | 'SHARED_REPORT_DELETED' | 'SEGMENT_CREATED' | 'SEGMENT_UPDATED' | 'SEGMENT_DELETED' | 'ANNOTATION_CREATED' | 'ANNOTATION_UPDATED' | 'ANNOTATION_DELETED' | 'MAIL_REPORT_CREATED' | 'MAIL_REPORT_UPDATED' | 'MAIL_REPORT_DELETED' | 'MAIL_REPORT_CONFIRMED' | 'MAIL_REPORT_UNSUBSCRIBED' | 'IMPORT_CREATED' | 'IMPORT_STARTED' | 'IMPORT_FINISHED' | 'IMPORT_FAILED' | 'IMPORT_CANCELLED' | 'IMPORT_DELETED' | 'DOMAIN_CREATED' | 'DOMAIN_UPDATED' | 'DOMAIN_DELETED' | 'CERTIFICATE_ISSUED' | 'CERTIFICATE_UPLOADED' | 'CERTIFICATE_DELETED' | 'BUNDLE_CREATED' | 'BUNDLE_UPDATED' | 'BUNDLE_DELETED' | 'WEBHOOK_CREATED' | 'WEBHOOK_UPDATED' | 'WEBHOOK_DELETED' | 'WEBHOOK_RESENT' | 'ALERT_CHANNEL_CREATED' | 'ALERT_CHANNEL_UPDATED' | 'ALERT_CHANNEL_DELETED' | 'ALERT_RULE_CREATED' | 'ALERT_RULE_UPDATED' | 'ALERT_RULE_DELETED' | 'ROUTING_RULE_CREATED' | 'ROUTING_RULE_UPDATED' | 'ROUTING_RULE_DELETED' | 'PASSKEY_ADDED' | 'PASSKEY_RENAMED' | 'PASSKEY_REMOVED' | 'PASSKEY_CLONED' | 'SSO_LOGIN' | 'SSO_LOGIN_FAILED' | 'OIDC_PROVIDER_CREATED' | 'OIDC_PROVIDER_UPDATED' | 'OIDC_PROVIDER_DELETED' | 'OIDC_ACCOUNT_LINKED' | 'OIDC_ACCOUNT_UNLINKED' | 'WORKSPACE_CREATED' | 'WORKSPACE_UPDATED' | 'WORKSPACE_DELETED' | 'WORKSPACE_EXPORTED' | 'WORKSPACE_IMPORTED' | 'MEMBER_ADDED' | 'MEMBER_UPDATED' | 'MEMBER_REMOVED' | 'INVITATION_CREATED' | 'INVITATION_REVOKED' | 'INVITATION_ACCEPTED' | 'CONVERSION_SETTINGS_UPDATED' | 'CONVERSION_KEY_ROTATED' | 'EXPERIMENT_CREATED' | 'EXPERIMENT_UPDATED' | 'EXPERIMENT_DELETED' | 'EXPERIMENT_RESTARTED' | 'EXPERIMENT_PROMOTED' | 'EXPERIMENT_DECIDED' | 'EXPERIMENT_WEIGHTS_SET' | 'SETTINGS_UPDATED' | 'VISITOR_ERASED' | 'SYSTEM_SETTING_UPDATED' | 'SYSTEM_SETTING_DELETED';
  /** A time in RFC 3339. */
  createdAt: string;
  /** Whether an object with a name is still there. */
  entityExists: boolean;
  entityId: string | null;
  /** The present name of the object, such as go.acme.com/spring, or the one that it had when it was deleted. Null if it has none. */
  entityName: string | null;
  entityType: 'url' | 'tag' | 'utm_template' | 'view' | 'segment' | 'annotation' | 'mail_report' | 'import' | 'domain' | 'user' | 'api_key' | 'bundle' | 'webhook' | 'variant' | 'routing_rule' | 'settings' | 'oidc_provider' | 'oidc_account' | 'system_setting' | 'visitor' | 'passkey' | 'session' | 'workspace' | 'member' | 'invitation' | 'abuse_report' | 'conversion_settings' | 'experiment' | 'shared_report' | 'alert_channel' | 'alert_rule';
  id: string;
  ipAddress: string | null;
  /** Contains requestId, method and path. */
  metadata: unknown;
  /** JSON or null. */
  newValue: unknown;
  /** JSON or null. */
  oldValue: unknown;
  /** Null if the user is unknown or was deleted. */
  user: AuditUser | null;
  userAgent: string | null;
  userId: string | null;
}

export interface AuditLogs {
  data: AuditLog[];
  logs: AuditLog[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  /** False if the parameters select more than 10,000 entries; total is 10000 then. */
  totalIsExact: boolean;
  totalPages: number;
}

export interface AuditUser {
  email: string;
  id: string;
  name: string;
}

export interface AuthenticatorSelectionStruct {
  requireResidentKey: boolean;
  residentKey: 'required';
  userVerification: 'required';
}

export interface BeginPairingInBody {
  /** What the program calls itself; 1 to 100 characters. */
  name: string;
}

export interface BeginPasskeyRequest {
  /** The current password. Required if you signed in more than ten minutes ago. */
  password?: string | null;
}

export interface BotType {
  botName: string;
  clicks: number;
  /** Of the clicks of bots. */
  percentage: number;
}

export interface Bots {
  /** Of all clicks, those of people included. */
  botPercentage: number;
  botTypes: BotType[];
  /** Only with compare. */
  comparison?: ComparedBots;
  totalBotClicks: number;
}

export interface BrowserConversion {
  /** The value of the click parameter that the page received. */
  clickId: string;
  /** ISO 4217 code of the value's currency. */
  currency?: string;
  /** Your id of the conversion, such as an order number. */
  externalId?: string;
  /** The workspace's publishable key. Required here or as the parameter key of the query. */
  key?: string;
  /** What happened, such as purchase. */
  name: string;
  /** When it happened; without it, now. */
  occurredAt?: string;
  /** Whether one click can convert more than once. Requires externalId. */
  repeatable?: boolean;
  /** An amount of money. */
  value?: number;
}

export interface BulkCreateURLsRequest {
  /** 1 to 1,000 items; each succeeds or fails on its own. */
  urls: BulkItem[];
}

export interface BulkCreated {
  failed: BulkFailure[];
  failureCount: number;
  succeeded: BulkSuccess[];
  successCount: number;
  total: number;
}

export interface BulkDeleteURLsRequest {
  /** 1 to 1,000 ids. */
  urlIds: string[];
}

export interface BulkDeleted {
  deletedCount: number;
  deletedIds: string[];
}

export interface BulkFailure {
  error: string;
  field: string;
  index: number;
}

export interface BulkItem {
  /** Bundles that contain the link; at most 100. */
  bundleIds?: string[] | null;
  customSlug?: string | null;
  /** Destination of a smart-routed link if no rule matches. */
  defaultUrl?: string | null;
  domain?: string | null;
  /** Where visitors go after expiry or exhaustion, instead of 410. */
  expiredUrl?: string | null;
  /** When the link stops working. */
  expiresAt?: string | null;
  /** Your own key for the link; at most 255 characters. */
  externalId?: string | null;
  /** Adds the path behind the slug to the destination: /slug/a/b leads to the destination with /a/b. */
  forwardPath?: boolean | null;
  isABTesting?: boolean | null;
  /** @deprecated The same as isABTesting. */
  isAbTest?: boolean | null;
  isSmartRouting?: boolean | null;
  /** Clicks by people after which the link stops working. */
  maxClicks?: number | null;
  /** For owners only; at most 2,000 characters. */
  notes?: string | null;
  /** At most 200 characters. */
  ogDescription?: string | null;
  /** Key of an image uploaded for this link. */
  ogImage?: string | null;
  /** At most 100 characters. */
  ogTitle?: string | null;
  /** Required; an item without it fails. */
  originalUrl?: string | null;
  /** 4 to 72 bytes; null removes it. */
  password?: string | null;
  /** 302 if left out. */
  redirectCode?: 301 | 302 | 307 | 308 | null;
  /** When the link starts to work. Before that, visitors get 404. */
  startsAt?: string | null;
  status?: 'ACTIVE' | 'INACTIVE' | null;
  /**
   * Whether a visitor of an A/B test keeps the variant: none (default), cookie (for 30 days, by a cookie of the short domain) or
   * hash (of the anonymised address and the User-Agent).
   */
  stickiness?: 'none' | 'cookie' | 'hash' | null;
  /**
   * Names of the link's tags, at most 20 of at most 40 characters. Unknown tags are created. A request that changes many links adds
   * them.
   */
  tags?: string[] | null;
  /** At most 255 characters. */
  title?: string | null;
  /** Adds the id of the click to the destination, so that conversions can be attributed to it. */
  trackConversions?: boolean | null;
  twitterCardType?: 'summary' | 'summary_large_image' | null;
  utmCampaign?: string | null;
  utmContent?: string | null;
  utmId?: string | null;
  utmMedium?: string | null;
  utmSource?: string | null;
  utmSourcePlatform?: string | null;
  utmTerm?: string | null;
}

export interface BulkSuccess {
  index: number;
  url: URL;
}

export interface BulkUpdate {
  /**
   * status, bundle, tags, expiration or utm, together with value; or an object {type, …} that contains status, bundleId, tags,
   * expiresAt, the utm fields, or value.
   */
  operation?: unknown;
  status?: 'ACTIVE' | 'INACTIVE' | null;
  /** 1 to 1,000 ids; all are changed or none. */
  urlIds: string[];
  /** New value for the operation. */
  value?: unknown;
}

export interface BulkUpdated {
  message: string;
  updatedCount: number;
  updatedIds: string[];
}

export interface Bundle {
  /** Hexadecimal, such as #3B82F6. */
  color: string;
  /** A time in RFC 3339. */
  createdAt: string;
  description: string | null;
  icon: string;
  id: string;
  name: string;
  status: 'ACTIVE' | 'ARCHIVED';
  /** Sum of the links' click counters. */
  totalClicks: number;
  /** A time in RFC 3339. */
  updatedAt: string;
  urlCount: number;
  /** In order. */
  urls: BundleURL[];
  userId: string;
}

export interface BundleDayStat {
  clicks: number;
  date: string;
}

export interface BundleStats {
  bundleId: string;
  /** The last 7 days, today last. */
  clickTrend: BundleDayStat[];
  /** First entry of topUrls; null without clicks. */
  topUrl: BundleTop | null;
  /** At most 10, most clicks first. */
  topUrls: BundleTopURL[];
  totalClicks: number;
  urlCount: number;
}

export interface BundleTop {
  clicks: number;
  domain: string;
  slug: string;
}

export interface BundleTopURL {
  clickCount: number;
  domain: string;
  id: string;
  slug: string;
}

export interface BundleURL {
  clickCount: number;
  /** A time in RFC 3339. */
  createdAt: string;
  id: string;
  /** Position in the bundle, from 0 without gaps. */
  order: number;
  originalUrl: string;
  shortUrl: string;
  slug: string;
  status: 'ACTIVE' | 'INACTIVE' | 'EXPIRED' | 'SCHEDULED' | 'EXHAUSTED' | 'SUSPENDED';
  title: string | null;
}

export interface Certificate {
  /** The certificate authority; null if there is no certificate yet. */
  issuer: string | null;
  /** Why the last order failed; null if it did not. */
  lastError: string | null;
  /** When the next order is placed, if the last one failed. */
  nextAttemptAt: string | null;
  /** When the certificate ends; null if there is none yet. */
  notAfter: string | null;
  /** When the certificate begins; null if there is none yet. */
  notBefore: string | null;
  /** ACME if the service orders and renews the certificate, UPLOADED if an owner has uploaded it. */
  source: 'ACME' | 'UPLOADED';
  /** PENDING until the first order succeeds, ACTIVE, or FAILED if the last order failed. An earlier certificate stays in use. */
  status: 'PENDING' | 'ACTIVE' | 'FAILED';
}

export interface CertificateChanged {
  /** The domain's host name, in ASCII. */
  hostname: string;
  /** The domain's id. */
  id: string;
  /** The name of the certificate authority; null if there is no certificate yet. */
  issuer: string | null;
  /** Why the last order failed; null if it succeeded. */
  lastError: string | null;
  /** When the certificate ends; null if there is none yet. */
  notAfter: string | null;
  /** When the certificate begins; null if there is none yet. */
  notBefore: string | null;
  /** ACME if the service orders the certificate, UPLOADED if an owner has uploaded it. */
  source: string;
}

export interface Change {
  /** The value after. */
  new: unknown;
  /** The value before. */
  old: unknown;
}

export interface ChangePasswordInBody {
  /** Required. */
  currentPassword?: string;
  /** At least 8 characters and at most 72 bytes. Common passwords and your own email are refused. */
  newPassword: string;
  /** @deprecated The same as currentPassword. */
  oldPassword?: string;
  /** Also delete all your API keys. */
  revokeApiKeys?: boolean | null;
}

export interface ChangeUser {
  id: string;
  /** The e-mail address of a user without a name. Null if the user was deleted. */
  name: string | null;
}

export interface Click {
  botName: string | null;
  browser: string;
  city: string;
  country: string;
  /** @deprecated The same as timestamp. */
  createdAt: string;
  device: string;
  id: string;
  ip: string | null;
  /** @deprecated The same as ip. */
  ipAddress: string | null;
  isBot: boolean;
  os: string;
  referer: string;
  region: string;
  routingRuleId: string | null;
  /** A time in RFC 3339. */
  timestamp: string;
  utmCampaign: string | null;
  utmContent: string | null;
  utmId: string | null;
  utmMedium: string | null;
  utmSource: string | null;
  utmSourcePlatform: string | null;
  utmTerm: string | null;
  variantId: string | null;
}

export interface ClickBaseline {
  /** Clicks that the other service has counted. */
  count: number;
  /** Name of the service. */
  source: string;
  /** When that service was asked. Clicks may have been counted here before that. */
  until: string;
}

export interface ClickData {
  /** Browser family. */
  browser: string | null;
  /** English name. */
  city: string | null;
  /** ISO 3166-1 code. */
  country: string | null;
  /** MOBILE, DESKTOP or TABLET. */
  device: string | null;
  /** The visitor's address, shortened or null if addresses are anonymised. */
  ip: string | null;
  /** Whether the visitor is a known bot. */
  isBot: boolean;
  /** Operating system. */
  os: string | null;
  /** The Referer header. */
  referer: string | null;
  /** The User-Agent header. */
  userAgent: string | null;
  /** utm_campaign of this click. */
  utmCampaign: string | null;
  /** utm_content of this click. */
  utmContent: string | null;
  /** utm_id of this click. */
  utmId: string | null;
  /** utm_medium of this click. */
  utmMedium: string | null;
  /** utm_source of this click. */
  utmSource: string | null;
  /** utm_source_platform of this click. */
  utmSourcePlatform: string | null;
  /** utm_term of this click. */
  utmTerm: string | null;
}

export interface ComparedBots {
  /** Last day of that period, or the instant at which it ends if the interval is minute or hour. */
  endDate: string;
  /** The same figures of that period. */
  figures: Bots;
  /** 4 with compare=weeks: the figures are the mean of so many periods, from startDate to endDate. Otherwise absent. */
  periods?: number;
  /** First day of that period, or its first instant if the interval is minute or hour. */
  startDate: string;
}

export interface ComparedGroups {
  /** Last day of that period, or the instant at which it ends if the interval is minute or hour. */
  endDate: string;
  /** The same figures of that period. */
  figures: Groups;
  /** 4 with compare=weeks: the figures are the mean of so many periods, from startDate to endDate. Otherwise absent. */
  periods?: number;
  /** First day of that period, or its first instant if the interval is minute or hour. */
  startDate: string;
}

export interface ComparedHeatmap {
  /** Last day of that period, or the instant at which it ends if the interval is minute or hour. */
  endDate: string;
  /** The same figures of that period. */
  figures: Heatmap;
  /** 4 with compare=weeks: the figures are the mean of so many periods, from startDate to endDate. Otherwise absent. */
  periods?: number;
  /** First day of that period, or its first instant if the interval is minute or hour. */
  startDate: string;
}

export interface ComparedReport {
  /** Last day of that period, or the instant at which it ends if the interval is minute or hour. */
  endDate: string;
  /** The same figures of that period. */
  figures: Report;
  /** 4 with compare=weeks: the figures are the mean of so many periods, from startDate to endDate. Otherwise absent. */
  periods?: number;
  /** First day of that period, or its first instant if the interval is minute or hour. */
  startDate: string;
}

export interface ComparedRouting {
  /** Last day of that period, or the instant at which it ends if the interval is minute or hour. */
  endDate: string;
  /** The same figures of that period. */
  figures: Routing;
  /** 4 with compare=weeks: the figures are the mean of so many periods, from startDate to endDate. Otherwise absent. */
  periods?: number;
  /** First day of that period, or its first instant if the interval is minute or hour. */
  startDate: string;
}

export interface ComparedSharedFigures {
  /** Last day of that period, or the instant at which it ends if the interval is minute or hour. */
  endDate: string;
  /** The same figures of that period. */
  figures: SharedFigures;
  /** 4 with compare=weeks: the figures are the mean of so many periods, from startDate to endDate. Otherwise absent. */
  periods?: number;
  /** First day of that period, or its first instant if the interval is minute or hour. */
  startDate: string;
}

export interface ComparedTest {
  /** Last day of that period, or the instant at which it ends if the interval is minute or hour. */
  endDate: string;
  /** The same figures of that period. */
  figures: Test;
  /** 4 with compare=weeks: the figures are the mean of so many periods, from startDate to endDate. Otherwise absent. */
  periods?: number;
  /** First day of that period, or its first instant if the interval is minute or hour. */
  startDate: string;
}

export interface ComparedTests {
  /** Last day of that period, or the instant at which it ends if the interval is minute or hour. */
  endDate: string;
  /** The same figures of that period. */
  figures: Tests;
  /** 4 with compare=weeks: the figures are the mean of so many periods, from startDate to endDate. Otherwise absent. */
  periods?: number;
  /** First day of that period, or its first instant if the interval is minute or hour. */
  startDate: string;
}

export interface ComparedYields {
  /** Last day of that period, or the instant at which it ends if the interval is minute or hour. */
  endDate: string;
  /** The same figures of that period. */
  figures: Yields;
  /** 4 with compare=weeks: the figures are the mean of so many periods, from startDate to endDate. Otherwise absent. */
  periods?: number;
  /** First day of that period, or its first instant if the interval is minute or hour. */
  startDate: string;
}

export type Condition = DeviceCondition | TextCondition | CountryCondition | TimeCondition | DayOfWeekCondition | IpCondition | ContinentCondition | QueryCondition | DateCondition | VisitorCondition | PercentageCondition;

/** Both forms mean the same, and can be nested in each other, up to 8 levels. */
export type ConditionGroup = OperatorGroup | LogicalOperatorGroup;

export interface ContinentCondition {
  operator: 'equals' | 'not_equals' | 'contains' | 'not_contains' | 'in' | 'not_in' | 'starts_with' | 'ends_with';
  type: 'continent';
  value: string | string[];
}

export interface Conversion {
  browser: string;
  city: string;
  /** The id of the click in lists of clicks; null until the click has arrived. */
  clickId: string | null;
  /** A time in RFC 3339. */
  clickedAt: string;
  country: string;
  /** ISO 4217 code. */
  currency: string | null;
  device: string;
  externalId: string | null;
  id: string;
  /** The goal. */
  name: string;
  /** A time in RFC 3339. */
  occurredAt: string;
  os: string;
  /** A time in RFC 3339. */
  receivedAt: string;
  referer: string;
  region: string;
  repeatable: boolean;
  routingRuleId: string | null;
  /** Who sent it: a server with an API key, or a browser. */
  source: 'api' | 'browser';
  utmCampaign: string | null;
  utmMedium: string | null;
  utmSource: string | null;
  /** Exact, with at most four decimals. */
  value: number;
  variantId: string | null;
}

export interface ConversionCreatedEvent {
  data: ConversionMade;
  event: 'conversion.created';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface ConversionItem {
  /** The id of the click, from the query of the destination. */
  clickId: string;
  /** ISO 4217. */
  currency?: string;
  /** Your own id, such as an order number. It counts once for the name in the workspace, whichever click it comes with. */
  externalId?: string;
  /** What happened: letters, digits, spaces and . _ : / -. A link has at most 50 different names. */
  name: string;
  /** When it happened; without it, now. */
  occurredAt?: string;
  /** Counts the name again for the same click, once for each externalId, which it needs. */
  repeatable?: boolean;
  /** A number with at most four decimals. */
  value?: number;
}

export interface ConversionItems {
  items: ConversionItem[];
}

export interface ConversionMade {
  /** When the visitor followed the link. */
  clickedAt: string;
  /** The value's currency (ISO 4217). */
  currency: string | null;
  /** The host name of the link's address. */
  domain: string;
  /** The sender's own id. */
  externalId: string | null;
  /** The conversion's id. A repeated delivery has the same. */
  id: string;
  /** What the visitor did, such as purchase. */
  name: string;
  /** When it happened. */
  occurredAt: string;
  /** The rule that matched; null also if the click has not arrived yet. */
  ruleId: string | null;
  /** The link's address. */
  shortUrl: string;
  /** The link's slug. */
  slug: string;
  /** The link's id. */
  urlId: string;
  /** The value, 0 if there is none. */
  value: number;
  /** The variant that was drawn; null also if the click has not arrived yet. */
  variantId: string | null;
}

export interface ConversionResult {
  /** The field to blame. */
  field?: string;
  /** The place of the item in the request, from 0. */
  index: number;
  /** What to change. */
  message?: string;
  /**
   * accepted: it is stored. duplicate: it was accepted before, and does not count again; field is externalId if that was with
   * another click. All others are refused: invalid (a field is wrong), malformed (no click id), forged (not from this
   * installation), foreign (a link of another workspace), expired (the click is too old), before_click and in_future (the time is
   * impossible), too_many_goals (the link has 50 other names).
   */
  verdict: 'accepted' | 'duplicate' | 'invalid' | 'malformed' | 'forged' | 'foreign' | 'expired' | 'before_click' | 'in_future' | 'too_many_goals';
}

export interface ConversionSettings {
  /** The query parameter with the id of the click that edges add to destinations. */
  clickParameter: string;
  /** Web sites whose pages may send conversions. *.example.com is every name below example.com. */
  hosts: string[];
  /** The key that pages send with conversions. It is not secret. null before the settings are first changed. */
  publishableKey: string | null;
}

export interface ConversionsSent {
  /** Number of items that were stored. */
  accepted: number;
  /** Number of all others, duplicates included. */
  rejected: number;
  /** One for each item, in the order of the request. */
  results: ConversionResult[];
}

export interface CountedBefore {
  /** 0 or more. */
  count: number;
  /** Name of the service; at most 60 characters. */
  source: string;
  /** When the other service was asked; at most an hour ahead. */
  until: string;
}

export interface CountryCondition {
  operator: 'equals' | 'not_equals' | 'contains' | 'not_contains' | 'in' | 'not_in' | 'starts_with' | 'ends_with';
  type: 'country';
  value: string | string[];
}

export interface Counts {
  bundles: number;
  links: number;
  workspaces: number;
}

export interface CreateAlertChannelRequest {
  /** The default is true. */
  isActive?: boolean | null;
  kind: 'mail' | 'slack' | 'teams' | 'discord';
  /** 1 to 100 characters. */
  name: string;
  /** Beginning of the quiet hours; null removes them together with quietTo. */
  quietFrom?: string | null;
  quietTo?: string | null;
  /** E-mail address of a member, or a public https address. */
  target: string;
  /** IANA time zone of the quiet hours; UTC if it is left out. */
  timeZone?: string | null;
}

export interface CreateAlertRuleRequest {
  /** At least one. */
  causes: ('clicks' | 'destination' | 'expiry' | 'exhaustion' | 'domain' | 'webhook')[];
  /** At most 20. Webhooks need no channel: they subscribe to alert.fired and alert.resolved. */
  channelIds?: string[] | null;
  /** 1 to 90; 7 if it is left out. */
  days?: number | null;
  /** The default is both. */
  direction?: 'both' | 'above' | 'below' | null;
  /** 1 to 99; 90 if it is left out. */
  exhaustionPercent?: number | null;
  /** The default is true. Open alerts of a rule that is turned off are resolved without messages. */
  isActive?: boolean | null;
  /** At least 1; 20 if it is left out. */
  minClicks?: number | null;
  /** 10 to 100; 50 if it is left out: half of the expected clicks. */
  minFallPercent?: number | null;
  /** 10 to 10,000; 100 if it is left out: twice the expected clicks. */
  minRisePercent?: number | null;
  /** 1 to 100 characters. */
  name: string;
  /** The default is normal. */
  sensitivity?: 'low' | 'normal' | 'high' | null;
  /** Names of at most 20 tags: only links with one of them. It must be empty together with urlId. */
  tags?: string[] | null;
  /** Only this link; null: all links of the workspace. */
  urlId?: string | null;
}

export interface CreateAnnotation {
  /** The instant to mark. It may be in the future. */
  at: string;
  /** 1 to 280 characters. */
  text: string;
  /** The link that the note is about. Without it, the note is about the whole workspace. */
  urlId?: string | null;
}

export interface CreateBundle {
  /** Hexadecimal; #3B82F6 if left out. */
  color?: string | null;
  /** At most 1,000 characters. */
  description?: string | null;
  /** Name of an icon; folder if left out. */
  icon?: string | null;
  /** 1 to 100 characters. */
  name: string;
  /** Ids of the links in the bundle, at most 1,000. */
  urlIds?: string[] | null;
}

export interface CreateDomain {
  /** Files that let apps open the links of the domain. null removes both. */
  appLinks?: AppLinksFields;
  /** An https URL. Browsers of visitors load the picture from there. null or an empty string removes it. */
  brandLogoUrl?: string | null;
  /** At most 60 characters. null or an empty string removes it. */
  brandName?: string | null;
  /** true if left out. false is a conflict while slugs differ in case only; the message names them. */
  caseSensitive?: boolean | null;
  /** null or an empty string removes it. */
  expiredUrl?: string | null;
  /** A host name without scheme, port and path. */
  hostname: string;
  /** Seconds, at most two years. */
  hsts?: number | null;
  /** true takes the mark from the workspace's other domains. */
  isDefault?: boolean | null;
  /** 1 to 3; 3 if left out. */
  minSlugLength?: number | null;
  /** null or an empty string removes it. */
  notFoundUrl?: string | null;
  /** null or an empty string removes it. */
  rootUrl?: string | null;
  /** basic if left out: letters, digits, hyphens and underscores. extended: also dots, slashes and letters of all scripts. */
  slugs?: 'basic' | 'extended' | null;
}

export interface CreateInvitationInBody {
  /** Whom to invite. */
  email: string;
  role: 'OWNER' | 'ADMIN' | 'EDITOR' | 'VIEWER';
}

export interface CreateKeyInBody {
  /** At most 20 addresses or networks (CIDR) from which the key can be used. None means all. */
  allowedIps?: string[] | null;
  /** Must be in the future. Without it, the key lasts as long as the operator permits, by default forever. */
  expiresAt?: string | null;
  /** 1 to 100 characters. */
  name: string;
  /** None means all that you may do in the workspace. */
  scopes?: ('links:read' | 'links:write' | 'analytics:read' | 'conversions:write' | 'webhooks' | 'domains' | 'members')[] | null;
}

export interface CreateMailReport {
  /** Weeks begin on Monday. */
  every: 'WEEK' | 'MONTH';
  /** Default: true. */
  isActive?: boolean | null;
  /** 1 to 60 characters. */
  name: string;
  /**
   * At most 20 e-mail addresses. They replace the present ones; an address that has unsubscribed stays. Addresses of members get
   * reports at once, others after they have confirmed.
   */
  recipients?: string[] | null;
  /** Id of a segment of the workspace. Null, or left out: all clicks. */
  segmentId?: string | null;
  /** IANA time zone of its days. Default: UTC. */
  timezone?: string | null;
}

export interface CreateOIDCProviderRequest {
  /** Only emails of these domains are linked to users or create users. Empty means all domains. */
  allowedDomains?: string[] | null;
  clientId: string;
  /** Never returned. */
  clientSecret: string;
  /** The issuer's public https URL, with or without /.well-known/openid-configuration. */
  discoveryUrl: string;
  /** The default is true. */
  isActive?: boolean | null;
  /** Shown on the sign-in button. At most 100 characters. */
  name: string;
  /** Separated by spaces, including openid. The default is openid email profile. */
  scopes?: string | null;
  /** Part of the provider's URLs. It cannot be changed later. */
  slug: string;
  /**
   * For providers that send no email_verified, such as Entra ID: true takes emails of allowedDomains as verified, and needs
   * allowedDomains. An email_verified that is false still counts. The default is false.
   */
  trustEmail?: boolean | null;
}

export interface CreateRule {
  /**
   * A group {operator: AND|OR, conditions: […]} or {logicalOperator, items}; members are groups and conditions {type, operator,
   * value}. At most 100 conditions per rule and 100 rules per link. Evaluating all rules of a link may cost at most 1,000 µs of
   * processor time for the most expensive visit. The estimate counts conditions and the length of their values. A request that
   * exceeds the limit is a 400 that names the condition, or the field conditions if only the rules together are too expensive.
   */
  conditions: ConditionGroup;
  /** true if left out. */
  isActive?: boolean | null;
  /** 1 to 100 characters. */
  name: string;
  /** 0 to 10,000; 0 if left out. */
  priority?: number | null;
  /** Same rules and stored form as originalUrl of a short URL. */
  targetUrl: string;
}

export interface CreateSegment {
  /** At least one filter with a value. */
  filters: SegmentFilters;
  /** 1 to 60 characters, unique in the workspace without regard to case. */
  name: string;
}

export interface CreateShared {
  about: 'workspace' | 'link' | 'tag' | 'bundle' | 'domain';
  /** When the address stops working. Null: never. */
  expiresAt?: string | null;
  /** 1 to 80 characters, which viewers see. */
  name: string;
  /** Up to 20 origins whose pages may embed the report, such as https://www.example.com. Null: none. */
  origins?: string[] | null;
  /** 8 characters to 72 bytes. Null: none. */
  password?: string | null;
  /** Range and filters, which viewers cannot change. Null: the last 30 days without filters. */
  selection?: SharedSelection;
  /** Whether to list the short URLs with most clicks. Default: true. */
  showLinks?: boolean | null;
  /** Id of the link, tag or bundle, or host name of the domain. Leave it out for the workspace. */
  target?: string | null;
}

export interface CreateTag {
  /** Hexadecimal; #6B7280 if left out. */
  color?: string | null;
  /** 1 to 40 characters, unique in the workspace without regard to case. */
  name: string;
}

export interface CreateTemplate {
  /** 1 to 100 characters, unique in the workspace without regard to case. */
  name: string;
  utmCampaign?: string | null;
  utmContent?: string | null;
  utmId?: string | null;
  utmMedium?: string | null;
  /** At most 255 characters, like every campaign field. */
  utmSource?: string | null;
  utmSourcePlatform?: string | null;
  utmTerm?: string | null;
}

export interface CreateURL {
  /** Bundles that contain the link; at most 100. */
  bundleIds?: string[] | null;
  /** 3 to 50 letters, digits, hyphens or underscores; generated if left out. */
  customSlug?: string | null;
  /** Destination of a smart-routed link if no rule matches. */
  defaultUrl?: string | null;
  /**
   * A domain of the workspace; if left out, the workspace's default domain. null or an empty string stands for the default domain
   * of the service.
   */
  domain?: string | null;
  /** Where visitors go after expiry or exhaustion, instead of 410. */
  expiredUrl?: string | null;
  /** When the link stops working. */
  expiresAt?: string | null;
  /** Your own key for the link; at most 255 characters. */
  externalId?: string | null;
  /** Adds the path behind the slug to the destination: /slug/a/b leads to the destination with /a/b. */
  forwardPath?: boolean | null;
  isABTesting?: boolean | null;
  /** @deprecated The same as isABTesting. */
  isAbTest?: boolean | null;
  isSmartRouting?: boolean | null;
  /** Clicks by people after which the link stops working. */
  maxClicks?: number | null;
  /** For owners only; at most 2,000 characters. */
  notes?: string | null;
  /** At most 200 characters. */
  ogDescription?: string | null;
  /** Key of an image uploaded for this link. */
  ogImage?: string | null;
  /** At most 100 characters. */
  ogTitle?: string | null;
  /**
   * An absolute http or https address of at most 2,048 bytes, or what the settings MAX_DESTINATION_BYTES and ALLOWED_SCHEMES of the
   * installation allow. A non-ASCII host is stored in its IDNA form (xn--…), other non-ASCII characters percent-encoded.
   */
  originalUrl: string;
  /** 4 to 72 bytes; null removes it. */
  password?: string | null;
  /** 302 if left out. */
  redirectCode?: 301 | 302 | 307 | 308 | null;
  /** When the link starts to work. Before that, visitors get 404. */
  startsAt?: string | null;
  status?: 'ACTIVE' | 'INACTIVE' | null;
  /**
   * Whether a visitor of an A/B test keeps the variant: none (default), cookie (for 30 days, by a cookie of the short domain) or
   * hash (of the anonymised address and the User-Agent).
   */
  stickiness?: 'none' | 'cookie' | 'hash' | null;
  /**
   * Names of the link's tags, at most 20 of at most 40 characters. Unknown tags are created. A request that changes many links adds
   * them.
   */
  tags?: string[] | null;
  /** At most 255 characters. */
  title?: string | null;
  /** Adds the id of the click to the destination, so that conversions can be attributed to it. */
  trackConversions?: boolean | null;
  twitterCardType?: 'summary' | 'summary_large_image' | null;
  utmCampaign?: string | null;
  utmContent?: string | null;
  utmId?: string | null;
  utmMedium?: string | null;
  utmSource?: string | null;
  utmSourcePlatform?: string | null;
  utmTerm?: string | null;
}

export interface CreateUserInBody {
  /** Unique, ignoring case. */
  email: string;
  name?: string;
  /** At least 8 characters and at most 72 bytes. Common passwords and the user's email are refused. */
  password: string;
  /** The default is USER. */
  role?: 'ADMIN' | 'USER';
}

export interface CreateVariant {
  /** true if left out. */
  isActive?: boolean | null;
  /** 1 to 100 characters. */
  name: string;
  /** Same rules and stored form as originalUrl of a short URL. */
  targetUrl: string;
  /** 0 to 100; 50 if left out. */
  weight?: number | null;
}

export interface CreateView {
  /** 1 to 60 characters. A user's views of a screen have different names in a workspace, without regard to case. */
  name: string;
  /** 0 to 1,000,000; a new view becomes the last one if it is left out. */
  position?: number | null;
  /** Query string of the screen's address, at most 2,000 bytes. */
  query: string;
  screen: 'links' | 'analytics';
  /** Whether all members of the workspace see the view. Only EDITORs and above share views. */
  shared?: boolean | null;
}

export interface CreateWebhookRequest {
  /** At least one. */
  events: ('url.created' | 'url.updated' | 'url.deleted' | 'url.restored' | 'url.clicked' | 'routing.rule_created' | 'routing.rule_updated' | 'routing.rule_deleted' | 'routing.rule_matched' | 'link.started' | 'link.expired' | 'link.exhausted' | 'link.destination_broken' | 'link.destination_recovered' | 'conversion.created' | 'experiment.decided' | 'domain.verified' | 'domain.failed' | 'domain.certificate.issued' | 'domain.certificate.failed' | 'domain.certificate.expiring' | 'alert.fired' | 'alert.resolved')[];
  /** Replaces all custom headers. Standard headers of deliveries cannot be set. The value *** keeps the present value of the header. */
  headers?: Record<string, string> | null;
  /** The default is true. */
  isActive?: boolean | null;
  /** Whether failed deliveries are attempted for three days instead of three minutes. The default is false. */
  longRetries?: boolean | null;
  /** 1 to 100 characters. */
  name: string;
  /** The default is own; all requires an administrator. */
  scope?: 'own' | 'all' | null;
  /** At most 255 characters. If missing, a new webhook gets a generated secret. Without a secret, deliveries are not signed. */
  secret?: string | null;
  /** A public https URL. */
  url: string;
}

export interface CreateWorkspaceInBody {
  /** 1 to 100 characters. */
  name: string;
  /** 3 to 40 lower-case letters, digits and hyphens; unique. By default it is made from the name. */
  slug?: string | null;
}

export interface DateCondition {
  operator: 'between' | 'before' | 'after';
  type: 'date';
  /** between needs an object with start and end. */
  value: string | {
    /** A date or time, such as 2026-12-24T18:00:00+01:00, or without an offset 2026-12-24T18:00 or 2026-12-24. */
    end?: string | null;
    /** A date or time, such as 2026-12-24T18:00:00+01:00, or without an offset 2026-12-24T18:00 or 2026-12-24. */
    start?: string | null;
    /** IANA time zone, such as Europe/Berlin. Default: that of the service. */
    timezone?: string | null;
  };
}

export interface DayFigures {
  /** When the minute or hour begins. Only if interval is minute or hour. */
  at?: string;
  clicks: number;
  /** Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if conversions repeat. Only with goal. */
  conversionRate?: number;
  /** Conversions of these clicks. Only with goal. */
  conversions?: number;
  /** The day. With interval week or month: the first day of the week or month, which may be before startDate. */
  date: string;
  /**
   * Relative standard error of uniqueVisitors in percent: 2 of 3 estimates are at most that far off, and 19 of 20 at most twice as
   * far. 0 if uniqueVisitors is exact.
   */
  error: number;
  /** Sum of the values of the conversions in each currency. Only with goal. */
  revenue?: Amount[];
  /** Distinct addresses. */
  uniqueVisitors: number;
  /** Whether uniqueVisitors was counted. With about a million visitors or more in the requested range it is an estimate. */
  uniqueVisitorsIsExact: boolean;
}

export interface DayOfWeekCondition {
  operator: 'in' | 'not_in' | 'equals' | 'not_equals';
  type: 'day_of_week';
  value: number | number[] | {
    days: number[];
    /** IANA time zone, such as Europe/Berlin. Default: that of the service. */
    timezone?: string | null;
  };
}

export interface Destination {
  chosenBy: 'RULE' | 'VARIANT' | 'DEFAULT' | 'ORIGINAL';
  /** Name of the parameter to which an edge adds the id of the click (trackConversions). null: none. */
  clickParameter: string | null;
  /** Place of the rule or variant in the list of the draft, from 0. null: it is not from a list of a draft. */
  index: number | null;
  /**
   * Final address with the link's campaign parameters and the visitor's parameters. The value of clickParameter is empty, because
   * the visit is not recorded.
   */
  location: string;
  /** null if another part chose the destination, or if the rule is new in the draft. */
  ruleId: string | null;
  targetUrl: string;
  /**
   * null if another part chose the destination, or if the variant is new in the draft. Drawn at random, as for a real visitor. On a
   * sticky link, the variant that the visitor with this cookie, or with this address and browser, always gets.
   */
  variantId: string | null;
}

export interface DestinationChanged {
  /** When the address was asked last; null: never. */
  checkedAt: string | null;
  /** The address that is concerned, one of those to which the link leads. */
  destination: string;
  /** The host name of the link's address. */
  domain: string;
  /** The health of the link from now on. */
  health: 'ok' | 'redirected' | 'broken' | 'unknown';
  /** Why, as a code such as not_found; null if the address works. */
  reason: string | null;
  /** The link's address. */
  shortUrl: string;
  /** The link's slug. */
  slug: string;
  /** The HTTP status of the last answer; null if there was none. */
  statusCode: number | null;
  /** The link's title. */
  title: string | null;
  /** The link's id. */
  urlId: string;
  /** The link's owner. */
  userId: string;
}

export interface DeviceCondition {
  operator: 'equals' | 'not_equals' | 'contains' | 'not_contains' | 'in' | 'not_in' | 'starts_with' | 'ends_with';
  type: 'device';
  value: string | string[];
}

export interface DisableTOTPInBody {
  /** A code of the authenticator app, or a recovery code. */
  code: string;
  password: string;
}

export interface Domain {
  appLinks: AppLinks;
  /** The picture beside the name. */
  brandLogoUrl: string | null;
  /** The name on pages for visitors, such as the one that asks for a password. Without it, the pages show the brand of the service. */
  brandName: string | null;
  /** Whether slugs that differ in case only are different links. If not, a slug is found in any case. */
  caseSensitive: boolean;
  /** The certificate for TLS; null before the service has begun to order one, and if it orders none. */
  certificate: Certificate | null;
  /** When the records were last looked for. */
  checkedAt: string | null;
  /** A time in RFC 3339. */
  createdAt: string;
  /** The host name for people, with international characters. */
  displayName: string;
  /** Where visitors of expired and exhausted links go that have no expiredUrl themselves. Without it they get 410. */
  expiredUrl: string | null;
  /** In ASCII; international names are in Punycode. */
  hostname: string;
  /** max-age of the header Strict-Transport-Security in seconds; 0: no header. */
  hsts: number;
  id: string;
  /** Whether new links of the workspace get this domain if they name none. */
  isDefault: boolean;
  /** Characters that a slug has at least. */
  minSlugLength: number;
  /** Where visitors of slugs go that do not exist. Without it they get 404. */
  notFoundUrl: string | null;
  /** The DNS records that the owner of the name has to set. */
  records: DomainRecord[];
  /** Where visitors of / go. Without it they get 404. */
  rootUrl: string | null;
  slugs: 'basic' | 'extended';
  /**
   * PENDING until the TXT record is found, ACTIVE while edges serve the domain, FAILED after the TXT record was missing for a week,
   * SUSPENDED while an administrator keeps it out of service.
   */
  status: 'PENDING' | 'ACTIVE' | 'FAILED' | 'SUSPENDED';
  /** Why an administrator suspended the domain. */
  suspendReason: string | null;
  /** A time in RFC 3339. */
  updatedAt: string;
  /** Number of links, at most 10,000. */
  urlCount: number;
  workspaceId: string;
}

export interface DomainCertificateExpiringEvent {
  data: CertificateChanged;
  event: 'domain.certificate.expiring';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface DomainCertificateFailedEvent {
  data: CertificateChanged;
  event: 'domain.certificate.failed';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface DomainCertificateIssuedEvent {
  data: CertificateChanged;
  event: 'domain.certificate.issued';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface DomainChanged {
  /** The domain's host name, in ASCII. */
  hostname: string;
  /** The domain's id. */
  id: string;
  /** The domain's status from now on. */
  status: string;
}

export interface DomainFailedEvent {
  data: DomainChanged;
  event: 'domain.failed';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface DomainFields {
  /** Files that let apps open the links of the domain. null removes both. */
  appLinks?: AppLinksFields;
  /** An https URL. Browsers of visitors load the picture from there. null or an empty string removes it. */
  brandLogoUrl?: string | null;
  /** At most 60 characters. null or an empty string removes it. */
  brandName?: string | null;
  /** true if left out. false is a conflict while slugs differ in case only; the message names them. */
  caseSensitive?: boolean | null;
  /** null or an empty string removes it. */
  expiredUrl?: string | null;
  /** Seconds, at most two years. */
  hsts?: number | null;
  /** true takes the mark from the workspace's other domains. */
  isDefault?: boolean | null;
  /** 1 to 3; 3 if left out. */
  minSlugLength?: number | null;
  /** null or an empty string removes it. */
  notFoundUrl?: string | null;
  /** null or an empty string removes it. */
  rootUrl?: string | null;
  /** basic if left out: letters, digits, hyphens and underscores. extended: also dots, slashes and letters of all scripts. */
  slugs?: 'basic' | 'extended' | null;
}

export interface DomainRecord {
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  /** Whether the record was right at the last check. */
  found: boolean;
  /** What the last check found instead. */
  message: string | null;
  name: string;
  type: 'TXT' | 'CNAME' | 'A' | 'AAAA';
  value: string;
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
}

export interface DomainVerifiedEvent {
  data: DomainChanged;
  event: 'domain.verified';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface DraftRule {
  /** A group of conditions, as for a saved rule. */
  conditions: ConditionGroup;
  /** Id of a saved rule of the link, which this rule replaces. Left out for a new rule. */
  id?: string | null;
  /** true if left out. */
  isActive?: boolean | null;
  /** 1 to 100 characters. */
  name: string;
  /** 0 to 10,000; 0 if left out. */
  priority?: number | null;
  /** Same rules and stored form as originalUrl of a short URL. */
  targetUrl: string;
}

export interface DraftVariant {
  /** Id of a saved variant of the link, which this variant replaces. Left out for a new variant. */
  id?: string | null;
  /** true if left out. */
  isActive?: boolean | null;
  /** 1 to 100 characters. */
  name: string;
  /** Same rules and stored form as originalUrl of a short URL. */
  targetUrl: string;
  /** 0 to 100; 50 if left out. */
  weight?: number | null;
}

export interface DuplicateURLRequest {
  /** 3 to 50 letters, digits, hyphens or underscores; generated if left out. */
  customSlug?: string | null;
  /** Another domain of the workspace than that of the original; null for the host of the service. */
  domain?: string | null;
  /** Another title than that of the original; at most 255 characters. */
  title?: string | null;
}

export interface Edge {
  address: string;
  appliedRevision: number;
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  /** The id in its data folder. */
  id: string;
  /** Id of the log of changes that it follows. */
  incarnation: string;
  /** Whether it has reported within the last 35 seconds. */
  isAlive: boolean;
  /** Changes of links up to now that it had not applied at its last report. */
  lag: number;
  /** A time in RFC 3339. */
  lastSeenAt: string;
  /** How long redirects of the last minute took; null without measured redirects. */
  latency: EdgeLatency | null;
  links: number;
  /** EDGE_NAME; empty if it is not set. */
  name: string;
  /** Why it rejected the last snapshot. */
  refused: string | null;
  /** REGION; empty if it is not set. */
  region: string;
  /** Id of the process; new at each start. */
  run: string;
  /** Time of the first report of this run. */
  runningSince: string;
  /** Links whose rules the edge cannot use, by domain and slug, at most 100. */
  setAside: Aside[];
  setAsideCount: number;
  spool: EdgeSpool;
  /** Hash of its links; the same at all edges with the same revision. */
  stateHash: string;
  /** Another process with the same id whose reports are rejected. It keeps its clicks. */
  twin: EdgeTwin | null;
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
  version: string;
}

export interface EdgeLatency {
  /** The median in milliseconds. */
  p50Ms: number;
  /** The 99th percentile in milliseconds. */
  p99Ms: number;
  /** Redirects that were measured, which is one in sixteen. */
  samples: number;
}

export interface EdgeList {
  edges: Edge[];
  /** How far the clicks of each region reach, by name. */
  regions: RegionReach[];
  revision: number;
}

export interface EdgeSpool {
  bytes: number;
  /** Clicks dropped since its start because the spool was full. */
  dropped: number;
  /** Age of the oldest click that is not delivered. */
  oldestMs: number;
  /** Clicks that are not delivered yet. */
  pending: number;
}

export interface EdgeTwin {
  /** A time in RFC 3339. */
  lastSeenAt: string;
  run: string;
}

export interface EditChange {
  /** Ids of bundles that the links enter, at the end. */
  bundleIds?: string[];
  /**
   * The domain to which the links move with their slugs, such as go.example.com; null is the host of BASE_URL. Old addresses stop
   * working. A slug that is taken there is a problem of its link.
   */
  domain?: string | null;
  /** When the links stop working; null removes the expiry. */
  expiresAt?: string | null;
  redirectCode?: 301 | 302 | 307 | 308;
  /** Ids of bundles that the links leave. */
  removeBundleIds?: string[];
  /** Names of tags to remove. */
  removeTags?: string[];
  /** Replaces a part of originalUrl, defaultUrl and expiredUrl. Rules and variants keep their destinations. */
  replace?: EditReplace;
  /** Turns the links on or off. */
  status?: 'ACTIVE' | 'INACTIVE';
  /** Names of tags to add. */
  tags?: string[];
  /** Campaign fields to set; null clears one. */
  utm?: EditUTM;
}

export interface EditFilter {
  bundleId?: string;
  /** As in the list of links. */
  createdBefore?: string;
  createdBy?: string;
  /** As in the list of links. */
  createdFrom?: string;
  domain?: string;
  /** As in the list of links. */
  health?: string;
  search?: string;
  /** As in the list of links, without DELETED. */
  status?: string;
  /** Names of tags, all of which a link has. */
  tags?: string[];
  utmCampaign?: string;
}

export interface EditProblem {
  field: string;
  id: string;
  message: string;
}

export interface EditReplace {
  /** A part of destinations, as it stands in them; upper and lower case differ. */
  find: string;
  /** What replaces it, wherever it occurs. */
  with: string;
}

export interface EditSample {
  changes: EditedField[];
  id: string;
  shortUrl: string;
}

export interface EditURLs {
  change: EditChange;
  /** Selects links of the workspace, at most 100,000. {} selects all. */
  filter?: EditFilter;
  /** 1 to 100,000 ids. Either these or filter. */
  urlIds?: string[];
}

export interface EditUTM {
  utmCampaign?: string | null;
  utmContent?: string | null;
  utmId?: string | null;
  utmMedium?: string | null;
  utmSource?: string | null;
  utmSourcePlatform?: string | null;
  utmTerm?: string | null;
}

export interface EditedField {
  after: unknown;
  /** The present value, as the link has it. */
  before: unknown;
  /** A field of the link, or bundles: names of bundles. */
  field: string;
}

export interface EnableTOTPInBody {
  code: string;
}

export interface EraseInBody {
  /** An IPv4 or IPv6 address. */
  ip: string;
}

export interface Erasure {
  /** Clicks whose address, visitor number and User-Agent were removed. The clicks still count. */
  clicks: number;
  /** Deleted lockout entries of the address, one per link. */
  passwordAttempts: number;
  /** Pending deliveries from which the address was removed. */
  webhookDeliveries: number;
  /** Deleted entries of the delivery log. */
  webhookLogs: number;
}

export interface Experiment {
  /** Active variants, oldest first. */
  arms: ExperimentArm[];
  /** The most frequent currency of the goal's conversions. */
  currency: string | null;
  decision: ExperimentDecision;
  /** Name of the conversions that count. */
  goal: string;
  /** There is revenue in other currencies, which is left out. */
  mixedCurrencies: boolean;
  /** null if there is no experiment with this goal. */
  onWinner: 'notify' | 'promote' | null;
  /** null if there is no experiment with this goal. */
  optimize: 'off' | 'bandit' | null;
  /** Visitors that each of two variants needs to find an uplift of 10 % with a probability of 80 %; null without conversions. */
  requiredVisitors: number | null;
  sampleRatio: ExperimentRatio;
  series: ExperimentDay[];
  /** Clicks from then on count. */
  startedAt: string;
}

export interface ExperimentArm {
  /** Visitors with at least one conversion of the goal. */
  conversions: number;
  /** Conversion rate that is lost on average if this variant is chosen. */
  expectedLoss: number;
  /** The true rate lies between these with a probability of 95 %. */
  interval: number[];
  name: string;
  /** Probability that this variant has the highest rate. */
  probabilityBest: number;
  /** Conversions divided by visitors, 0 to 1. */
  rate: number;
  /** In the currency of the report. */
  revenue: number;
  revenuePerVisitor: number;
  /** Relative difference to the rate of the first variant: 0.2 is 20 % more. null for the first variant. */
  uplift: number | null;
  /** The true uplift lies between these two with a probability of 95 %. null for the first variant. */
  upliftInterval: number[] | null;
  variantId: string;
  /** People for whom this variant was drawn: clicks, or different visitors if the link is sticky. */
  visitors: number;
  /** The present weight. */
  weight: number;
}

export interface ExperimentDay {
  arms: ExperimentDayArm[];
  /** The day (UTC). */
  date: string;
}

export interface ExperimentDayArm {
  conversions: number;
  rate: number;
  revenue: number;
  variantId: string;
  visitors: number;
}

export interface ExperimentDecidedEvent {
  data: ExperimentOver;
  event: 'experiment.decided';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface ExperimentDecision {
  /** When the autopilot decided. null if the decision is computed from the figures of this moment. */
  at: string | null;
  /** Why the autopilot waits; null if it does not. */
  paused: string | null;
  /** Like reasonCode, of paused. */
  pausedCode: 'LINK_INACTIVE' | 'NO_VISITORS' | 'ONE_WEIGHT' | 'TEST_OFF' | 'UNREADABLE' | 'LATE' | null;
  /** In English. */
  reason: string;
  /** The reason, for programs with words of their own. */
  reasonCode: 'GOAL_CHANGED' | 'RESTARTED' | 'STARTED' | 'VARIANTS_CHANGED' | 'FIGURES_CHANGED' | 'ONE_VARIANT' | 'FEW_VISITORS' | 'FEW_CONVERSIONS' | 'EQUAL' | 'LEADS' | 'LEADS_UNTIL' | 'BETTER' | 'ALIKE' | 'UNBALANCED';
  /**
   * What belongs in the sentence of the code: names of variants, counts (visitors, conversions, needed) and parts of one (all
   * others).
   */
  reasonValues: Record<string, unknown>;
  status: 'RUNNING' | 'WINNER' | 'NO_DIFFERENCE' | 'INVALID';
  /** The winner. */
  variantId: string | null;
}

export interface ExperimentOver {
  /** When the experiment ended. */
  decidedAt: string;
  /** The host name of the link's address. */
  domain: string;
  /** The name of the conversions that were compared. */
  goal: string;
  /** Whether the winner gets all visitors from now on. */
  promoted: boolean;
  /** Why, with figures. */
  reason: string;
  /** The link's address. */
  shortUrl: string;
  /** The link's slug. */
  slug: string;
  /** How the experiment ended. */
  status: 'WINNER' | 'NO_DIFFERENCE' | 'INVALID';
  /** The link's id. */
  urlId: string;
  /** The winner; null if there is none. */
  variantId: string | null;
  /** The winner's name; null if there is none. */
  variantName: string | null;
}

export interface ExperimentRatio {
  /** false: visitors are lost or counted twice, so no figure can be trusted. */
  ok: boolean;
  /** Probability of such a deviation from the weights, at any time, if visitors are distributed as the weights say. */
  p: number;
}

export interface ExperimentWeights {
  /** A time in RFC 3339. */
  at: string;
  /** What the weights were computed from: visitors, conversions and probabilityBest by variantId. Empty for weights of an owner. */
  figures: unknown;
  /** In English. */
  reason: string;
  /** The reason, for programs with words of their own. */
  reasonCode: 'BEGAN' | 'IMPROVED' | 'PROMOTED' | 'VARIANTS_CHANGED' | 'WEIGHTS_CHANGED' | 'WON';
  source: 'AUTOPILOT' | 'PROMOTION' | 'OWNER';
  /** By the id of each active variant. */
  weights: Record<string, number>;
}

export interface ExplainInBody {
  /** The family, as clicks have it. */
  browser?: string | null;
  /** English name. */
  city?: string | null;
  /**
   * Value of the visitor's cookie sl_v. It makes the visitor a returning one and determines the place of the visitor for
   * percentages.
   */
  cookie?: string | null;
  /** ISO 3166-1 code; overrides the location of the IP address. */
  country?: string | null;
  /** Overrides the User-Agent, as do os and browser. Clicks have these three. */
  device?: 'MOBILE' | 'TABLET' | 'DESKTOP' | null;
  /** Unsaved changes of the link. The answer is as if they were saved; nothing is stored. */
  draft?: LinkDraft;
  /** IP address of the visitor. Places and conditions of the type ip use it. */
  ip?: string | null;
  /** The Accept-Language header. */
  language?: string | null;
  os?: string | null;
  /** Path behind the slug. The destination of a link with forwardPath gets it; any other link is ABSENT at such an address. */
  path?: string | null;
  /** Query string of the short URL. Conditions of the type query use it. */
  query?: string | null;
  /** The Referer header. */
  referer?: string | null;
  /** ISO 3166-2 code or English name. */
  region?: string | null;
  /** Whether the visitor has been here before. A cookie implies it. */
  returning?: boolean | null;
  /** Time of the visit; now if left out. */
  time?: string | null;
  /** The User-Agent header. */
  userAgent?: string | null;
}

export interface ExplainNewInBody {
  /** The family, as clicks have it. */
  browser?: string | null;
  /** English name. */
  city?: string | null;
  /**
   * Value of the visitor's cookie sl_v. It makes the visitor a returning one and determines the place of the visitor for
   * percentages.
   */
  cookie?: string | null;
  /** ISO 3166-1 code; overrides the location of the IP address. */
  country?: string | null;
  /** Overrides the User-Agent, as do os and browser. Clicks have these three. */
  device?: 'MOBILE' | 'TABLET' | 'DESKTOP' | null;
  /** The link. */
  draft: NewLinkDraft;
  /** IP address of the visitor. Places and conditions of the type ip use it. */
  ip?: string | null;
  /** The Accept-Language header. */
  language?: string | null;
  os?: string | null;
  /** Path behind the slug. The destination of a link with forwardPath gets it; any other link is ABSENT at such an address. */
  path?: string | null;
  /** Query string of the short URL. Conditions of the type query use it. */
  query?: string | null;
  /** The Referer header. */
  referer?: string | null;
  /** ISO 3166-2 code or English name. */
  region?: string | null;
  /** Whether the visitor has been here before. A cookie implies it. */
  returning?: boolean | null;
  /** Time of the visit; now if left out. */
  time?: string | null;
  /** The User-Agent header. */
  userAgent?: string | null;
}

export interface ExplainedCondition {
  /** Members of a group. */
  children: ExplainedCondition[];
  /** false if the result did not depend on it. */
  evaluated: boolean;
  /** AND or OR; null for a condition. */
  logicalOperator: string | null;
  matched: boolean;
  operator: string | null;
  /** Condition type. For a group, type, operator, value and visitorValue are null. */
  type: 'device' | 'os' | 'browser' | 'country' | 'region' | 'city' | 'language' | 'time' | 'day_of_week' | 'referer' | 'utm_source' | 'utm_medium' | 'utm_campaign' | 'utm_term' | 'utm_content' | 'ip' | 'continent' | 'query' | 'date' | 'visitor' | 'percentage' | null;
  /** Value as sent. */
  value: unknown;
  /** Visitor's value in the comparison; null if unknown. For a percentage it is the visitor's percentile. */
  visitorValue: string | null;
}

export interface ExplainedRule {
  /** false if smart routing is off or an earlier rule matched. */
  evaluated: boolean;
  /** Place in the rules of the draft, from 0. null: the draft has no rules. */
  index: number | null;
  /** Final address if this rule applied. */
  location: string;
  /** Whether the conditions hold, even if the rule was not evaluated. */
  matched: boolean;
  name: string;
  priority: number;
  /** null: the rule is new in the draft. */
  ruleId: string | null;
  targetUrl: string;
  /** Condition group with the input and the result of each part. */
  trace: ExplainedCondition;
  wins: boolean;
}

export interface ExplainedVariant {
  /** Place in the variants of the draft, from 0. null: the draft has no variants. */
  index: number | null;
  location: string;
  name: string;
  /** Chance in percent, with one decimal, for a visitor that no rule matches; 0 if A/B testing is off. */
  percentage: number;
  targetUrl: string;
  /** null: the variant is new in the draft. */
  variantId: string | null;
  weight: number;
}

export interface ExplainedVisitor {
  botName: string | null;
  browser: string | null;
  city: string | null;
  /** AF, AN, AS, EU, NA, OC or SA. */
  continent: string | null;
  country: string | null;
  device: string | null;
  ip: string | null;
  isBot: boolean;
  /** Crawler of a social network that renders link previews. */
  isPreviewCrawler: boolean;
  /** Whether the visitor has been here before, for conditions of the type visitor. */
  isReturning: boolean;
  language: string | null;
  os: string | null;
  /**
   * The visitor's place among all visitors of this link, from 0 to below 100. Conditions of the type percentage hold for lower
   * places.
   */
  percentile: number;
  referer: string | null;
  region: string | null;
  regionCode: string | null;
  /** A time in RFC 3339. */
  time: string;
  utmCampaign: string | null;
  utmContent: string | null;
  utmMedium: string | null;
  utmSource: string | null;
  utmTerm: string | null;
}

export interface Explanation {
  destination: Destination;
  /**
   * Response to the visitor. ABSENT: the link has not started, gets no path behind its slug, or its domain is not in service; a
   * domain in service can have a notFoundUrl for such visitors. ENDED: the link has expired or is exhausted, and the visitor goes
   * to its expiredUrl or that of its domain. The destination is explained for every outcome; a visitor with the correct password
   * reaches it.
   */
  outcome: 'REDIRECT' | 'ABSENT' | 'GONE' | 'ENDED' | 'PREVIEW' | 'PASSWORD' | 'LOOP';
  /** Active rules in evaluation order. */
  rules: ExplainedRule[];
  /** HTTP status of the response: 301, 302, 307, 308, 404, 410, 200 or 508. */
  status: number;
  /** Active variants with a weight. */
  variants: ExplainedVariant[];
  /** Known facts about the visitor; unknown values are null. */
  visitor: ExplainedVisitor;
}

export interface FieldProblem {
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  field: string;
  message: string;
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
}

export interface FinishPasskeyLoginRequest {
  credential: PasskeyAsserted;
}

export interface FinishPasskeyRequest {
  credential: PasskeyCreated;
  /** At most 100 characters. The default is Passkey. */
  name?: string | null;
}

export interface ForgotPasswordInBody {
  email: string;
}

export interface Freshness {
  /**
   * Reports have all clicks up to this time: the earliest of the regions. Null if it is unknown for a region, or if there is none,
   * such as in a standalone process.
   */
  completeUntil: string | null;
  /** Age of completeUntil; 0 if it is unknown. */
  lagSeconds: number;
  /** By name. */
  regions: RegionFreshness[];
}

export interface FunnelStep {
  count: number;
  /** As a percentage of the first step. */
  rate: number;
  /** CLICK: all clicks. CONVERSION: those with at least one conversion. */
  step: 'CLICK' | 'CONVERSION';
}

export interface Goal {
  conversions: number;
  /** Clicks with at least one conversion of the goal. */
  convertedClicks: number;
  name: string;
  /** Sum of the values in each currency. */
  revenue: Amount[];
}

export interface GoalYield {
  /** Converted clicks as a percentage of all clicks. */
  conversionRate: number;
  conversions: number;
  /** Clicks with at least one conversion of the goal. */
  convertedClicks: number;
  name: string;
  revenue: Amount[];
}

export interface Group {
  clicks: number;
  /** Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if conversions repeat. Only with goal. */
  conversionRate?: number;
  /** Conversions of these clicks. Only with goal. */
  conversions?: number;
  /** Relative standard error of uniqueVisitors in percent; 0 if it is exact. */
  error: number | null;
  /** Of the tag, bundle or custom domain. Null for the host of the service. */
  id: string | null;
  name: string;
  /** Of totalClicks. */
  percentage: number;
  /** Sum of the values of the conversions in each currency. Only with goal. */
  revenue?: Amount[];
  /** Null for a group of more than 100,000 links, like the next two. */
  uniqueVisitors: number | null;
  /** Whether uniqueVisitors was counted. Otherwise it is an estimate. */
  uniqueVisitorsIsExact: boolean | null;
  /** Links that are in the group now. */
  urlCount: number;
}

export interface Groups {
  by: 'tag' | 'bundle' | 'domain';
  /** Only with compare. */
  comparison?: ComparedGroups;
  /** Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if conversions repeat. Only with goal. */
  conversionRate?: number;
  /** Conversions of these clicks. Only with goal. */
  conversions?: number;
  /** Most clicks first. */
  groups: Group[];
  /** Sum of the values of the conversions in each currency. Only with goal. */
  revenue?: Amount[];
  /** Of all links, including those in no group. A link can be in several groups, so groups can have more clicks together. */
  totalClicks: number;
}

export interface Heatmap {
  /** Only with compare. */
  comparison?: ComparedHeatmap;
  timezone: string;
  totalClicks: number;
  /** Monday to Sunday. */
  weekdays: Weekday[];
}

export interface ImageUploaded {
  data: UploadedImage;
  statusCode: number;
}

export interface Import {
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  columns: ImportColumn[];
  /** null before the start. */
  conflicts: 'skip' | 'rename' | 'overwrite' | null;
  /** A time in RFC 3339. */
  createdAt: string;
  /** Id of the user who imports. */
  createdBy: string;
  /** How the dates of the file are written; null before the start. */
  dateFormat: 'iso' | 'dots' | 'dayFirst' | 'monthFirst' | null;
  /** When the import is deleted with its file; its links stay. null while it runs. */
  deleteAt: string | null;
  /** A comma, a semicolon or a tab. */
  delimiter: string;
  /** Why the status is FAILED. */
  failure: string | null;
  /** A time in RFC 3339. */
  finishedAt: string | null;
  id: string;
  /** The name of the column for each field; empty before the start. */
  mapping: Record<string, string>;
  name: string;
  progress: ImportProgress;
  /** Rows of the file that are not blank, without the header. */
  rows: number;
  /** A time in RFC 3339. */
  startedAt: string | null;
  status: 'MAPPING' | 'RUNNING' | 'DONE' | 'FAILED' | 'CANCELLED';
  /** IANA time zone of dates without one; null before the start. */
  timeZone: string | null;
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
}

export interface ImportColumn {
  /** From the header row. A name that occurs twice gets a number. */
  name: string;
  /** Up to three values, cut. */
  sample: string[];
  /** The field of links that the column probably holds, or an empty string. */
  suggested: string;
}

export interface ImportDate {
  column: string;
  field: string;
  /** Number of the line in the file on which the row begins, from 1. */
  row: number;
  /** The instant; null if the date is refused. */
  time: string | null;
  /** The cell, cut. */
  value: string;
}

export interface ImportDates {
  /** The first three dates of each column. */
  first: ImportDate[];
  /**
   * The format of the request; with auto, the only one that fits all dates of the file. null if none or several fit, so that only
   * ISO 8601 is read.
   */
  format: 'iso' | 'dots' | 'dayFirst' | 'monthFirst' | null;
}

export interface ImportPlan {
  /** What happens to a row whose slug or externalId is taken: skip (default), rename, or overwrite. */
  conflicts?: 'skip' | 'rename' | 'overwrite' | null;
  /**
   * How dates are written that are not in ISO 8601: iso (the default; there are none), dots (31.01.2027), dayFirst (31/01/2027),
   * monthFirst (01/31/2027), or auto, the only one of these that fits all dates of the file.
   */
  dateFormat?: 'iso' | 'dots' | 'dayFirst' | 'monthFirst' | 'auto' | null;
  /** The name of a column for each field that is to be imported. originalUrl is required. */
  mapping: Record<string, string>;
  /** IANA time zone of dates without one; UTC if it is left out. */
  timeZone?: string | null;
}

export interface ImportPreview {
  create: number;
  dates: ImportDates;
  /** Rows that cannot be imported. */
  errors: number;
  /** The first 1,000 problems in the order of the file, with those of rows that would be skipped. */
  problems: ImportProblem[];
  /** Rows whose link would get another slug. */
  rename: number;
  rows: number;
  skip: number;
  update: number;
  /** What rows without errors would lose, at most 1,000: first what concerns the whole file, with the line of the header as row. */
  warnings: ImportProblem[];
}

export interface ImportProblem {
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  /** Name of the column, or an empty string. */
  column: string;
  /** Field of the link; an empty string if the problem is about the whole row. */
  field: string;
  message: string;
  /** Number of the line in the file on which the row begins, from 1. */
  row: number;
  /** The cell, cut. */
  value: string;
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
}

export interface ImportProgress {
  created: number;
  /** Sum of the following counts. */
  done: number;
  failed: number;
  /** Rows whose link was created with another slug. */
  renamed: number;
  /** All rows. */
  rows: number;
  skipped: number;
  updated: number;
}

export interface Invitation {
  /** A time in RFC 3339. */
  createdAt: string;
  email: string;
  /** A time in RFC 3339. */
  expiresAt: string;
  id: string;
  /** Null if the user was deleted. */
  invitedBy: Inviter | null;
  role: 'OWNER' | 'ADMIN' | 'EDITOR' | 'VIEWER';
  status: 'PENDING' | 'EXPIRED';
}

export interface Inviter {
  email: string;
  id: string;
  name: string;
}

export interface IpCondition {
  operator: 'in' | 'not_in';
  type: 'ip';
  value: string | string[];
}

export interface ItemError {
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  /** The name of the status. */
  error: string;
  /** All problems of the item. */
  errors: FieldProblem[];
  /** The problem in one sentence. */
  message: string;
  /** The HTTP status that a request with this item alone would get. */
  statusCode: number;
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
}

export interface KeyUser {
  email: string;
  id: string;
}

export interface LastChange {
  /** A time in RFC 3339. */
  at: string;
  /** Null if it is unknown or was the service. */
  user: ChangeUser | null;
}

export interface LinkClick {
  botName: string | null;
  browser: string;
  city: string;
  country: string;
  /** @deprecated The same as timestamp. */
  createdAt: string;
  device: string;
  domain: string;
  id: string;
  ip: string | null;
  /** @deprecated The same as ip. */
  ipAddress: string | null;
  isBot: boolean;
  os: string;
  referer: string;
  region: string;
  routingRuleId: string | null;
  shortUrl: string;
  slug: string;
  /** A time in RFC 3339. */
  timestamp: string;
  urlId: string;
  utmCampaign: string | null;
  utmContent: string | null;
  utmId: string | null;
  utmMedium: string | null;
  utmSource: string | null;
  utmSourcePlatform: string | null;
  utmTerm: string | null;
  variantId: string | null;
}

export interface LinkClicked {
  /** Who clicked. */
  clickData: ClickData;
  /** The host name of the link's address. */
  domain: string;
  /** The link's address. */
  shortUrl: string;
  /** The link's slug. */
  slug: string;
  /** Where the click led; null if that was a rule's or a variant's that has been deleted. */
  targetUrl: string | null;
  /** The link's id. */
  urlId: string;
  /** The variant that was drawn. */
  variantId: string | null;
  /** The name of the variant that was drawn. */
  variantName: string | null;
}

export interface LinkCreated {
  /** When the link was created. */
  createdAt: string;
  /** The host name of the link's address. */
  domain: string;
  /** The link's id. */
  id: string;
  /** Where the link leads. */
  originalUrl: string;
  /** The link's address. */
  shortUrl: string;
  /** The link's slug. */
  slug: string;
  /** The link's title. */
  title: string | null;
  /** @deprecated The same as id. */
  urlId: string;
  /** The link's owner. */
  userId: string;
}

export interface LinkDeleted {
  /** The host name of the link's address. */
  domain: string;
  /** The link's id. */
  id: string;
  /** Where the link led. */
  originalUrl: string;
  /** The link's address. */
  shortUrl: string;
  /** The link's slug. */
  slug: string;
  /** @deprecated The same as id. */
  urlId: string;
  /** The link's owner. */
  userId: string;
}

export interface LinkDestinationBrokenEvent {
  data: DestinationChanged;
  event: 'link.destination_broken';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface LinkDestinationRecoveredEvent {
  data: DestinationChanged;
  event: 'link.destination_recovered';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface LinkDraft {
  /** Bundles that contain the link; at most 100. */
  bundleIds?: string[] | null;
  /** Destination of a smart-routed link if no rule matches. */
  defaultUrl?: string | null;
  /** Where visitors go after expiry or exhaustion, instead of 410. */
  expiredUrl?: string | null;
  /** When the link stops working. */
  expiresAt?: string | null;
  /** Your own key for the link; at most 255 characters. */
  externalId?: string | null;
  /** Adds the path behind the slug to the destination: /slug/a/b leads to the destination with /a/b. */
  forwardPath?: boolean | null;
  isABTesting?: boolean | null;
  /** @deprecated The same as isABTesting. */
  isAbTest?: boolean | null;
  isSmartRouting?: boolean | null;
  /** Clicks by people after which the link stops working. */
  maxClicks?: number | null;
  /** For owners only; at most 2,000 characters. */
  notes?: string | null;
  /** At most 200 characters. */
  ogDescription?: string | null;
  /** Key of an image uploaded for this link. */
  ogImage?: string | null;
  /** At most 100 characters. */
  ogTitle?: string | null;
  originalUrl?: string | null;
  /** 4 to 72 bytes; null removes it. */
  password?: string | null;
  /** 302 if left out. */
  redirectCode?: 301 | 302 | 307 | 308 | null;
  /**
   * All routing rules, instead of the saved ones; null or an empty list stands for none. At most 100. Rules with the same priority
   * are evaluated in the order of their creation, new ones in the order of the list.
   */
  rules?: DraftRule[] | null;
  /** When the link starts to work. Before that, visitors get 404. */
  startsAt?: string | null;
  status?: 'ACTIVE' | 'INACTIVE' | null;
  /**
   * Whether a visitor of an A/B test keeps the variant: none (default), cookie (for 30 days, by a cookie of the short domain) or
   * hash (of the anonymised address and the User-Agent).
   */
  stickiness?: 'none' | 'cookie' | 'hash' | null;
  /**
   * Names of the link's tags, at most 20 of at most 40 characters. Unknown tags are created. A request that changes many links adds
   * them.
   */
  tags?: string[] | null;
  /** At most 255 characters. */
  title?: string | null;
  /** Adds the id of the click to the destination, so that conversions can be attributed to it. */
  trackConversions?: boolean | null;
  twitterCardType?: 'summary' | 'summary_large_image' | null;
  utmCampaign?: string | null;
  utmContent?: string | null;
  utmId?: string | null;
  utmMedium?: string | null;
  utmSource?: string | null;
  utmSourcePlatform?: string | null;
  utmTerm?: string | null;
  /** All variants, instead of the saved ones; null or an empty list stands for none. At most 100. */
  variants?: DraftVariant[] | null;
}

export interface LinkExhaustedEvent {
  data: LinkTimed;
  event: 'link.exhausted';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface LinkExpiredEvent {
  data: LinkTimed;
  event: 'link.expired';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface LinkInfo {
  /** When the link was created. */
  createdAt: string | null;
  /** When the link stops working. */
  expiresAt: string | null;
  /** Description of the preview in social networks. */
  ogDescription: string | null;
  /** Image of the preview in social networks. */
  ogImageUrl: string | null;
  /** Title of the preview in social networks. */
  ogTitle: string | null;
  /** Whether visitors must send a password to /{slug}/verify. */
  requiresPassword: boolean;
  /** The slug as the owner wrote it. */
  slug: string;
  /** The link's title. */
  title: string | null;
}

export interface LinkOpened {
  /** The destination that rules and variants chose for this visitor. */
  originalUrl: string;
  /** The same address. */
  redirectUrl: string;
  /** Always true. */
  success: boolean;
}

export interface LinkPassword {
  /** The link's password; at most 72 bytes. */
  password: string;
}

export interface LinkReport {
  /**
   * Clicks that another service counted before the link moved here: of all time, whatever the period and the filters. No other
   * figure of the report contains them.
   */
  baseline: ClickBaseline | null;
  browsers: Named[];
  cities: Named[];
  /** Only with compare. */
  comparison?: ComparedReport;
  countries: Named[];
  devices: Named[];
  /**
   * Relative standard error of uniqueVisitors in percent: 2 of 3 estimates are at most that far off, and 19 of 20 at most twice as
   * far. 0 if uniqueVisitors is exact.
   */
  error: number;
  /** Preferred languages of visitors. Clicks of earlier releases have none. */
  languages: Named[];
  operatingSystems: Named[];
  overview: Summary;
  referers: Referred[];
  regions: Named[];
  /** Only with series. */
  series?: Split;
  /** Referrers, grouped by site: l.instagram.com and www.instagram.com are instagram.com. */
  sites: SiteClicks[];
  /** Every day of the period, or every other interval. */
  timeSeries: DayFigures[];
  totalClicks: number;
  /** Distinct addresses. */
  uniqueVisitors: number;
  /** Whether uniqueVisitors was counted. With about a million visitors or more in the requested range it is an estimate. */
  uniqueVisitorsIsExact: boolean;
  utmCampaigns: Valued[];
  utmContents: Valued[];
  utmMediums: Valued[];
  utmSources: Valued[];
  utmTerms: Valued[];
}

export interface LinkRestored {
  /** The host name of the link's address. */
  domain: string;
  /** The link's id. */
  id: string;
  /** Where the link leads. */
  originalUrl: string;
  /** The link's address. */
  shortUrl: string;
  /** The link's slug, which may differ from the one before the deletion. */
  slug: string;
  /** @deprecated The same as id. */
  urlId: string;
  /** The link's owner. */
  userId: string;
}

export interface LinkStartedEvent {
  data: LinkTimed;
  event: 'link.started';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface LinkTimed {
  /** When the link started, ended or was exhausted. */
  at: string;
  /** The host name of the link's address. */
  domain: string;
  /** When the link stops working; null if it has no end. */
  expiresAt: string | null;
  /** Clicks by people after which the link is exhausted; null if it has no limit. */
  maxClicks: number | null;
  /** Where the link leads. */
  originalUrl: string;
  /** The link's address. */
  shortUrl: string;
  /** The link's slug. */
  slug: string;
  /** When the link starts to work; null if it has no start. */
  startsAt: string | null;
  /** The link's status now. It differs from the event if the link is also, for example, INACTIVE or SUSPENDED. */
  status: string;
  /** The link's title. */
  title: string | null;
  /** The link's id. */
  urlId: string;
  /** The link's owner. */
  userId: string;
}

export interface LinkUpdated {
  /** What changed, by the field's name. Passwords are always ***. */
  changes: Record<string, Change>;
  /** The host name of the link's address. */
  domain: string;
  /** The link's id. */
  id: string;
  /** Where the link leads now. */
  originalUrl: string;
  /** The link's address. */
  shortUrl: string;
  /** The link's slug. */
  slug: string;
  /** @deprecated The same as id. */
  urlId: string;
  /** The link's owner. */
  userId: string;
}

export interface LinkYield {
  clicks: number;
  /** Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if clicks have several conversions. */
  conversionRate: number;
  /** Conversions of these clicks. */
  conversions: number;
  /** The host name of the link's address. */
  domain: string;
  id: string;
  /** Sum of the values of the conversions in each currency. */
  revenue: Amount[];
  slug: string;
  title: string | null;
}

export interface ListAbuseReport {
  data: AbuseReport[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListAlert {
  data: Alert[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListAlertChannel {
  data: AlertChannel[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListAlertRule {
  data: AlertRule[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListBundle {
  data: Bundle[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListConversion {
  data: Conversion[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListDomain {
  data: Domain[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListEditProblem {
  data: EditProblem[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListExperimentWeights {
  data: ExperimentWeights[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListGoal {
  data: Goal[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListImport {
  data: Import[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListImportProblem {
  data: ImportProblem[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListInvitation {
  data: Invitation[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListMailReport {
  data: MailReport[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListMember {
  data: Member[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListMissingSlug {
  data: MissingSlug[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListPasskey {
  data: Passkey[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListSegment {
  data: Segment[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListSession {
  data: Session[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListSharedReport {
  data: SharedReport[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListTag {
  data: Tag[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListURLChange {
  data: URLChange[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListURLEdit {
  data: URLEdit[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListUTMTemplate {
  data: UTMTemplate[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListUser {
  data: User[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListView {
  data: View[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListWebhook {
  data: Webhook[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListWorkspace {
  data: Workspace[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface ListedBundle {
  color: string;
  id: string;
  name: string;
  /** Those of the page that are in the bundle. */
  urlIds: string[];
}

export interface LogicalOperatorGroup {
  items: (Condition | ConditionGroup)[];
  /** AND: all members match. OR: any member matches. */
  logicalOperator: 'AND' | 'OR';
}

export interface Login {
  /** A JWT, which is also set as a cookie. */
  accessToken?: string;
  /** Whether the password was right but a code is required. Send the request again with twoFactorCode. */
  requires2FA: boolean;
  user?: User;
}

export interface LoginInBody {
  email: string;
  /** Also link the account at the identity provider that was used in this browser and failed with link_required. */
  linkAccount?: boolean | null;
  password: string;
  /** A code of the authenticator app, or a recovery code. */
  twoFactorCode?: string | null;
}

export interface MailRecipient {
  email: string;
  /** Whether it was added as a member of the workspace, who need not confirm. */
  isMember: boolean;
  /** PENDING: has not confirmed yet. UNSUBSCRIBED: gets no more reports. */
  state: 'PENDING' | 'CONFIRMED' | 'UNSUBSCRIBED';
}

export interface MailReport {
  /** A time in RFC 3339. */
  createdAt: string;
  /** Id of the user who made it. Reports stop when this user is no ADMIN of the workspace any more. */
  createdBy: string;
  every: 'WEEK' | 'MONTH';
  id: string;
  isActive: boolean;
  name: string;
  /** When the next report is sent, if it is active: at 7 o'clock in its time zone after the end of the period. */
  nextAt: string;
  recipients: MailRecipient[];
  /** Null: all clicks of the workspace. */
  segmentId: string | null;
  timezone: string;
  /** A time in RFC 3339. */
  updatedAt: string;
}

export interface MatchedRule {
  /** Who clicked. */
  clickData: ClickData;
  /** The rule that matched. */
  ruleId: string;
  /** The rule's name. */
  ruleName: string | null;
  /** Where the rule leads. */
  targetUrl: string | null;
  /** The link's id. */
  urlId: string;
}

export interface Member {
  email: string;
  /** A time in RFC 3339. */
  joinedAt: string;
  name: string;
  role: 'OWNER' | 'ADMIN' | 'EDITOR' | 'VIEWER';
  userId: string;
}

export interface Message {
  message: string;
}

export interface MissingSlug {
  /** Requests in the period. */
  count: number;
  /** The first request in the period. Of an edge of an earlier release, its report. */
  firstAt: string;
  /** The host that visitors asked. A new link gets it as its domain. */
  host: string;
  /** The last request in the period. */
  lastAt: string;
  slug: string;
}

export interface MoveInBundleRequest {
  /** New position; 0 is the first, and a position past the end means the last. */
  order: number;
}

export interface Named {
  clicks: number;
  /** Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if conversions repeat. Only with goal. */
  conversionRate?: number;
  /** Conversions of these clicks. Only with goal. */
  conversions?: number;
  name: string;
  /** Of all clicks in the period. */
  percentage: number;
  /** Sum of the values of the conversions in each currency. Only with goal. */
  revenue?: Amount[];
}

export interface NamedYield {
  clicks: number;
  /** Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if clicks have several conversions. */
  conversionRate: number;
  /** Conversions of these clicks. */
  conversions: number;
  /** Of sources: the site, or Direct. Unknown: clicks without a value, and conversions whose click has not arrived. */
  name: string;
  /** Sum of the values of the conversions in each currency. */
  revenue: Amount[];
}

export interface NewAPIKey {
  /** Addresses and networks from which the key can be used. Empty means all. */
  allowedIps: string[];
  /** A time in RFC 3339. */
  createdAt: string;
  /** The user as whom the key acts. */
  createdBy: KeyUser;
  /** Null means never. */
  expiresAt: string | null;
  id: string;
  /** Whether the key was created by a release without checksums in keys. Rotate such a key. */
  isLegacy: boolean;
  /** Shown only in this response. */
  key: string;
  /** With a precision of one minute. */
  lastUsedAt: string | null;
  /** The address of the last use. Null if it is unknown. */
  lastUsedIp: string | null;
  /** The API key with which this one was made, and with which it is deleted. Null if it was made in a session. */
  madeByKeyId: string | null;
  name: string;
  /** The key's first characters. */
  prefix: string;
  /** What the key is limited to. Empty means all that its user may do in the workspace. */
  scopes: ('links:read' | 'links:write' | 'analytics:read' | 'conversions:write' | 'webhooks' | 'domains' | 'members')[];
  /** The only workspace that the key reaches, unless it is an unlimited key of an administrator. */
  workspaceId: string;
}

export interface NewInvitation {
  /** A time in RFC 3339. */
  createdAt: string;
  email: string;
  /** A time in RFC 3339. */
  expiresAt: string;
  id: string;
  /** Null if the user was deleted. */
  invitedBy: Inviter | null;
  /** Shown only in this response. It works once, within seven days. Null in the response to an API key. */
  link: string | null;
  /** Whether an e-mail with a link of its own was sent to the address. */
  mailed: boolean;
  role: 'OWNER' | 'ADMIN' | 'EDITOR' | 'VIEWER';
  status: 'PENDING' | 'EXPIRED';
}

export interface NewLinkDraft {
  /** Bundles that contain the link; at most 100. */
  bundleIds?: string[] | null;
  /** 3 to 50 letters, digits, hyphens or underscores. */
  customSlug?: string | null;
  /** Destination of a smart-routed link if no rule matches. */
  defaultUrl?: string | null;
  /**
   * A domain of the workspace; if left out, the workspace's default domain. null or an empty string stands for the default domain
   * of the service.
   */
  domain?: string | null;
  /** Where visitors go after expiry or exhaustion, instead of 410. */
  expiredUrl?: string | null;
  /** When the link stops working. */
  expiresAt?: string | null;
  /** Your own key for the link; at most 255 characters. */
  externalId?: string | null;
  /** Adds the path behind the slug to the destination: /slug/a/b leads to the destination with /a/b. */
  forwardPath?: boolean | null;
  isABTesting?: boolean | null;
  /** @deprecated The same as isABTesting. */
  isAbTest?: boolean | null;
  isSmartRouting?: boolean | null;
  /** Clicks by people after which the link stops working. */
  maxClicks?: number | null;
  /** For owners only; at most 2,000 characters. */
  notes?: string | null;
  /** At most 200 characters. */
  ogDescription?: string | null;
  /** Key of an image uploaded for this link. */
  ogImage?: string | null;
  /** At most 100 characters. */
  ogTitle?: string | null;
  /** Same rules and stored form as originalUrl of a short URL. */
  originalUrl: string;
  /** 4 to 72 bytes; null removes it. */
  password?: string | null;
  /** 302 if left out. */
  redirectCode?: 301 | 302 | 307 | 308 | null;
  /**
   * All routing rules, instead of the saved ones; null or an empty list stands for none. At most 100. Rules with the same priority
   * are evaluated in the order of their creation, new ones in the order of the list.
   */
  rules?: DraftRule[] | null;
  /** When the link starts to work. Before that, visitors get 404. */
  startsAt?: string | null;
  status?: 'ACTIVE' | 'INACTIVE' | null;
  /**
   * Whether a visitor of an A/B test keeps the variant: none (default), cookie (for 30 days, by a cookie of the short domain) or
   * hash (of the anonymised address and the User-Agent).
   */
  stickiness?: 'none' | 'cookie' | 'hash' | null;
  /**
   * Names of the link's tags, at most 20 of at most 40 characters. Unknown tags are created. A request that changes many links adds
   * them.
   */
  tags?: string[] | null;
  /** At most 255 characters. */
  title?: string | null;
  /** Adds the id of the click to the destination, so that conversions can be attributed to it. */
  trackConversions?: boolean | null;
  twitterCardType?: 'summary' | 'summary_large_image' | null;
  utmCampaign?: string | null;
  utmContent?: string | null;
  utmId?: string | null;
  utmMedium?: string | null;
  utmSource?: string | null;
  utmSourcePlatform?: string | null;
  utmTerm?: string | null;
  /** All variants, instead of the saved ones; null or an empty list stands for none. At most 100. */
  variants?: DraftVariant[] | null;
}

export interface NewWebhook {
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  /** A time in RFC 3339. */
  createdAt: string;
  events: ('url.created' | 'url.updated' | 'url.deleted' | 'url.restored' | 'url.clicked' | 'routing.rule_created' | 'routing.rule_updated' | 'routing.rule_deleted' | 'routing.rule_matched' | 'link.started' | 'link.expired' | 'link.exhausted' | 'link.destination_broken' | 'link.destination_recovered' | 'conversion.created' | 'experiment.decided' | 'domain.verified' | 'domain.failed' | 'domain.certificate.issued' | 'domain.certificate.failed' | 'domain.certificate.expiring' | 'alert.fired' | 'alert.resolved')[];
  /** When the first of these failed. Null if the last attempt succeeded. */
  failingSince: string | null;
  /** Failed attempts since the last one that succeeded. */
  failureStreak: number;
  /** Whether deliveries are signed. */
  hasSecret: boolean;
  /** Custom headers of deliveries. Values are never returned: each is ***. */
  headers: Record<string, string>;
  id: string;
  isActive: boolean;
  /** The error of the last attempt. Null if it succeeded. */
  lastError: string | null;
  /** A time in RFC 3339. */
  lastSentAt: string | null;
  /** Whether failed deliveries are attempted for three days instead of three minutes. */
  longRetries: boolean;
  name: string;
  /** When the next attempt is due. Null if none is planned. */
  nextAttemptAt: string | null;
  /** While the secret is rotated: until when the old one signs deliveries too. Null if only one secret is valid. */
  oldSecretUntil: string | null;
  /**
   * Why Shortline paused it: its maker left the workspace, lost the role ADMIN or was deleted, its API key was deleted with
   * endMade, or nothing could be delivered for three days. Null if it is active, or if a person disabled it.
   */
  pauseReason: 'MEMBER_REMOVED' | 'MEMBER_DEMOTED' | 'USER_DELETED' | 'API_KEY_DELETED' | 'FAILING' | null;
  /** Whether it gets events of its owner's links or of all links. */
  scope: 'own' | 'all';
  /** Shown only in this response. */
  secret: string;
  totalFailed: number;
  /** Number of attempts. */
  totalSent: number;
  totalSuccess: number;
  /** A time in RFC 3339. */
  updatedAt: string;
  url: string;
  userId: string;
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
  /** Deliveries that wait for an attempt, at most 10,000. */
  waiting: number;
}

export interface OIDCAccount {
  /** A time in RFC 3339. */
  createdAt: string;
  /** From the provider, at the last sign-in. */
  email: string | null;
  id: string;
  issuer: string;
  /** A time in RFC 3339. */
  lastLoginAt: string;
  provider: AccountHome;
  /** The account's subject at the provider. */
  sub: string;
}

export interface OIDCProvider {
  /** The email domains that the provider may authenticate. Empty means all domains. */
  allowedDomains: string[];
  /** The redirect URL to register at the provider. */
  callbackUrl: string;
  clientId: string;
  /** A time in RFC 3339. */
  createdAt: string;
  discoveryUrl: string;
  hasClientSecret: boolean;
  id: string;
  isActive: boolean;
  name: string;
  /** Separated by spaces. */
  scopes: string;
  slug: string;
  /** Whether an email without email_verified counts as verified, if it has one of allowedDomains. */
  trustEmail: boolean;
  /** A time in RFC 3339. */
  updatedAt: string;
}

export interface OperatorGroup {
  conditions: (Condition | ConditionGroup)[];
  /** AND: all members match. OR: any member matches. */
  operator: 'AND' | 'OR';
}

export interface Overview {
  browsers: Named[];
  cities: Named[];
  /** Only with compare. */
  comparison?: ComparedReport;
  countries: Named[];
  devices: Named[];
  /**
   * Relative standard error of uniqueVisitors in percent: 2 of 3 estimates are at most that far off, and 19 of 20 at most twice as
   * far. 0 if uniqueVisitors is exact.
   */
  error: number;
  /** Preferred languages of visitors. Clicks of earlier releases have none. */
  languages: Named[];
  operatingSystems: Named[];
  overview: Summary;
  referers: Referred[];
  regions: Named[];
  /** Only with series. */
  series?: Split;
  /** Referrers, grouped by site: l.instagram.com and www.instagram.com are instagram.com. */
  sites: SiteClicks[];
  /** Every day of the period, or every other interval. */
  timeSeries: DayFigures[];
  topUrls: TopLink[];
  totalClicks: number;
  totalUrls: number;
  /** Distinct addresses. */
  uniqueVisitors: number;
  /** Whether uniqueVisitors was counted. With about a million visitors or more in the requested range it is an estimate. */
  uniqueVisitorsIsExact: boolean;
  utmCampaigns: Valued[];
  utmContents: Valued[];
  utmMediums: Valued[];
  utmSources: Valued[];
  utmTerms: Valued[];
}

export interface PagePreview {
  /** At most 200 characters; empty without a description. */
  description: string;
  /** The page's image as JPEG of at most 320 by 168 pixels, in base64. Missing if the page names none that can be read. */
  image?: string;
  /** Why the page cannot be read. */
  problem?: string;
  /** At most 255 characters; empty without a title. */
  title: string;
  /** The address after redirects. */
  url: string;
}

export interface Pairing {
  /** The program's secret, with which it redeems the confirmation. */
  deviceCode: string;
  /** A time in RFC 3339. */
  expiresAt: string;
  /** Seconds to wait between two requests for the result. */
  interval: number;
  /** The page on which the user confirms the code. */
  url: string;
  /** What the user compares. */
  userCode: string;
}

export interface PartChange {
  /** Fields by name. All old values of a new part are null, and all new values of a removed one. */
  changes: Record<string, Change>;
  id: string;
  name: string;
}

export interface Passkey {
  /** The model of the authenticator, or null if it does not tell. */
  aaguid: string | null;
  /**
   * When a sign-in was last refused because the counter of the passkey did not increase. The passkey may have been copied: remove
   * it.
   */
  cloneDetectedAt: string | null;
  /** A time in RFC 3339. */
  createdAt: string;
  id: string;
  /** Whether the passkey was backed up at its last use, so that other devices of the user have it, too. */
  isSynced: boolean;
  /** A time in RFC 3339. */
  lastUsedAt: string | null;
  name: string;
  /** How browsers reach the authenticator. */
  transports: string[];
}

export interface PasskeyAlgorithm {
  /** A COSE algorithm. */
  alg: number;
  type: 'public-key';
}

export interface PasskeyAsserted {
  response: PasskeyAssertedResponseStruct;
}

export interface PasskeyAssertedResponseStruct {
  authenticatorData: string;
  clientDataJSON: string;
  signature: string;
  userHandle: string;
}

export interface PasskeyCreated {
  response: PasskeyCreatedResponseStruct;
}

export interface PasskeyCreatedResponseStruct {
  attestationObject: string;
  clientDataJSON: string;
  /** Unknown transports are ignored. */
  transports?: string[];
}

export interface PasskeyCreation {
  publicKey: PasskeyCreationPublicKeyStruct;
}

export interface PasskeyCreationPublicKeyStruct {
  attestation: 'none';
  authenticatorSelection: AuthenticatorSelectionStruct;
  /** Base64url, like all bytes here. */
  challenge: string;
  /** Your passkeys. */
  excludeCredentials: PasskeyDescriptor[];
  pubKeyCredParams: PasskeyAlgorithm[];
  rp: RPStruct;
  /** Milliseconds. */
  timeout: number;
  user: UserStruct;
}

export interface PasskeyDescriptor {
  id: string;
  transports: string[];
  type: 'public-key';
}

export interface PasskeyRequest {
  publicKey: PasskeyRequestPublicKeyStruct;
}

export interface PasskeyRequestPublicKeyStruct {
  /** Base64url. */
  challenge: string;
  /** The host of the console's address. */
  rpId: string;
  /** Milliseconds. */
  timeout: number;
  userVerification: 'required';
}

export interface PercentageCondition {
  operator: 'less_than';
  type: 'percentage';
  /** Percent of the visitors, with at most four decimals. */
  value: number;
}

export interface PromoteVariantRequest {
  variantId: string;
}

export interface PutConversionSettings {
  /** A letter and at most 31 letters, digits, hyphens and underscores. null stands for sl_click. */
  clickParameter?: string | null;
  /** At most 50 host names without scheme, port and path. null stands for none. */
  hosts?: string[] | null;
}

export interface PutExperimentRequest {
  /** Name of the conversions that count. Required for a new experiment; another goal restarts it. */
  goal?: string | null;
  /** promote: a winner gets all visitors. notify if left out. */
  onWinner?: 'notify' | 'promote' | null;
  /** bandit: the autopilot sets the weights. off if left out. */
  optimize?: 'off' | 'bandit' | null;
}

export interface PutSettingInBody {
  description?: string | null;
  /** Any JSON value. */
  value: unknown;
}

export interface PutURL {
  /** Bundles that contain the link; at most 100. */
  bundleIds?: string[] | null;
  /** Only for a new link: slugs cannot be changed. */
  customSlug?: string | null;
  /** Destination of a smart-routed link if no rule matches. */
  defaultUrl?: string | null;
  /** Only for a new link: domains cannot be changed. */
  domain?: string | null;
  /** Where visitors go after expiry or exhaustion, instead of 410. */
  expiredUrl?: string | null;
  /** When the link stops working. */
  expiresAt?: string | null;
  /** Your own key for the link; at most 255 characters. */
  externalId?: string | null;
  /** Adds the path behind the slug to the destination: /slug/a/b leads to the destination with /a/b. */
  forwardPath?: boolean | null;
  isABTesting?: boolean | null;
  /** @deprecated The same as isABTesting. */
  isAbTest?: boolean | null;
  isSmartRouting?: boolean | null;
  /** Clicks by people after which the link stops working. */
  maxClicks?: number | null;
  /** For owners only; at most 2,000 characters. */
  notes?: string | null;
  /** At most 200 characters. */
  ogDescription?: string | null;
  /** Key of an image uploaded for this link. */
  ogImage?: string | null;
  /** At most 100 characters. */
  ogTitle?: string | null;
  /** Required to create a link. */
  originalUrl?: string | null;
  /** 4 to 72 bytes; null removes it. */
  password?: string | null;
  /** 302 if left out. */
  redirectCode?: 301 | 302 | 307 | 308 | null;
  /** When the link starts to work. Before that, visitors get 404. */
  startsAt?: string | null;
  status?: 'ACTIVE' | 'INACTIVE' | null;
  /**
   * Whether a visitor of an A/B test keeps the variant: none (default), cookie (for 30 days, by a cookie of the short domain) or
   * hash (of the anonymised address and the User-Agent).
   */
  stickiness?: 'none' | 'cookie' | 'hash' | null;
  /**
   * Names of the link's tags, at most 20 of at most 40 characters. Unknown tags are created. A request that changes many links adds
   * them.
   */
  tags?: string[] | null;
  /** At most 255 characters. */
  title?: string | null;
  /** Adds the id of the click to the destination, so that conversions can be attributed to it. */
  trackConversions?: boolean | null;
  twitterCardType?: 'summary' | 'summary_large_image' | null;
  utmCampaign?: string | null;
  utmContent?: string | null;
  utmId?: string | null;
  utmMedium?: string | null;
  utmSource?: string | null;
  utmSourcePlatform?: string | null;
  utmTerm?: string | null;
}

export interface QueryCondition {
  operator: 'equals' | 'not_equals' | 'contains' | 'not_contains' | 'in' | 'not_in' | 'starts_with' | 'ends_with';
  type: 'query';
  value: {
    /** Name of the parameter. */
    name: string;
    value: string | string[];
  };
}

export interface RPStruct {
  /** The host of the console's address. */
  id: string;
  name: string;
}

export interface RecentClicks {
  clicks: Click[];
  total: number;
}

export interface RedeemPairingInBody {
  deviceCode: string;
}

export interface RedeemedPairing {
  /** Null unless the status is APPROVED. */
  apiKey: APIKey | null;
  /** The API key, shown only in this response. Null unless the status is APPROVED. */
  key: string | null;
  status: 'PENDING' | 'APPROVED' | 'REFUSED';
}

export interface Referred {
  clicks: number;
  /** Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if conversions repeat. Only with goal. */
  conversionRate?: number;
  /** Conversions of these clicks. Only with goal. */
  conversions?: number;
  percentage: number;
  referer: string;
  /** Sum of the values of the conversions in each currency. Only with goal. */
  revenue?: Amount[];
}

export interface RefusePairingInBody {
  code: string;
}

export interface RegionFreshness {
  /**
   * Reports have all clicks of the region up to this time. Null if it is unknown, such as in a standalone process or before ingest
   * has read the region.
   */
  completeUntil: string | null;
  /**
   * Age of completeUntil. It is below a minute while clicks arrive normally, because edges report every few seconds; 0 if it is
   * unknown.
   */
  lagSeconds: number;
  /** REGION of its edges, and the name of its Kafka in KAFKA_REGIONS; empty for edges without a region. */
  region: string;
}

export interface RegionReach {
  /**
   * Reports have all clicks of the region up to this time. Null if it is unknown, such as in a standalone process or before ingest
   * has read the region.
   */
  completeUntil: string | null;
  /** Edges that have reported within a day. */
  edges: number;
  /**
   * Age of completeUntil. It is below a minute while clicks arrive normally, because edges report every few seconds; 0 if it is
   * unknown.
   */
  lagSeconds: number;
  /** REGION of its edges, and the name of its Kafka in KAFKA_REGIONS; empty for edges without a region. */
  region: string;
  /**
   * Those that have not reported for two minutes. The region is complete only up to the last report of such an edge, unless it had
   * no clicks then and another edge of the region reports.
   */
  silentEdges: number;
  /** Where later clicks may be: edge or kafka. Null if it is unknown. */
  waitsAt: 'edge' | 'kafka' | null;
}

export interface Release {
  /** Complete hash; null if the build was not told. */
  commit: string | null;
  /** Of the commit; null if the build was not told. */
  date: string | null;
  /** Version of Go that built the program. */
  go: string;
  /** The release, such as v1.2.3; dev if the build was not told. */
  version: string;
}

export interface RenamePasskeyRequest {
  /** At most 100 characters. Null or empty means Passkey. */
  name: string | null;
}

export interface Replay {
  /** Visitors who would get another outcome or another address. */
  changed: number;
  /** Visitors by their two decisions, most first. All flows and unknown add up to visitors. */
  flows: ReplayFlow[];
  /** Visitors whose decision depends on a fact that is not stored. They are in no flow and not in changed. */
  unknown: number;
  /** Stored clicks that were decided again. Each click counts as one visitor. */
  visitors: number;
  /** The newest 200 visits. */
  visits: ReplayedVisit[];
}

export interface ReplayDecision {
  /** null if the visitor does not reach a destination. */
  chosenBy: 'RULE' | 'VARIANT' | 'DEFAULT' | 'ORIGINAL' | null;
  /** Place of the rule or variant in the list of the draft, from 0. null: it is not from a list of a draft. */
  index: number | null;
  /** As in explainURL. */
  outcome: 'REDIRECT' | 'ABSENT' | 'GONE' | 'ENDED' | 'PREVIEW' | 'PASSWORD' | 'LOOP';
  /** null if another part chose the destination, or if the rule is new in the draft. */
  ruleId: string | null;
  /** Destination with the link's campaign parameters, without the visitor's own ones. null: the visitor is not redirected. */
  url: string | null;
  /** null if another part chose the destination, or if the variant is new in the draft. */
  variantId: string | null;
}

export interface ReplayFlow {
  /** With the saved link. */
  from: ReplayDecision;
  /** With the draft. */
  to: ReplayDecision;
  visitors: number;
}

export interface ReplayInBody {
  /** Also clicks of bots. */
  bots?: boolean | null;
  /** Unsaved changes of the link, as for explainURL. */
  draft: LinkDraft;
  /** Only clicks at or after this time. */
  from?: string | null;
  /**
   * How many of the newest clicks are decided again. A link and a draft with hundreds of conditions permit fewer; then the response
   * is 400 and names the number.
   */
  limit?: number;
  /** Only clicks before this time. */
  to?: string | null;
}

export interface ReplayedVisit {
  /** With the draft. null: unknown. */
  after: ReplayDecision | null;
  /** A time in RFC 3339. */
  at: string;
  /** With the saved link. null: unknown. */
  before: ReplayDecision | null;
  browser: string | null;
  changed: boolean;
  city: string | null;
  country: string | null;
  device: string | null;
  isBot: boolean;
  language: string | null;
  os: string | null;
  referer: string | null;
  region: string | null;
  /** Types of conditions whose facts are not stored and decide this visit, such as query. */
  unknown: string[];
}

export interface Report {
  browsers: Named[];
  cities: Named[];
  /** Only with compare. */
  comparison?: ComparedReport;
  countries: Named[];
  devices: Named[];
  /**
   * Relative standard error of uniqueVisitors in percent: 2 of 3 estimates are at most that far off, and 19 of 20 at most twice as
   * far. 0 if uniqueVisitors is exact.
   */
  error: number;
  /** Preferred languages of visitors. Clicks of earlier releases have none. */
  languages: Named[];
  operatingSystems: Named[];
  overview: Summary;
  referers: Referred[];
  regions: Named[];
  /** Only with series. */
  series?: Split;
  /** Referrers, grouped by site: l.instagram.com and www.instagram.com are instagram.com. */
  sites: SiteClicks[];
  /** Every day of the period, or every other interval. */
  timeSeries: DayFigures[];
  totalClicks: number;
  /** Distinct addresses. */
  uniqueVisitors: number;
  /** Whether uniqueVisitors was counted. With about a million visitors or more in the requested range it is an estimate. */
  uniqueVisitorsIsExact: boolean;
  utmCampaigns: Valued[];
  utmContents: Valued[];
  utmMediums: Valued[];
  utmSources: Valued[];
  utmTerms: Valued[];
}

export interface ResetForgottenInBody {
  /** At least 8 characters and at most 72 bytes. Common passwords and your own email are refused. */
  newPassword: string;
  /** From the link in the e-mail. */
  token: string;
}

export interface ResetPasswordInBody {
  /** At least 8 characters and at most 72 bytes. Common passwords and the user's email are refused. */
  newPassword: string;
}

export interface ResolveReportInBody {
  /** dismiss closes the report; suspend also suspends the link. */
  action: 'dismiss' | 'suspend';
  /** Why the link is suspended, for its owners. Required for suspend. */
  reason?: string;
}

export interface RestoreURLRequest {
  /** Another domain of the workspace, if the old one was deleted or failed its verification; null for the host of the service. */
  domain?: string | null;
  /** Another externalId, if the old one was taken meanwhile; null for none. */
  externalId?: string | null;
  /** Another slug, if the old one was taken meanwhile. */
  slug?: string | null;
}

export interface RevokeOwnKeyInBody {
  prefix: string;
}

export interface RollBackURLRequest {
  /** A revision in the history of the link. */
  revision: number;
}

export interface RotateKeyInBody {
  /**
   * A new expiry, which is required if the key has expired. Null means as long as the operator permits. Without it, the expiry
   * stays.
   */
  expiresAt?: string | null;
}

export interface RotateWebhookSecretRequest {
  /** How long the old secret signs deliveries too: 0 to 2,592,000 (30 days). The default is 86,400, a day. */
  overlapSeconds?: number | null;
  /** The new secret, at most 255 characters. If missing, one is generated. */
  secret?: string | null;
}

export interface Routing {
  /** Only with compare. */
  comparison?: ComparedRouting;
  /** All clicks by device. */
  deviceDistribution: Named[];
  /** All clicks by country. */
  geoDistribution: Named[];
  isSmartRouting: boolean;
  /** Percent of the clicks that a rule decided. */
  matchRate: number;
  /** In the order of evaluation. */
  rules: RuleFigures[];
  /** Days, or other periods, in which a rule matched. */
  timeSeries: RuleDay[];
  totalClicks: number;
  /** Clicks decided by a rule, including rules that were deleted since. */
  totalMatches: number;
  urlId: string;
}

export interface RoutingRule {
  /** The conditions in the form in which they were sent. Names are in their usual case. */
  conditions: ConditionGroup;
  /** A time in RFC 3339. */
  createdAt: string;
  id: string;
  isActive: boolean;
  /** A time in RFC 3339. */
  lastMatchedAt: string | null;
  matchCount: number;
  name: string;
  /** Higher priorities are evaluated first. */
  priority: number;
  targetUrl: string;
  /** A time in RFC 3339. */
  updatedAt: string;
  urlId: string;
}

export interface RoutingRuleCreatedEvent {
  data: RuleChanged;
  event: 'routing.rule_created';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface RoutingRuleDeletedEvent {
  data: RuleChanged;
  event: 'routing.rule_deleted';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface RoutingRuleMatchedEvent {
  data: MatchedRule;
  event: 'routing.rule_matched';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface RoutingRuleUpdatedEvent {
  data: RuleChanged;
  event: 'routing.rule_updated';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface RoutingRules {
  rules: RoutingRule[];
  stats: RoutingStat[];
  totalMatches: number;
}

export interface RoutingSettings {
  defaultUrl: string | null;
  isSmartRouting: boolean;
}

export interface RoutingStat {
  matchCount: number;
  /** Percent, one decimal. */
  matchPercentage: number;
  name: string;
  ruleId: string;
}

export interface RoutingTemplates {
  templates: Template[];
}

export interface RuleChanged {
  /** What changed of the link with the same action, such as isSmartRouting; missing if nothing did. */
  changes?: Record<string, Change>;
  /** The rule's id. */
  id: string;
  /** The rule's name. */
  name: string;
  /** Rules are tried from the highest priority on. */
  priority: number;
  /** @deprecated The same as id. */
  ruleId: string;
  /** Where the rule leads. */
  targetUrl: string;
  /** The link that the rule belongs to. */
  urlId: string;
  /** The link's owner. */
  userId: string;
}

export interface RuleDay {
  /** When the minute or hour begins. Only if interval is minute or hour. */
  at?: string;
  date: string;
  matches: number;
  ruleId: string;
  ruleName: string;
}

export interface RuleFigures {
  isActive: boolean;
  matchCount: number;
  /** Of all clicks in the period. */
  matchPercentage: number;
  ruleId: string;
  ruleName: string;
  targetUrl: string;
}

export interface RuleFromTemplate {
  /** true if left out. */
  isActive?: boolean | null;
  /** Default: the template's name. */
  name?: string | null;
  /** 0 to 10,000; 0 if left out. */
  priority?: number | null;
  targetUrl: string;
  /** @deprecated The same as templateKey. */
  templateId?: 'APP_DOWNLOAD_IOS' | 'APP_DOWNLOAD_ANDROID' | 'MULTILANG_TW' | 'MULTILANG_CN' | 'BUSINESS_HOURS' | 'MOBILE_ONLY' | 'DESKTOP_ONLY' | null;
  /** Required as templateKey or templateId. */
  templateKey?: 'APP_DOWNLOAD_IOS' | 'APP_DOWNLOAD_ANDROID' | 'MULTILANG_TW' | 'MULTILANG_CN' | 'BUSINESS_HOURS' | 'MOBILE_ONLY' | 'DESKTOP_ONLY' | null;
}

export interface SSOProvider {
  name: string;
  slug: string;
}

export interface Segment {
  /** A time in RFC 3339. */
  createdAt: string;
  /** Parameters of reports: add them to a request to get the report of the segment. */
  filters: SegmentFilters;
  id: string;
  name: string;
  /** A time in RFC 3339. */
  updatedAt: string;
}

export interface SegmentFilters {
  bot?: string[];
  browser?: string[];
  bundleId?: string[];
  city?: string[];
  /** Each filter has 1 to 20 values, which the parameters of the same names of reports describe. */
  country?: string[];
  device?: string[];
  domain?: string[];
  language?: string[];
  os?: string[];
  referer?: string[];
  region?: string[];
  ruleId?: string[];
  tag?: string[];
  utmCampaign?: string[];
  utmContent?: string[];
  utmMedium?: string[];
  utmSource?: string[];
  utmTerm?: string[];
  variantId?: string[];
}

export interface Session {
  /** When the user signed in. */
  createdAt: string;
  id: string;
  /** The address that signed in. Null means unknown. */
  ip: string | null;
  /** Whether this request belongs to the session. */
  isCurrent: boolean;
  /** The last request, with a precision of one minute. */
  lastSeenAt: string;
  /** The browser that signed in. Null means unknown. */
  userAgent: string | null;
}

export interface SetMemberRoleInBody {
  role: 'OWNER' | 'ADMIN' | 'EDITOR' | 'VIEWER';
}

export interface SetNameInBody {
  /** Null or empty removes the name. */
  name: string | null;
}

export interface SetRoleInBody {
  role: 'ADMIN' | 'USER';
}

export interface SetStatusInBody {
  /** Alternative to status. */
  isActive?: boolean | null;
  status?: 'ACTIVE' | 'INACTIVE' | null;
}

export interface SetUpTOTPInBody {
  /** The current password. Required if you signed in more than ten minutes ago. */
  password?: string | null;
}

export interface Setting {
  /** A time in RFC 3339. */
  createdAt: string;
  description: string | null;
  id: string;
  key: string;
  /** A time in RFC 3339. */
  updatedAt: string;
  /** Any JSON value. */
  value: unknown;
}

export interface SharedFigures {
  browsers: Named[];
  cities: Named[];
  /** Only if the report compares with an earlier period. */
  comparison?: ComparedSharedFigures;
  countries: Named[];
  devices: Named[];
  /**
   * Relative standard error of uniqueVisitors in percent: 2 of 3 estimates are at most that far off, and 19 of 20 at most twice as
   * far. 0 if uniqueVisitors is exact.
   */
  error: number;
  languages: Named[];
  operatingSystems: Named[];
  overview: Summary;
  regions: Named[];
  /** Only if the report includes bots. */
  series?: Split;
  sites: SiteClicks[];
  timeSeries: DayFigures[];
  totalClicks: number;
  /** Distinct addresses. */
  uniqueVisitors: number;
  /** Whether uniqueVisitors was counted. With about a million visitors or more in the requested range it is an estimate. */
  uniqueVisitorsIsExact: boolean;
  utmCampaigns: Valued[];
  utmMediums: Valued[];
  utmSources: Valued[];
}

export interface SharedLink {
  clicks: number;
  domain: string;
  slug: string;
  title: string | null;
}

export interface SharedPass {
  /** A time in RFC 3339. */
  expiresAt: string;
  /** Send it as the header X-Report-Pass. */
  pass: string;
}

export interface SharedReport {
  /** What the report counts. */
  about: 'workspace' | 'link' | 'tag' | 'bundle' | 'domain';
  /** Address of the page. Null if the ENCRYPTION_KEY with which it was saved is not configured any more. */
  address: string | null;
  /** Whether viewers see the report: its target exists and is not suspended, and its time is not over. */
  available: boolean;
  /** A time in RFC 3339. */
  createdAt: string;
  /** Id of the user who shared it. Null if that user was deleted. */
  createdBy: string | null;
  /** When the address stops working. Null: never. */
  expiresAt: string | null;
  hasPassword: boolean;
  id: string;
  /** Title of the page. */
  name: string;
  /** Origins whose pages may embed the report. */
  origins: string[];
  /** The fixed range and filters. */
  selection: SharedSelection;
  /** Whether the report lists the short URLs with most clicks. */
  showLinks: boolean;
  /** Present name of the target. Null for the workspace, and if the target is gone. */
  subject: string | null;
  /** Id of the link, tag or bundle, or host name of the domain. Null for the workspace. */
  target: string | null;
  /** A time in RFC 3339. */
  updatedAt: string;
}

export interface SharedSelection {
  bot?: string[];
  browser?: string[];
  bundleId?: string[];
  city?: string[];
  /**
   * previous, weekday, weeks or year: also show the figures of the preceding period, of the same weekdays before, the mean of the
   * four periods of the same weekdays before, or those of the same period a year earlier.
   */
  compare?: string;
  /** ISO 3166-1 codes. This and the next members are the filters of reports. */
  country?: string[];
  device?: string[];
  domain?: string[];
  /** The last day, or an instant if the interval is hour. */
  endDate?: string;
  /** Include bots. */
  includeBots?: boolean;
  /** hour, day, week or month. Default: day. Shared reports have no minutes, which would show single visits. */
  interval?: string;
  language?: string[];
  os?: string[];
  referer?: string[];
  region?: string[];
  ruleId?: string[];
  /** The first day, or an instant if the interval is hour. */
  startDate?: string;
  tag?: string[];
  /**
   * last_7_days, last_30_days, last_90_days, last_365_days, or custom for startDate and endDate; with interval hour also
   * last_24_hours. Default: last_30_days.
   */
  timeRange?: string;
  /** IANA time zone of the days. Default: UTC. */
  timezone?: string;
  utmCampaign?: string[];
  utmContent?: string[];
  utmMedium?: string[];
  utmSource?: string[];
  utmTerm?: string[];
  variantId?: string[];
}

export interface SharedView {
  about: 'workspace' | 'link' | 'tag' | 'bundle' | 'domain';
  /** A time in RFC 3339. */
  computedAt: string;
  /** When the address stops working. Null: never. */
  expiresAt: string | null;
  figures: SharedFigures;
  /** The fixed filters by the names of the parameters of reports. Filters by ids are left out. */
  filters: Record<string, string[]>;
  heatmap: Heatmap;
  includeBots: boolean;
  interval: 'hour' | 'day' | 'week' | 'month';
  name: string;
  /** The figures are computed once in this time, however many people look at them. */
  refreshSeconds: number;
  /** Name of the link, tag, bundle or domain. Null for the workspace. */
  subject: string | null;
  timezone: string;
  /** Title of the link. */
  title: string | null;
  /** Only if the report lists short URLs. */
  topUrls?: SharedLink[];
}

export interface SignInMethods {
  /** Whether users can sign in with a passkey: the console's address allows it, and single sign-on is not enforced. */
  passkeys: boolean;
  /** Whether password sign-in is on. */
  password: boolean;
  /** Whether a user who forgot the password can get a link by e-mail: the installation sends e-mail, and password sign-in is on. */
  passwordReset: boolean;
  /** The providers, as in GET /api/auth/sso. */
  sso: SSOProvider[];
}

export interface SiteClicks {
  clicks: number;
  /** Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if conversions repeat. Only with goal. */
  conversionRate?: number;
  /** Conversions of these clicks. Only with goal. */
  conversions?: number;
  /** What people call the site, such as X for x.com. */
  name: string;
  percentage: number;
  /** Sum of the values of the conversions in each currency. Only with goal. */
  revenue?: Amount[];
  /** Its domain. Direct: without a referrer. Unknown: the referrer has no host. */
  site: string;
}

export interface SlugAvailability {
  /** Host name of shortUrl. */
  domain: string;
  /** The address that the link would have. */
  shortUrl: string;
  slug: string;
  /** RESERVED is a path of the service itself. INVALID is not 3 to 50 letters, digits, hyphens or underscores. */
  status: 'FREE' | 'TAKEN' | 'RESERVED' | 'INVALID';
  /** A similar slug that is free, if this one is taken or reserved. */
  suggestion: string | null;
}

export interface Split {
  bots?: DayFigures[];
  people?: DayFigures[];
}

export interface Summary {
  averageClicksPerDay: number;
  /** Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if conversions repeat. Only with goal. */
  conversionRate?: number;
  /** Conversions of these clicks. Only with goal. */
  conversions?: number;
  /**
   * Relative standard error of uniqueVisitors in percent: 2 of 3 estimates are at most that far off, and 19 of 20 at most twice as
   * far. 0 if uniqueVisitors is exact.
   */
  error: number;
  /** In percent, compared with the preceding period of the same length. */
  growthRate: number;
  /** Sum of the values of the conversions in each currency. Only with goal. */
  revenue?: Amount[];
  totalClicks: number;
  /** Distinct addresses. */
  uniqueVisitors: number;
  /** Whether uniqueVisitors was counted. With about a million visitors or more in the requested range it is an estimate. */
  uniqueVisitorsIsExact: boolean;
}

export interface SuspendDomainRequest {
  /** Why the domain is suspended, for its owners. */
  reason: string;
}

export interface SuspendInBody {
  /** Why the link is suspended, for its owners. */
  reason: string;
}

export interface Tag {
  /** Hexadecimal, such as #3B82F6. */
  color: string;
  /** A time in RFC 3339. */
  createdAt: string;
  id: string;
  name: string;
  /** A time in RFC 3339. */
  updatedAt: string;
  /** Number of links with the tag. */
  urlCount: number;
}

export interface Template {
  conditions: unknown;
  description: string;
  key: string;
  name: string;
}

export interface Test {
  /** Only with compare. */
  comparison?: ComparedTest;
  domain: string;
  slug: string;
  /** When the first variant was created. */
  startDate: string | null;
  /** Clicks that went to one of the variants. */
  totalClicks: number;
  urlId: string;
  variants: TestVariant[];
}

export interface TestVariant {
  /** @deprecated The same as percentage. */
  actualPercentage: number;
  clicks: number;
  /**
   * Relative standard error of uniqueVisitors in percent: 2 of 3 estimates are at most that far off, and 19 of 20 at most twice as
   * far. 0 if uniqueVisitors is exact.
   */
  error: number;
  id: string;
  name: string;
  /** Of the test's clicks. */
  percentage: number;
  /** Distinct addresses. */
  uniqueVisitors: number;
  /** Whether uniqueVisitors was counted. With about a million visitors or more in the requested range it is an estimate. */
  uniqueVisitorsIsExact: boolean;
  weight: number;
}

export interface Tested {
  /** A sentence that says what this is. */
  message: string;
  /** The webhook that is tested. */
  webhookId: string;
  /** Its name. */
  webhookName: string;
}

export interface Tests {
  /** Only with compare. */
  comparison?: ComparedTests;
  /** Clicks of these links that neither a variant nor a rule decided, such as those from before the test. */
  controlGroupClicks: number;
  /** Of controlGroupClicks and variantClicks together. */
  controlGroupPercentage: number;
  tests: Test[];
  /** Variants with clicks, most first; limit bounds them. */
  topPerformingVariants: TopVariant[];
  totalAbTestUrls: number;
  totalTestClicks: number;
  /** @deprecated The same as totalTestClicks. */
  variantClicks: number;
  variantPercentage: number;
}

export interface TextCondition {
  operator: 'equals' | 'not_equals' | 'contains' | 'not_contains' | 'in' | 'not_in' | 'starts_with' | 'ends_with';
  type: 'os' | 'browser' | 'region' | 'city' | 'language' | 'referer' | 'utm_source' | 'utm_medium' | 'utm_campaign' | 'utm_term' | 'utm_content';
  value: string | string[];
}

export interface TimeCondition {
  operator: 'between' | 'before' | 'after';
  type: 'time';
  /** between needs an object with start and end. */
  value: string | {
    /** HH:MM */
    end?: string | null;
    /** HH:MM */
    start?: string | null;
    /** IANA time zone, such as Europe/Berlin. Default: that of the service. */
    timezone?: string | null;
  };
}

export interface TopLink {
  clicks: number;
  /** Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if conversions repeat. Only with goal. */
  conversionRate?: number;
  /** Conversions of these clicks. Only with goal. */
  conversions?: number;
  /** The host name of the link's address. */
  domain: string;
  id: string;
  /** Sum of the values of the conversions in each currency. Only with goal. */
  revenue?: Amount[];
  slug: string;
  title: string | null;
}

export interface TopURL {
  /** In the period, or in total if no period is given. */
  clickCount: number;
  /** In the period that compare names. */
  comparedClickCount?: number;
  /** A time in RFC 3339. */
  createdAt: string;
  /** The host name of the link's address. */
  domain: string;
  id: string;
  originalUrl: string;
  shortUrl: string;
  slug: string;
  status: 'ACTIVE' | 'INACTIVE' | 'EXPIRED' | 'SCHEDULED' | 'EXHAUSTED' | 'SUSPENDED';
  title: string | null;
}

export interface TopVariant {
  /** Percent of its test's clicks. */
  clickThroughRate: number;
  clicks: number;
  urlDomain: string;
  urlSlug: string;
  variantName: string;
}

export interface TransferURLsRequest {
  /** 1 to 1,000 ids; all are moved or none. */
  urlIds: string[];
  /** Id or slug of the workspace that is to own the links. The caller needs the role EDITOR there too. */
  workspaceId: string;
}

export interface Trend {
  /** One number for each day, today last. */
  clicks: number[];
  urlId: string;
}

export interface Trends {
  /** Today. */
  endDate: string;
  /** The first of the 30 days. */
  startDate: string;
  /** In the order of the request, without unknown ids. */
  trends: Trend[];
}

export interface TurnOffTOTPInBody {
  /** Must be false. */
  enabled?: boolean | null;
  /** @deprecated The same as enabled. */
  twoFactorEnabled?: boolean | null;
}

export interface TwoFactorEnabled {
  message: string;
  /** Each code works once as a twoFactorCode. The codes are shown only in this response. */
  recoveryCodes: string[];
}

export interface TwoFactorSetup {
  accountName: string;
  otpauthUrl: string;
  /** A PNG as a data URL. */
  qrCode: string;
  /** Base32. */
  secret: string;
}

export interface URL {
  /** Clicks that another service counted before the link moved here. clickCount and reports do not contain them. */
  clickBaseline: ClickBaseline | null;
  /** Clicks by people; bots are not counted. */
  clickCount: number;
  /** A time in RFC 3339. */
  createdAt: string;
  /** Like createdByName. */
  createdByEmail?: string;
  /** Name of the owner. Members of a team and an ADMIN see it, on links of other users. */
  createdByName?: string;
  defaultUrl: string | null;
  /** Only of a link in the trash. */
  deletedAt?: string;
  /** Id of the user who deleted a link in the trash. */
  deletedBy?: string;
  /** Like deletedByName. */
  deletedByEmail?: string;
  /** Name of the user who deleted a link in the trash. Members of a team see it, unless they are that user. */
  deletedByName?: string;
  /** Host name of shortUrl. */
  domain: string;
  /** Where visitors go after expiry or exhaustion. */
  expiredUrl: string | null;
  /** A time in RFC 3339. */
  expiresAt: string | null;
  /** Your own key for the link, unique in the workspace. */
  externalId: string | null;
  /** Whether /slug/a/b leads to the destination with /a/b. */
  forwardPath: boolean;
  hasPassword: boolean;
  /**
   * Whether the destination works, of several the worst: ok, redirected (it has moved for good), broken (several checks in a row
   * failed) or unknown (also before the first check).
   */
  health: 'ok' | 'redirected' | 'unknown' | 'broken';
  /** When the destination was asked last. */
  healthCheckedAt: string | null;
  /** Why the health is not ok. */
  healthReason: 'moved' | 'not_found' | 'gone' | 'server_error' | 'no_address' | 'unreachable' | 'bad_certificate' | 'too_slow' | 'redirect_loop' | 'restricted' | 'busy' | 'private_address' | null;
  /** Since when the link has this health. */
  healthSince: string | null;
  /** HTTP status of the last answer; null if there was none. */
  healthStatusCode: number | null;
  /** The destination with this health; null before the first check. */
  healthUrl: string | null;
  id: string;
  isABTesting: boolean;
  /** @deprecated The same as isABTesting. */
  isAbTest: boolean;
  isSmartRouting: boolean;
  /** Clicks by people after which the link is exhausted. */
  maxClicks: number | null;
  /** For owners only; visitors never see it. */
  notes: string | null;
  ogDescription: string | null;
  /** Key of an uploaded image. */
  ogImage: string | null;
  ogImageUrl: string | null;
  ogTitle: string | null;
  originalUrl: string;
  /** When a link in the trash is deleted for good. */
  purgeAt?: string;
  redirectCode: 301 | 302 | 307 | 308;
  shortUrl: string;
  slug: string;
  /** A time in RFC 3339. */
  startsAt: string | null;
  /** EXPIRED once expiresAt has passed, SCHEDULED before startsAt, EXHAUSTED after maxClicks clicks, DELETED in the trash. */
  status: 'ACTIVE' | 'INACTIVE' | 'EXPIRED' | 'SCHEDULED' | 'EXHAUSTED' | 'SUSPENDED' | 'DELETED';
  /** Whether a visitor keeps the variant of an A/B test. */
  stickiness: 'none' | 'cookie' | 'hash';
  /** Why an administrator or a check suspended the link. */
  suspendedReason: string | null;
  /** The code of suspendedReason if it is a sentence of the service, with what belongs in it. */
  suspendedWording?: Wording;
  /** Names of the link's tags, sorted. */
  tags: string[];
  title: string | null;
  /** Whether the id of the click is added to the destination. */
  trackConversions: boolean;
  twitterCardType: 'summary' | 'summary_large_image' | null;
  /** A time in RFC 3339. */
  updatedAt: string;
  userId: string;
  utmCampaign: string | null;
  utmContent: string | null;
  utmId: string | null;
  utmMedium: string | null;
  utmSource: string | null;
  utmSourcePlatform: string | null;
  utmTerm: string | null;
  /** The workspace that owns the link. */
  workspaceId: string;
}

export interface URLChange {
  /** As in the audit log. EARLIER is the oldest known state if it is not known how it came about. */
  action: 'URL_CREATED' | 'URL_UPDATED' | 'URL_DELETED' | 'URL_BULK_CREATED' | 'URL_BULK_UPDATED' | 'URL_BULK_DELETED' | 'URL_TRANSFERRED' | 'URL_RESTORED' | 'URL_ROLLED_BACK' | 'URL_SUSPENDED' | 'URL_UNSUSPENDED' | 'ABUSE_REPORTED' | 'ABUSE_REPORT_DISMISSED' | 'ABUSE_REPORT_ACTIONED' | 'USER_LOGIN' | 'USER_LOGOUT' | 'USER_CREATED' | 'USER_UPDATED' | 'USER_DELETED' | 'PASSWORD_CHANGED' | 'TWO_FACTOR_ENABLED' | 'TWO_FACTOR_DISABLED' | 'SESSION_REVOKED' | 'PASSWORD_RESET_REQUESTED' | 'API_KEY_CREATED' | 'API_KEY_ROTATED' | 'API_KEY_DELETED' | 'VARIANT_CREATED' | 'VARIANT_UPDATED' | 'VARIANT_DELETED' | 'TAG_CREATED' | 'TAG_UPDATED' | 'TAG_DELETED' | 'UTM_TEMPLATE_CREATED' | 'UTM_TEMPLATE_UPDATED' | 'UTM_TEMPLATE_DELETED' | 'VIEW_CREATED' | 'VIEW_UPDATED' | 'VIEW_DELETED' | 'SHARED_REPORT_CREATED' | 'SHARED_REPORT_UPDATED' | 'SHARED_REPORT_DELETED' | 'SEGMENT_CREATED' | 'SEGMENT_UPDATED' | 'SEGMENT_DELETED' | 'ANNOTATION_CREATED' | 'ANNOTATION_UPDATED' | 'ANNOTATION_DELETED' | 'MAIL_REPORT_CREATED' | 'MAIL_REPORT_UPDATED' | 'MAIL_REPORT_DELETED' | 'MAIL_REPORT_CONFIRMED' | 'MAIL_REPORT_UNSUBSCRIBED' | 'IMPORT_CREATED' | 'IMPORT_STARTED' | 'IMPORT_FINISHED' | 'IMPORT_FAILED' | 'IMPORT_CANCELLED' | 'IMPORT_DELETED' | 'DOMAIN_CREATED' | 'DOMAIN_UPDATED' | 'DOMAIN_DELETED' | 'CERTIFICATE_ISSUED' | 'CERTIFICATE_UPLOADED' | 'CERTIFICATE_DELETED' | 'BUNDLE_CREATED' | 'BUNDLE_UPDATED' | 'BUNDLE_DELETED' | 'WEBHOOK_CREATED' | 'WEBHOOK_UPDATED' | 'WEBHOOK_DELETED' | 'WEBHOOK_RESENT' | 'ALERT_CHANNEL_CREATED' | 'ALERT_CHANNEL_UPDATED' | 'ALERT_CHANNEL_DELETED' | 'ALERT_RULE_CREATED' | 'ALERT_RULE_UPDATED' | 'ALERT_RULE_DELETED' | 'ROUTING_RULE_CREATED' | 'ROUTING_RULE_UPDATED' | 'ROUTING_RULE_DELETED' | 'PASSKEY_ADDED' | 'PASSKEY_RENAMED' | 'PASSKEY_REMOVED' | 'PASSKEY_CLONED' | 'SSO_LOGIN' | 'SSO_LOGIN_FAILED' | 'OIDC_PROVIDER_CREATED' | 'OIDC_PROVIDER_UPDATED' | 'OIDC_PROVIDER_DELETED' | 'OIDC_ACCOUNT_LINKED' | 'OIDC_ACCOUNT_UNLINKED' | 'WORKSPACE_CREATED' | 'WORKSPACE_UPDATED' | 'WORKSPACE_DELETED' | 'WORKSPACE_EXPORTED' | 'WORKSPACE_IMPORTED' | 'MEMBER_ADDED' | 'MEMBER_UPDATED' | 'MEMBER_REMOVED' | 'INVITATION_CREATED' | 'INVITATION_REVOKED' | 'INVITATION_ACCEPTED' | 'CONVERSION_SETTINGS_UPDATED' | 'CONVERSION_KEY_ROTATED' | 'EXPERIMENT_CREATED' | 'EXPERIMENT_UPDATED' | 'EXPERIMENT_DELETED' | 'EXPERIMENT_RESTARTED' | 'EXPERIMENT_PROMOTED' | 'EXPERIMENT_DECIDED' | 'EXPERIMENT_WEIGHTS_SET' | 'SETTINGS_UPDATED' | 'VISITOR_ERASED' | 'SYSTEM_SETTING_UPDATED' | 'SYSTEM_SETTING_DELETED' | 'EARLIER';
  /** Null if it is not known. */
  at: string | null;
  /** Fields of the link, by name. Passwords are always ***. */
  changes: Record<string, Change>;
  /** A rollback to it restores the state right after the change. */
  revision: number;
  /** Rules that the change has added, changed or removed. */
  routingRules: PartChange[];
  /** Who made the change. Null for the system, or if it is not known. */
  user: ChangeUser | null;
  /** Variants that the change has added, changed or removed. */
  variants: PartChange[];
}

export interface URLEdit {
  changed: number;
  /** A time in RFC 3339. */
  createdAt: string;
  /** Links that were looked at, in the present direction. */
  done: number;
  /** Links with a problem, which stay as they are. */
  failed: number;
  /** Why the status is FAILED. */
  failure: string | null;
  /** A time in RFC 3339. */
  finishedAt: string | null;
  id: string;
  status: 'RUNNING' | 'DONE' | 'UNDOING' | 'UNDONE' | 'FAILED';
  /** Selected links. */
  total: number;
  /** Links that were changed back. */
  undone: number;
  /** Who edits. */
  userId: string;
}

export interface URLEditPreview {
  /** Links that the edit would change. */
  changed: number;
  /** Links that would have a problem, and stay as they are. */
  failed: number;
  /** The first 20 problems. */
  problems: EditProblem[];
  /** The differences of the first 20 links that would change. */
  samples: EditSample[];
  /** Selected links. */
  total: number;
  /** Links that are already so. */
  unchanged: number;
}

export interface URLList {
  /** The bundles that contain URLs of the page, by name. Only with include=bundles. */
  bundles?: ListedBundle[];
  data: URL[];
  /** Send it as after to get the next page. Null on the last page, and in the trash. */
  nextCursor: string | null;
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  /** False if there are more than 10,000 URLs; total is 10000 then. */
  totalIsExact: boolean;
  totalPages: number;
}

export interface URLStats {
  activeUrls: number;
  exhaustedUrls: number;
  expiredUrls: number;
  inactiveUrls: number;
  scheduledUrls: number;
  suspendedUrls: number;
  totalClicks: number;
  totalUrls: number;
}

export interface URLsTransferred {
  transferredCount: number;
  transferredIds: string[];
  workspaceId: string;
}

export interface UTMFieldValues {
  field: 'utmSource' | 'utmMedium' | 'utmCampaign' | 'utmTerm' | 'utmContent' | 'utmId' | 'utmSourcePlatform';
  suggestions: UTMSuggestion[];
}

export interface UTMSuggestion {
  count: number;
  value: string;
}

export interface UTMTemplate {
  /** A time in RFC 3339. */
  createdAt: string;
  id: string;
  name: string;
  /** A time in RFC 3339. */
  updatedAt: string;
  utmCampaign: string | null;
  utmContent: string | null;
  utmId: string | null;
  utmMedium: string | null;
  utmSource: string | null;
  utmSourcePlatform: string | null;
  utmTerm: string | null;
}

export interface UnlockSharedReportRequest {
  password: string;
}

export interface UpdateAlertChannelRequest {
  /** The default is true. */
  isActive?: boolean | null;
  name?: string | null;
  /** Beginning of the quiet hours; null removes them together with quietTo. */
  quietFrom?: string | null;
  quietTo?: string | null;
  target?: string | null;
  /** IANA time zone of the quiet hours; UTC if it is left out. */
  timeZone?: string | null;
}

export interface UpdateAlertRuleRequest {
  causes?: ('clicks' | 'destination' | 'expiry' | 'exhaustion' | 'domain' | 'webhook')[] | null;
  /** At most 20. Webhooks need no channel: they subscribe to alert.fired and alert.resolved. */
  channelIds?: string[] | null;
  /** 1 to 90; 7 if it is left out. */
  days?: number | null;
  /** The default is both. */
  direction?: 'both' | 'above' | 'below' | null;
  /** 1 to 99; 90 if it is left out. */
  exhaustionPercent?: number | null;
  /** The default is true. Open alerts of a rule that is turned off are resolved without messages. */
  isActive?: boolean | null;
  /** At least 1; 20 if it is left out. */
  minClicks?: number | null;
  /** 10 to 100; 50 if it is left out: half of the expected clicks. */
  minFallPercent?: number | null;
  /** 10 to 10,000; 100 if it is left out: twice the expected clicks. */
  minRisePercent?: number | null;
  name?: string | null;
  /** The default is normal. */
  sensitivity?: 'low' | 'normal' | 'high' | null;
  /** Names of at most 20 tags: only links with one of them. It must be empty together with urlId. */
  tags?: string[] | null;
  /** Only this link; null: all links of the workspace. */
  urlId?: string | null;
}

export interface UpdateAnnotation {
  /** A time in RFC 3339. */
  at?: string | null;
  text?: string | null;
}

export interface UpdateBundle {
  /** Hexadecimal; #3B82F6 if left out. */
  color?: string | null;
  /** At most 1,000 characters. */
  description?: string | null;
  /** Name of an icon; folder if left out. */
  icon?: string | null;
  name?: string | null;
}

export interface UpdateMailReport {
  every?: 'WEEK' | 'MONTH' | null;
  /** Default: true. */
  isActive?: boolean | null;
  name?: string | null;
  /**
   * At most 20 e-mail addresses. They replace the present ones; an address that has unsubscribed stays. Addresses of members get
   * reports at once, others after they have confirmed.
   */
  recipients?: string[] | null;
  /** Id of a segment of the workspace. Null, or left out: all clicks. */
  segmentId?: string | null;
  /** IANA time zone of its days. Default: UTC. */
  timezone?: string | null;
}

export interface UpdateMeInBody {
  /** Null or empty removes the name. */
  name: string | null;
}

export interface UpdateOIDCProviderRequest {
  /** Null or empty means all domains. */
  allowedDomains?: string[] | null;
  clientId?: string | null;
  /** Null or empty keeps the present secret. */
  clientSecret?: string | null;
  discoveryUrl?: string | null;
  isActive?: boolean | null;
  name?: string | null;
  /** Null or empty means openid email profile. */
  scopes?: string | null;
  /** Cannot change. The present value is accepted. */
  slug?: string | null;
  /** True needs allowedDomains. Null means false. */
  trustEmail?: boolean | null;
}

export interface UpdateRoutingSettingsRequest {
  /** Destination if no rule matches; null: originalUrl. */
  defaultUrl?: string | null;
  isSmartRouting?: boolean | null;
}

export interface UpdateRule {
  conditions?: ConditionGroup;
  /** true if left out. */
  isActive?: boolean | null;
  name?: string | null;
  /** 0 to 10,000; 0 if left out. */
  priority?: number | null;
  targetUrl?: string | null;
}

export interface UpdateSegment {
  /** Replaces all filters. */
  filters?: SegmentFilters;
  name?: string | null;
}

export interface UpdateShared {
  /** When the address stops working. Null: never. */
  expiresAt?: string | null;
  name?: string | null;
  /** Up to 20 origins whose pages may embed the report, such as https://www.example.com. Null: none. */
  origins?: string[] | null;
  /** 8 characters to 72 bytes. Null: none. */
  password?: string | null;
  /** Range and filters, which viewers cannot change. Null: the last 30 days without filters. */
  selection?: SharedSelection;
  /** Whether to list the short URLs with most clicks. Default: true. */
  showLinks?: boolean | null;
}

export interface UpdateTag {
  color?: string | null;
  name?: string | null;
}

export interface UpdateTemplate {
  name?: string | null;
  utmCampaign?: string | null;
  utmContent?: string | null;
  utmId?: string | null;
  utmMedium?: string | null;
  /** At most 255 characters, like every campaign field. */
  utmSource?: string | null;
  utmSourcePlatform?: string | null;
  utmTerm?: string | null;
}

export interface UpdateURL {
  /** Bundles that contain the link; at most 100. */
  bundleIds?: string[] | null;
  /** Destination of a smart-routed link if no rule matches. */
  defaultUrl?: string | null;
  /** Where visitors go after expiry or exhaustion, instead of 410. */
  expiredUrl?: string | null;
  /** When the link stops working. */
  expiresAt?: string | null;
  /** Your own key for the link; at most 255 characters. */
  externalId?: string | null;
  /** Adds the path behind the slug to the destination: /slug/a/b leads to the destination with /a/b. */
  forwardPath?: boolean | null;
  isABTesting?: boolean | null;
  /** @deprecated The same as isABTesting. */
  isAbTest?: boolean | null;
  isSmartRouting?: boolean | null;
  /** Clicks by people after which the link stops working. */
  maxClicks?: number | null;
  /** For owners only; at most 2,000 characters. */
  notes?: string | null;
  /** At most 200 characters. */
  ogDescription?: string | null;
  /** Key of an image uploaded for this link. */
  ogImage?: string | null;
  /** At most 100 characters. */
  ogTitle?: string | null;
  originalUrl?: string | null;
  /** 4 to 72 bytes; null removes it. */
  password?: string | null;
  /** 302 if left out. */
  redirectCode?: 301 | 302 | 307 | 308 | null;
  /** When the link starts to work. Before that, visitors get 404. */
  startsAt?: string | null;
  status?: 'ACTIVE' | 'INACTIVE' | null;
  /**
   * Whether a visitor of an A/B test keeps the variant: none (default), cookie (for 30 days, by a cookie of the short domain) or
   * hash (of the anonymised address and the User-Agent).
   */
  stickiness?: 'none' | 'cookie' | 'hash' | null;
  /**
   * Names of the link's tags, at most 20 of at most 40 characters. Unknown tags are created. A request that changes many links adds
   * them.
   */
  tags?: string[] | null;
  /** At most 255 characters. */
  title?: string | null;
  /** Adds the id of the click to the destination, so that conversions can be attributed to it. */
  trackConversions?: boolean | null;
  twitterCardType?: 'summary' | 'summary_large_image' | null;
  utmCampaign?: string | null;
  utmContent?: string | null;
  utmId?: string | null;
  utmMedium?: string | null;
  utmSource?: string | null;
  utmSourcePlatform?: string | null;
  utmTerm?: string | null;
}

export interface UpdateVariant {
  /** true if left out. */
  isActive?: boolean | null;
  name?: string | null;
  targetUrl?: string | null;
  /** 0 to 100; 50 if left out. */
  weight?: number | null;
}

export interface UpdateView {
  name?: string | null;
  /** 0 to 1,000,000; a new view becomes the last one if it is left out. */
  position?: number | null;
  query?: string | null;
  screen?: 'links' | 'analytics' | null;
  /** Whether all members of the workspace see the view. Only EDITORs and above share views. */
  shared?: boolean | null;
}

export interface UpdateWebhookRequest {
  events?: ('url.created' | 'url.updated' | 'url.deleted' | 'url.restored' | 'url.clicked' | 'routing.rule_created' | 'routing.rule_updated' | 'routing.rule_deleted' | 'routing.rule_matched' | 'link.started' | 'link.expired' | 'link.exhausted' | 'link.destination_broken' | 'link.destination_recovered' | 'conversion.created' | 'experiment.decided' | 'domain.verified' | 'domain.failed' | 'domain.certificate.issued' | 'domain.certificate.failed' | 'domain.certificate.expiring' | 'alert.fired' | 'alert.resolved')[] | null;
  /** Replaces all custom headers. Standard headers of deliveries cannot be set. The value *** keeps the present value of the header. */
  headers?: Record<string, string> | null;
  /** The default is true. */
  isActive?: boolean | null;
  /** Whether failed deliveries are attempted for three days instead of three minutes. The default is false. */
  longRetries?: boolean | null;
  name?: string | null;
  /** New end of the old secret while the secret is rotated, at most 30 days ahead. null, or a time that has passed, ends it at once. */
  oldSecretUntil?: string | null;
  /** The default is own; all requires an administrator. */
  scope?: 'own' | 'all' | null;
  /** At most 255 characters. If missing, a new webhook gets a generated secret. Without a secret, deliveries are not signed. */
  secret?: string | null;
  url?: string | null;
}

export interface UpdateWorkspaceInBody {
  /** 1 to 100 characters. */
  name?: string;
  /** Whether visitors of /slug+ see where links of the workspace lead; true unless it was changed. */
  previews?: boolean;
  /** 3 to 40 lower-case letters, digits and hyphens; unique. */
  slug?: string;
}

export interface UploadCertificate {
  /** The certificate and those of its authorities in PEM, the one of the host first. At most 10 KiB. */
  certificate: string;
  /** The private key in PEM, not encrypted. Responses never contain it. */
  privateKey: string;
}

export interface UploadedImage {
  key: string;
  /** The image's path. */
  proxyUrl: string;
}

export interface UpsertItem {
  /** Bundles that contain the link; at most 100. */
  bundleIds?: string[] | null;
  /** Clicks that another service has counted; null removes them. Reports show them apart from clicks that were counted here. */
  clickBaseline?: CountedBefore;
  /** When another service made the link; only for a new link, a link that exists keeps its date. With it, expiresAt may have passed. */
  createdAt?: string | null;
  /** Names the link if externalId does not. The slug of a link cannot be changed. */
  customSlug?: string | null;
  /** Destination of a smart-routed link if no rule matches. */
  defaultUrl?: string | null;
  /**
   * The domain of customSlug; if left out, the workspace's default domain. null or an empty string stands for the default domain of
   * the service. The domain of a link cannot be changed.
   */
  domain?: string | null;
  /** Where visitors go after expiry or exhaustion, instead of 410. */
  expiredUrl?: string | null;
  /** When the link stops working. */
  expiresAt?: string | null;
  /** Your own key for the link; at most 255 characters. */
  externalId?: string | null;
  /** Adds the path behind the slug to the destination: /slug/a/b leads to the destination with /a/b. */
  forwardPath?: boolean | null;
  /** The versions (etag) of which the link must have one, or *, as in the header If-Match. Otherwise, the item is refused with 412. */
  ifMatch?: string | null;
  /** *: only create the link. If it exists, the item is refused with 409. */
  ifNoneMatch?: string | null;
  isABTesting?: boolean | null;
  /** @deprecated The same as isABTesting. */
  isAbTest?: boolean | null;
  isSmartRouting?: boolean | null;
  /** Clicks by people after which the link stops working. */
  maxClicks?: number | null;
  /** For owners only; at most 2,000 characters. */
  notes?: string | null;
  /** At most 200 characters. */
  ogDescription?: string | null;
  /** Key of an image uploaded for this link. */
  ogImage?: string | null;
  /** At most 100 characters. */
  ogTitle?: string | null;
  /** Required for a new link. */
  originalUrl?: string | null;
  /** 4 to 72 bytes; null removes it. */
  password?: string | null;
  /** The bcrypt hash of the password, with a cost of at most 12, instead of password. */
  passwordHash?: string | null;
  /** 302 if left out. */
  redirectCode?: 301 | 302 | 307 | 308 | null;
  /**
   * All routing rules; null or an empty list stands for none. Left out, they stay. A rule without an id stands for the saved rule
   * of the same name.
   */
  rules?: DraftRule[] | null;
  /** When the link starts to work. Before that, visitors get 404. */
  startsAt?: string | null;
  status?: 'ACTIVE' | 'INACTIVE' | null;
  /**
   * Whether a visitor of an A/B test keeps the variant: none (default), cookie (for 30 days, by a cookie of the short domain) or
   * hash (of the anonymised address and the User-Agent).
   */
  stickiness?: 'none' | 'cookie' | 'hash' | null;
  /**
   * Names of the link's tags, at most 20 of at most 40 characters. Unknown tags are created. A request that changes many links adds
   * them.
   */
  tags?: string[] | null;
  /** At most 255 characters. */
  title?: string | null;
  /** Adds the id of the click to the destination, so that conversions can be attributed to it. */
  trackConversions?: boolean | null;
  twitterCardType?: 'summary' | 'summary_large_image' | null;
  utmCampaign?: string | null;
  utmContent?: string | null;
  utmId?: string | null;
  utmMedium?: string | null;
  utmSource?: string | null;
  utmSourcePlatform?: string | null;
  utmTerm?: string | null;
  /**
   * All variants; null or an empty list stands for none. Left out, they stay. A variant without an id stands for the saved variant
   * of the same name.
   */
  variants?: DraftVariant[] | null;
}

export interface UpsertURLsRequest {
  /** 1 to 1,000 items; each is applied or refused on its own. */
  items: UpsertItem[];
}

export interface UpsertedURL {
  /** Fields of a link that existed and that change, by name. Passwords are always ***. */
  changes: Record<string, Change>;
  /** Why the item is refused; otherwise null. */
  error: ItemError | null;
  /** Version of the link, for ifMatch. In a dry run, the present one. Null if there is no link. */
  etag: string | null;
  externalId: string | null;
  /** Null for a refused item that names no link, and for a link that a dry run would create. */
  id: string | null;
  result: 'CREATED' | 'UPDATED' | 'UNCHANGED' | 'REFUSED';
  /** Rules of a link that existed which are added, changed or removed. */
  routingRules: PartChange[];
  /** Null if there is no link, or if a dry run would generate its slug. */
  shortUrl: string | null;
  /** Variants of a link that existed which are added, changed or removed. */
  variants: PartChange[];
}

export interface UpsertedURLs {
  createdCount: number;
  /** Whether nothing was written. */
  dryRun: boolean;
  items: UpsertedURL[];
  refusedCount: number;
  unchangedCount: number;
  updatedCount: number;
}

export interface UrlClickedEvent {
  data: LinkClicked;
  event: 'url.clicked';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface UrlCreatedEvent {
  data: LinkCreated;
  event: 'url.created';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface UrlDeletedEvent {
  data: LinkDeleted;
  event: 'url.deleted';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface UrlRestoredEvent {
  data: LinkRestored;
  event: 'url.restored';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface UrlUpdatedEvent {
  data: LinkUpdated;
  event: 'url.updated';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface User {
  /** A time in RFC 3339. */
  createdAt: string;
  email: string;
  /** False if the account was made with a copied invitation link, and nobody has shown since that the address belongs to the user. */
  emailVerified: boolean;
  /** Whether the user has a passkey, which counts as both factors. */
  hasPasskeys: boolean;
  id: string;
  /** Whether status is ACTIVE. */
  isActive: boolean;
  name: string;
  role: 'ADMIN' | 'USER';
  status: 'ACTIVE' | 'INACTIVE';
  /** Whether an authenticator app is set up. */
  twoFactorEnabled: boolean;
  /** A time in RFC 3339. */
  updatedAt: string;
}

export interface UserStruct {
  displayName: string;
  id: string;
  name: string;
}

export interface Valued {
  clicks: number;
  /** Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if conversions repeat. Only with goal. */
  conversionRate?: number;
  /** Conversions of these clicks. Only with goal. */
  conversions?: number;
  percentage: number;
  /** Sum of the values of the conversions in each currency. Only with goal. */
  revenue?: Amount[];
  value: string;
}

export interface Variant {
  clickCount: number;
  /** A time in RFC 3339. */
  createdAt: string;
  id: string;
  isActive: boolean;
  name: string;
  targetUrl: string;
  /** A time in RFC 3339. */
  updatedAt: string;
  urlId: string;
  /** A variant's chance is its weight divided by the total weight of the active variants. */
  weight: number;
}

export interface VariantStat {
  /** Percent, one decimal. */
  clickThroughRate: number;
  variant: Variant;
}

export interface Variants {
  /** Whether the link has an experiment. Otherwise a report needs a goal. */
  hasExperiment: boolean;
  stats: VariantStat[];
  totalClicks: number;
  /** Total weight of the active variants. */
  totalWeight: number;
  variants: Variant[];
}

export interface View {
  /** A time in RFC 3339. */
  createdAt: string;
  /** Id of the user who saved the view. */
  createdBy: string;
  id: string;
  name: string;
  /** Views are listed in ascending order. */
  position: number;
  /** Query string of the screen's address, without the question mark. */
  query: string;
  screen: 'links' | 'analytics';
  /** Whether all members of the workspace see the view. */
  shared: boolean;
  /** A time in RFC 3339. */
  updatedAt: string;
}

export interface VisitorCondition {
  operator: 'in' | 'not_in' | 'equals' | 'not_equals';
  type: 'visitor';
  value: string | string[];
}

export interface WaitingProgram {
  /** A time in RFC 3339. */
  createdAt: string;
  /** A time in RFC 3339. */
  expiresAt: string;
  /** The address of the program. */
  ip: string;
  /** What the program calls itself. */
  name: string;
  userCode: string;
}

export interface Webhook {
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  /** A time in RFC 3339. */
  createdAt: string;
  events: ('url.created' | 'url.updated' | 'url.deleted' | 'url.restored' | 'url.clicked' | 'routing.rule_created' | 'routing.rule_updated' | 'routing.rule_deleted' | 'routing.rule_matched' | 'link.started' | 'link.expired' | 'link.exhausted' | 'link.destination_broken' | 'link.destination_recovered' | 'conversion.created' | 'experiment.decided' | 'domain.verified' | 'domain.failed' | 'domain.certificate.issued' | 'domain.certificate.failed' | 'domain.certificate.expiring' | 'alert.fired' | 'alert.resolved')[];
  /** When the first of these failed. Null if the last attempt succeeded. */
  failingSince: string | null;
  /** Failed attempts since the last one that succeeded. */
  failureStreak: number;
  /** Whether deliveries are signed. */
  hasSecret: boolean;
  /** Custom headers of deliveries. Values are never returned: each is ***. */
  headers: Record<string, string>;
  id: string;
  isActive: boolean;
  /** The error of the last attempt. Null if it succeeded. */
  lastError: string | null;
  /** A time in RFC 3339. */
  lastSentAt: string | null;
  /** Whether failed deliveries are attempted for three days instead of three minutes. */
  longRetries: boolean;
  name: string;
  /** When the next attempt is due. Null if none is planned. */
  nextAttemptAt: string | null;
  /** While the secret is rotated: until when the old one signs deliveries too. Null if only one secret is valid. */
  oldSecretUntil: string | null;
  /**
   * Why Shortline paused it: its maker left the workspace, lost the role ADMIN or was deleted, its API key was deleted with
   * endMade, or nothing could be delivered for three days. Null if it is active, or if a person disabled it.
   */
  pauseReason: 'MEMBER_REMOVED' | 'MEMBER_DEMOTED' | 'USER_DELETED' | 'API_KEY_DELETED' | 'FAILING' | null;
  /** Whether it gets events of its owner's links or of all links. */
  scope: 'own' | 'all';
  totalFailed: number;
  /** Number of attempts. */
  totalSent: number;
  totalSuccess: number;
  /** A time in RFC 3339. */
  updatedAt: string;
  url: string;
  userId: string;
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
  /** Deliveries that wait for an attempt, at most 10,000. */
  waiting: number;
}

export interface WebhookDay {
  /** The beginning of the day in UTC. */
  at: string;
  failed: number;
  succeeded: number;
}

/** The body of a delivery. */
export type WebhookEvent = AlertFiredEvent | AlertResolvedEvent | ConversionCreatedEvent | DomainCertificateExpiringEvent | DomainCertificateFailedEvent | DomainCertificateIssuedEvent | DomainFailedEvent | DomainVerifiedEvent | ExperimentDecidedEvent | LinkDestinationBrokenEvent | LinkDestinationRecoveredEvent | LinkExhaustedEvent | LinkExpiredEvent | LinkStartedEvent | RoutingRuleCreatedEvent | RoutingRuleDeletedEvent | RoutingRuleMatchedEvent | RoutingRuleUpdatedEvent | UrlClickedEvent | UrlCreatedEvent | UrlDeletedEvent | UrlRestoredEvent | UrlUpdatedEvent | WebhookTestEvent;

export interface WebhookLog {
  /** Starts at 1. */
  attempt: number;
  /** A time in RFC 3339. */
  createdAt: string;
  /** The same for all attempts of a delivery. */
  deliveryId: string;
  /** Milliseconds. */
  duration: number;
  error: string | null;
  event: WebhookEventName;
  id: string;
  isSuccess: boolean;
  /** The body of the request. */
  payload: WebhookEvent;
  /** The first 1,000 characters of the response. */
  response: string | null;
  /** @deprecated The same as response. */
  responseBody: string | null;
  /** A time in RFC 3339. */
  sentAt: string;
  status: 'success' | 'failed';
  /** Null if there was no response. */
  statusCode: number | null;
  webhookId: string;
}

export interface WebhookLogList {
  /** The last 14 days, oldest first, if the query has daily. Filters do not change it. */
  daily?: WebhookDay[];
  data: WebhookLog[];
  logs: WebhookLog[];
  page: number;
  pageSize: number;
  /** Rows on all pages. */
  total: number;
  totalPages: number;
}

export interface WebhookRepeat {
  /** Number of deliveries that are sent again now. */
  queued: number;
}

export interface WebhookTest {
  /** Milliseconds. */
  duration: number;
  error: string | null;
  response: string | null;
  /** Null if there was no response. */
  statusCode: number | null;
  success: boolean;
}

export interface WebhookTestEvent {
  data: Tested;
  event: 'webhook.test';
  /** A time in RFC 3339. */
  timestamp: string;
}

export interface Weekday {
  clicks: number;
  /** Clicks by the hour that clocks in the time zone show, from 0 to 23. */
  hours: number[];
  weekday: 'MONDAY' | 'TUESDAY' | 'WEDNESDAY' | 'THURSDAY' | 'FRIDAY' | 'SATURDAY' | 'SUNDAY';
}

export interface Wording {
  /** The code of the message. Messages without one are in English only. */
  code?: ProblemCode;
  /** What belongs in the sentence of the code, in the order of the English message. */
  values?: string[];
}

export interface Workspace {
  /** What needs a person and the caller can mend. Only in the answer to a request with attention=true. */
  attention?: Attention[];
  /** A time in RFC 3339. */
  createdAt: string;
  id: string;
  /** Whether it is the workspace of one user, in which requests without X-Workspace work. */
  isPersonal: boolean;
  memberCount: number;
  name: string;
  /** The user of a personal workspace; null for a team's. */
  ownerEmail: string | null;
  /** Whether visitors of /slug+ see where links of the workspace lead. */
  previews: boolean;
  /** The caller's role. Administrators of the system have the permissions of an OWNER everywhere. */
  role: 'OWNER' | 'ADMIN' | 'EDITOR' | 'VIEWER';
  slug: string;
  /** Days for which deleted links can be restored, the setting TRASH_DAYS. 0: every deletion is for good. */
  trashDays: number;
  /** A time in RFC 3339. */
  updatedAt: string;
  urlCount: number;
}

export interface Yields {
  /** By utm_campaign. This list and the next ones have only what has conversions, most conversions first. */
  campaigns: NamedYield[];
  clicks: number;
  /** Only with compare. */
  comparison?: ComparedYields;
  /** Conversions as a percentage of clicks; 0 without clicks. It exceeds 100 if clicks have several conversions. */
  conversionRate: number;
  /** Conversions of these clicks. */
  conversions: number;
  funnel: FunnelStep[];
  /** All goals with conversions, most conversions first. */
  goals: GoalYield[];
  /** Without deleted links, whose conversions are in all other figures. */
  links: LinkYield[];
  /** Sum of the values of the conversions in each currency. */
  revenue: Amount[];
  /** By referring site. */
  sources: NamedYield[];
  /** By the tags that links have now. A link can have several tags. */
  tags: NamedYield[];
  /** By utm_source. */
  utmSources: NamedYield[];
}
