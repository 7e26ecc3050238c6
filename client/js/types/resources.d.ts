// Generated from the OpenAPI document by generate/generate.js. Do not edit.
import type {
  APIKey, APIKeyList, AbuseForm, AbuseFormSent, AbuseReport, AcceptInvitationInBody, AcceptedInvitation, AddManyToBundleRequest,
  AddToBundleRequest, AlertChannel, AlertRule, Annotation, AnnotationList, ApprovePairingInBody, ArchiveReport, AuditLogs,
  BeginPairingInBody, BeginPasskeyRequest, Bots, BrowserConversion, BulkCreateURLsRequest, BulkCreated, BulkDeleteURLsRequest,
  BulkDeleted, BulkUpdate, BulkUpdated, Bundle, BundleStats, Change, ChangePasswordInBody, ConversionItem, ConversionItems,
  ConversionSettings, ConversionsSent, Counts, CreateAlertChannelRequest, CreateAlertRuleRequest, CreateAnnotation, CreateBundle,
  CreateDomain, CreateInvitationInBody, CreateKeyInBody, CreateMailReport, CreateOIDCProviderRequest, CreateRule, CreateSegment,
  CreateShared, CreateTag, CreateTemplate, CreateURL, CreateUserInBody, CreateVariant, CreateView, CreateWebhookRequest,
  CreateWorkspaceInBody, DayFigures, DisableTOTPInBody, Domain, DomainFields, DuplicateURLRequest, EdgeList, EditURLs, EnableTOTPInBody,
  EraseInBody, Erasure, Experiment, ExplainInBody, ExplainNewInBody, Explanation, FinishPasskeyLoginRequest, FinishPasskeyRequest,
  ForgotPasswordInBody, Freshness, Groups, Heatmap, ImageUploaded, Import, ImportPlan, ImportPreview, LinkInfo, LinkOpened, LinkPassword,
  LinkReport, ListAbuseReport, ListAlert, ListAlertChannel, ListAlertRule, ListBundle, ListConversion, ListDomain, ListEditProblem,
  ListExperimentWeights, ListGoal, ListImport, ListImportProblem, ListInvitation, ListMailReport, ListMember, ListMissingSlug,
  ListPasskey, ListSegment, ListSession, ListSharedReport, ListTag, ListURLChange, ListURLEdit, ListUTMTemplate, ListUser, ListView,
  ListWebhook, ListWorkspace, Login, LoginInBody, MailReport, Member, Message, MoveInBundleRequest, Named, NewAPIKey, NewInvitation,
  NewWebhook, OIDCAccount, OIDCProvider, Overview, PagePreview, Pairing, Passkey, PasskeyCreation, PasskeyRequest, PromoteVariantRequest,
  PutConversionSettings, PutExperimentRequest, PutSettingInBody, PutURL, RecentClicks, RedeemPairingInBody, RedeemedPairing,
  RefusePairingInBody, Release, RenamePasskeyRequest, Replay, ReplayInBody, Report, ResetForgottenInBody, ResetPasswordInBody,
  ResolveReportInBody, RestoreURLRequest, RevokeOwnKeyInBody, RollBackURLRequest, RotateKeyInBody, RotateWebhookSecretRequest, Routing,
  RoutingRule, RoutingRules, RoutingSettings, RoutingTemplates, RuleFromTemplate, SSOProvider, Segment, SetMemberRoleInBody,
  SetNameInBody, SetRoleInBody, SetStatusInBody, SetUpTOTPInBody, Setting, SharedPass, SharedReport, SharedView, SignInMethods,
  SlugAvailability, Summary, SuspendDomainRequest, SuspendInBody, Tag, Test, Tests, TopURL, TransferURLsRequest, Trends,
  TurnOffTOTPInBody, TwoFactorEnabled, TwoFactorSetup, URL, URLEdit, URLEditPreview, URLList, URLStats, URLsTransferred, UTMFieldValues,
  UTMTemplate, UnlockSharedReportRequest, UpdateAlertChannelRequest, UpdateAlertRuleRequest, UpdateAnnotation, UpdateBundle,
  UpdateMailReport, UpdateMeInBody, UpdateOIDCProviderRequest, UpdateRoutingSettingsRequest, UpdateRule, UpdateSegment, UpdateShared,
  UpdateTag, UpdateTemplate, UpdateURL, UpdateVariant, UpdateView, UpdateWebhookRequest, UpdateWorkspaceInBody, UploadCertificate,
  UpsertURLsRequest, UpsertedURLs, User, Variant, Variants, View, WaitingProgram, Webhook, WebhookLog, WebhookLogList, WebhookRepeat,
  WebhookTest, Workspace, Yields, WebhookEventName,
} from './schemas.js';
import type {
  Call, Fields, FileBody, Idempotent, IfMatch, IfNoneMatch, List, LiveOptions, LiveStream, NotModified, Only, Redirect, RequestOptions, Time,
} from './runtime.js';

export interface Paging {
  /** Number of the page, from 1. */
  page?: number | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** The same as limit. */
  pageSize?: number | undefined;
}

export interface ReportFilter {
  /**
   * The first day: a date, or an instant, which stands for its day in the time zone. Default: 30 days ago. If interval is minute or
   * hour, an instant stands for itself.
   */
  startDate?: Time | undefined;
  /**
   * The last day, inclusive. Default: today. The range is at most 365 days. If interval is minute or hour, an instant ends the
   * range.
   */
  endDate?: Time | undefined;
  /**
   * last_7_days, last_30_days, last_90_days, last_365_days, or custom for startDate and endDate. If interval is minute or hour also
   * last_hour, last_6_hours, last_24_hours.
   */
  timeRange?: 'custom' | 'last_24_hours' | 'last_30_days' | 'last_365_days' | 'last_6_hours' | 'last_7_days' | 'last_90_days' | 'last_hour' | undefined;
  /** IANA time zone of the days. Default: UTC. */
  timezone?: string | undefined;
  /** Include bots. */
  includeBots?: boolean | undefined;
  /**
   * ISO 3166-1 codes, or Unknown. All filters can be repeated, with at most 20 values: clicks with any of the values count. Of
   * several filters, all apply.
   */
  country?: string | readonly string[] | undefined;
  /** Regions as reports name them, or Unknown. */
  region?: string | readonly string[] | undefined;
  /** Cities as reports name them, or Unknown. */
  city?: string | readonly string[] | undefined;
  /** MOBILE, DESKTOP, TABLET or Unknown. */
  device?: string | readonly string[] | undefined;
  /** Operating systems as reports name them. */
  os?: string | readonly string[] | undefined;
  /** Browsers as reports name them. */
  browser?: string | readonly string[] | undefined;
  /** Referring sites, such as instagram.com, or Direct. */
  referer?: string | readonly string[] | undefined;
  /** Language codes, such as de, or Unknown. */
  language?: string | readonly string[] | undefined;
  /** Values of utm_source, or Unknown for clicks without one. The next four are alike. */
  utmSource?: string | readonly string[] | undefined;
  /** Values of utm_medium. */
  utmMedium?: string | readonly string[] | undefined;
  /** Values of utm_campaign. */
  utmCampaign?: string | readonly string[] | undefined;
  /** Values of utm_term. */
  utmTerm?: string | readonly string[] | undefined;
  /** Values of utm_content. */
  utmContent?: string | readonly string[] | undefined;
  /** Ids of variants, or none for clicks that no variant decided. */
  variantId?: string | readonly string[] | undefined;
  /** Ids of routing rules, or none for clicks that no rule decided. */
  ruleId?: string | readonly string[] | undefined;
  /** Hosts of short URLs. */
  domain?: string | readonly string[] | undefined;
  /** Names of tags: clicks on links that have any of the tags now. */
  tag?: string | readonly string[] | undefined;
  /** Ids of bundles: clicks on links that are in any of the bundles now. */
  bundleId?: string | readonly string[] | undefined;
  /** true for bots only, false for people only, or names of bots. Replaces includeBots. */
  bot?: string | readonly string[] | undefined;
}

export interface ReportQuery extends ReportFilter {
  /** minute (ranges up to 6 hours), hour (up to 31 days), day, week or month. Default: day. */
  interval?: 'minute' | 'hour' | 'day' | 'week' | 'month' | undefined;
  /**
   * previous: add the figures of the preceding period of the same length. weekday: add those of the same weekdays, as few weeks
   * earlier as possible without an overlap. weeks: add the mean of each figure in the four periods of the same weekdays before, for
   * ranges up to 31 days. year: add those of the same period one year earlier.
   */
  compare?: 'previous' | 'weekday' | 'weeks' | 'year' | undefined;
}

export interface ListAbuseReportsQuery extends Paging {
  /** Default: all. */
  status?: 'OPEN' | 'DISMISSED' | 'ACTIONED' | undefined;
  /** Default: all. */
  source?: 'VISITOR' | 'BLOCKLIST' | 'CHECK' | undefined;
  /** Id of a link. */
  urlId?: string | undefined;
}

export interface ListSessionsQuery extends Paging {
}

export interface ListAlertChannelsQuery extends Paging {
}

export interface ListAlertRulesQuery extends Paging {
}

export interface ListAlertsQuery extends Paging {
  /** Both if left out. */
  status?: 'open' | 'resolved' | undefined;
  /** All if left out. */
  kind?: 'clicks' | 'destination' | 'expiry' | 'exhaustion' | 'domain' | 'webhook' | undefined;
  /** Only alerts of this rule. */
  ruleId?: string | undefined;
}

export interface AbTestsAliasQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
}

export interface AbTestsQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
}

export interface BotsQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
}

export interface BotsAliasQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
}

export interface ConversionsReportQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
  /** Only conversions of this goal. The list of goals still has all of them. */
  goal?: string | undefined;
}

export interface ExportQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
  /** Format of the file. */
  format?: 'csv' | 'json' | undefined;
  /** Add the newest clicks, at most 10,000. */
  includeClicks?: boolean | undefined;
  /** Only this short URL. */
  urlId?: string | undefined;
}

export interface GroupsReportQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
  /** What the links are grouped by. */
  by?: 'tag' | 'bundle' | 'domain' | undefined;
  /**
   * Name of a goal, or * for all goals: add conversions, conversionRate and revenue to all figures of clicks. A conversion counts
   * at the time of its click.
   */
  goal?: string | undefined;
}

export interface HeatmapQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
}

export interface LiveClicksQuery {
  /** Only this short URL. */
  urlId?: string | undefined;
  /** own (default), or all: the clicks of all users, for administrators. */
  scope?: 'own' | 'all' | undefined;
  /** Include clicks of bots. */
  includeBots?: boolean | undefined;
  /** The same as Last-Event-ID, for clients that can't set headers. */
  lastEventId?: string | undefined;
}

export interface ListMissingSlugsQuery extends Paging {
  /** The first day (UTC), as a date or time in ISO 8601. Default: 30 days ago. */
  from?: Time | undefined;
  /** The last day (UTC), inclusive. Default: today. */
  to?: Time | undefined;
}

export interface OverviewQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
  /** people, bots or people,bots: add separate series of people and bots. */
  series?: string | undefined;
  /**
   * Name of a goal, or * for all goals: add conversions, conversionRate and revenue to all figures of clicks. A conversion counts
   * at the time of its click.
   */
  goal?: string | undefined;
}

export interface TopURLsQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
}

export interface TrendsQuery {
  /** Ids of short URLs; repeat the parameter, at most 100 times. */
  urlIds: string | readonly string[];
  /** IANA time zone of the days. Default: UTC. */
  timezone?: string | undefined;
}

export interface LinkReportQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
  /** people, bots or people,bots: add separate series of people and bots. */
  series?: string | undefined;
  /**
   * Name of a goal, or * for all goals: add conversions, conversionRate and revenue to all figures of clicks. A conversion counts
   * at the time of its click.
   */
  goal?: string | undefined;
}

export interface AbTestQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
}

export interface LinkBotsQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
}

export interface RecentClicksAliasQuery extends ReportFilter {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
}

export interface ExportLinkQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
  /** Format of the file. */
  format?: 'csv' | 'json' | undefined;
  /** Add the newest clicks, at most 10,000. */
  includeClicks?: boolean | undefined;
}

export interface LinkHeatmapQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
}

export interface RecentClicksQuery extends ReportFilter {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
}

export interface RoutingReportQuery extends ReportQuery {
  /** Rows in each list. Default: 10, or 20 for clicks. */
  limit?: number | undefined;
}

export interface ListAnnotationsQuery {
  /** The first day or instant, as in reports. Default: 30 days ago. */
  startDate?: Time | undefined;
  /** The last day or instant, as in reports. Default: today. */
  endDate?: Time | undefined;
  /** The range, as in reports. */
  timeRange?: 'custom' | 'last_24_hours' | 'last_30_days' | 'last_365_days' | 'last_6_hours' | 'last_7_days' | 'last_90_days' | 'last_hour' | undefined;
  /** IANA time zone of the days. Default: UTC. */
  timezone?: string | undefined;
  /** As in the report for whose chart they are: with minute or hour, instants stand for themselves. */
  interval?: 'minute' | 'hour' | 'day' | 'week' | 'month' | undefined;
  /** Only those of this link, and the notes about the whole workspace. */
  urlId?: string | undefined;
}

export interface ListAPIKeysQuery extends Paging {
}

export interface DeleteAPIKeyQuery {
  /** Also deactivate users, revoke invitations and pause webhooks that were made with these keys. */
  endMade?: boolean | undefined;
}

export interface ImportWorkspaceQuery {
  /** Only tell what would happen. */
  dryRun?: boolean | undefined;
  /** Import everything else if something cannot be imported. */
  skipConflicts?: boolean | undefined;
}

export interface ListAuditLogsQuery extends Paging {
  /** The field to sort by; createdAt by default. */
  sortBy?: 'action' | 'createdAt' | 'entityType' | 'userId' | undefined;
  /** The direction; desc by default. */
  sortOrder?: 'asc' | 'desc' | undefined;
  /** Only entries with this action. */
  action?: 'URL_CREATED' | 'URL_UPDATED' | 'URL_DELETED' | 'URL_BULK_CREATED' | 'URL_BULK_UPDATED' | 'URL_BULK_DELETED' | 'URL_TRANSFERRED' | 'URL_RESTORED' | 'URL_ROLLED_BACK' | 'URL_SUSPENDED' | 'URL_UNSUSPENDED' | 'ABUSE_REPORTED' | 'ABUSE_REPORT_DISMISSED' | 'ABUSE_REPORT_ACTIONED' | 'USER_LOGIN' | 'USER_LOGOUT' | 'USER_CREATED' | 'USER_UPDATED' | 'USER_DELETED' | 'PASSWORD_CHANGED' | 'TWO_FACTOR_ENABLED' | 'TWO_FACTOR_DISABLED' | 'SESSION_REVOKED' | 'PASSWORD_RESET_REQUESTED' | 'API_KEY_CREATED' | 'API_KEY_ROTATED' | 'API_KEY_DELETED' | 'VARIANT_CREATED' | 'VARIANT_UPDATED' | 'VARIANT_DELETED' | 'TAG_CREATED' | 'TAG_UPDATED' | 'TAG_DELETED' | 'UTM_TEMPLATE_CREATED' | 'UTM_TEMPLATE_UPDATED' | 'UTM_TEMPLATE_DELETED' | 'VIEW_CREATED' | 'VIEW_UPDATED' | 'VIEW_DELETED' | 'SHARED_REPORT_CREATED' | 'SHARED_REPORT_UPDATED' | 'SHARED_REPORT_DELETED' | 'SEGMENT_CREATED' | 'SEGMENT_UPDATED' | 'SEGMENT_DELETED' | 'ANNOTATION_CREATED' | 'ANNOTATION_UPDATED' | 'ANNOTATION_DELETED' | 'MAIL_REPORT_CREATED' | 'MAIL_REPORT_UPDATED' | 'MAIL_REPORT_DELETED' | 'MAIL_REPORT_CONFIRMED' | 'MAIL_REPORT_UNSUBSCRIBED' | 'IMPORT_CREATED' | 'IMPORT_STARTED' | 'IMPORT_FINISHED' | 'IMPORT_FAILED' | 'IMPORT_CANCELLED' | 'IMPORT_DELETED' | 'DOMAIN_CREATED' | 'DOMAIN_UPDATED' | 'DOMAIN_DELETED' | 'CERTIFICATE_ISSUED' | 'CERTIFICATE_UPLOADED' | 'CERTIFICATE_DELETED' | 'BUNDLE_CREATED' | 'BUNDLE_UPDATED' | 'BUNDLE_DELETED' | 'WEBHOOK_CREATED' | 'WEBHOOK_UPDATED' | 'WEBHOOK_DELETED' | 'WEBHOOK_RESENT' | 'ALERT_CHANNEL_CREATED' | 'ALERT_CHANNEL_UPDATED' | 'ALERT_CHANNEL_DELETED' | 'ALERT_RULE_CREATED' | 'ALERT_RULE_UPDATED' | 'ALERT_RULE_DELETED' | 'ROUTING_RULE_CREATED' | 'ROUTING_RULE_UPDATED' | 'ROUTING_RULE_DELETED' | 'PASSKEY_ADDED' | 'PASSKEY_RENAMED' | 'PASSKEY_REMOVED' | 'PASSKEY_CLONED' | 'SSO_LOGIN' | 'SSO_LOGIN_FAILED' | 'OIDC_PROVIDER_CREATED' | 'OIDC_PROVIDER_UPDATED' | 'OIDC_PROVIDER_DELETED' | 'OIDC_ACCOUNT_LINKED' | 'OIDC_ACCOUNT_UNLINKED' | 'WORKSPACE_CREATED' | 'WORKSPACE_UPDATED' | 'WORKSPACE_DELETED' | 'WORKSPACE_EXPORTED' | 'WORKSPACE_IMPORTED' | 'MEMBER_ADDED' | 'MEMBER_UPDATED' | 'MEMBER_REMOVED' | 'INVITATION_CREATED' | 'INVITATION_REVOKED' | 'INVITATION_ACCEPTED' | 'CONVERSION_SETTINGS_UPDATED' | 'CONVERSION_KEY_ROTATED' | 'EXPERIMENT_CREATED' | 'EXPERIMENT_UPDATED' | 'EXPERIMENT_DELETED' | 'EXPERIMENT_RESTARTED' | 'EXPERIMENT_PROMOTED' | 'EXPERIMENT_DECIDED' | 'EXPERIMENT_WEIGHTS_SET' | 'SETTINGS_UPDATED' | 'VISITOR_ERASED' | 'SYSTEM_SETTING_UPDATED' | 'SYSTEM_SETTING_DELETED' | undefined;
  /** Only entries about this type of object. */
  entityType?: 'url' | 'tag' | 'utm_template' | 'view' | 'segment' | 'annotation' | 'mail_report' | 'import' | 'domain' | 'user' | 'api_key' | 'bundle' | 'webhook' | 'variant' | 'routing_rule' | 'settings' | 'oidc_provider' | 'oidc_account' | 'system_setting' | 'visitor' | 'passkey' | 'session' | 'workspace' | 'member' | 'invitation' | 'abuse_report' | 'conversion_settings' | 'experiment' | 'shared_report' | 'alert_channel' | 'alert_rule' | undefined;
  /** Id of the changed entity. */
  entityId?: string | undefined;
  /** Id of the user who made the change. */
  userId?: string | undefined;
  /** A date or time in ISO 8601. */
  startDate?: Time | undefined;
  /** A date or time in ISO 8601; a date includes the whole day. */
  endDate?: Time | undefined;
}

export interface ListBundlesQuery extends Paging {
  /** Text in name or description, case-insensitive. */
  search?: string | undefined;
  /** ACTIVE if not given. */
  status?: 'ACTIVE' | 'ARCHIVED' | undefined;
}

export interface BundleStatsQuery {
  /** IANA name of the time zone for days; UTC if not given. */
  timezone?: string | undefined;
}

export interface ListConversionsQuery extends Paging {
  /** First day of the clicks, or an instant. Without a range: all time. */
  startDate?: Time | undefined;
  /** Last day of the clicks, or an instant. */
  endDate?: Time | undefined;
  /** A range by name, as in reports. */
  timeRange?: 'custom' | 'last_24_hours' | 'last_30_days' | 'last_365_days' | 'last_6_hours' | 'last_7_days' | 'last_90_days' | 'last_hour' | undefined;
  /** Time zone of the days. Default: UTC. */
  timezone?: string | undefined;
  /** Include clicks of bots. */
  includeBots?: boolean | undefined;
  /**
   * ISO 3166-1 codes, or Unknown. All filters can be repeated, with at most 20 values: clicks with any of the values count. Of
   * several filters, all apply.
   */
  country?: string | readonly string[] | undefined;
  /** Regions as reports name them, or Unknown. */
  region?: string | readonly string[] | undefined;
  /** Cities as reports name them, or Unknown. */
  city?: string | readonly string[] | undefined;
  /** MOBILE, DESKTOP, TABLET or Unknown. */
  device?: string | readonly string[] | undefined;
  /** Operating systems as reports name them. */
  os?: string | readonly string[] | undefined;
  /** Browsers as reports name them. */
  browser?: string | readonly string[] | undefined;
  /** Referring sites, such as instagram.com, or Direct. */
  referer?: string | readonly string[] | undefined;
  /** Language codes, such as de, or Unknown. */
  language?: string | readonly string[] | undefined;
  /** Values of utm_source, or Unknown for clicks without one. The next four are alike. */
  utmSource?: string | readonly string[] | undefined;
  /** Values of utm_medium. */
  utmMedium?: string | readonly string[] | undefined;
  /** Values of utm_campaign. */
  utmCampaign?: string | readonly string[] | undefined;
  /** Values of utm_term. */
  utmTerm?: string | readonly string[] | undefined;
  /** Values of utm_content. */
  utmContent?: string | readonly string[] | undefined;
  /** Ids of variants, or none for clicks that no variant decided. */
  variantId?: string | readonly string[] | undefined;
  /** Ids of routing rules, or none for clicks that no rule decided. */
  ruleId?: string | readonly string[] | undefined;
  /** Hosts of short URLs. */
  domain?: string | readonly string[] | undefined;
  /** Names of tags: clicks on links that have any of the tags now. */
  tag?: string | readonly string[] | undefined;
  /** Ids of bundles: clicks on links that are in any of the bundles now. */
  bundleId?: string | readonly string[] | undefined;
  /** true for bots only, false for people only, or names of bots. Replaces includeBots. */
  bot?: string | readonly string[] | undefined;
  /** Only conversions of this goal. */
  goal?: string | undefined;
}

export interface ExportConversionsQuery {
  /** First day of the clicks, or an instant. Without a range: all time. */
  startDate?: Time | undefined;
  /** Last day of the clicks, or an instant. */
  endDate?: Time | undefined;
  /** A range by name, as in reports. */
  timeRange?: 'custom' | 'last_24_hours' | 'last_30_days' | 'last_365_days' | 'last_6_hours' | 'last_7_days' | 'last_90_days' | 'last_hour' | undefined;
  /** Time zone of the days. Default: UTC. */
  timezone?: string | undefined;
  /** Include clicks of bots. */
  includeBots?: boolean | undefined;
  /**
   * ISO 3166-1 codes, or Unknown. All filters can be repeated, with at most 20 values: clicks with any of the values count. Of
   * several filters, all apply.
   */
  country?: string | readonly string[] | undefined;
  /** Regions as reports name them, or Unknown. */
  region?: string | readonly string[] | undefined;
  /** Cities as reports name them, or Unknown. */
  city?: string | readonly string[] | undefined;
  /** MOBILE, DESKTOP, TABLET or Unknown. */
  device?: string | readonly string[] | undefined;
  /** Operating systems as reports name them. */
  os?: string | readonly string[] | undefined;
  /** Browsers as reports name them. */
  browser?: string | readonly string[] | undefined;
  /** Referring sites, such as instagram.com, or Direct. */
  referer?: string | readonly string[] | undefined;
  /** Language codes, such as de, or Unknown. */
  language?: string | readonly string[] | undefined;
  /** Values of utm_source, or Unknown for clicks without one. The next four are alike. */
  utmSource?: string | readonly string[] | undefined;
  /** Values of utm_medium. */
  utmMedium?: string | readonly string[] | undefined;
  /** Values of utm_campaign. */
  utmCampaign?: string | readonly string[] | undefined;
  /** Values of utm_term. */
  utmTerm?: string | readonly string[] | undefined;
  /** Values of utm_content. */
  utmContent?: string | readonly string[] | undefined;
  /** Ids of variants, or none for clicks that no variant decided. */
  variantId?: string | readonly string[] | undefined;
  /** Ids of routing rules, or none for clicks that no rule decided. */
  ruleId?: string | readonly string[] | undefined;
  /** Hosts of short URLs. */
  domain?: string | readonly string[] | undefined;
  /** Names of tags: clicks on links that have any of the tags now. */
  tag?: string | readonly string[] | undefined;
  /** Ids of bundles: clicks on links that are in any of the bundles now. */
  bundleId?: string | readonly string[] | undefined;
  /** true for bots only, false for people only, or names of bots. Replaces includeBots. */
  bot?: string | readonly string[] | undefined;
  /** Only conversions of this goal. */
  goal?: string | undefined;
}

export interface ListGoalsQuery extends Paging {
  /** First day of the clicks, or an instant. Without a range: all time. */
  startDate?: Time | undefined;
  /** Last day of the clicks, or an instant. */
  endDate?: Time | undefined;
  /** A range by name, as in reports. */
  timeRange?: 'custom' | 'last_24_hours' | 'last_30_days' | 'last_365_days' | 'last_6_hours' | 'last_7_days' | 'last_90_days' | 'last_hour' | undefined;
  /** Time zone of the days. Default: UTC. */
  timezone?: string | undefined;
  /** Include clicks of bots. */
  includeBots?: boolean | undefined;
  /**
   * ISO 3166-1 codes, or Unknown. All filters can be repeated, with at most 20 values: clicks with any of the values count. Of
   * several filters, all apply.
   */
  country?: string | readonly string[] | undefined;
  /** Regions as reports name them, or Unknown. */
  region?: string | readonly string[] | undefined;
  /** Cities as reports name them, or Unknown. */
  city?: string | readonly string[] | undefined;
  /** MOBILE, DESKTOP, TABLET or Unknown. */
  device?: string | readonly string[] | undefined;
  /** Operating systems as reports name them. */
  os?: string | readonly string[] | undefined;
  /** Browsers as reports name them. */
  browser?: string | readonly string[] | undefined;
  /** Referring sites, such as instagram.com, or Direct. */
  referer?: string | readonly string[] | undefined;
  /** Language codes, such as de, or Unknown. */
  language?: string | readonly string[] | undefined;
  /** Values of utm_source, or Unknown for clicks without one. The next four are alike. */
  utmSource?: string | readonly string[] | undefined;
  /** Values of utm_medium. */
  utmMedium?: string | readonly string[] | undefined;
  /** Values of utm_campaign. */
  utmCampaign?: string | readonly string[] | undefined;
  /** Values of utm_term. */
  utmTerm?: string | readonly string[] | undefined;
  /** Values of utm_content. */
  utmContent?: string | readonly string[] | undefined;
  /** Ids of variants, or none for clicks that no variant decided. */
  variantId?: string | readonly string[] | undefined;
  /** Ids of routing rules, or none for clicks that no rule decided. */
  ruleId?: string | readonly string[] | undefined;
  /** Hosts of short URLs. */
  domain?: string | readonly string[] | undefined;
  /** Names of tags: clicks on links that have any of the tags now. */
  tag?: string | readonly string[] | undefined;
  /** Ids of bundles: clicks on links that are in any of the bundles now. */
  bundleId?: string | readonly string[] | undefined;
  /** true for bots only, false for people only, or names of bots. Replaces includeBots. */
  bot?: string | readonly string[] | undefined;
}

export interface ListDomainsQuery extends Paging {
  /** Text in the name, case-insensitive. */
  search?: string | undefined;
}

export interface GetExperimentQuery {
  /** Name of the conversions that count. Default: the experiment's goal. Required if the link has no experiment. */
  goal?: string | undefined;
}

export interface ListExperimentWeightsQuery extends Paging {
}

export interface ListImportsQuery extends Paging {
}

export interface CreateImportQuery {
  /** Name of the import, such as that of the file; at most 100 characters. */
  name?: string | undefined;
}

export interface ListImportProblemsQuery extends Paging {
}

export interface ListInvitationsQuery extends Paging {
}

export interface ListMailReportsQuery extends Paging {
}

export interface GetPairingQuery {
  /** As the program shows it. */
  code: string;
}

export interface ListPasskeysQuery extends Paging {
}

export interface ListSegmentsQuery extends Paging {
}

export interface ListSharedReportsQuery extends Paging {
  /** Only reports about this. */
  about?: 'workspace' | 'link' | 'tag' | 'bundle' | 'domain' | undefined;
  /** Only reports about the link, tag, bundle or domain with this id or host name. */
  target?: string | undefined;
}

export interface FinishSSOQuery {
  /** The state that was sent to the provider. */
  state?: string | undefined;
  /** The authorization code. */
  code?: string | undefined;
  /** The error of the provider. */
  error?: string | undefined;
  /** The issuer (RFC 9207). */
  iss?: string | undefined;
}

export interface BeginSSOQuery {
  /** The path to return to after the sign-in. The default is /. */
  redirect?: string | undefined;
}

export interface ListTagsQuery extends Paging {
  /** Text in the name, case-insensitive. */
  search?: string | undefined;
}

export interface SiteIconQuery {
  /** An address of the site. */
  url: string;
}

export interface PreviewPageQuery {
  /** An http or https address. */
  url: string;
}

export interface ListURLEditsQuery extends Paging {
}

export interface ListURLEditProblemsQuery extends Paging {
}

export interface ListURLsQuery extends Paging {
  /**
   * The nextCursor of the page before this one. Then page is ignored. Unlike pages, cursors skip no row and repeat none when rows
   * are added or deleted meanwhile. All other parameters must stay the same.
   */
  after?: string | undefined;
  /** The field to sort by: createdAt by default. Only the trash has deletedAt, by which it is sorted by default. */
  sortBy?: 'clickCount' | 'createdAt' | 'deletedAt' | 'expiresAt' | 'slug' | 'title' | 'updatedAt' | undefined;
  /** The direction; desc by default. */
  sortOrder?: 'asc' | 'desc' | undefined;
  /** Text in title, destination or slug, case-insensitive. */
  search?: string | undefined;
  /** A list can also have DELETED, the trash, with search only. */
  status?: 'ACTIVE' | 'INACTIVE' | 'EXPIRED' | 'SCHEDULED' | 'EXHAUSTED' | 'SUSPENDED' | 'DELETED' | undefined;
  /** Health of the destinations: the worst of all addresses to which a URL leads. */
  health?: 'ok' | 'redirected' | 'unknown' | 'broken' | undefined;
  /** Name of a tag, case-insensitive. If repeated, a URL must have all of the tags. */
  tag?: string | readonly string[] | undefined;
  /** Host name of the short URLs. The host of the service selects URLs without a custom domain. */
  domain?: string | undefined;
  /** A bundle that contains the URLs. */
  bundleId?: string | undefined;
  /** Id of the user who created the URLs. */
  createdBy?: string | undefined;
  /** The exact value of utmCampaign. */
  utmCampaign?: string | undefined;
  /** The URLs were created at this date or time in ISO 8601, or later. A date is its midnight in UTC. */
  createdFrom?: string | undefined;
  /** The URLs were created before this date or time in ISO 8601. */
  createdBefore?: string | undefined;
  /** What the answer has besides: bundles, those that contain the URLs of the page. */
  include?: 'bundles' | readonly 'bundles'[] | undefined;
}

export interface UpsertURLsQuery {
  /** Write nothing, and answer what would happen. */
  dryRun?: boolean | undefined;
}

export interface ExportURLsQuery {
  /** Text in title, destination or slug, case-insensitive. */
  search?: string | undefined;
  /** A list can also have DELETED, the trash, with search only. */
  status?: 'ACTIVE' | 'INACTIVE' | 'EXPIRED' | 'SCHEDULED' | 'EXHAUSTED' | 'SUSPENDED' | 'DELETED' | undefined;
  /** Health of the destinations: the worst of all addresses to which a URL leads. */
  health?: 'ok' | 'redirected' | 'unknown' | 'broken' | undefined;
  /** Name of a tag, case-insensitive. If repeated, a URL must have all of the tags. */
  tag?: string | readonly string[] | undefined;
  /** Host name of the short URLs. The host of the service selects URLs without a custom domain. */
  domain?: string | undefined;
  /** A bundle that contains the URLs. */
  bundleId?: string | undefined;
  /** Id of the user who created the URLs. */
  createdBy?: string | undefined;
  /** The exact value of utmCampaign. */
  utmCampaign?: string | undefined;
  /** The URLs were created at this date or time in ISO 8601, or later. A date is its midnight in UTC. */
  createdFrom?: string | undefined;
  /** The URLs were created before this date or time in ISO 8601. */
  createdBefore?: string | undefined;
  /** Format of the file. */
  format?: 'csv' | 'json' | undefined;
}

export interface CheckSlugQuery {
  /** Of at most 100 bytes. */
  slug: string;
  /** A domain of the workspace, or the host of the service. Default: the workspace's default domain. */
  domain?: string | undefined;
  /** Without a domain: the host of the service instead of the workspace's default domain. */
  shared?: boolean | undefined;
}

export interface UtmSuggestionsQuery {
  /** The campaign field. */
  field: 'utmSource' | 'utmMedium' | 'utmCampaign' | 'utmTerm' | 'utmContent' | 'utmId' | 'utmSourcePlatform';
  /** Prefix of the values, case-insensitive; at most 100 characters. */
  q?: string | undefined;
}

export interface DeleteURLQuery {
  /** Delete the link for good, also from the trash. */
  permanently?: boolean | undefined;
}

export interface UrlHistoryQuery extends Paging {
}

export interface UrlQRCodeQuery {
  /** Width and height in pixels. The default is 300. */
  width?: number | undefined;
  /** Hexadecimal colour of the code. The default is #000000. */
  color?: string | undefined;
  /** Hexadecimal colour of the background. The default is #ffffff. */
  background?: string | undefined;
  /** The shape of the modules. The default is square. */
  shape?: 'square' | 'rounded' | 'dots' | undefined;
  /** How much of the code may be damaged: L 7 %, M 15 % (default), Q 25 %, H 30 %. */
  level?: 'L' | 'M' | 'Q' | 'H' | undefined;
  /** Width of the empty border in modules. The default is 4, which scanners expect. */
  margin?: number | undefined;
  /** The format of the response. */
  format?: 'png' | 'svg' | 'pdf' | 'json' | undefined;
}

export interface UrlQRCodeWithLogoQuery {
  /** Width and height in pixels. The default is 300. */
  width?: number | undefined;
  /** Hexadecimal colour of the code. The default is #000000. */
  color?: string | undefined;
  /** Hexadecimal colour of the background. The default is #ffffff. */
  background?: string | undefined;
  /** The shape of the modules. The default is square. */
  shape?: 'square' | 'rounded' | 'dots' | undefined;
  /** How much of the code may be damaged: L 7 %, M 15 % (default), Q 25 %, H 30 %. */
  level?: 'L' | 'M' | 'Q' | 'H' | undefined;
  /** Width of the empty border in modules. The default is 4, which scanners expect. */
  margin?: number | undefined;
  /** The format of the response. */
  format?: 'png' | 'svg' | 'pdf' | 'json' | undefined;
}

export interface ListUsersQuery extends Paging {
  /** Searches email and name, ignoring case. */
  search?: string | undefined;
  /** Only users with this role. */
  role?: 'ADMIN' | 'USER' | undefined;
  /** Only users with this status. */
  status?: 'ACTIVE' | 'INACTIVE' | undefined;
}

export interface DeleteUserQuery {
  /** The id or slug of the workspace that gets the links and bundles. It excludes deleteLinks. */
  transferTo?: string | undefined;
  /** Delete the links and bundles. */
  deleteLinks?: boolean | undefined;
}

export interface ListUTMTemplatesQuery extends Paging {
  /** Text in the name, case-insensitive. */
  search?: string | undefined;
}

export interface ListViewsQuery extends Paging {
  /** Both if left out. */
  screen?: 'links' | 'analytics' | undefined;
}

export interface SendBrowserConversionQuery {
  /** The workspace's publishable key, if the body has none. */
  key?: string | undefined;
}

export interface ListWebhooksQuery extends Paging {
  /** Searches name and URL, ignoring case. */
  search?: string | undefined;
}

export interface ListWebhookLogsQuery extends Paging {
  /** Only attempts with this result. */
  status?: 'success' | 'failed' | undefined;
  /** Only deliveries of this event. */
  event?: WebhookEventName | undefined;
  /** Only attempts of this delivery. */
  deliveryId?: string | undefined;
  /** Whether to count the attempts of each of the last 14 days, too. */
  daily?: boolean | undefined;
}

export interface ListWorkspacesQuery extends Paging {
  /** Searches name, slug and the email of a personal workspace's user, ignoring case. */
  search?: string | undefined;
}

export interface DeleteWorkspaceQuery {
  /** The id or slug of the workspace that gets the links and bundles. It excludes deleteLinks. */
  transferTo?: string | undefined;
  /** Delete the links and bundles. */
  deleteLinks?: boolean | undefined;
}

export interface GetWorkspaceQuery {
  /** Also count what needs a person. The counts may be five seconds old. */
  attention?: boolean | undefined;
}

export interface ListMembersQuery extends Paging {
}

/** Reported links, and suspending links. Administrators only. */
export interface AbuseResource {
  /**
   * List reported short URLs. The queue of reported links, the latest report first. A link has at most one open report per source,
   * which counts further reports. Resolved reports are kept for 180 days.
   */
  listReports<F extends keyof ListAbuseReport['data'][number] = keyof ListAbuseReport['data'][number]>(options?: ListAbuseReportsQuery & Fields<F> & RequestOptions): List<ListAbuseReport, F>;
  /** Get a report. One report. */
  getReport<F extends keyof AbuseReport = keyof AbuseReport>(id: string, options?: Fields<F> & RequestOptions): Call<Only<AbuseReport, F>>;
  /**
   * Dismiss a report or suspend its short URL. `dismiss` closes the report. If a check suspended the link, dismissing lifts the
   * suspension, and the check does not suspend the link for the same destination again. `suspend` suspends the link and closes all
   * its open reports. A report that was resolved already gets 409.
   */
  resolveReport(id: string, body: ResolveReportInBody, options?: RequestOptions): Call<AbuseReport>;
  /** Lift the suspension of a domain. Edges serve the domain again. Without a suspension nothing changes. */
  liftDomainSuspension(id: string, options?: RequestOptions): Call<void>;
  /**
   * Suspend a domain. Edges stop serving the domain within seconds. The owners see the reason, keep the name, and cannot lift the
   * suspension. Suspending a suspended domain replaces the reason. A domain that is not in service gets 409.
   */
  suspendDomain(id: string, body: SuspendDomainRequest, options?: RequestOptions & Idempotent): Call<Domain>;
  /**
   * Lift the suspension of a short URL. The link works again as its other fields say. All open reports of the link are dismissed.
   * Without a suspension nothing changes.
   */
  liftSuspension(id: string, options?: RequestOptions): Call<void>;
  /**
   * Suspend a short URL. Visitors get 410. The owners see the reason, get the webhook `url.updated`, and cannot lift the
   * suspension. Suspending a suspended link replaces the reason. All open reports of the link are closed.
   */
  suspendURL(id: string, body: SuspendInBody, options?: RequestOptions & Idempotent): Call<URL>;
}

/** Sign-in, sign-out, your profile, password and second factor. */
export interface AccountResource {
  /** Turn off two-factor authentication. Turns the second factor off. Requires the password and a code or recovery code. */
  disable2FA(body: DisableTOTPInBody, options?: RequestOptions & Idempotent): Call<Message>;
  /**
   * Turn on two-factor authentication. Turns the second factor on with a code, and returns ten recovery codes, which are shown only
   * once. Each replaces one code.
   */
  enable2FA(body: EnableTOTPInBody, options?: RequestOptions & Idempotent): Call<TwoFactorEnabled>;
  /**
   * Get a secret for an authenticator app. Requires the current password if you signed in more than ten minutes ago (403
   * otherwise). Generates a new secret (RFC 6238, six digits, 30 s), also as a QR code. The secret takes effect after you send a
   * code to /api/auth/2fa/enable. Another request replaces it.
   */
  setUp2FA(body: SetUpTOTPInBody, options?: RequestOptions & Idempotent): Call<TwoFactorSetup>;
  /**
   * Sign in. Returns an access token and sets it as an HttpOnly cookie. `linkAccount: true` confirms the link to an account at an
   * identity provider after `link_required`. If two-factor authentication is on and the code is missing, the response is
   * `requires2FA: true` without a token; send the request again with the code. After five failures in ten minutes, a client (an
   * IPv4 address or IPv6 /64) is locked out of the account for an increasing time (429). Wrong codes after the right password lock
   * the second factor for all clients.
   */
  login(body: LoginInBody, options?: RequestOptions): Call<Login>;
  /** Sign out. Ends the session of the request on all replicas and clears the cookie. API keys stay valid. */
  logout(options?: RequestOptions & Idempotent): Call<Message>;
  /** Get the current user. Returns the user of the session or API key. */
  getMe<F extends keyof User = keyof User>(options?: Fields<F> & RequestOptions): Call<Only<User, F>>;
  /** Change your name. Sets your name, which other users see. */
  updateMe(body: UpdateMeInBody, options?: RequestOptions): Call<User>;
  /**
   * Change your password. Requires the current password and ends all other sessions. `revokeApiKeys: true` also deletes your API
   * keys. Requires a session, not an API key.
   */
  changePassword(body: ChangePasswordInBody, options?: RequestOptions & Idempotent): Call<Message>;
  /** @deprecated Change your password. Same as POST at this path. */
  putPassword(body: ChangePasswordInBody, options?: RequestOptions): Call<Message>;
  /**
   * Get a link to choose a new password. Sends an e-mail with a link that works once, for 30 minutes. The response is the same for
   * unknown addresses, and takes the same time. It is 403 for every address if the installation sends no e-mail (an administrator
   * must reset the password) or if passwords are turned off. A client may ask five times an hour for one address, all clients
   * together 20 times (429).
   */
  forgotPassword(body: ForgotPasswordInBody, options?: RequestOptions): Call<Message>;
  /**
   * Choose a new password. Sets a new password with the token from the e-mail. All sessions of the user end, and the API keys are
   * deleted. The response does not sign in, and a second factor stays on. A token that expired or was used gets 400.
   */
  resetForgottenPassword(body: ResetForgottenInBody, options?: RequestOptions): Call<Message>;
  /**
   * End all your other sessions. Ends all your sessions except for that of the request, on all replicas within a second. API keys
   * stay valid.
   */
  endOtherSessions(options?: RequestOptions): Call<void>;
  /**
   * List your sessions. A page of your valid sessions, newest first, each with the address and the user agent of the sign-in.
   * Requires a session, not an API key.
   */
  listSessions<F extends keyof ListSession['data'][number] = keyof ListSession['data'][number]>(options?: ListSessionsQuery & Fields<F> & RequestOptions): List<ListSession, F>;
  /**
   * End one of your sessions. Ends one of your sessions on all replicas within a second, including streams in progress. Ending the
   * session of the request signs you out. Sessions of other users are not found (404).
   */
  endSession(id: string, options?: RequestOptions): Call<void>;
}

/** Rules that tell a workspace of unusual clicks, broken destinations, links that end soon, domains in trouble and failing webhooks. */
export interface AlertsResource {
  /** List alert channels. A page of the workspace's alert channels, the newest first. Addresses of chats are never returned. */
  listChannels<F extends keyof ListAlertChannel['data'][number] = keyof ListAlertChannel['data'][number]>(options?: ListAlertChannelsQuery & Fields<F> & RequestOptions): List<ListAlertChannel, F>;
  /**
   * Create an alert channel. Adds an e-mail address of a member, or the address of an incoming webhook of Slack, Microsoft Teams or
   * Discord: a public https address. A workspace can have 100 channels (409).
   */
  createChannel(body: CreateAlertChannelRequest, options?: RequestOptions & Idempotent): Call<AlertChannel>;
  /** Delete an alert channel. Deletes the channel and its messages. Rules keep their other channels. */
  deleteChannel(id: string, options?: RequestOptions): Call<void>;
  /** Update the given fields of an alert channel. Changes the given fields. The kind of a channel cannot change. */
  updateChannel(id: string, body: UpdateAlertChannelRequest, options?: RequestOptions): Call<AlertChannel>;
  /** List alert rules. A page of the workspace's alert rules, the newest first. */
  listRules<F extends keyof ListAlertRule['data'][number] = keyof ListAlertRule['data'][number]>(options?: ListAlertRulesQuery & Fields<F> & RequestOptions): List<ListAlertRule, F>;
  /**
   * Create an alert rule. Fires an alert when one of the causes begins to hold, and resolves it when the cause no longer holds. A
   * workspace can have 100 rules (409).
   */
  createRule(body: CreateAlertRuleRequest, options?: RequestOptions & Idempotent): Call<AlertRule>;
  /** Delete an alert rule. Deletes the rule and its alerts. */
  deleteRule(id: string, options?: RequestOptions): Call<void>;
  /** Update the given fields of an alert rule. Changes the given fields. */
  updateRule(id: string, body: UpdateAlertRuleRequest, options?: RequestOptions): Call<AlertRule>;
  /** List alerts. A page of the workspace's alerts, the newest first. Resolved alerts are kept for 180 days. */
  list<F extends keyof ListAlert['data'][number] = keyof ListAlert['data'][number]>(options?: ListAlertsQuery & Fields<F> & RequestOptions): List<ListAlert, F>;
}

/** Reports, exports and a live stream of clicks. */
export interface AnalyticsResource {
  /** @deprecated Report on all A/B tests (the same at another path). Same as /api/analytics/ab-tests. */
  abTestsAlias<F extends keyof Tests = keyof Tests>(options?: AbTestsAliasQuery & Fields<F> & RequestOptions): Call<Only<Tests, F>>;
  /** Report on all A/B tests. Every link with variants: clicks and visitors of each variant, and its actual and expected share. */
  abTests<F extends keyof Tests = keyof Tests>(options?: AbTestsQuery & Fields<F> & RequestOptions): Call<Only<Tests, F>>;
  /** Report on the bots that visited any short URL. The share of bots in the traffic of all your links, and the bots. */
  bots<F extends keyof Bots = keyof Bots>(options?: BotsQuery & Fields<F> & RequestOptions): Call<Only<Bots, F>>;
  /** @deprecated Report on the bots that visited any short URL (the same at another path). Same as /api/analytics/bots. */
  botsAlias<F extends keyof Bots = keyof Bots>(options?: BotsAliasQuery & Fields<F> & RequestOptions): Call<Only<Bots, F>>;
  /**
   * Report on the conversions of all short URLs. Goals, rates and revenue of all your links, by campaign, source, tag and link, and
   * the funnel from clicks to conversions. A conversion counts at the time of its click.
   */
  conversionsReport<F extends keyof Yields = keyof Yields>(options?: ConversionsReportQuery & Fields<F> & RequestOptions): Call<Only<Yields, F>>;
  /** Export the analytics of all short URLs as a file. The same for all your links, or for the link `urlId`. */
  export(options?: ExportQuery & RequestOptions & { format?: 'csv' }): Call<string>;
  export(options: ExportQuery & RequestOptions & { format: 'json' }): Call<{
    data: DayFigures[];
    dateRange: Record<string, string>;
    /** A time in RFC 3339. */
    exportDate: string;
    summary?: Summary;
  }>;
  /**
   * Tell up to which time reports are complete. Clicks of a region that is cut off wait there, and are counted later. Show this
   * beside reports: a period that ends after `completeUntil` will still gain clicks. A click has the time at which the visitor
   * came.
   */
  freshness<F extends keyof Freshness = keyof Freshness>(options?: Fields<F> & RequestOptions): Call<Only<Freshness, F>>;
  /**
   * Report on short URLs by tag, bundle or domain. Clicks and visitors of the links with each tag, in each bundle or on each
   * domain, most clicks first.
   */
  groupsReport<F extends keyof Groups = keyof Groups>(options?: GroupsReportQuery & Fields<F> & RequestOptions): Call<Only<Groups, F>>;
  /**
   * Count clicks by weekday and hour. Clicks of all your links by weekday and hour of the time zone. Hours that occur twice when
   * clocks are set back count together.
   */
  heatmap<F extends keyof Heatmap = keyof Heatmap>(options?: HeatmapQuery & Fields<F> & RequestOptions): Call<Only<Heatmap, F>>;
  /**
   * Stream clicks as they are stored. Server-sent events until the connection closes: each click of your links soon after it is
   * stored. The event's `id` is the click's id, and `data` is the JSON of a click as in recent clicks, with `urlId` and `slug`. A
   * client that reads too slowly loses the oldest clicks and gets an event `dropped` with their `count`. A comment is sent every 5
   * seconds. The stream ends within seconds after the session. Earlier clicks are not repeated: fetch recent clicks for them. A
   * user can have 5 open streams (429).
   */
  live(options?: LiveClicksQuery & LiveOptions): LiveStream;
  /**
   * List slugs that do not exist. Slugs that visitors asked for on custom domains of the workspace and that do not exist, most
   * frequent first, at most 1,000. Edges count the 1,000 most frequent ones and report them once a minute; counts are kept for 90
   * days. Slugs that are links by now are left out. The slugs of the shared domain belong to nobody, so only administrators who
   * chose no workspace see them.
   */
  listMissingSlugs<F extends keyof ListMissingSlug['data'][number] = keyof ListMissingSlug['data'][number]>(options?: ListMissingSlugsQuery & Fields<F> & RequestOptions): List<ListMissingSlug, F>;
  /**
   * Report on all short URLs. The same figures over all your links (for administrators, over the links of all users), and the links
   * with most clicks.
   */
  overview<F extends keyof Overview = keyof Overview>(options?: OverviewQuery & Fields<F> & RequestOptions): Call<Only<Overview, F>>;
  /** List the short URLs with most clicks. Links by clicks in the range, most clicks first. */
  topURLs<F extends keyof TopURL = keyof TopURL>(options?: TopURLsQuery & Fields<F> & RequestOptions): Call<Only<TopURL, F>[]>;
  /**
   * Count the clicks of several short URLs by day. Clicks of people on up to 100 links on each of the last 30 days, for small
   * charts beside the links. Unknown links are left out.
   */
  trends<F extends keyof Trends = keyof Trends>(options: TrendsQuery & Fields<F> & RequestOptions): Call<Only<Trends, F>>;
  /**
   * Report on a short URL. Totals, figures per day, and shares by location, device, browser, referrer and campaign. Bots are
   * excluded unless `includeBots` is true.
   */
  linkReport<F extends keyof LinkReport = keyof LinkReport>(id: string, options?: LinkReportQuery & Fields<F> & RequestOptions): Call<Only<LinkReport, F>>;
  /** Report on the A/B test of a short URL. The clicks and visitors of each variant of one link. */
  abTest<F extends keyof Test = keyof Test>(id: string, options?: AbTestQuery & Fields<F> & RequestOptions): Call<Only<Test, F>>;
  /** Report on the bots that visited a short URL. The share of bots in the link's traffic, and the bots. */
  linkBots<F extends keyof Bots = keyof Bots>(id: string, options?: LinkBotsQuery & Fields<F> & RequestOptions): Call<Only<Bots, F>>;
  /** @deprecated List the newest clicks of a short URL (the same at another path). Same as /api/analytics/urls/{id}/recent-clicks. */
  recentClicksAlias<F extends keyof RecentClicks = keyof RecentClicks>(id: string, options?: RecentClicksAliasQuery & Fields<F> & RequestOptions): Call<Only<RecentClicks, F>>;
  /**
   * Export the analytics of a short URL as a file. A CSV file with sections, or JSON. Cells that a spreadsheet could interpret as
   * formulas are prefixed with an apostrophe. `includeClicks` adds up to 10,000 single clicks.
   */
  exportLink(id: string, options?: ExportLinkQuery & RequestOptions & { format?: 'csv' }): Call<string>;
  exportLink(id: string, options: ExportLinkQuery & RequestOptions & { format: 'json' }): Call<{
    data: DayFigures[];
    dateRange: Record<string, string>;
    /** A time in RFC 3339. */
    exportDate: string;
    summary?: Summary;
  }>;
  /** Count clicks on a short URL by weekday and hour. Clicks of one link by weekday and hour of the time zone. */
  linkHeatmap<F extends keyof Heatmap = keyof Heatmap>(id: string, options?: LinkHeatmapQuery & Fields<F> & RequestOptions): Call<Only<Heatmap, F>>;
  /** List the newest clicks of a short URL. Single clicks, newest first. At most 100. */
  recentClicks<F extends keyof RecentClicks = keyof RecentClicks>(id: string, options?: RecentClicksQuery & Fields<F> & RequestOptions): Call<Only<RecentClicks, F>>;
  /** Report on the routing rules of a short URL. Matches of each rule per day, and the visitors by attribute. */
  routingReport<F extends keyof Routing = keyof Routing>(id: string, options?: RoutingReportQuery & Fields<F> & RequestOptions): Call<Only<Routing, F>>;
}

/** Notes and changes of links, to mark on the charts of reports. */
export interface AnnotationsResource {
  /**
   * List the annotations of a range. The notes of the range, and what the history of links says: a destination or routing rules
   * were changed, or an experiment was started or decided. At most the newest 500.
   */
  list<F extends keyof AnnotationList = keyof AnnotationList>(options?: ListAnnotationsQuery & Fields<F> & RequestOptions): Call<Only<AnnotationList, F>>;
  /**
   * Create a note. Marks an instant on the charts of the workspace, or of one of its links. With 2,000 notes in the workspace, the
   * response is 409.
   */
  create(body: CreateAnnotation, options?: RequestOptions & Idempotent): Call<Annotation>;
  /** Delete a note. Deletes a note. What comes from the history of links is not found (404). */
  delete(id: string, options?: RequestOptions): Call<void>;
  /** Update the given fields of a note. Changes the given fields. What comes from the history of links is not found (404). */
  update(id: string, body: UpdateAnnotation, options?: RequestOptions): Call<Annotation>;
}

/** Credentials for scripts and integrations. */
export interface ApiKeysResource {
  /**
   * List the API keys of the workspace. The keys of the workspace with prefix, limits and last use. In a personal workspace these
   * are your keys. The keys themselves are not stored.
   */
  list<F extends keyof APIKeyList['data'][number] = keyof APIKeyList['data'][number]>(options?: ListAPIKeysQuery & Fields<F> & RequestOptions): List<APIKeyList, F>;
  /**
   * Create an API key. A key that is created with a key has at most its scopes, its addresses and its end, and is deleted with it.
   * If the operator has set API_KEYS_ADMINISTER=false, this requires a session. Only this response contains the full key. A key
   * works in the workspace in which it was created. It never does more than the role of its user in the workspace permits, and
   * `scopes` limit it further. An unlimited key of an administrator, created in the personal workspace, reaches everything. The
   * number of keys per user is limited (409).
   */
  create(body: CreateKeyInBody, options?: RequestOptions & Idempotent): Call<NewAPIKey>;
  /**
   * Delete an API key. The key and the keys that were created with it stop working immediately on all replicas. With `endMade`, the
   * users, invitations and webhooks that were made with them end, too; only an administrator can deactivate users (403).
   */
  delete(id: string, options?: DeleteAPIKeyQuery & RequestOptions): Call<void>;
  /** Get an API key. Returns a key by id, without the full key. */
  get<F extends keyof APIKey = keyof APIKey>(id: string, options?: Fields<F> & RequestOptions): Call<Only<APIKey, F>>;
  /**
   * Replace the secret of an API key. A key can rotate itself and the keys that were created with it, within its own end. If the
   * operator has set API_KEYS_ADMINISTER=false, this requires a session. The old secret stops working immediately on all replicas,
   * and only this response contains the new one. Name, scopes and allowed addresses stay. Only the user who has created a key can
   * rotate it.
   */
  rotate(id: string, body: RotateKeyInBody, options?: RequestOptions & Idempotent): Call<NewAPIKey>;
}

/** A whole workspace as one file: export and import. */
export interface ArchivesResource {
  /**
   * Export a workspace as one file. A ZIP file with links, rules, variants, tags, bundles, domains, UTM templates, webhooks and
   * experiments as lines of JSON, and with all clicks and conversions as CSV and Parquet. It has no secrets. Requires the role
   * ADMIN. An API key with scopes cannot do this. A file that was cut off is refused by the import.
   */
  exportWorkspace(id: string, options?: RequestOptions): Call<Blob>;
  /**
   * Import a file that exportWorkspace has made. Adds what the archive has to the workspace of the path. The complete file is
   * checked first: a damaged one gets 400, and nothing is changed. What the workspace has already stays as it is, so repeat an
   * import that was interrupted. If something cannot be imported, such as a link whose slug is taken, the response is 409 and
   * nothing is changed, unless `skipConflicts` is true. Domains become PENDING, webhooks inactive with a new secret, and links that
   * had a password inactive. Requires the role ADMIN.
   */
  importWorkspace(id: string, body: Blob | Uint8Array, options?: ImportWorkspaceQuery & RequestOptions): Call<ArchiveReport>;
}

/** Who changed what, and when. Administrators only. */
export interface AuditResource {
  /**
   * List the audit log. Every change, sign-in and failed sign-in, newest first. Entries are append-only and never contain passwords
   * or keys.
   */
  list<F extends keyof AuditLogs['data'][number] = keyof AuditLogs['data'][number]>(options?: ListAuditLogsQuery & Fields<F> & RequestOptions): List<AuditLogs, F>;
}

/** Ordered groups of links with combined statistics. */
export interface BundlesResource {
  /** List bundles. A page of bundles. Archived bundles are excluded unless `status` is ARCHIVED. */
  list<F extends keyof ListBundle['data'][number] = keyof ListBundle['data'][number]>(options?: ListBundlesQuery & Fields<F> & RequestOptions): List<ListBundle, F>;
  /** Create a bundle. A named, ordered group of links. It does not change their destinations. */
  create(body: CreateBundle, options?: RequestOptions & Idempotent): Call<Bundle>;
  /** Delete a bundle; its links stay. Deletes only the bundle. The links and their clicks stay. */
  delete(id: string, options?: RequestOptions & IfMatch): Call<void>;
  /** Get a bundle with its links. Returns the bundle with its links in order, and their clicks. */
  get<F extends keyof Bundle = keyof Bundle>(id: string, options: Fields<F> & RequestOptions & IfNoneMatch): Call<Only<Bundle, F> | NotModified>;
  get<F extends keyof Bundle = keyof Bundle>(id: string, options?: Fields<F> & RequestOptions): Call<Only<Bundle, F>>;
  /** Update the given fields of a bundle. Changes the given fields. Null or an empty string restores the default. */
  update(id: string, body: UpdateBundle, options?: RequestOptions & IfMatch): Call<Bundle>;
  /** Archive a bundle, which hides it from lists. Hides the bundle from lists. Its data is kept, and its links keep working. */
  archive(id: string, options?: RequestOptions & Idempotent & IfMatch): Call<Bundle>;
  /** Restore an archived bundle. Restores an archived bundle. */
  restore(id: string, options?: RequestOptions & Idempotent & IfMatch): Call<Bundle>;
  /** Count the clicks of a bundle's links. Clicks of the bundle's links, the links with most clicks, and the last seven days. */
  stats<F extends keyof BundleStats = keyof BundleStats>(id: string, options?: BundleStatsQuery & Fields<F> & RequestOptions): Call<Only<BundleStats, F>>;
  /** Add a link to the end of a bundle. If the bundle already contains the link, the response is 409. */
  addURL(id: string, body: AddToBundleRequest, options?: RequestOptions & Idempotent & IfMatch): Call<Bundle>;
  /** Add links to the end of a bundle; links already in it are skipped. Appends up to 1,000 links in the given order. */
  addURLs(id: string, body: AddManyToBundleRequest, options?: RequestOptions & Idempotent & IfMatch): Call<Bundle>;
  /** Remove a link from a bundle. Removes the link from the bundle only, and returns the bundle. */
  removeURL(id: string, urlId: string, options?: RequestOptions & IfMatch): Call<Bundle>;
  /** Move a link within a bundle; the others shift. Positions start at 0 and have no gaps. */
  moveURL(id: string, urlId: string, body: MoveInBundleRequest, options?: RequestOptions & IfMatch): Call<Bundle>;
}

/** The click id in destinations, and web sites whose pages send conversions. */
export interface ConversionSettingsResource {
  /** Get the settings of conversions. The settings of the workspace. The publishable key is not secret: web pages contain it. */
  get<F extends keyof ConversionSettings = keyof ConversionSettings>(options?: Fields<F> & RequestOptions): Call<Only<ConversionSettings, F>>;
  /**
   * Change the given settings of conversions. Changes the given fields. A new `clickParameter` reaches every edge within a second;
   * pages must read the new name. `hosts` replaces the list.
   */
  put(body: PutConversionSettings, options?: RequestOptions): Call<ConversionSettings>;
  /** Replace the publishable key. Edges refuse the old key within a second, so change the pages soon after. */
  rotateKey(options?: RequestOptions & Idempotent): Call<ConversionSettings>;
}

/** What visitors do after a click, such as a purchase. */
export interface ConversionsResource {
  /**
   * Send conversions. Records what visitors did after a click, such as a purchase. `clickId` is the value of the parameter
   * `sl_click` that the visitor's destination received. The body is one object, an array, or `{"items": […]}`, with 1 to 1,000
   * items, or one object per line as `application/x-ndjson`. The response tells what became of each item; the items with `accepted`
   * are stored durably. The first conversion of a name counts for each click, unless it is `repeatable` and has an `externalId`.
   * Sending a conversion again is harmless. 503: nothing was lost or half done, so send the same request again.
   */
  send(body: ConversionItem | ConversionItems | ConversionItem[] | string, options?: RequestOptions): Call<ConversionsSent>;
  /**
   * List the conversions of a short URL. Newest click first. A page must end within the first 10,000 conversions; the export has
   * all of them. The figures of the click are Unknown until it has arrived, which usually takes seconds.
   */
  list<F extends keyof ListConversion['data'][number] = keyof ListConversion['data'][number]>(id: string, options?: ListConversionsQuery & Fields<F> & RequestOptions): List<ListConversion, F>;
  /**
   * Export the conversions of a short URL as CSV. All conversions in the range as CSV (UTF-8 with a byte-order mark), newest click
   * first. The columns are those of the list.
   */
  export(id: string, options?: ExportConversionsQuery & RequestOptions): Call<string>;
  /**
   * List the goals of a short URL. Every name that conversions of the link have, with their number and revenue. A conversion
   * belongs to the time of its click.
   */
  listGoals<F extends keyof ListGoal['data'][number] = keyof ListGoal['data'][number]>(id: string, options?: ListGoalsQuery & Fields<F> & RequestOptions): List<ListGoal, F>;
}

/** Host names under which a workspace has links of its own. */
export interface DomainsResource {
  /** List domains. A page of domains in the order of their host names. */
  list<F extends keyof ListDomain['data'][number] = keyof ListDomain['data'][number]>(options?: ListDomainsQuery & Fields<F> & RequestOptions): List<ListDomain, F>;
  /**
   * Add a domain. Adds a host name. Set the DNS records of the response, then verify the domain. A name that another workspace has
   * proved to be its own gets 409.
   */
  create(body: CreateDomain, options?: RequestOptions & Idempotent): Call<Domain>;
  /** Delete a domain without links. Deletes a domain that has no links. Edges stop serving it within seconds. */
  delete(id: string, options?: RequestOptions): Call<void>;
  /** Get a domain. A domain, with the DNS records to set and what the last check found. */
  get<F extends keyof Domain = keyof Domain>(id: string, options?: Fields<F> & RequestOptions): Call<Only<Domain, F>>;
  /**
   * Update the given fields of a domain. Changes the given fields: missing fields are kept, null or an empty string clears an
   * address. The host name cannot be changed. `caseSensitive` = false is a conflict while slugs of the domain differ in case only.
   */
  update(id: string, body: DomainFields, options?: RequestOptions): Call<Domain>;
  /**
   * Delete an uploaded certificate. If the service orders certificates, the uploaded one stays in use until there is another one;
   * otherwise the domain has no TLS from now on. Without an uploaded certificate nothing changes.
   */
  deleteCertificate(id: string, options?: RequestOptions): Call<void>;
  /**
   * Upload a certificate. Edges present the certificate within seconds, and the service orders none until it is deleted. A
   * certificate that visitors would not accept gets 400 with the reason, and the previous one stays in use. The end of the
   * certificate is announced by e-mail and webhook.
   */
  uploadCertificate(id: string, body: UploadCertificate, options?: RequestOptions): Call<Domain>;
  /**
   * Look for the DNS records of a domain. Looks for the records now, which takes at most five seconds. With the TXT record the
   * domain becomes ACTIVE, and edges serve its links within seconds. The service also looks by itself: often at first, then daily.
   */
  verify(id: string, options?: RequestOptions & Idempotent): Call<Domain>;
}

/** The last reported state of each edge. Administrators only. */
export interface EdgesResource {
  /**
   * List the edges. The last report of each edge within the last day: its revision and lag, links with unusable rules and the
   * reasons, and clicks to deliver. All replicas return the same.
   */
  list<F extends keyof EdgeList = keyof EdgeList>(options?: Fields<F> & RequestOptions): Call<Only<EdgeList, F>>;
}

/** Which variant of a link converts best, and weights that follow from it. */
export interface ExperimentsResource {
  /** Delete an experiment. The variants keep their weights. The history of weights is deleted. */
  delete(id: string, options?: RequestOptions & IfMatch): Call<void>;
  /**
   * Report how the variants of a short URL compare. Compares the variants by the visitors who converted. It works for every link
   * with variants: without an experiment, `goal` is required, and the decision is computed from the figures of this moment. The
   * figures may be looked at any time: at most 5 % of experiments without a difference ever name a winner. The guide on experiments
   * explains each figure.
   */
  get<F extends keyof Experiment = keyof Experiment>(id: string, options: GetExperimentQuery & Fields<F> & RequestOptions & IfNoneMatch): Call<Only<Experiment, F> | NotModified>;
  get<F extends keyof Experiment = keyof Experiment>(id: string, options?: GetExperimentQuery & Fields<F> & RequestOptions): Call<Only<Experiment, F>>;
  /**
   * Start an experiment, or change its settings. The link needs A/B testing and at least two active variants with a weight, else
   * the response is 409. Fields that are left out keep their value. The autopilot checks the experiment every 5 minutes. When it is
   * over, webhooks that subscribe to `experiment.decided` get it once.
   */
  put(id: string, body: PutExperimentRequest, options?: RequestOptions & IfMatch): Call<Experiment>;
  /** Give all visitors to one variant. Sets the weight of the variant to 100 and that of the others to 0. */
  promoteVariant(id: string, body: PromoteVariantRequest, options?: RequestOptions & Idempotent & IfMatch): Call<Experiment>;
  /**
   * Begin an experiment anew. Clicks from now on count. Adding or removing a variant, or changing its destination, restarts a
   * running experiment by itself.
   */
  restart(id: string, options?: RequestOptions & Idempotent & IfMatch): Call<Experiment>;
  /** List the weights that an experiment has had. Every set of weights since the experiment was created, newest first. */
  listWeights<F extends keyof ListExperimentWeights['data'][number] = keyof ListExperimentWeights['data'][number]>(id: string, options?: ListExperimentWeightsQuery & Fields<F> & RequestOptions): List<ListExperimentWeights, F>;
}

/** Manage OpenID Connect providers. Administrators only. */
export interface IdentityProvidersResource {
  /** List identity providers. All providers, including inactive ones, by name. Client secrets are never returned. */
  list<F extends keyof OIDCProvider = keyof OIDCProvider>(options?: Fields<F> & RequestOptions): Call<Only<OIDCProvider, F>[]>;
  /**
   * Set an identity provider up. Requires a session, as do changes. The client secret is encrypted at rest. Register the returned
   * `callbackUrl` at the provider.
   */
  create(body: CreateOIDCProviderRequest, options?: RequestOptions & Idempotent): Call<OIDCProvider>;
  /** Delete an identity provider and the links of users to it. Removes the provider and its links to users. The users stay. */
  delete(slug: string, options?: RequestOptions): Call<void>;
  /** Get an identity provider. One provider, without its client secret. */
  get<F extends keyof OIDCProvider = keyof OIDCProvider>(slug: string, options?: Fields<F> & RequestOptions): Call<Only<OIDCProvider, F>>;
  /** Change an identity provider. Changes the given fields. The slug cannot change. A missing client secret is kept. */
  update(slug: string, body: UpdateOIDCProviderRequest, options?: RequestOptions): Call<OIDCProvider>;
}

/** Images for previews in social networks. */
export interface ImagesResource {
  /**
   * Upload a link's preview image. Accepts JPEG, PNG, WebP or GIF of at most 10 MiB, 50 megapixels and 500 frames. The image is
   * converted to WebP (a GIF stays a GIF) of at most 1200 by 630 pixels, and becomes the link's `ogImage`.
   */
  upload(urlId: string, body: FileBody, options?: RequestOptions): Call<ImageUploaded>;
  /** Get a preview image. The converted image. It can be cached for a day; a new upload has a new key. */
  get(key: string, options?: RequestOptions): Call<Blob>;
}

/** Links from CSV files: upload, dry run, import. */
export interface ImportsResource {
  /** List imports. A page of imports, newest first. */
  list<F extends keyof ListImport['data'][number] = keyof ListImport['data'][number]>(options?: ListImportsQuery & Fields<F> & RequestOptions): List<ListImport, F>;
  /**
   * Upload a CSV file of links. Stores a CSV file and suggests which column fills which field of links. The body is text in UTF-8
   * of at most 10 MB, 100,000 rows and 200 columns; the delimiter is a comma, a semicolon or a tab. The first row names the
   * columns. Passwords are not imported: a file with a column of passwords gets 400. A workspace keeps 20 imports (409).
   */
  create(body: string | Blob | Uint8Array, options?: CreateImportQuery & RequestOptions): Call<Import>;
  /** Delete an import; its links stay. Deletes the import and its file. A running import gets 409. */
  delete(id: string, options?: RequestOptions): Call<void>;
  /** Get an import with its progress. An import with its progress. Ask for it repeatedly while it is RUNNING. */
  get<F extends keyof Import = keyof Import>(id: string, options?: Fields<F> & RequestOptions): Call<Only<Import, F>>;
  /**
   * Cancel an import that is running. Ends the import after the present step. Rows that were imported stay. An import that is not
   * running gets 409.
   */
  cancel(id: string, options?: RequestOptions & Idempotent): Call<Import>;
  /**
   * Check all rows of an import and change nothing. Checks every row like a new link, and its slug and externalId against the file
   * and the saved links. It does not ask the operator's check service. An import that was started gets 409.
   */
  preview(id: string, body: ImportPlan, options?: RequestOptions & Idempotent): Call<ImportPreview>;
  /**
   * List the problems of an import. A page of what was wrong with the rows that the import has not imported so far, in the order of
   * the file. Rows that were skipped have the code SKIPPED.
   */
  listProblems<F extends keyof ListImportProblem['data'][number] = keyof ListImportProblem['data'][number]>(id: string, options?: ListImportProblemsQuery & Fields<F> & RequestOptions): List<ListImportProblem, F>;
  /**
   * Export the rows that an import has left out. The rows that failed or were skipped, as they were, with the reason in a last
   * column, for you to correct and to import again. A text that a spreadsheet could take for a formula begins with an apostrophe,
   * which an import removes.
   */
  exportProblems(id: string, options?: RequestOptions): Call<string>;
  /**
   * Start an import. Imports the rows in the background, in steps of 200. Rows with problems are left out. A process that ends is
   * replaced, and no row is imported twice. An import that was started gets 409.
   */
  start(id: string, body: ImportPlan, options?: RequestOptions & Idempotent): Call<Import>;
}

/** Links with which new members join a workspace. */
export interface InvitationsResource {
  /**
   * Accept an invitation. With the session of the invited address, it joins the workspace; another user gets 403. Without a
   * session, it makes an account with `name` and `password` and opens a session, like a sign-in. If the address has an account, the
   * response is 401: sign in first. A link that was used, revoked or has expired gets 410, an unknown one 404. After five unknown
   * links in ten minutes, a client is locked out for an increasing time (429).
   */
  accept(body: AcceptInvitationInBody, options?: RequestOptions): Call<AcceptedInvitation>;
  /** List the invitations to a workspace. The invitations that were not accepted, newest first. */
  list<F extends keyof ListInvitation['data'][number] = keyof ListInvitation['data'][number]>(id: string, options?: ListInvitationsQuery & Fields<F> & RequestOptions): List<ListInvitation, F>;
  /**
   * Invite somebody to a workspace. Invites an address with a role. Only an OWNER can invite an OWNER. Only this response contains
   * the link, which works once within seven days. If e-mail is configured, the address also gets an e-mail. An API key invites an
   * EDITOR or VIEWER by e-mail and gets no link; to invite an ADMIN or OWNER requires a session (403). A second invitation of the
   * address replaces the first. A member of the workspace cannot be invited (409). A workspace and a user can send 100 invitations
   * a day, and an address can get five (429).
   */
  create(id: string, body: CreateInvitationInBody, options?: RequestOptions & Idempotent): Call<NewInvitation>;
  /** Revoke an invitation. The link stops working immediately. */
  revoke(id: string, invitationId: string, options?: RequestOptions): Call<void>;
}

/** Reports that are sent by e-mail each week or month. */
export interface MailReportsResource {
  /** List reports by e-mail. A page of the workspace's reports by e-mail in the order of their creation. */
  list<F extends keyof ListMailReport['data'][number] = keyof ListMailReport['data'][number]>(options?: ListMailReportsQuery & Fields<F> & RequestOptions): List<ListMailReport, F>;
  /**
   * Create a report by e-mail. Sends a report at the end of each week or month. Addresses that are no members' are asked to confirm
   * first; the link works for seven days. With 20 reports in the workspace, the response is 409. After 50 such questions a day, it
   * is 429.
   */
  create(body: CreateMailReport, options?: RequestOptions & Idempotent): Call<MailReport>;
  /** Delete a report by e-mail. Deletes a report with its recipients. Links in its e-mails no longer work. */
  delete(id: string, options?: RequestOptions): Call<void>;
  /** Update the given fields of a report by e-mail. Changes the given fields. */
  update(id: string, body: UpdateMailReport, options?: RequestOptions): Call<MailReport>;
}

/** An API key for a program without a browser, which a user confirms in the console. */
export interface PairingResource {
  /**
   * Delete the API key of this request. A program that signs out deletes its own key, and the keys that were made with it. `prefix`
   * are the first ten characters of the key, to show that this is meant; 404 if they are of another one, or if the request has a
   * session.
   */
  revokeOwnKey(body: RevokeOwnKeyInBody, options?: RequestOptions & Idempotent): Call<void>;
  /**
   * Get the program that waits with a code. What the page shows before a user confirms. 404 if the code is wrong, was answered, or
   * has expired.
   */
  get<F extends keyof WaitingProgram = keyof WaitingProgram>(options: GetPairingQuery & Fields<F> & RequestOptions): Call<Only<WaitingProgram, F>>;
  /**
   * Ask for an API key that a user confirms. The program shows the code and the address, and asks for the result every `interval`
   * seconds. The code can be confirmed for ten minutes.
   */
  begin(body: BeginPairingInBody, options?: RequestOptions): Call<Pairing>;
  /**
   * Give a waiting program an API key. The program gets a key with these fields when it asks the next time. The key works in the
   * workspace of this request, as one that POST /api/api-keys creates.
   */
  approve(body: ApprovePairingInBody, options?: RequestOptions & Idempotent): Call<void>;
  /**
   * Get the API key that a user has confirmed. 404 if the code is unknown, has expired, or was redeemed. The key is made with this
   * request: 403 or 409 if its user may not have one any more.
   */
  redeem(body: RedeemPairingInBody, options?: RequestOptions): Call<RedeemedPairing>;
  /** Give a waiting program no API key. The program learns that it was refused when it asks the next time. */
  refuse(body: RefusePairingInBody, options?: RequestOptions & Idempotent): Call<void>;
}

/** Sign-in without a user name, with a passkey (WebAuthn). */
export interface PasskeysResource {
  /** List your passkeys. Your passkeys, oldest first. Requires a session, as do the other calls except for signing in. */
  list<F extends keyof ListPasskey['data'][number] = keyof ListPasskey['data'][number]>(options?: ListPasskeysQuery & Fields<F> & RequestOptions): List<ListPasskey, F>;
  /**
   * Begin to sign in with a passkey. Pass `publicKey` to navigator.credentials.get() and the result to
   * /api/auth/passkeys/login/finish, within five minutes. No user name is needed. While single sign-on is enforced, passkeys are
   * off, like passwords (403).
   */
  beginLogin(options?: RequestOptions): Call<PasskeyRequest>;
  /**
   * Sign in with a passkey. Same response as signing in with a password. A passkey counts as both factors, so no code is asked for.
   * A signature whose counter did not increase is refused, because the passkey may have been copied. After five failures in ten
   * minutes, a client is locked out of the passkey for an increasing time (429).
   */
  finishLogin(body: FinishPasskeyLoginRequest, options?: RequestOptions): Call<Login>;
  /**
   * Begin to register a passkey. Requires the current password if you signed in more than ten minutes ago (403 otherwise). Pass
   * `publicKey` to navigator.credentials.create() and the result to /api/auth/passkeys/register/finish, within five minutes and in
   * the same session. Passkeys need https or localhost, and a host name (403 otherwise). A user can have 20 (409).
   */
  beginRegistration(body: BeginPasskeyRequest, options?: RequestOptions & Idempotent): Call<PasskeyCreation>;
  /**
   * Register the passkey that the browser created. Stores the passkey. It must be discoverable and the device must have verified
   * you. Attestations are ignored. A challenge works once.
   */
  finishRegistration(body: FinishPasskeyRequest, options?: RequestOptions & Idempotent): Call<Passkey>;
  /**
   * Remove a passkey. The passkey no longer signs in. Your sessions stay. The device may still offer the passkey until you remove
   * it there, too.
   */
  delete(id: string, options?: RequestOptions): Call<void>;
  /** Rename a passkey. Changes the name in your list. The passkey itself and your devices keep theirs. */
  rename(id: string, body: RenamePasskeyRequest, options?: RequestOptions): Call<Passkey>;
}

/** Erasing the data of a visitor. Administrators only. */
export interface PrivacyResource {
  /**
   * Erase the data of a visitor. Removes an address of a visitor, with the visitor number and User-Agent, from clicks, webhook
   * deliveries and lockouts. The clicks still count. Requires the session of an administrator.
   */
  eraseVisitor(body: EraseInBody, options?: RequestOptions & Idempotent): Call<Erasure>;
}

/** Conditions that send some of a link's visitors to other destinations. */
export interface RoutingRulesResource {
  /** List condition groups for common purposes. Predefined conditions, which can be copied to a rule by their key. */
  listTemplates<F extends keyof RoutingTemplates = keyof RoutingTemplates>(options?: Fields<F> & RequestOptions): Call<Only<RoutingTemplates, F>>;
  /** List the routing rules of a short URL. Rules in the order of evaluation, with their numbers of matches. */
  list<F extends keyof RoutingRules = keyof RoutingRules>(id: string, options: Fields<F> & RequestOptions & IfNoneMatch): Call<Only<RoutingRules, F> | NotModified>;
  list<F extends keyof RoutingRules = keyof RoutingRules>(id: string, options?: Fields<F> & RequestOptions): Call<Only<RoutingRules, F>>;
  /**
   * Add a routing rule to a short URL. The first rule turns smart routing on. Active rules are evaluated from the highest priority
   * down, and the first match wins. A condition is `{type, operator, value}`; groups can be nested up to 8 levels. Types: device,
   * os, browser, country, continent, region, city, language, referer, utm_source, utm_medium, utm_campaign, utm_term, utm_content,
   * `query` (value `{name, value}`), `ip` (in, not_in: addresses and networks), `time`, `day_of_week`, `date` (before, after,
   * between: RFC 3339, or `{start, end, timezone}`), `visitor` (new, returning) and `percentage` (less_than, 0 to 100).
   */
  create(id: string, body: CreateRule, options?: RequestOptions & Idempotent & IfMatch): Call<RoutingRule>;
  /**
   * Add a routing rule with a template's conditions. Copies a template's conditions to a new rule. `templateId` is an alternative
   * to `templateKey`.
   */
  createFromTemplate(id: string, body: RuleFromTemplate, options?: RequestOptions & Idempotent & IfMatch): Call<RoutingRule>;
  /** Change the routing settings of a short URL. Turns smart routing on or off, and sets the destination if no rule matches. */
  updateSettings(id: string, body: UpdateRoutingSettingsRequest, options?: RequestOptions & IfMatch): Call<RoutingSettings>;
  /** Delete a routing rule. Deleting the last rule turns smart routing off. */
  delete(id: string, ruleId: string, options?: RequestOptions & IfMatch): Call<void>;
  /** Get a routing rule. Returns a rule of the link, with `conditions` in the form in which they were sent. */
  get<F extends keyof RoutingRule = keyof RoutingRule>(id: string, ruleId: string, options: Fields<F> & RequestOptions & IfNoneMatch): Call<Only<RoutingRule, F> | NotModified>;
  get<F extends keyof RoutingRule = keyof RoutingRule>(id: string, ruleId: string, options?: Fields<F> & RequestOptions): Call<Only<RoutingRule, F>>;
  /** Update the given fields of a routing rule. Changes the given fields. `conditions` is replaced as a whole. */
  update(id: string, ruleId: string, body: UpdateRule, options?: RequestOptions & IfMatch): Call<RoutingRule>;
}

/** Named filters of reports, for all members of a workspace. */
export interface SegmentsResource {
  /**
   * List segments. A page of the workspace's segments in the order of their names. The filters of a segment are parameters of
   * reports.
   */
  list<F extends keyof ListSegment['data'][number] = keyof ListSegment['data'][number]>(options?: ListSegmentsQuery & Fields<F> & RequestOptions): List<ListSegment, F>;
  /**
   * Create a segment. Saves filters of reports under a name. If the workspace has a segment of this name, or 200 segments, the
   * response is 409.
   */
  create(body: CreateSegment, options?: RequestOptions & Idempotent): Call<Segment>;
  /** Delete a segment. Deletes only the name and the filters. Addresses of the console that have the filters keep their meaning. */
  delete(id: string, options?: RequestOptions): Call<void>;
  /**
   * Update the given fields of a segment. Changes the given fields. Reports by e-mail of the segment have the new filters from
   * their next period on.
   */
  update(id: string, body: UpdateSegment, options?: RequestOptions): Call<Segment>;
}

/** Reports that people without an account see at a secret address. */
export interface SharedReportsResource {
  /**
   * List shared reports. A page of the workspace's shared reports, the newest first. Only EDITORs and above see them, because the
   * list has their addresses.
   */
  list<F extends keyof ListSharedReport['data'][number] = keyof ListSharedReport['data'][number]>(options?: ListSharedReportsQuery & Fields<F> & RequestOptions): List<ListSharedReport, F>;
  /**
   * Share a report. Makes an address at which everybody who has it sees a report on the workspace, or on one link, tag, bundle or
   * domain. Range and filters are fixed. A workspace can have 200 shared reports (409).
   */
  create(body: CreateShared, options?: RequestOptions & Idempotent): Call<SharedReport>;
  /** Revoke a shared report. Deletes a shared report. Its address stops working with the next request, also for pages that are open. */
  delete(id: string, options?: RequestOptions): Call<void>;
  /** Get a shared report. A shared report with its address. */
  get<F extends keyof SharedReport = keyof SharedReport>(id: string, options?: Fields<F> & RequestOptions): Call<Only<SharedReport, F>>;
  /**
   * Update the given fields of a shared report. Changes the given fields, and keeps the address. A new password ends the access of
   * everybody who entered the old one. What the report is about cannot change.
   */
  update(id: string, body: UpdateShared, options?: RequestOptions): Call<SharedReport>;
  /**
   * Get the figures of a shared report. What the page of the report shows. Credentials are ignored. The figures are computed once
   * in `refreshSeconds` for all viewers. The response is 401 if the report has a password and X-Report-Pass is not a valid pass,
   * and 410 if its time is over.
   */
  view<F extends keyof SharedView = keyof SharedView>(token: string, options?: Fields<F> & RequestOptions): Call<Only<SharedView, F>>;
  /**
   * Enter the password of a shared report. Exchanges the password for a pass, which is valid for 12 hours and until the password
   * changes. After five wrong passwords an address is locked out for a time that doubles (429). The response is 409 if the report
   * has no password.
   */
  unlock(token: string, body: UnlockSharedReportRequest, options?: RequestOptions): Call<SharedPass>;
}

/** Sign-in through an identity provider (OpenID Connect). */
export interface SsoResource {
  /** Ways to sign in. The available ways to sign in, for a login page: passwords, active identity providers, and passkeys. */
  listSignInMethods<F extends keyof SignInMethods = keyof SignInMethods>(options?: Fields<F> & RequestOptions): Call<Only<SignInMethods, F>>;
  /** Identity providers to sign in with. The active providers, for a login page. A browser signs in at /api/auth/sso/{slug}/login. */
  list<F extends keyof SSOProvider = keyof SSOProvider>(options?: Fields<F> & RequestOptions): Call<Only<SSOProvider, F>[]>;
  /**
   * Come back from an identity provider, signed in. The callback URL: signs in and redirects to the requested path. The first
   * sign-in links the account to the user with the same verified email address. Administrators and users with a second factor must
   * confirm the link (`link_required`) by signing in with `linkAccount: true`. After a failure, it redirects to /login?error=… with
   * a code.
   */
  finish(slug: string, options?: FinishSSOQuery & RequestOptions): Call<Redirect>;
  /**
   * Go to an identity provider to sign in. Redirects a browser to the provider. After a failure, it redirects to /login?error=…
   * with a code.
   */
  begin(slug: string, options?: BeginSSOQuery & RequestOptions): Call<Redirect>;
}

/** Settings of the installation, which only administrators reach, and its version. */
export interface SystemSettingsResource {
  /** List system settings. All settings, sorted by key. */
  list<F extends keyof Setting = keyof Setting>(options?: Fields<F> & RequestOptions): Call<Only<Setting, F>[]>;
  /** Delete a system setting. Deletes the setting, so its default applies. */
  delete(key: string, options?: RequestOptions): Call<void>;
  /** Get a system setting. Returns the setting, or null if it is not set. */
  get(key: string, options?: RequestOptions): Call<Setting | null>;
  /**
   * Set a system setting. Accepts any JSON value. `sso_enforce` = `{"enabled": true}` turns password sign-in off while an identity
   * provider is active. `require_2fa` = `{"enabled": true}` requires a second factor of everybody who signs in: a session of a user
   * without one reaches only the set-up (403 with `error` = `Second Factor Required` otherwise), while API keys keep working. You
   * need a second factor yourself to turn it on. Both settings need a session. `base_slugs` = `{"caseSensitive": false, "slugs":
   * "extended", "minSlugLength": 1}` sets the rules for slugs on the host of the service, as domains have them; 409 while slugs
   * would meet.
   */
  put(key: string, body: PutSettingInBody, options?: RequestOptions): Call<Setting>;
  /**
   * Tell which release answers. Version, commit and date of the control plane that answers. During an upgrade, others can answer
   * with another version; GET /api/edges has the versions of edges.
   */
  getVersion<F extends keyof Release = keyof Release>(options?: Fields<F> & RequestOptions): Call<Only<Release, F>>;
}

/** Coloured labels of links. */
export interface TagsResource {
  /** List tags. A page of tags in the order of their names, with the number of links that have each. */
  list<F extends keyof ListTag['data'][number] = keyof ListTag['data'][number]>(options?: ListTagsQuery & Fields<F> & RequestOptions): List<ListTag, F>;
  /**
   * Create a tag. Creates a tag. Links can also name tags that do not exist yet. If the workspace has a tag of this name, the
   * response is 409.
   */
  create(body: CreateTag, options?: RequestOptions & Idempotent): Call<Tag>;
  /** Delete a tag; its links stay. Takes the tag from all links and deletes it. The links stay. */
  delete(id: string, options?: RequestOptions): Call<void>;
  /**
   * Rename or recolour a tag. Changes the given fields. All links with the tag show its new name. If another tag has the name, the
   * response is 409.
   */
  update(id: string, body: UpdateTag, options?: RequestOptions): Call<Tag>;
}

/** Create, find, update and delete short links, one at a time or in bulk. */
export interface UrlsResource {
  /**
   * Get the icon of a page's site. An icon of at most 64 by 64 pixels that the server has fetched from the site. An icon that is
   * not known yet is a 204, and is fetched for the next request.
   */
  siteIcon(options: SiteIconQuery & RequestOptions): Call<Blob | undefined>;
  /**
   * Read a page's title, description and image. Fetches the page and returns what it says about itself. The texts are empty for a
   * page that cannot be read, and `problem` says why. It takes at most five seconds. Private addresses are not fetched.
   */
  previewPage<F extends keyof PagePreview = keyof PagePreview>(options: PreviewPageQuery & Fields<F> & RequestOptions): Call<Only<PagePreview, F>>;
  /** List edits of many short URLs. A page of edits, newest first. They are kept for 30 days after their end. */
  listEdits<F extends keyof ListURLEdit['data'][number] = keyof ListURLEdit['data'][number]>(options?: ListURLEditsQuery & Fields<F> & RequestOptions): List<ListURLEdit, F>;
  /**
   * Edit many short URLs in the background. Changes up to 100,000 links of the workspace in steps of 200, each with an entry in its
   * history. A link with a problem stays as it is. A process that ends is replaced. A workspace can have 5 edits that are not
   * finished (409).
   */
  startEdit(body: EditURLs, options?: RequestOptions & Idempotent): Call<URLEdit>;
  /**
   * Tell what an edit of many short URLs would change. Counts the links that an edit would change, and shows differences and
   * problems of the first ones. It changes nothing, and does not ask the operator's check service.
   */
  previewEdit(body: EditURLs, options?: RequestOptions & Idempotent): Call<URLEditPreview>;
  /** Get an edit with its progress. An edit with its progress. Ask for it repeatedly while it is RUNNING or UNDOING. */
  getEdit<F extends keyof URLEdit = keyof URLEdit>(id: string, options?: Fields<F> & RequestOptions): Call<Only<URLEdit, F>>;
  /**
   * List the links that an edit has not changed. A page of the links with a problem, or that an undo has not changed back because
   * they were changed since.
   */
  listEditProblems<F extends keyof ListEditProblem['data'][number] = keyof ListEditProblem['data'][number]>(id: string, options?: ListURLEditProblemsQuery & Fields<F> & RequestOptions): List<ListEditProblem, F>;
  /**
   * Take an edit of many short URLs back. Gives the links the values from before the edit, in the background. An edit that is
   * running stops. What was changed since stays, and is listed under problems. An edit that was taken back already gets 409.
   */
  undoEdit(id: string, options?: RequestOptions & Idempotent): Call<URLEdit>;
  /**
   * List short URLs. A page of your links; administrators get the links of all users. Parameters that select links can be combined.
   * An unknown tag, bundle, domain or user selects nothing. `total` counts up to 10,000; with more links it is 10000,
   * `totalIsExact` is false, and pages after `totalPages` exist. `sortBy` is createdAt, updatedAt, clickCount, title, expiresAt or
   * slug. `status=DELETED` lists the trash, newest deletion first; of the other parameters, only `search`, `sortBy` (also
   * deletedAt), `sortOrder` and the page have an effect.
   */
  list<F extends keyof URLList['data'][number] = keyof URLList['data'][number]>(options?: ListURLsQuery & Fields<F> & RequestOptions): List<URLList, F>;
  /**
   * Create a short URL. Without `customSlug`, a slug of seven characters is generated. The link works at all edges within a second.
   * Destinations are stored as ASCII: non-ASCII host names are converted to IDNA (`bücher.example` becomes
   * `xn--bcher-kva.example`), and other non-ASCII characters are percent-encoded as UTF-8. ASCII URLs are stored unchanged.
   */
  create(body: CreateURL, options?: RequestOptions & Idempotent): Call<URL>;
  /** Delete many short URLs, all or none. 1 to 1,000 links. If a link does not exist, the response is 404 and nothing is deleted. */
  bulkDelete(body: BulkDeleteURLsRequest, options?: RequestOptions): Call<BulkDeleted>;
  /**
   * Change many short URLs, all or none. 1 to 1,000 links: `status`; or `operation: "bundle"` with the bundle's id as `value`; or
   * `operation: "tags"` with a list of names as `value`, which adds the tags; or `operation: "removeTags"`, which removes them; or
   * `operation` as an object of type status, bundle, tags, removeTags, expiration or utm. If a link does not exist, the response is
   * 404 and nothing changes.
   */
  bulkUpdate(body: BulkUpdate, options?: RequestOptions): Call<BulkUpdated>;
  /**
   * Create many short URLs. 1 to 1,000 links. Each is created independently: the response lists failed links with index and reason.
   * A request can set 30 different passwords; a link with one more fails, and the same password again is free. If the service would
   * have more links than its limit, the whole request gets 409 and creates nothing.
   */
  bulkCreate(body: BulkCreateURLsRequest, options?: RequestOptions & Idempotent): Call<BulkCreated>;
  /**
   * Create or update many short URLs. 1 to 1,000 links with their tags, rules and variants, each named by `externalId`, or else by
   * `domain` and `customSlug`. A link that exists gets the given fields; missing ones are kept. Other links are created. Each item
   * is applied as a whole or refused with its problems, and does not affect the others; those that change something are written
   * together, with one revision. An item that changes nothing is UNCHANGED: it has no new version and no event. Concurrent requests
   * with the same items make each link once. `dryRun=true` writes nothing and answers what would happen. A request can compare and
   * set 30 passwords. If the service would have more links than its limit, the whole request gets 409 and changes nothing.
   */
  upsert(body: UpsertURLsRequest, options?: UpsertURLsQuery & RequestOptions): Call<UpsertedURLs>;
  /** Get the short URL with an external id. The link of the workspace with this `externalId`. */
  getByExternalID<F extends keyof URL = keyof URL>(externalId: string, options: Fields<F> & RequestOptions & IfNoneMatch): Call<Only<URL, F> | NotModified>;
  getByExternalID<F extends keyof URL = keyof URL>(externalId: string, options?: Fields<F> & RequestOptions): Call<Only<URL, F>>;
  /**
   * Create or update the short URL with an external id. Updates the given fields of the link of the workspace with this
   * `externalId` (200), or creates the link (201). Concurrent requests make one link. `customSlug` is only for a new link.
   */
  putByExternalID(externalId: string, body: PutURL, options?: RequestOptions & IfMatch): Call<URL>;
  /**
   * Explain where a short URL that does not exist yet would lead a visitor. Like `explainURL`, for a link that does not exist. The
   * draft belongs to the workspace of the request. Nothing is stored. A slug or an externalId that is taken is not a problem here.
   * The percentile is not the one that the visitor will have at the link.
   */
  explainNew(body: ExplainNewInBody, options?: RequestOptions & Idempotent): Call<Explanation>;
  /**
   * Export short URLs as a file. The links that the same parameters select in the list, newest first, without a limit. The columns
   * of CSV and the members of JSON are those of the list. In CSV, tags are separated by commas, and text that a spreadsheet could
   * take for a formula begins with an apostrophe.
   */
  export(options?: ExportURLsQuery & RequestOptions & { format?: 'csv' }): Call<string>;
  export(options: ExportURLsQuery & RequestOptions & { format: 'json' }): Call<URL[]>;
  /**
   * Check whether a slug is free. Whether a new link can have this slug on this domain, with a similar one that is free. The slug
   * is not held: creating the link can still get 409.
   */
  checkSlug<F extends keyof SlugAvailability = keyof SlugAvailability>(options: CheckSlugQuery & Fields<F> & RequestOptions): Call<Only<SlugAvailability, F>>;
  /** Count short URLs by status. Numbers of your links; administrators get the numbers of all users. */
  stats<F extends keyof URLStats = keyof URLStats>(options?: Fields<F> & RequestOptions): Call<Only<URLStats, F>>;
  /**
   * Move short URLs to another workspace, all or none. 1 to 1,000 links, with their rules, variants and clicks. They keep their
   * slugs and leave the bundles and tags of their old workspace. The caller needs the role EDITOR in both workspaces. If a link or
   * the workspace does not exist, the response is 404 and nothing changes. Webhooks of both workspaces that subscribe to
   * `url.updated` get it, with the change `workspaceId`.
   */
  transfer(body: TransferURLsRequest, options?: RequestOptions & Idempotent): Call<URLsTransferred>;
  /**
   * Suggest values of a campaign field. Up to 20 values of a campaign field, most frequent first, for autocompletion. They come
   * from the links of all users, so that a team uses the same names.
   */
  utmSuggestions<F extends keyof UTMFieldValues = keyof UTMFieldValues>(options: UtmSuggestionsQuery & Fields<F> & RequestOptions): Call<Only<UTMFieldValues, F>>;
  /**
   * Delete a short URL. Moves the link to the trash. The link and its reports return 404 afterwards, visitors get 404 within a
   * second, and the slug is free for everybody, unless the link is suspended. Its clicks stay in the totals over all links.
   * `permanently=true` deletes the link for good, also from the trash. Without `TRASH_DAYS`, every deletion is for good.
   */
  delete(id: string, options?: DeleteURLQuery & RequestOptions & IfMatch): Call<void>;
  /** Get a short URL. Returns a link. `status` is EXPIRED after `expiresAt`. */
  get<F extends keyof URL = keyof URL>(id: string, options: Fields<F> & RequestOptions & IfNoneMatch): Call<Only<URL, F> | NotModified>;
  get<F extends keyof URL = keyof URL>(id: string, options?: Fields<F> & RequestOptions): Call<Only<URL, F>>;
  /** Update the given fields of a short URL. Changes the given fields, as PUT does at this path. */
  patch(id: string, body: UpdateURL, options?: RequestOptions & IfMatch): Call<URL>;
  /**
   * Update the given fields of a short URL. Changes the given fields: missing fields are kept, null or an empty string clears a
   * field. The slug cannot change.
   */
  update(id: string, body: UpdateURL, options?: RequestOptions & IfMatch): Call<URL>;
  /**
   * Duplicate a short URL. Creates a link with the fields, tags, password, rules and variants of another one, in the same
   * workspace. Clicks, history, bundles, the experiment, externalId and the preview image are not copied. A suspended link cannot
   * be duplicated (409).
   */
  duplicate(id: string, body: DuplicateURLRequest, options?: RequestOptions & Idempotent): Call<URL>;
  /**
   * Explain where a short URL leads a visitor, and why. Simulates a visit with the code that redirects visitors, and returns each
   * step: matched rules, the values that each condition compared, the probabilities of the variants, and the final URL. Nothing is
   * counted. All fields are optional. With `draft`, the answer is as if the draft were saved; its problems are those of saving,
   * with fields such as `draft.rules.2.targetUrl`.
   */
  explain(id: string, body: ExplainInBody, options?: RequestOptions & Idempotent): Call<Explanation>;
  /**
   * Compare a draft with the saved short URL for past visitors. Decides the newest stored clicks of the link again, with the link
   * as it is saved and with the draft, and compares the destinations. Nothing is stored. Both sides use the same random numbers, so
   * a visit that changes does so because of the draft. Clicks lack some facts: the query, whether the visitor has been here before,
   * the region of the language, and possibly parts of the address. A visit whose decision depends on such a fact counts as
   * `unknown`.
   */
  replay(id: string, body: ReplayInBody, options?: RequestOptions & Idempotent): Call<Replay>;
  /**
   * List the changes of a short URL. The changes of a link, its rules and its variants, newest first, and at the end its oldest
   * known state. The newest 1,000 changes are kept. Changes by programs without history, such as those of the previous release,
   * appear as a part of the entry before them. Counters are not part of it.
   */
  history<F extends keyof ListURLChange['data'][number] = keyof ListURLChange['data'][number]>(id: string, options?: UrlHistoryQuery & Fields<F> & RequestOptions): List<ListURLChange, F>;
  /**
   * Get the QR code of a link. Returns an image if `format` is png, svg or pdf, or if Accept contains an image type. Otherwise it
   * returns JSON with a data URL. Colours with a contrast of less than 1.5:1 are a 400, because no camera can read such a code.
   */
  qrCode(id: string, options: UrlQRCodeQuery & RequestOptions & { format: 'png' }): Call<Blob>;
  qrCode(id: string, options: UrlQRCodeQuery & RequestOptions & { format: 'svg' }): Call<Blob>;
  qrCode(id: string, options: UrlQRCodeQuery & RequestOptions & { format: 'pdf' }): Call<Blob>;
  qrCode(id: string, options?: UrlQRCodeQuery & RequestOptions & { format?: 'json' }): Call<{
    qrCode: string;
  }>;
  /**
   * Get the QR code of a link with a logo. The same with the image `file` in the middle: JPEG, PNG, WebP or GIF of at most 1 MiB.
   * `level` must be Q or H (default). The logo is not stored.
   */
  qrCodeWithLogo(id: string, body: FileBody, options: UrlQRCodeWithLogoQuery & RequestOptions & { format: 'png' }): Call<Blob>;
  qrCodeWithLogo(id: string, body: FileBody, options: UrlQRCodeWithLogoQuery & RequestOptions & { format: 'svg' }): Call<Blob>;
  qrCodeWithLogo(id: string, body: FileBody, options: UrlQRCodeWithLogoQuery & RequestOptions & { format: 'pdf' }): Call<Blob>;
  qrCodeWithLogo(id: string, body: FileBody, options?: UrlQRCodeWithLogoQuery & RequestOptions & { format?: 'json' }): Call<{
    qrCode: string;
  }>;
  /**
   * Restore a short URL from the trash. Brings a link back from the trash, with its rules, variants, places in bundles, history,
   * clicks and counters. If its slug or externalId was taken meanwhile, the response is 409 and names the field; choose another
   * with `slug` or `externalId`. A link of a workspace that was deleted goes to the caller's workspace; only administrators see it.
   */
  restore(id: string, body: RestoreURLRequest, options?: RequestOptions & Idempotent): Call<URL>;
  /**
   * Restore an earlier state of a short URL. Gives the link, its rules and its variants the state right after the change with this
   * revision, with their ids. Slug, workspace, suspension, preview image and counters stay. A destination that is not allowed today
   * is a 400 that names it. The rollback becomes a part of the history.
   */
  rollBack(id: string, body: RollBackURLRequest, options?: RequestOptions & Idempotent & IfMatch): Call<URL>;
}

/** Manage users. Administrators only. */
export interface UsersResource {
  /** List users. A page of users, newest first. */
  list<F extends keyof ListUser['data'][number] = keyof ListUser['data'][number]>(options?: ListUsersQuery & Fields<F> & RequestOptions): List<ListUser, F>;
  /**
   * Create a user. Requires a session, as do all changes of users except for the name: API keys get 403. Email addresses are
   * unique, ignoring case.
   */
  create(body: CreateUserInBody, options?: RequestOptions & Idempotent): Call<User>;
  /**
   * Delete a user. Ends the user's sessions and deletes their keys and personal workspace, and the workspaces of teams that would
   * have no OWNER. If these have links or bundles, the response is 409 with their `counts`, unless `transferTo` or `deleteLinks`
   * says what becomes of them. Elsewhere, the OWNER who joined first takes over what the user has created. You cannot delete
   * yourself or the last active administrator.
   */
  delete(id: string, options?: DeleteUserQuery & RequestOptions): Call<Message>;
  /** Get a user. Returns a user with role and status. */
  get<F extends keyof User = keyof User>(id: string, options?: Fields<F> & RequestOptions): Call<Only<User, F>>;
  /**
   * Turn off a user's second factor and remove their passkeys. For users who have lost their devices: turns the authenticator app
   * off and removes all passkeys. The password still works. Only the user can turn the second factor on.
   */
  turnOff2FA(id: string, body: TurnOffTOTPInBody, options?: RequestOptions): Call<User>;
  /** Change a user's name. Sets the user's name, which other users see. */
  setName(id: string, body: SetNameInBody, options?: RequestOptions): Call<User>;
  /** A user's accounts at identity providers. The accounts at identity providers with which a user can sign in. */
  listOIDCAccounts<F extends keyof OIDCAccount = keyof OIDCAccount>(id: string, options?: Fields<F> & RequestOptions): Call<Only<OIDCAccount, F>[]>;
  /**
   * Take an account at an identity provider from a user. The user can no longer sign in with this account, until a new first
   * sign-in links it again.
   */
  deleteOIDCAccount(id: string, accountId: string, options?: RequestOptions): Call<void>;
  /** @deprecated Set a user's password. Same as POST at this path. */
  patchPassword(id: string, body: ResetPasswordInBody, options?: RequestOptions): Call<Message>;
  /**
   * Set a user's password. Sets another user's password, ends all their sessions, and deletes their API keys and passkeys. Change
   * your own password at /api/auth/password.
   */
  resetPassword(id: string, body: ResetPasswordInBody, options?: RequestOptions & Idempotent): Call<Message>;
  /** Change another user's role. Ends the user's sessions. You cannot change your own role or that of the last active administrator. */
  setRole(id: string, body: SetRoleInBody, options?: RequestOptions): Call<User>;
  /**
   * Activate or deactivate a user. Deactivation ends the user's sessions and disables their keys immediately. Their links keep
   * working. `isActive` is an alternative to `status`.
   */
  setStatus(id: string, body: SetStatusInBody, options?: RequestOptions): Call<User>;
}

/** Named sets of campaign fields to copy into links. */
export interface UtmTemplatesResource {
  /** List UTM templates. A page of templates in the order of their names. */
  list<F extends keyof ListUTMTemplate['data'][number] = keyof ListUTMTemplate['data'][number]>(options?: ListUTMTemplatesQuery & Fields<F> & RequestOptions): List<ListUTMTemplate, F>;
  /**
   * Create a UTM template. A named set of campaign fields, for clients to copy into links. If the workspace has a template of this
   * name, the response is 409.
   */
  create(body: CreateTemplate, options?: RequestOptions & Idempotent): Call<UTMTemplate>;
  /** Delete a UTM template; links keep their fields. Deletes only the template. Links keep their fields. */
  delete(id: string, options?: RequestOptions): Call<void>;
  /**
   * Update the given fields of a UTM template. Changes the given fields: missing fields are kept, null or an empty string clears a
   * field. Links keep their fields.
   */
  update(id: string, body: UpdateTemplate, options?: RequestOptions): Call<UTMTemplate>;
}

/** A/B tests: destinations among which a link's visitors are split by weight. */
export interface VariantsResource {
  /** List the variants of a short URL. All variants with their clicks, oldest first. */
  list<F extends keyof Variants = keyof Variants>(id: string, options: Fields<F> & RequestOptions & IfNoneMatch): Call<Only<Variants, F> | NotModified>;
  list<F extends keyof Variants = keyof Variants>(id: string, options?: Fields<F> & RequestOptions): Call<Only<Variants, F>>;
  /**
   * Add a variant to a short URL. The first variant turns A/B testing on. The probability of a variant is its weight divided by the
   * sum of the weights of all active variants.
   */
  create(id: string, body: CreateVariant, options?: RequestOptions & Idempotent & IfMatch): Call<Variant>;
  /** Delete a variant. Deleting the last variant turns A/B testing off, so the link uses its own destination. */
  delete(id: string, variantId: string, options?: RequestOptions & IfMatch): Call<void>;
  /** Get a variant. Returns a variant of the link. */
  get<F extends keyof Variant = keyof Variant>(id: string, variantId: string, options: Fields<F> & RequestOptions & IfNoneMatch): Call<Only<Variant, F> | NotModified>;
  get<F extends keyof Variant = keyof Variant>(id: string, variantId: string, options?: Fields<F> & RequestOptions): Call<Only<Variant, F>>;
  /** Update the given fields of a variant. Changes the given fields. If no active variant remains, A/B testing is turned off. */
  update(id: string, variantId: string, body: UpdateVariant, options?: RequestOptions & IfMatch): Call<Variant>;
}

/** Saved queries of the console's lists and reports. */
export interface ViewsResource {
  /**
   * List saved views. A page of your saved views in the workspace, and of those that other members share, ordered by position and
   * name.
   */
  list<F extends keyof ListView['data'][number] = keyof ListView['data'][number]>(options?: ListViewsQuery & Fields<F> & RequestOptions): List<ListView, F>;
  /**
   * Save a view. Saves the query of a screen of the console under a name. A VIEWER can save views but not share them (403). If you
   * have a view of this name for the screen, or 100 views in the workspace, the response is 409.
   */
  create(body: CreateView, options?: RequestOptions & Idempotent): Call<View>;
  /** Delete a saved view. Deletes a view. Only EDITORs and above delete shared views (403). */
  delete(id: string, options?: RequestOptions): Call<void>;
  /**
   * Update the given fields of a saved view. Changes the given fields. Only EDITORs and above change shared views (403). Views that
   * others do not share are not found (404).
   */
  update(id: string, body: UpdateView, options?: RequestOptions): Call<View>;
}

/** Short links as visitors use them. Edges serve these paths, without credentials. */
export interface VisitorsResource {
  /**
   * Send conversions from a web page. Served by edges at every host. Only pages of a workspace's sites may send: the origin must be
   * in the conversion settings, and requests of others get 403. The body is one conversion, an array, or an object with `items` and
   * `key`, with at most 100 items and 16 KiB; only the script of `/sl.js` needs to know this. The verdict `accepted` is
   * provisional: edges do not compare conversions, and the control plane drops copies. A client and a key have limits of
   * conversions a minute (429). 503: the edge has no space at the moment and accepted nothing, so send the same request again.
   * Sending a conversion again is harmless.
   */
  sendBrowserConversion(body: BrowserConversion, options?: SendBrowserConversionQuery & RequestOptions): Call<ConversionsSent>;
  /**
   * Load the script that sends conversions. Served by edges at every host. The script keeps the click id of the page's address, and
   * sends conversions to `/c`. Browsers may keep it for a day.
   */
  conversionScript(options?: RequestOptions): Call<string>;
  /**
   * Follow a short link. Served by edges. Active rules are evaluated by priority. If none matches, the A/B test chooses a variant;
   * otherwise the default or original URL is used. The edge adds the link's UTM presets, passes the visitor's parameters on, and
   * records one click. HEAD returns the same headers and records nothing. Browsers get errors as a small HTML page.
   */
  followLink(slug: string, options?: RequestOptions): Call<string | Redirect>;
  /** Read what is public about a short link. Served by edges. It never contains the destination of a link. */
  linkInfo(slug: string, options?: RequestOptions): Call<LinkInfo>;
  /**
   * Show the form for reports of a short link. Served by edges, also for links that expired or were suspended. The form works
   * without JavaScript.
   */
  reportForm(slug: string, options?: RequestOptions): Call<string>;
  /**
   * Report a short link to the administrators. Served by edges. The report goes to the administrators' queue. 503: the control
   * plane could not store it, so send it again. A client can send five reports a minute and ten an hour (429). Requests from pages
   * of other sites get 403.
   */
  reportLink(slug: string, body: AbuseForm, options?: RequestOptions): Call<AbuseFormSent>;
  /**
   * Open a protected short link with its password. Served by edges. The right password counts as a click. After five wrong
   * passwords in ten minutes, a client is locked out of the link for an increasing time (429).
   */
  openLink(slug: string, body: LinkPassword, options?: RequestOptions): Call<LinkOpened>;
}

/** HTTP callbacks for events, with delivery log and retries. The section `webhooks` of this document describes the payloads. */
export interface WebhooksResource {
  /** List webhooks. A page of webhooks with their delivery statistics. Secrets are never returned. */
  list<F extends keyof ListWebhook['data'][number] = keyof ListWebhook['data'][number]>(options?: ListWebhooksQuery & Fields<F> & RequestOptions): List<ListWebhook, F>;
  /**
   * Create a webhook. Sends events of your links to the URL, signed with the secret, which only this response contains. A webhook
   * of an administrator with `scope: "all"` gets the events of all links. An API key needs the scopes that read the data of the
   * events (403).
   */
  create(body: CreateWebhookRequest, options?: RequestOptions & Idempotent): Call<NewWebhook>;
  /** Delete a webhook and its log. Deletes the webhook, its log and its pending deliveries. */
  delete(id: string, options?: RequestOptions & IfMatch): Call<void>;
  /** Get a webhook. Returns a webhook with its delivery statistics. */
  get<F extends keyof Webhook = keyof Webhook>(id: string, options: Fields<F> & RequestOptions & IfNoneMatch): Call<Only<Webhook, F> | NotModified>;
  get<F extends keyof Webhook = keyof Webhook>(id: string, options?: Fields<F> & RequestOptions): Call<Only<Webhook, F>>;
  /**
   * Update a webhook. Changes the given fields. A new secret or URL applies from the next attempt. An API key needs the scopes that
   * read the data of the events (403).
   */
  update(id: string, body: UpdateWebhookRequest, options?: RequestOptions & IfMatch): Call<Webhook>;
  /** List delivery attempts. The attempts of the last 30 days, with request and response, newest first. */
  listLogs<F extends keyof WebhookLogList['data'][number] = keyof WebhookLogList['data'][number]>(id: string, options?: ListWebhookLogsQuery & Fields<F> & RequestOptions): List<WebhookLogList, F>;
  /**
   * Repeat all failed deliveries. Sends all deliveries again whose last attempt failed, and which are not older than 30 days. They
   * keep their ids, so receivers recognize repeats. Tests are not repeated. A disabled webhook gets 409.
   */
  retryFailures(id: string, options?: RequestOptions & Idempotent): Call<WebhookRepeat>;
  /**
   * Replace the secret of a webhook. Gives the webhook a new secret, which only this response contains. The secret until then signs
   * deliveries too, for a day or `overlapSeconds`: `webhook-signature` has both signatures, the new one first, and
   * `X-Webhook-Signature` that of the old secret. `oldSecretUntil` tells until when; an update of the webhook can change it, and
   * null ends it at once. A second rotation during that time ends the oldest secret. An API key needs the scopes that read the data
   * of the events (403).
   */
  rotateSecret(id: string, body: RotateWebhookSecretRequest, options?: RequestOptions & Idempotent & IfMatch): Call<NewWebhook>;
  /**
   * Send a test event. Sends `webhook.test` immediately and waits for the response. The status is 201 even if the receiver fails;
   * see `success`.
   */
  test(id: string, options?: RequestOptions & Idempotent): Call<WebhookTest>;
  /**
   * Repeat a failed delivery. Sends the payload again to the present URL, as a new attempt with the result in `isSuccess`. A
   * successful attempt cannot be repeated (400).
   */
  retry(webhookId: string, logId: string, options?: RequestOptions & Idempotent): Call<WebhookLog>;
}

/** Teams that own links together, and their members. */
export interface WorkspacesResource {
  /**
   * List your workspaces. The workspaces of which you are a member, your personal one first. Administrators who send no X-Workspace
   * get all workspaces. An API key gets only its own workspace.
   */
  list<F extends keyof ListWorkspace['data'][number] = keyof ListWorkspace['data'][number]>(options?: ListWorkspacesQuery & Fields<F> & RequestOptions): List<ListWorkspace, F>;
  /**
   * Create a workspace. Makes a workspace for a team. You become its OWNER. The number of workspaces that a user owns is limited
   * (409). If the operator has set API_KEYS_ADMINISTER=false, this requires a session.
   */
  create(body: CreateWorkspaceInBody, options?: RequestOptions & Idempotent): Call<Workspace>;
  /**
   * Delete a workspace. Requires the role OWNER. Members, webhooks and API keys of the workspace are deleted with it. If it has
   * links or bundles, the response is 409 with their `counts`, unless `transferTo` or `deleteLinks` says what becomes of them. A
   * personal workspace is deleted only with its user.
   */
  delete(id: string, options?: DeleteWorkspaceQuery & RequestOptions): Call<void>;
  /**
   * Get a workspace. Returns a workspace. This and the following endpoints work in the workspace of the path and ignore
   * X-Workspace.
   */
  get<F extends keyof Workspace = keyof Workspace>(id: string, options?: GetWorkspaceQuery & Fields<F> & RequestOptions): Call<Only<Workspace, F>>;
  /**
   * Change a workspace. Changes the given fields. Requires the role ADMIN in the workspace. A new slug replaces the old one at
   * once, also in X-Workspace.
   */
  update(id: string, body: UpdateWorkspaceInBody, options?: RequestOptions): Call<Workspace>;
  /** List the members of a workspace. A page of the members, who joined first. */
  listMembers<F extends keyof ListMember['data'][number] = keyof ListMember['data'][number]>(id: string, options?: ListMembersQuery & Fields<F> & RequestOptions): List<ListMember, F>;
  /**
   * Remove a member, or leave a workspace. The member's API keys for the workspace stop working immediately, and the webhooks that
   * the member has made are paused; the OWNERs and ADMINs get an e-mail. Every member can leave. To remove another member requires
   * the role ADMIN, and OWNER to remove an OWNER. The last OWNER must stay (400).
   */
  removeMember(id: string, userId: string, options?: RequestOptions): Call<void>;
  /**
   * Change a member's role. Requires the role ADMIN. Only an OWNER can make or demote an OWNER. To make an ADMIN or OWNER requires
   * a session. The last OWNER cannot be demoted (400).
   */
  setMemberRole(id: string, userId: string, body: SetMemberRoleInBody, options?: RequestOptions): Call<Member>;
}

export interface Resources {
  /** Reported links, and suspending links. Administrators only. */
  readonly abuse: AbuseResource;
  /** Sign-in, sign-out, your profile, password and second factor. */
  readonly account: AccountResource;
  /**
   * Rules that tell a workspace of unusual clicks, broken destinations, links that end soon, domains in trouble and failing
   * webhooks.
   */
  readonly alerts: AlertsResource;
  /** Reports, exports and a live stream of clicks. */
  readonly analytics: AnalyticsResource;
  /** Notes and changes of links, to mark on the charts of reports. */
  readonly annotations: AnnotationsResource;
  /** Credentials for scripts and integrations. */
  readonly apiKeys: ApiKeysResource;
  /** A whole workspace as one file: export and import. */
  readonly archives: ArchivesResource;
  /** Who changed what, and when. Administrators only. */
  readonly audit: AuditResource;
  /** Ordered groups of links with combined statistics. */
  readonly bundles: BundlesResource;
  /** The click id in destinations, and web sites whose pages send conversions. */
  readonly conversionSettings: ConversionSettingsResource;
  /** What visitors do after a click, such as a purchase. */
  readonly conversions: ConversionsResource;
  /** Host names under which a workspace has links of its own. */
  readonly domains: DomainsResource;
  /** The last reported state of each edge. Administrators only. */
  readonly edges: EdgesResource;
  /** Which variant of a link converts best, and weights that follow from it. */
  readonly experiments: ExperimentsResource;
  /** Manage OpenID Connect providers. Administrators only. */
  readonly identityProviders: IdentityProvidersResource;
  /** Images for previews in social networks. */
  readonly images: ImagesResource;
  /** Links from CSV files: upload, dry run, import. */
  readonly imports: ImportsResource;
  /** Links with which new members join a workspace. */
  readonly invitations: InvitationsResource;
  /** Reports that are sent by e-mail each week or month. */
  readonly mailReports: MailReportsResource;
  /** An API key for a program without a browser, which a user confirms in the console. */
  readonly pairing: PairingResource;
  /** Sign-in without a user name, with a passkey (WebAuthn). */
  readonly passkeys: PasskeysResource;
  /** Erasing the data of a visitor. Administrators only. */
  readonly privacy: PrivacyResource;
  /** Conditions that send some of a link's visitors to other destinations. */
  readonly routingRules: RoutingRulesResource;
  /** Named filters of reports, for all members of a workspace. */
  readonly segments: SegmentsResource;
  /** Reports that people without an account see at a secret address. */
  readonly sharedReports: SharedReportsResource;
  /** Sign-in through an identity provider (OpenID Connect). */
  readonly sso: SsoResource;
  /** Settings of the installation, which only administrators reach, and its version. */
  readonly systemSettings: SystemSettingsResource;
  /** Coloured labels of links. */
  readonly tags: TagsResource;
  /** Create, find, update and delete short links, one at a time or in bulk. */
  readonly urls: UrlsResource;
  /** Manage users. Administrators only. */
  readonly users: UsersResource;
  /** Named sets of campaign fields to copy into links. */
  readonly utmTemplates: UtmTemplatesResource;
  /** A/B tests: destinations among which a link's visitors are split by weight. */
  readonly variants: VariantsResource;
  /** Saved queries of the console's lists and reports. */
  readonly views: ViewsResource;
  /** Short links as visitors use them. Edges serve these paths, without credentials. */
  readonly visitors: VisitorsResource;
  /** HTTP callbacks for events, with delivery log and retries. The section `webhooks` of this document describes the payloads. */
  readonly webhooks: WebhooksResource;
  /** Teams that own links together, and their members. */
  readonly workspaces: WorkspacesResource;
}
