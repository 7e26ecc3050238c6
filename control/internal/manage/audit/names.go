package audit

// Actions lists every action of an Entry. The API rejects a query for another action instead of returning an empty
// page, so add new actions here.
var Actions = []string{
	"URL_CREATED", "URL_UPDATED", "URL_DELETED", "URL_BULK_CREATED", "URL_BULK_UPDATED", "URL_BULK_DELETED", "URL_TRANSFERRED",
	"USER_LOGIN", "USER_LOGOUT", "USER_CREATED", "USER_UPDATED", "USER_DELETED", "PASSWORD_CHANGED", "TWO_FACTOR_ENABLED", "TWO_FACTOR_DISABLED",
	"SESSION_REVOKED", "PASSWORD_RESET_REQUESTED",
	"API_KEY_CREATED", "API_KEY_DELETED",
	"VARIANT_CREATED", "VARIANT_UPDATED", "VARIANT_DELETED",
	"BUNDLE_CREATED", "BUNDLE_UPDATED", "BUNDLE_DELETED",
	"WEBHOOK_CREATED", "WEBHOOK_UPDATED", "WEBHOOK_DELETED",
	"ROUTING_RULE_CREATED", "ROUTING_RULE_UPDATED", "ROUTING_RULE_DELETED",
	"PASSKEY_ADDED", "PASSKEY_REMOVED", "PASSKEY_CLONED",
	"SSO_LOGIN", "SSO_LOGIN_FAILED", "OIDC_PROVIDER_CREATED", "OIDC_PROVIDER_UPDATED", "OIDC_PROVIDER_DELETED", "OIDC_ACCOUNT_LINKED", "OIDC_ACCOUNT_UNLINKED",
	"WORKSPACE_CREATED", "WORKSPACE_UPDATED", "WORKSPACE_DELETED", "MEMBER_UPDATED", "MEMBER_REMOVED",
	"SETTINGS_UPDATED", "VISITOR_ERASED", "SYSTEM_SETTING_UPDATED", "SYSTEM_SETTING_DELETED",
}

// EntityTypes lists every entity type of an Entry.
var EntityTypes = []string{
	"url", "user", "api_key", "bundle", "webhook", "variant", "routing_rule", "settings", "oidc_provider", "oidc_account", "system_setting", "visitor", "passkey", "session",
	"workspace", "member",
}
