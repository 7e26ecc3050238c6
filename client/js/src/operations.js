// Generated from the OpenAPI document by generate/generate.js. Do not edit.

// A resource, and below it its operations: name, method, path, and letters.
// b: a body in JSON; c: or in CSV; n: or in JSON lines; z: a ZIP file; m: a file in a form; i: takes an Idempotency-Key; p: a list of pages;
// s: a stream of events; r: answers with a redirect.
export const operations = `
abuse
listReports GET /api/admin/reports p
getReport GET /api/admin/reports/{id}
resolveReport PATCH /api/admin/reports/{id} b
liftDomainSuspension DELETE /api/domains/{id}/suspend
suspendDomain POST /api/domains/{id}/suspend bi
liftSuspension DELETE /api/urls/{id}/suspend
suspendURL POST /api/urls/{id}/suspend bi
account
disable2FA POST /api/auth/2fa/disable bi
enable2FA POST /api/auth/2fa/enable bi
setUp2FA POST /api/auth/2fa/setup bi
login POST /api/auth/login b
logout POST /api/auth/logout i
getMe GET /api/auth/me
updateMe PUT /api/auth/me b
changePassword POST /api/auth/password bi
putPassword PUT /api/auth/password b
forgotPassword POST /api/auth/password/forgot b
resetForgottenPassword POST /api/auth/password/reset b
endOtherSessions DELETE /api/auth/sessions
listSessions GET /api/auth/sessions p
endSession DELETE /api/auth/sessions/{id}
alerts
listChannels GET /api/alert-channels p
createChannel POST /api/alert-channels bi
deleteChannel DELETE /api/alert-channels/{id}
updateChannel PUT /api/alert-channels/{id} b
listRules GET /api/alert-rules p
createRule POST /api/alert-rules bi
deleteRule DELETE /api/alert-rules/{id}
updateRule PUT /api/alert-rules/{id} b
list GET /api/alerts p
analytics
abTestsAlias GET /api/analytics/ab-test
abTests GET /api/analytics/ab-tests
bots GET /api/analytics/bots
botsAlias GET /api/analytics/bots/overview
conversionsReport GET /api/analytics/conversions
export GET /api/analytics/export
freshness GET /api/analytics/freshness
groupsReport GET /api/analytics/groups
heatmap GET /api/analytics/heatmap
live GET /api/analytics/live s
listMissingSlugs GET /api/analytics/missing p
overview GET /api/analytics/overview
topURLs GET /api/analytics/top-urls
trends GET /api/analytics/trends
linkReport GET /api/analytics/urls/{id}
abTest GET /api/analytics/urls/{id}/ab-test
linkBots GET /api/analytics/urls/{id}/bots
recentClicksAlias GET /api/analytics/urls/{id}/clicks/recent
exportLink GET /api/analytics/urls/{id}/export
linkHeatmap GET /api/analytics/urls/{id}/heatmap
recentClicks GET /api/analytics/urls/{id}/recent-clicks
routingReport GET /api/analytics/urls/{id}/routing
annotations
list GET /api/annotations
create POST /api/annotations bi
delete DELETE /api/annotations/{id}
update PUT /api/annotations/{id} b
apiKeys
list GET /api/api-keys p
create POST /api/api-keys bi
delete DELETE /api/api-keys/{id}
get GET /api/api-keys/{id}
rotate POST /api/api-keys/{id}/rotate bi
archives
exportWorkspace GET /api/workspaces/{id}/archive
importWorkspace POST /api/workspaces/{id}/archive z
audit
list GET /api/audit-logs p
bundles
list GET /api/bundles p
create POST /api/bundles bi
delete DELETE /api/bundles/{id}
get GET /api/bundles/{id}
update PUT /api/bundles/{id} b
archive POST /api/bundles/{id}/archive i
restore POST /api/bundles/{id}/restore i
stats GET /api/bundles/{id}/stats
addURL POST /api/bundles/{id}/urls bi
addURLs POST /api/bundles/{id}/urls/batch bi
removeURL DELETE /api/bundles/{id}/urls/{urlId}
moveURL PATCH /api/bundles/{id}/urls/{urlId}/order b
conversionSettings
get GET /api/conversions/settings
put PUT /api/conversions/settings b
rotateKey POST /api/conversions/settings/rotate-key i
conversions
send POST /api/conversions bn
list GET /api/urls/{id}/conversions p
export GET /api/urls/{id}/conversions/export
listGoals GET /api/urls/{id}/goals p
domains
list GET /api/domains p
create POST /api/domains bi
delete DELETE /api/domains/{id}
get GET /api/domains/{id}
update PUT /api/domains/{id} b
deleteCertificate DELETE /api/domains/{id}/certificate
uploadCertificate PUT /api/domains/{id}/certificate b
verify POST /api/domains/{id}/verify i
edges
list GET /api/edges
experiments
delete DELETE /api/urls/{id}/experiment
get GET /api/urls/{id}/experiment
put PUT /api/urls/{id}/experiment b
promoteVariant POST /api/urls/{id}/experiment/promote bi
restart POST /api/urls/{id}/experiment/restart i
listWeights GET /api/urls/{id}/experiment/weights p
identityProviders
list GET /api/admin/oidc-providers
create POST /api/admin/oidc-providers bi
delete DELETE /api/admin/oidc-providers/{slug}
get GET /api/admin/oidc-providers/{slug}
update PUT /api/admin/oidc-providers/{slug} b
images
upload POST /api/og-images/upload/{urlId} m
get GET /api/og-images/{key}
imports
list GET /api/imports p
create POST /api/imports c
delete DELETE /api/imports/{id}
get GET /api/imports/{id}
cancel POST /api/imports/{id}/cancel i
preview POST /api/imports/{id}/dry-run bi
listProblems GET /api/imports/{id}/problems p
exportProblems GET /api/imports/{id}/problems.csv
start POST /api/imports/{id}/start bi
invitations
accept POST /api/invitations/accept b
list GET /api/workspaces/{id}/invitations p
create POST /api/workspaces/{id}/invitations bi
revoke DELETE /api/workspaces/{id}/invitations/{invitationId}
mailReports
list GET /api/mail-reports p
create POST /api/mail-reports bi
delete DELETE /api/mail-reports/{id}
update PUT /api/mail-reports/{id} b
pairing
revokeOwnKey POST /api/auth/key/revoke bi
get GET /api/auth/pairings
begin POST /api/auth/pairings b
approve POST /api/auth/pairings/approve bi
redeem POST /api/auth/pairings/redeem b
refuse POST /api/auth/pairings/refuse bi
passkeys
list GET /api/auth/passkeys p
beginLogin POST /api/auth/passkeys/login/begin
finishLogin POST /api/auth/passkeys/login/finish b
beginRegistration POST /api/auth/passkeys/register/begin bi
finishRegistration POST /api/auth/passkeys/register/finish bi
delete DELETE /api/auth/passkeys/{id}
rename PATCH /api/auth/passkeys/{id} b
privacy
eraseVisitor POST /api/privacy/erase bi
routingRules
listTemplates GET /api/routing-templates
list GET /api/urls/{id}/routing-rules
create POST /api/urls/{id}/routing-rules bi
createFromTemplate POST /api/urls/{id}/routing-rules/from-template bi
updateSettings PATCH /api/urls/{id}/routing-rules/settings b
delete DELETE /api/urls/{id}/routing-rules/{ruleId}
get GET /api/urls/{id}/routing-rules/{ruleId}
update PUT /api/urls/{id}/routing-rules/{ruleId} b
segments
list GET /api/segments p
create POST /api/segments bi
delete DELETE /api/segments/{id}
update PUT /api/segments/{id} b
sharedReports
list GET /api/shared-reports p
create POST /api/shared-reports bi
delete DELETE /api/shared-reports/{id}
get GET /api/shared-reports/{id}
update PUT /api/shared-reports/{id} b
view GET /api/shared/{token}
unlock POST /api/shared/{token}/unlock b
sso
listSignInMethods GET /api/auth/methods
list GET /api/auth/sso
finish GET /api/auth/sso/{slug}/callback r
begin GET /api/auth/sso/{slug}/login r
systemSettings
list GET /api/settings/system
delete DELETE /api/settings/system/{key}
get GET /api/settings/system/{key}
put PUT /api/settings/system/{key} b
getVersion GET /api/version
tags
list GET /api/tags p
create POST /api/tags bi
delete DELETE /api/tags/{id}
update PUT /api/tags/{id} b
urls
siteIcon GET /api/pages/icon
previewPage GET /api/pages/preview
listEdits GET /api/url-edits p
startEdit POST /api/url-edits bi
previewEdit POST /api/url-edits/dry-run bi
getEdit GET /api/url-edits/{id}
listEditProblems GET /api/url-edits/{id}/problems p
undoEdit POST /api/url-edits/{id}/undo i
list GET /api/urls p
create POST /api/urls bi
bulkDelete DELETE /api/urls/bulk b
bulkUpdate PATCH /api/urls/bulk b
bulkCreate POST /api/urls/bulk bi
upsert PUT /api/urls/bulk b
getByExternalID GET /api/urls/by-external-id/{externalId}
putByExternalID PUT /api/urls/by-external-id/{externalId} b
explainNew POST /api/urls/explain bi
export GET /api/urls/export
checkSlug GET /api/urls/slug
stats GET /api/urls/stats
transfer POST /api/urls/transfer bi
utmSuggestions GET /api/urls/utm-suggestions
delete DELETE /api/urls/{id}
get GET /api/urls/{id}
patch PATCH /api/urls/{id} b
update PUT /api/urls/{id} b
duplicate POST /api/urls/{id}/duplicate bi
explain POST /api/urls/{id}/explain bi
replay POST /api/urls/{id}/explain/replay bi
history GET /api/urls/{id}/history p
qrCode GET /api/urls/{id}/qrcode
qrCodeWithLogo POST /api/urls/{id}/qrcode m
restore POST /api/urls/{id}/restore bi
rollBack POST /api/urls/{id}/rollback bi
users
list GET /api/users p
create POST /api/users bi
delete DELETE /api/users/{id}
get GET /api/users/{id}
turnOff2FA PATCH /api/users/{id}/2fa b
setName PATCH /api/users/{id}/name b
listOIDCAccounts GET /api/users/{id}/oidc-accounts
deleteOIDCAccount DELETE /api/users/{id}/oidc-accounts/{accountId}
patchPassword PATCH /api/users/{id}/reset-password b
resetPassword POST /api/users/{id}/reset-password bi
setRole PATCH /api/users/{id}/role b
setStatus PATCH /api/users/{id}/status b
utmTemplates
list GET /api/utm-templates p
create POST /api/utm-templates bi
delete DELETE /api/utm-templates/{id}
update PUT /api/utm-templates/{id} b
variants
list GET /api/urls/{id}/variants
create POST /api/urls/{id}/variants bi
delete DELETE /api/urls/{id}/variants/{variantId}
get GET /api/urls/{id}/variants/{variantId}
update PUT /api/urls/{id}/variants/{variantId} b
views
list GET /api/views p
create POST /api/views bi
delete DELETE /api/views/{id}
update PUT /api/views/{id} b
visitors
sendBrowserConversion POST /c b
conversionScript GET /sl.js
followLink GET /{slug} r
linkInfo GET /{slug}/info
reportForm GET /{slug}/report
reportLink POST /{slug}/report b
openLink POST /{slug}/verify b
webhooks
list GET /api/webhooks p
create POST /api/webhooks bi
delete DELETE /api/webhooks/{id}
get GET /api/webhooks/{id}
update PUT /api/webhooks/{id} b
listLogs GET /api/webhooks/{id}/logs p
retryFailures POST /api/webhooks/{id}/logs/retry i
rotateSecret POST /api/webhooks/{id}/rotate bi
test POST /api/webhooks/{id}/test i
retry POST /api/webhooks/{webhookId}/logs/{logId}/retry i
workspaces
list GET /api/workspaces p
create POST /api/workspaces bi
delete DELETE /api/workspaces/{id}
get GET /api/workspaces/{id}
update PUT /api/workspaces/{id} b
listMembers GET /api/workspaces/{id}/members p
removeMember DELETE /api/workspaces/{id}/members/{userId}
setMemberRole PATCH /api/workspaces/{id}/members/{userId} b
`;
