package api

import (
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
)

// operations has the words by operation id. A test requires words for every endpoint.
var operations = map[string]kit.Words{
	// Visitors
	"followLink": {About: "Served by edges. Active rules are evaluated by priority. If none matches, the A/B test chooses a variant; otherwise the default or original URL is used. " +
		"The edge adds the link's UTM presets, passes the visitor's parameters on, and records one click. HEAD returns the same headers and records nothing. Browsers get errors as a small HTML page."},
	"linkInfo": {About: "Served by edges. It never contains the destination of a link."},
	"openLink": {About: "Served by edges. The right password counts as a click. After five wrong passwords in ten minutes, a client is locked out of the link for an increasing time (429).", Example: `{"password":"open sesame"}`},

	"reportForm": {About: "Served by edges, also for links that expired or were suspended. The form works without JavaScript."},
	"reportLink": {About: "Served by edges. The report goes to the administrators' queue. 503: the control plane could not store it, so send it again. A client can send five reports a minute and ten an hour (429). Requests from pages of other sites get 403.", Example: `{"reason":"PHISHING","text":"It asks for my password."}`},
	"sendBrowserConversion": {About: "Served by edges at every host. Only pages of a workspace's sites may send: the origin must be in the conversion settings, and requests of others get 403. The body is one conversion, an array, or an object with `items` and `key`, with at most 100 items and 16 KiB; only the script of `/sl.js` needs to know this. The verdict `accepted` is provisional: edges do not compare conversions, and the control plane drops copies. " +
		"A client and a key have limits of conversions a minute (429). 503: the edge has no space at the moment and accepted nothing, so send the same request again. Sending a conversion again is harmless.", Example: `{"key":"pk_3J9fQ2mVtY","clickId":"AAAeJAaHuVl57wU2e4T1xzbsPwSbOLy1","name":"purchase","value":49.9,"currency":"EUR"}`},
	"conversionScript": {About: "Served by edges at every host. The script keeps the click id of the page's address, and sends conversions to `/c`. Browsers may keep it for a day."},

	// Account
	"login":                  {About: "Returns an access token and sets it as an HttpOnly cookie. `linkAccount: true` confirms the link to an account at an identity provider after `link_required`. If two-factor authentication is on and the code is missing, the response is `requires2FA: true` without a token; send the request again with the code. After five failures in ten minutes, a client (an IPv4 address or IPv6 /64) is locked out of the account for an increasing time (429). Wrong codes after the right password lock the second factor for all clients.", Example: `{"email":"ann@example.com","password":"correct horse","twoFactorCode":"123456"}`, Errors: []int{http.StatusUnauthorized, http.StatusForbidden}},
	"logout":                 {About: "Ends the session of the request on all replicas and clears the cookie. API keys stay valid."},
	"getMe":                  {About: "Returns the user of the session or API key."},
	"updateMe":               {About: "Sets your name, which other users see.", Example: `{"name":"Ann"}`},
	"changePassword":         {About: "Requires the current password and ends all other sessions. `revokeApiKeys: true` also deletes your API keys. Requires a session, not an API key.", Example: `{"currentPassword":"correct horse","newPassword":"battery staple"}`},
	"putPassword":            {About: "Same as POST at this path.", Example: `{"oldPassword":"correct horse","newPassword":"battery staple"}`},
	"forgotPassword":         {About: "Sends an e-mail with a link that works once, for 30 minutes. The response is the same for unknown addresses, and takes the same time. It is 403 for every address if the installation sends no e-mail (an administrator must reset the password) or if passwords are turned off. A client may ask five times an hour for one address, all clients together 20 times (429).", Example: `{"email":"ann@example.com"}`, Errors: []int{http.StatusForbidden}},
	"resetForgottenPassword": {About: "Sets a new password with the token from the e-mail. All sessions of the user end, and the API keys are deleted. The response does not sign in, and a second factor stays on. A token that expired or was used gets 400.", Example: `{"token":"VQGJ7WC3L4BTN2K5YF6ZEXRAMH","newPassword":"battery staple"}`, Errors: []int{http.StatusForbidden}},
	"listSessions":           {About: "A page of your valid sessions, newest first, each with the address and the user agent of the sign-in. Requires a session, not an API key."},
	"endSession":             {About: "Ends one of your sessions on all replicas within a second, including streams in progress. Ending the session of the request signs you out. Sessions of other users are not found (404)."},
	"endOtherSessions":       {About: "Ends all your sessions except for that of the request, on all replicas within a second. API keys stay valid."},
	"setUp2FA":               {About: "Requires the current password if you signed in more than ten minutes ago (403 otherwise). Generates a new secret (RFC 6238, six digits, 30 s), also as a QR code. The secret takes effect after you send a code to /api/auth/2fa/enable. Another request replaces it.", Example: `{"password":"correct horse"}`},
	"enable2FA":              {About: "Turns the second factor on with a code, and returns ten recovery codes, which are shown only once. Each replaces one code.", Example: `{"code":"123456"}`},
	"disable2FA":             {About: "Turns the second factor off. Requires the password and a code or recovery code.", Example: `{"code":"123456","password":"correct horse"}`},

	// Abuse
	"listAbuseReports":   {About: "The queue of reported links, the latest report first. A link has at most one open report per source, which counts further reports. Resolved reports are kept for 180 days.", Errors: []int{http.StatusBadRequest}},
	"getAbuseReport":     {About: "One report."},
	"resolveAbuseReport": {About: "`dismiss` closes the report. If a check suspended the link, dismissing lifts the suspension, and the check does not suspend the link for the same destination again. `suspend` suspends the link and closes all its open reports. A report that was resolved already gets 409.", Example: `{"action":"suspend","reason":"Phishing"}`, Conflict: true},
	"suspendURL":         {About: "Visitors get 410. The owners see the reason, get the webhook `url.updated`, and cannot lift the suspension. Suspending a suspended link replaces the reason. All open reports of the link are closed.", Example: `{"reason":"Phishing"}`},
	"liftSuspension":     {About: "The link works again as its other fields say. All open reports of the link are dismissed. Without a suspension nothing changes."},

	// Passkeys
	"listPasskeys":       {About: "Your passkeys, oldest first. Requires a session, as do the other calls except for signing in."},
	"renamePasskey":      {About: "Changes the name in your list. The passkey itself and your devices keep theirs.", Example: `{"name":"Laptop"}`},
	"deletePasskey":      {About: "The passkey no longer signs in. Your sessions stay. The device may still offer the passkey until you remove it there, too."},
	"beginPasskey":       {About: "Requires the current password if you signed in more than ten minutes ago (403 otherwise). Pass `publicKey` to navigator.credentials.create() and the result to /api/auth/passkeys/register/finish, within five minutes and in the same session. Passkeys need https or localhost, and a host name (403 otherwise). A user can have 20 (409).", Example: `{"password":"correct horse"}`, Conflict: true},
	"finishPasskey":      {About: "Stores the passkey. It must be discoverable and the device must have verified you. Attestations are ignored. A challenge works once.", Example: `{"name":"Laptop","credential":{"id":"dGhlIGlk","response":{"clientDataJSON":"e30","attestationObject":"oA"}}}`, Conflict: true},
	"beginPasskeyLogin":  {About: "Pass `publicKey` to navigator.credentials.get() and the result to /api/auth/passkeys/login/finish, within five minutes. No user name is needed. While single sign-on is enforced, passkeys are off, like passwords (403).", Errors: []int{http.StatusForbidden}},
	"finishPasskeyLogin": {About: "Same response as signing in with a password. A passkey counts as both factors, so no code is asked for. A signature whose counter did not increase is refused, because the passkey may have been copied. After five failures in ten minutes, a client is locked out of the passkey for an increasing time (429).", Example: `{"credential":{"id":"dGhlIGlk","response":{"clientDataJSON":"e30","authenticatorData":"AA","signature":"AA","userHandle":"AA"}}}`, Errors: []int{http.StatusUnauthorized, http.StatusForbidden}},

	// Single sign-on
	"listSignInMethods": {About: "The available ways to sign in, for a login page: passwords, active identity providers, and passkeys."},
	"listSSO":           {About: "The active providers, for a login page. A browser signs in at /api/auth/sso/{slug}/login."},
	"beginSSO":          {About: "Redirects a browser to the provider. After a failure, it redirects to /login?error=… with a code."},
	"finishSSO": {About: "The callback URL: signs in and redirects to the requested path. The first sign-in links the account to the user with the same verified email address. Administrators and users with a second factor must confirm the link (`link_required`) by signing in with `linkAccount: true`. " +
		"After a failure, it redirects to /login?error=… with a code."},
	"listOIDCProviders":     {About: "All providers, including inactive ones, by name. Client secrets are never returned."},
	"createOIDCProvider":    {About: "Requires a session, as do changes. The client secret is encrypted at rest. Register the returned `callbackUrl` at the provider.", Example: `{"name":"Company","slug":"company","discoveryUrl":"https://id.example.com/.well-known/openid-configuration","clientId":"shortline","clientSecret":"…","scopes":"openid email profile"}`, Conflict: true},
	"getOIDCProvider":       {About: "One provider, without its client secret."},
	"updateOIDCProvider":    {About: "Changes the given fields. The slug cannot change. A missing client secret is kept.", Example: `{"name":"The company","isActive":true}`},
	"deleteOIDCProvider":    {About: "Removes the provider and its links to users. The users stay."},
	"listUserOIDCAccounts":  {About: "The accounts at identity providers with which a user can sign in."},
	"deleteUserOIDCAccount": {About: "The user can no longer sign in with this account, until a new first sign-in links it again."},

	// Users
	"listUsers":         {About: "A page of users, newest first."},
	"createUser":        {About: "Requires a session, as do all changes of users except for the name: API keys get 403. Email addresses are unique, ignoring case.", Example: `{"email":"bob@example.com","password":"battery staple","role":"USER"}`, Conflict: true},
	"getUser":           {About: "Returns a user with role and status."},
	"deleteUser":        {About: "Ends the user's sessions and deletes their keys and personal workspace, and the workspaces of teams that would have no OWNER. If these have links or bundles, the response is 409 with their `counts`, unless `transferTo` or `deleteLinks` says what becomes of them. Elsewhere, the OWNER who joined first takes over what the user has created. You cannot delete yourself or the last active administrator.", Conflict: true},
	"setUserRole":       {About: "Ends the user's sessions. You cannot change your own role or that of the last active administrator.", Example: `{"role":"ADMIN"}`},
	"setUserStatus":     {About: "Deactivation ends the user's sessions and disables their keys immediately. Their links keep working. `isActive` is an alternative to `status`.", Example: `{"status":"INACTIVE"}`},
	"setUserName":       {About: "Sets the user's name, which other users see.", Example: `{"name":"Bob"}`},
	"turnOffUser2FA":    {About: "For users who have lost their devices: turns the authenticator app off and removes all passkeys. The password still works. Only the user can turn the second factor on.", Example: `{"enabled":false}`},
	"resetUserPassword": {About: "Sets another user's password, ends all their sessions, and deletes their API keys and passkeys. Change your own password at /api/auth/password.", Example: `{"newPassword":"battery staple"}`},
	"patchUserPassword": {About: "Same as POST at this path.", Example: `{"newPassword":"battery staple"}`},

	// Workspaces
	"listWorkspaces":  {About: "The workspaces of which you are a member, your personal one first. Administrators who send no X-Workspace get all workspaces. An API key gets only its own workspace."},
	"createWorkspace": {About: "Makes a workspace for a team. You become its OWNER. The number of workspaces that a user owns is limited (409). If the operator has set API_KEYS_ADMINISTER=false, this requires a session.", Example: `{"name":"Growth team","slug":"growth"}`, Conflict: true},
	"getWorkspace":    {About: "Returns a workspace. This and the following endpoints work in the workspace of the path and ignore X-Workspace."},
	"updateWorkspace": {About: "Changes the given fields. Requires the role ADMIN in the workspace. A new slug replaces the old one at once, also in X-Workspace.", Example: `{"name":"Growth team","slug":"growth"}`, Conflict: true},
	"deleteWorkspace": {About: "Requires the role OWNER. Members, webhooks and API keys of the workspace are deleted with it. If it has links or bundles, the response is 409 with their `counts`, unless `transferTo` or `deleteLinks` says what becomes of them. A personal workspace is deleted only with its user.", Conflict: true},
	"listMembers":     {About: "A page of the members, who joined first."},
	"setMemberRole":   {About: "Requires the role ADMIN. Only an OWNER can make or demote an OWNER. To make an ADMIN or OWNER requires a session. The last OWNER cannot be demoted (400).", Example: `{"role":"EDITOR"}`},
	"removeMember":    {About: "The member's API keys for the workspace stop working immediately, and the webhooks that the member has made are paused; the OWNERs and ADMINs get an e-mail. Every member can leave. To remove another member requires the role ADMIN, and OWNER to remove an OWNER. The last OWNER must stay (400)."},

	// Invitations
	"listInvitations":  {About: "The invitations that were not accepted, newest first."},
	"createInvitation": {About: "Invites an address with a role. Only an OWNER can invite an OWNER. Only this response contains the link, which works once within seven days. If e-mail is configured, the address also gets an e-mail. An API key invites an EDITOR or VIEWER by e-mail and gets no link; to invite an ADMIN or OWNER requires a session (403). A second invitation of the address replaces the first. A member of the workspace cannot be invited (409). A workspace and a user can send 100 invitations a day, and an address can get five (429).", Example: `{"email":"bob@example.com","role":"EDITOR"}`, Conflict: true},
	"revokeInvitation": {About: "The link stops working immediately."},
	"acceptInvitation": {About: "With the session of the invited address, it joins the workspace; another user gets 403. Without a session, it makes an account with `name` and `password` and opens a session, like a sign-in. If the address has an account, the response is 401: sign in first. A link that was used, revoked or has expired gets 410, an unknown one 404. After five unknown links in ten minutes, a client is locked out for an increasing time (429).", Example: `{"token":"XJ3V…","name":"Bob","password":"battery staple"}`, Conflict: true,
		Errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone}},

	// API keys
	"listAPIKeys":  {About: "The keys of the workspace with prefix, limits and last use. In a personal workspace these are your keys. The keys themselves are not stored."},
	"createAPIKey": {About: "A key that is created with a key has at most its scopes, its addresses and its end, and is deleted with it. If the operator has set API_KEYS_ADMINISTER=false, this requires a session. Only this response contains the full key. A key works in the workspace in which it was created. It never does more than the role of its user in the workspace permits, and `scopes` limit it further. An unlimited key of an administrator, created in the personal workspace, reaches everything. The number of keys per user is limited (409).", Example: `{"name":"Deployment","expiresAt":"2027-12-31T00:00:00.000Z","scopes":["links:write","analytics:read"],"allowedIps":["203.0.113.0/24"]}`, Conflict: true},
	"rotateAPIKey": {About: "A key can rotate itself and the keys that were created with it, within its own end. If the operator has set API_KEYS_ADMINISTER=false, this requires a session. The old secret stops working immediately on all replicas, and only this response contains the new one. Name, scopes and allowed addresses stay. Only the user who has created a key can rotate it.", Example: `{"expiresAt":"2027-12-31T00:00:00.000Z"}`, Conflict: true},
	"getAPIKey":    {About: "Returns a key by id, without the full key."},
	"deleteAPIKey": {About: "The key and the keys that were created with it stop working immediately on all replicas. With `endMade`, the users, invitations and webhooks that were made with them end, too; only an administrator can deactivate users (403)."},

	// System settings
	"listSettings":  {About: "All settings, sorted by key."},
	"getSetting":    {About: "Returns the setting, or null if it is not set."},
	"putSetting":    {About: "Accepts any JSON value. `sso_enforce` = `{\"enabled\": true}` turns password sign-in off while an identity provider is active. `require_2fa` = `{\"enabled\": true}` requires a second factor of everybody who signs in: a session of a user without one reaches only the set-up (403 with `error` = `Second Factor Required` otherwise), while API keys keep working. You need a second factor yourself to turn it on. Both settings need a session.", Example: `{"value":{"enabled":true},"description":"Single sign-on only"}`},
	"deleteSetting": {About: "Deletes the setting, so its default applies."},

	// Conversions
	"sendConversions": {About: "Records what visitors did after a click, such as a purchase. `clickId` is the value of the parameter `sl_click` that the visitor's destination received. The body is one object, an array, or `{\"items\": […]}`, with 1 to 1,000 items, or one object per line as `application/x-ndjson`. " +
		"The response tells what became of each item; the items with `accepted` are stored durably. The first conversion of a name counts for each click, unless it is `repeatable` and has an `externalId`. Sending a conversion again is harmless. 503: nothing was lost or half done, so send the same request again.", Example: `{"clickId":"AAAeJAaHuVl57wU2e4T1xzbsPwSbOLy1","name":"purchase","value":49.9,"currency":"EUR","externalId":"order-1001"}`},

	"listGoals":         {About: "Every name that conversions of the link have, with their number and revenue. A conversion belongs to the time of its click."},
	"listConversions":   {About: "Newest click first. A page must end within the first 10,000 conversions; the export has all of them. The figures of the click are Unknown until it has arrived, which usually takes seconds."},
	"exportConversions": {About: "All conversions in the range as CSV (UTF-8 with a byte-order mark), newest click first. The columns are those of the list."},

	// Experiments
	"getExperiment": {About: "Compares the variants by the visitors who converted. It works for every link with variants: without an experiment, `goal` is required, and the decision is computed from the figures of this moment. " +
		"The figures may be looked at any time: at most 5 % of experiments without a difference ever name a winner. The guide on experiments explains each figure."},
	"putExperiment":         {About: "The link needs A/B testing and at least two active variants with a weight, else the response is 409. Fields that are left out keep their value. The autopilot checks the experiment every 5 minutes. When it is over, webhooks that subscribe to `experiment.decided` get it once.", Example: `{"goal":"purchase","optimize":"bandit","onWinner":"notify"}`, Conflict: true},
	"deleteExperiment":      {About: "The variants keep their weights. The history of weights is deleted."},
	"restartExperiment":     {About: "Clicks from now on count. Adding or removing a variant, or changing its destination, restarts a running experiment by itself.", Conflict: true},
	"promoteVariant":        {About: "Sets the weight of the variant to 100 and that of the others to 0.", Example: `{"variantId":"01970000-0000-7000-8000-000000000000"}`},
	"listExperimentWeights": {About: "Every set of weights since the experiment was created, newest first."},

	// Conversion settings
	"getConversionSettings": {About: "The settings of the workspace. The publishable key is not secret: web pages contain it."},
	"putConversionSettings": {About: "Changes the given fields. A new `clickParameter` reaches every edge within a second; pages must read the new name. `hosts` replaces the list.", Example: `{"clickParameter":"sl_click","hosts":["shop.example.com","*.example.org"]}`},
	"rotateConversionKey":   {About: "Edges refuse the old key within a second, so change the pages soon after."},

	// Audit
	"eraseVisitor":  {About: "Removes an address of a visitor, with the visitor number and User-Agent, from clicks, webhook deliveries and lockouts. The clicks still count. Requires the session of an administrator.", Example: `{"ip":"203.0.113.77"}`},
	"listAuditLogs": {About: "Every change, sign-in and failed sign-in, newest first. Entries are append-only and never contain passwords or keys."},

	// Edges
	"listEdges": {About: "The last report of each edge within the last day: its revision and lag, links with unusable rules and the reasons, and clicks to deliver. All replicas return the same."},

	// URLs
	"createURL":  {About: "Without `customSlug`, a slug of seven characters is generated. The link works at all edges within a second. Destinations are stored as ASCII: non-ASCII host names are converted to IDNA (`bücher.example` becomes `xn--bcher-kva.example`), and other non-ASCII characters are percent-encoded as UTF-8. ASCII URLs are stored unchanged.", Example: `{"originalUrl":"https://example.com/a/long/path","customSlug":"launch","title":"Launch","utmSource":"newsletter"}`, Conflict: true},
	"listURLs":   {About: "A page of your links; administrators get the links of all users. Parameters that select links can be combined. An unknown tag, bundle, domain or user selects nothing. `total` counts up to 10,000; with more links it is 10000, `totalIsExact` is false, and pages after `totalPages` exist. `sortBy` is createdAt, updatedAt, clickCount, title, expiresAt or slug. `status=DELETED` lists the trash, newest deletion first; of the other parameters, only `search`, `sortBy` (also deletedAt), `sortOrder` and the page have an effect."},
	"exportURLs": {About: "The links that the same parameters select in the list, newest first, without a limit. The columns of CSV and the members of JSON are those of the list. In CSV, tags are separated by commas, and text that a spreadsheet could take for a formula begins with an apostrophe."},
	"urlStats":   {About: "Numbers of your links; administrators get the numbers of all users."},
	"utmSuggestions": {About: "Up to 20 values of a campaign field, most frequent first, for autocompletion. " +
		"They come from the links of all users, so that a team uses the same names."},
	"checkSlug":          {About: "Whether a new link can have this slug on this domain, with a similar one that is free. The slug is not held: creating the link can still get 409."},
	"previewPage":        {About: "Fetches the page and returns what it says about itself. The texts are empty for a page that cannot be read, and `problem` says why. It takes at most five seconds. Private addresses are not fetched."},
	"siteIcon":           {About: "An icon of at most 64 by 64 pixels that the server has fetched from the site. An icon that is not known yet is a 204, and is fetched for the next request."},
	"getURL":             {About: "Returns a link. `status` is EXPIRED after `expiresAt`."},
	"updateURL":          {About: "Changes the given fields: missing fields are kept, null or an empty string clears a field. The slug cannot change.", Example: `{"title":"Launch day","expiresAt":"2027-12-31T00:00:00.000Z"}`, Conflict: true},
	"patchURL":           {About: "Changes the given fields, as PUT does at this path.", Example: `{"isABTesting":true}`, Conflict: true},
	"deleteURL":          {About: "Moves the link to the trash. The link and its reports return 404 afterwards, visitors get 404 within a second, and the slug is free for everybody, unless the link is suspended. Its clicks stay in the totals over all links. `permanently=true` deletes the link for good, also from the trash. Without `TRASH_DAYS`, every deletion is for good."},
	"duplicateURL":       {About: "Creates a link with the fields, tags, password, rules and variants of another one, in the same workspace. Clicks, history, bundles, the experiment, externalId and the preview image are not copied. A suspended link cannot be duplicated (409).", Example: `{"customSlug":"launch-de","title":"Launch, German"}`, Conflict: true},
	"restoreURL":         {About: "Brings a link back from the trash, with its rules, variants, places in bundles, history, clicks and counters. If its slug or externalId was taken meanwhile, the response is 409 and names the field; choose another with `slug` or `externalId`. A link of a workspace that was deleted goes to the caller's workspace; only administrators see it.", Example: `{"slug":"launch-2"}`, Conflict: true},
	"urlHistory":         {About: "The changes of a link, its rules and its variants, newest first, and at the end its oldest known state. The newest 1,000 changes are kept. Changes by programs without history, such as those of the previous release, appear as a part of the entry before them. Counters are not part of it."},
	"rollBackURL":        {About: "Gives the link, its rules and its variants the state right after the change with this revision, with their ids. Slug, workspace, suspension, preview image and counters stay. A destination that is not allowed today is a 400 that names it. The rollback becomes a part of the history.", Example: `{"revision":4711}`, Conflict: true},
	"getURLByExternalID": {About: "The link of the workspace with this `externalId`."},
	"putURLByExternalID": {About: "Updates the given fields of the link of the workspace with this `externalId` (200), or creates the link (201). Concurrent requests make one link. `customSlug` is only for a new link.", Example: `{"originalUrl":"https://example.com/a/long/path","title":"Launch"}`, Conflict: true},
	"explainURL": {About: "Simulates a visit with the code that redirects visitors, and returns each step: matched rules, the values that each condition compared, the probabilities of the variants, and the final URL. " +
		"Nothing is counted. All fields are optional. With `draft`, the answer is as if the draft were saved; its problems are those of saving, with fields such as `draft.rules.2.targetUrl`.", Example: `{"userAgent":"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1","country":"DE","language":"de-DE,de;q=0.9","query":"utm_source=mail","time":"2027-01-31T12:00:00.000Z"}`},
	"explainNewURL": {About: "Like `explainURL`, for a link that does not exist. The draft belongs to the workspace of the request. Nothing is stored. A slug or an externalId that is taken is not a problem here. The percentile is not the one that the visitor will have at the link.", Example: `{"country":"DE","draft":{"originalUrl":"https://example.com/","rules":[{"name":"Germany","targetUrl":"https://example.com/de","conditions":{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}}]}}`},
	"replayURL": {About: "Decides the newest stored clicks of the link again, with the link as it is saved and with the draft, and compares the destinations. Nothing is stored. Both sides use the same random numbers, so a visit that changes does so because of the draft. " +
		"Clicks lack some facts: the query, whether the visitor has been here before, the region of the language, and possibly parts of the address. A visit whose decision depends on such a fact counts as `unknown`.",
		Example: `{"draft":{"rules":[{"name":"Germany","targetUrl":"https://example.com/de","conditions":{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"}]}}]},"limit":500}`},
	"urlQRCode":         {},
	"urlQRCodeWithLogo": {},
	"bulkCreateURLs":    {About: "1 to 1,000 links. Each is created independently: the response lists failed links with index and reason. A request can set 30 different passwords; a link with one more fails, and the same password again is free. If the service would have more links than its limit, the whole request gets 409 and creates nothing.", Example: `{"urls":[{"originalUrl":"https://example.com/a"},{"originalUrl":"https://example.com/b","customSlug":"launch-b"}]}`, Conflict: true},
	"bulkUpdateURLs":    {About: "1 to 1,000 links: `status`; or `operation: \"bundle\"` with the bundle's id as `value`; or `operation: \"tags\"` with a list of names as `value`, which adds the tags; or `operation: \"removeTags\"`, which removes them; or `operation` as an object of type status, bundle, tags, removeTags, expiration or utm. If a link does not exist, the response is 404 and nothing changes.", Example: `{"urlIds":["01970000-0000-7000-8000-000000000000"],"status":"INACTIVE"}`},
	"bulkDeleteURLs":    {About: "1 to 1,000 links. If a link does not exist, the response is 404 and nothing is deleted.", Example: `{"urlIds":["01970000-0000-7000-8000-000000000000"]}`},
	"transferURLs":      {About: "1 to 1,000 links, with their rules, variants and clicks. They keep their slugs and leave the bundles and tags of their old workspace. The caller needs the role EDITOR in both workspaces. If a link or the workspace does not exist, the response is 404 and nothing changes. Webhooks of both workspaces that subscribe to `url.updated` get it, with the change `workspaceId`.", Example: `{"urlIds":["01970000-0000-7000-8000-000000000000"],"workspaceId":"01970000-0000-7000-8000-000000000000"}`, Conflict: true},

	// Variants
	"createVariant": {About: "The first variant turns A/B testing on. The probability of a variant is its weight divided by the sum of the weights of all active variants.", Example: `{"name":"B","targetUrl":"https://example.com/b","weight":30}`},
	"listVariants":  {About: "All variants with their clicks, oldest first."},
	"getVariant":    {About: "Returns a variant of the link."},
	"updateVariant": {About: "Changes the given fields. If no active variant remains, A/B testing is turned off.", Example: `{"weight":70}`},
	"deleteVariant": {About: "Deleting the last variant turns A/B testing off, so the link uses its own destination."},

	// Routing rules
	"listRoutingTemplates": {About: "Predefined conditions, which can be copied to a rule by their key."},
	"createRoutingRule": {About: "The first rule turns smart routing on. Active rules are evaluated from the highest priority down, and the first match wins. A condition is `{type, operator, value}`; groups can be nested up to 8 levels. Types: device, os, browser, country, continent, region, city, language, referer, utm_source, utm_medium, utm_campaign, utm_term, utm_content, `query` (value `{name, value}`), `ip` (in, not_in: addresses and networks), `time`, `day_of_week`, `date` (before, after, between: RFC 3339, or `{start, end, timezone}`), `visitor` (new, returning) and `percentage` (less_than, 0 to 100).",
		Example: `{"name":"Phones in Germany","targetUrl":"https://example.com/de/m","priority":10,"conditions":{"operator":"AND","conditions":[{"type":"country","operator":"in","value":["DE"]},{"type":"device","operator":"equals","value":"MOBILE"}]}}`},
	"createRoutingRuleFromTemplate": {About: "Copies a template's conditions to a new rule. `templateId` is an alternative to `templateKey`.", Example: `{"templateKey":"MOBILE_ONLY","targetUrl":"https://example.com/m"}`},
	"listRoutingRules":              {About: "Rules in the order of evaluation, with their numbers of matches."},
	"getRoutingRule":                {About: "Returns a rule of the link, with `conditions` in the form in which they were sent."},
	"updateRoutingRule":             {About: "Changes the given fields. `conditions` is replaced as a whole.", Example: `{"priority":20}`},
	"deleteRoutingRule":             {About: "Deleting the last rule turns smart routing off."},
	"updateRoutingSettings":         {About: "Turns smart routing on or off, and sets the destination if no rule matches.", Example: `{"isSmartRouting":true,"defaultUrl":"https://example.com/other"}`},

	// Images
	"uploadOGImage": {},
	"getOGImage":    {About: "The converted image. It can be cached for a day; a new upload has a new key."},

	// Analytics
	"linkReport":        {About: "Totals, figures per day, and shares by location, device, browser, referrer and campaign. Bots are excluded unless `includeBots` is true."},
	"overview":          {About: "The same figures over all your links (for administrators, over the links of all users), and the links with most clicks."},
	"listMissingSlugs":  {About: "Slugs that visitors asked for on custom domains of the workspace and that do not exist, most frequent first, at most 1,000. Edges count the 1,000 most frequent ones and report them once a minute; counts are kept for 90 days. Slugs that are links by now are left out. The slugs of the shared domain belong to nobody, so only administrators who chose no workspace see them.", Errors: []int{http.StatusBadRequest}},
	"heatmap":           {About: "Clicks of all your links by weekday and hour of the time zone. Hours that occur twice when clocks are set back count together."},
	"linkHeatmap":       {About: "Clicks of one link by weekday and hour of the time zone."},
	"freshness":         {About: "Clicks of a region that is cut off wait there, and are counted later. Show this beside reports: a period that ends after `completeUntil` will still gain clicks. A click has the time at which the visitor came."},
	"trends":            {About: "Clicks of people on up to 100 links on each of the last 30 days, for small charts beside the links. Unknown links are left out."},
	"groupsReport":      {About: "Clicks and visitors of the links with each tag, in each bundle or on each domain, most clicks first."},
	"topURLs":           {About: "Links by clicks in the range, most clicks first."},
	"recentClicks":      {About: "Single clicks, newest first. At most 100."},
	"recentClicksAlias": {About: "Same as /api/analytics/urls/{id}/recent-clicks."},
	"linkBots":          {About: "The share of bots in the link's traffic, and the bots."},
	"bots":              {About: "The share of bots in the traffic of all your links, and the bots."},
	"botsAlias":         {About: "Same as /api/analytics/bots."},
	"abTests":           {About: "Every link with variants: clicks and visitors of each variant, and its actual and expected share."},
	"abTestsAlias":      {About: "Same as /api/analytics/ab-tests."},
	"abTest":            {About: "The clicks and visitors of each variant of one link."},
	"routingReport":     {About: "Matches of each rule per day, and the visitors by attribute."},
	"exportLink":        {About: "A CSV file with sections, or JSON. Cells that a spreadsheet could interpret as formulas are prefixed with an apostrophe. `includeClicks` adds up to 10,000 single clicks."},
	"export":            {About: "The same for all your links, or for the link `urlId`."},

	"liveClicks": {About: "Server-sent events until the connection closes: each click of your links soon after it is stored. The event's `id` is the click's id, and `data` is the JSON of a click as in recent clicks, with `urlId` and `slug`. " +
		"A client that reads too slowly loses the oldest clicks and gets an event `dropped` with their `count`. A comment is sent every 5 seconds. The stream ends within seconds after the session. " +
		"Earlier clicks are not repeated: fetch recent clicks for them. A user can have 5 open streams (429)."},

	// Tags
	"listTags":  {About: "A page of tags in the order of their names, with the number of links that have each."},
	"createTag": {About: "Creates a tag. Links can also name tags that do not exist yet. If the workspace has a tag of this name, the response is 409.", Example: `{"name":"Spring","color":"#10B981"}`, Conflict: true},
	"updateTag": {About: "Changes the given fields. All links with the tag show its new name. If another tag has the name, the response is 409.", Example: `{"name":"Spring 2027"}`, Conflict: true},
	"deleteTag": {About: "Takes the tag from all links and deletes it. The links stay."},

	// UTM templates
	"listUTMTemplates":  {About: "A page of templates in the order of their names."},
	"createUTMTemplate": {About: "A named set of campaign fields, for clients to copy into links. If the workspace has a template of this name, the response is 409.", Example: `{"name":"Newsletter","utmSource":"newsletter","utmMedium":"email"}`, Conflict: true},
	"updateUTMTemplate": {About: "Changes the given fields: missing fields are kept, null or an empty string clears a field. Links keep their fields.", Example: `{"utmCampaign":"spring"}`, Conflict: true},
	"deleteUTMTemplate": {About: "Deletes only the template. Links keep their fields."},

	// Imports
	"createImport": {About: "Stores a CSV file and suggests which column fills which field of links. The body is text in UTF-8 of at most 10 MB, 100,000 rows and 200 columns; the delimiter is a comma, a semicolon or a tab. The first row names the columns. " +
		"Passwords are not imported: a file with a column of passwords gets 400. A workspace keeps 20 imports (409).", Conflict: true, Errors: []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusRequestTimeout}},
	"listImports":          {About: "A page of imports, newest first."},
	"getImport":            {About: "An import with its progress. Ask for it repeatedly while it is RUNNING."},
	"deleteImport":         {About: "Deletes the import and its file. A running import gets 409.", Conflict: true},
	"previewImport":        {About: "Checks every row like a new link, and its slug and externalId against the file and the saved links. It does not ask the operator's check service. An import that was started gets 409.", Example: `{"mapping":{"originalUrl":"long_url","slug":"keyword","tags":"tags"},"conflicts":"rename"}`, Conflict: true},
	"startImport":          {About: "Imports the rows in the background, in steps of 200. Rows with problems are left out. A process that ends is replaced, and no row is imported twice. An import that was started gets 409.", Example: `{"mapping":{"originalUrl":"long_url","slug":"keyword","tags":"tags"},"conflicts":"skip"}`, Conflict: true},
	"cancelImport":         {About: "Ends the import after the present step. Rows that were imported stay. An import that is not running gets 409.", Conflict: true},
	"listImportProblems":   {About: "A page of what was wrong with the rows that the import has not imported so far, in the order of the file. Rows that were skipped have the code SKIPPED."},
	"exportImportProblems": {About: "The rows that failed or were skipped, as they were, with the reason in a last column, for you to correct and to import again. A text that a spreadsheet could take for a formula begins with an apostrophe, which an import removes."},

	// Views
	"listViews":  {About: "A page of your saved views in the workspace, and of those that other members share, ordered by position and name.", Errors: []int{http.StatusBadRequest}},
	"createView": {About: "Saves the query of a screen of the console under a name. A VIEWER can save views but not share them (403). If you have a view of this name for the screen, or 100 views in the workspace, the response is 409.", Example: `{"name":"Spring links","screen":"links","query":"status=ACTIVE&tag=spring","shared":true}`, Conflict: true},
	"updateView": {About: "Changes the given fields. Only EDITORs and above change shared views (403). Views that others do not share are not found (404).", Example: `{"name":"Spring","position":2}`, Conflict: true},
	"deleteView": {About: "Deletes a view. Only EDITORs and above delete shared views (403)."},

	// Domains
	"listDomains":          {About: "A page of domains in the order of their host names."},
	"getDomain":            {About: "A domain, with the DNS records to set and what the last check found."},
	"createDomain":         {About: "Adds a host name. Set the DNS records of the response, then verify the domain. A name that another workspace has proved to be its own gets 409.", Example: `{"hostname":"go.acme.com","rootUrl":"https://acme.com"}`, Conflict: true},
	"updateDomain":         {About: "Changes the given fields: missing fields are kept, null or an empty string clears an address. The host name cannot be changed.", Example: `{"notFoundUrl":"https://acme.com/lost"}`},
	"verifyDomain":         {About: "Looks for the records now, which takes at most five seconds. With the TXT record the domain becomes ACTIVE, and edges serve its links within seconds. The service also looks by itself: often at first, then daily."},
	"suspendDomain":        {About: "Edges stop serving the domain within seconds. The owners see the reason, keep the name, and cannot lift the suspension. Suspending a suspended domain replaces the reason. A domain that is not in service gets 409.", Example: `{"reason":"Phishing"}`, Conflict: true},
	"liftDomainSuspension": {About: "Edges serve the domain again. Without a suspension nothing changes."},
	"uploadCertificate":    {About: "Edges present the certificate within seconds, and the service orders none until it is deleted. A certificate that visitors would not accept gets 400 with the reason, and the previous one stays in use. The end of the certificate is announced by e-mail and webhook.", Example: `{"certificate":"-----BEGIN CERTIFICATE-----\n…","privateKey":"-----BEGIN PRIVATE KEY-----\n…"}`, Conflict: true},
	"deleteCertificate":    {About: "If the service orders certificates, the uploaded one stays in use until there is another one; otherwise the domain has no TLS from now on. Without an uploaded certificate nothing changes."},
	"deleteDomain":         {About: "Deletes a domain that has no links. Edges stop serving it within seconds.", Conflict: true},

	// Bundles
	"createBundle":     {About: "A named, ordered group of links. It does not change their destinations.", Example: `{"name":"Launch","color":"#3B82F6","icon":"folder","urlIds":["01970000-0000-7000-8000-000000000000"]}`},
	"listBundles":      {About: "A page of bundles. Archived bundles are excluded unless `status` is ARCHIVED."},
	"getBundle":        {About: "Returns the bundle with its links in order, and their clicks."},
	"updateBundle":     {About: "Changes the given fields. Null or an empty string restores the default.", Example: `{"name":"Launch day","color":"#10B981"}`},
	"deleteBundle":     {About: "Deletes only the bundle. The links and their clicks stay."},
	"archiveBundle":    {About: "Hides the bundle from lists. Its data is kept, and its links keep working."},
	"restoreBundle":    {About: "Restores an archived bundle."},
	"bundleStats":      {About: "Clicks of the bundle's links, the links with most clicks, and the last seven days."},
	"addToBundle":      {About: "If the bundle already contains the link, the response is 409.", Example: `{"urlId":"01970000-0000-7000-8000-000000000000"}`, Conflict: true},
	"addManyToBundle":  {About: "Appends up to 1,000 links in the given order.", Example: `{"urlIds":["01970000-0000-7000-8000-000000000000"]}`},
	"removeFromBundle": {About: "Removes the link from the bundle only, and returns the bundle."},
	"moveInBundle":     {About: "Positions start at 0 and have no gaps.", Example: `{"order":0}`},

	// Webhooks
	"createWebhook": {About: "Sends events of your links to the URL, signed with the secret, which only this response contains. A webhook of an administrator with `scope: \"all\"` gets the events of all links. An API key needs the scopes that read the data of the events (403).",
		Example: `{"name":"Our CRM","url":"https://hooks.example.com/shortline","events":["url.created","url.clicked"],"headers":{"X-Team":"growth"}}`},
	"listWebhooks":         {About: "A page of webhooks with their delivery statistics. Secrets are never returned."},
	"getWebhook":           {About: "Returns a webhook with its delivery statistics."},
	"updateWebhook":        {About: "Changes the given fields. A new secret or URL applies from the next attempt. An API key needs the scopes that read the data of the events (403).", Example: `{"isActive":false}`},
	"deleteWebhook":        {About: "Deletes the webhook, its log and its pending deliveries."},
	"testWebhook":          {About: "Sends `webhook.test` immediately and waits for the response. The status is 201 even if the receiver fails; see `success`."},
	"listWebhookLogs":      {About: "The attempts of the last 30 days, with request and response, newest first."},
	"retryWebhookFailures": {About: "Sends all deliveries again whose last attempt failed, and which are not older than 30 days. They keep their ids, so receivers recognize repeats. Tests are not repeated. A disabled webhook gets 409.", Conflict: true},
	"retryWebhook":         {About: "Sends the payload again to the present URL, as a new attempt with the result in `isSuccess`. A successful attempt cannot be repeated (400).", Conflict: true},
}
