package api

// words is what the OpenAPI document tells of an endpoint beyond what its structs say.
type words struct {
	about    string
	example  string // of a request body, JSON; "" if there is none
	conflict bool   // it may answer 409
}

// operations holds the words by operation id; an endpoint without any is refused by a test.
var operations = map[string]words{
	// Visitors
	"followLink": {about: "Answered by edges. Active rules are tried by priority; if none matches, the A/B test draws a variant; else the default or original URL is used. " +
		"The link's UTM presets are added, the visitor's own parameters are passed on, and one click is recorded. HEAD gives the same headers and records nothing. Browsers get errors as a small HTML page."},
	"linkInfo": {about: "Answered by edges. The destination of a link is never part of it."},
	"openLink": {about: "Answered by edges. The right password counts as a click. After five wrong ones from a client in ten minutes the link is locked for that client for a growing time (429).", example: `{"password":"open sesame"}`},

	// Account
	"login":          {about: "Answers with an access token and sets it as an HttpOnly cookie. `linkAccount: true` confirms the link to an account at an identity provider after `link_required`. Where two-factor authentication is on and the code is missing, the answer is `requires2FA: true` without a token; send all three again. After five failures in ten minutes a client (an IPv4 address or IPv6 /64) is locked out of the account for a growing time (429). Wrong codes after the right password lock the second factor for everybody.", example: `{"email":"ann@example.com","password":"correct horse","twoFactorCode":"123456"}`},
	"logout":         {about: "Ends the session that the request is made with, on every replica, and clears the cookie. API keys stay valid."},
	"getMe":          {about: "The user that the session or API key belongs to."},
	"updateMe":       {about: "Sets the name that others see.", example: `{"name":"Ann"}`},
	"changePassword": {about: "Needs the current password and ends all other sessions. `revokeApiKeys: true` deletes one's API keys, too. API keys can't do this.", example: `{"currentPassword":"correct horse","newPassword":"battery staple"}`},
	"putPassword":    {about: "The same as POST at this path.", example: `{"oldPassword":"correct horse","newPassword":"battery staple"}`},
	"setUp2FA":       {about: "Needs no body within ten minutes of signing in, and the current password later (403). Makes a new secret (RFC 6238, six digits, 30 s), also as a QR code. It counts only once a code of it has been sent to /api/auth/2fa/enable; asking again replaces it.", example: `{"password":"correct horse"}`},
	"enable2FA":      {about: "Turns the second factor on with a code of the secret, and gives ten recovery codes that are shown only now. Each stands in for one code.", example: `{"code":"123456"}`},
	"disable2FA":     {about: "Turns the second factor off; needs the password and a code or a recovery code.", example: `{"code":"123456","password":"correct horse"}`},

	// Single sign-on
	"listSignInMethods": {about: "What a login page offers: whether a password can be used, the active identity providers, and whether passkeys can be used."},
	"listSSO":           {about: "The active providers, for a login page to show. A browser signs in at /api/auth/sso/{slug}/login."},
	"beginSSO":          {about: "Redirects a browser to the provider. A failure leads to /login?error=… with a code."},
	"finishSSO": {about: "Where the provider sends the browser back to: signs in and redirects to the path that was asked for. The first sign-in links the account to the user with the same verified email address; an administrator, or a user with a second factor, has to confirm that (`link_required`) by signing in with `linkAccount: true`. " +
		"A failure leads to /login?error=… with a code."},
	"listOIDCProviders":     {about: "All of them, inactive ones too, by name. Client secrets are never shown."},
	"createOIDCProvider":    {about: "Needs a session, as do changes. The client secret is encrypted at rest. Register `callbackUrl` of the answer at the provider.", example: `{"name":"Company","slug":"company","discoveryUrl":"https://id.example.com/.well-known/openid-configuration","clientId":"shortline","clientSecret":"…","scopes":"openid email profile"}`, conflict: true},
	"getOIDCProvider":       {about: "One provider, without its client secret."},
	"updateOIDCProvider":    {about: "Changes the fields that are given. The slug can't change; a client secret that is left out stays.", example: `{"name":"The company","isActive":true}`},
	"deleteOIDCProvider":    {about: "Removes the provider and its links to users. The users stay."},
	"listUserOIDCAccounts":  {about: "The accounts at identity providers that a user can sign in with."},
	"deleteUserOIDCAccount": {about: "The user can no longer sign in with that account, until an administrator's or a new first sign-in links it again."},

	// Users
	"listUsers":         {about: "A page of users, the newest first."},
	"createUser":        {about: "Needs a session, as all changes of users but their name do: API keys get 403. Email addresses are unique, whatever their case.", example: `{"email":"bob@example.com","password":"battery staple","role":"USER"}`, conflict: true},
	"getUser":           {about: "One user, with role and status."},
	"deleteUser":        {about: "Ends the user's sessions and removes their links, bundles, webhooks and keys. Nobody deletes themselves, and the last active administrator stays."},
	"setUserRole":       {about: "Ends the user's sessions. Nobody changes their own role, and the last active administrator stays one.", example: `{"role":"ADMIN"}`},
	"setUserStatus":     {about: "A deactivated user's sessions end and their keys stop working at once; their links go on. `isActive` says the same as `status`.", example: `{"status":"INACTIVE"}`},
	"setUserName":       {about: "Sets the name that others see.", example: `{"name":"Bob"}`},
	"turnOffUser2FA":    {about: "For another user who has lost their authenticator and recovery codes. It can only be turned off here.", example: `{"enabled":false}`},
	"resetUserPassword": {about: "Sets another user's password, ends all of their sessions and deletes their API keys. One's own is changed at /api/auth/password.", example: `{"newPassword":"battery staple"}`},
	"patchUserPassword": {about: "The same as POST at this path.", example: `{"newPassword":"battery staple"}`},

	// API keys
	"listAPIKeys":  {about: "Keys by their prefix, and when each was last used. The keys themselves are not kept."},
	"createAPIKey": {about: "Needs a session: a key can't make keys. The full key is in this answer and nowhere else. It has its user's permissions. A user can have only so many keys (409).", example: `{"name":"Deployment","expiresAt":"2027-12-31T00:00:00.000Z"}`, conflict: true},
	"getAPIKey":    {about: "One key by its id, without the full key."},
	"deleteAPIKey": {about: "The key stops working at once, on every replica."},

	// System settings
	"listSettings":  {about: "All settings, by key."},
	"getSetting":    {about: "The setting, or null if nobody has set it."},
	"putSetting":    {about: "Any JSON value. `sso_enforce` = `{\"enabled\": true}` turns signing in with a password off while an identity provider is active.", example: `{"value":{"enabled":true},"description":"Single sign-on only"}`},
	"deleteSetting": {about: "Forgets the setting; what it governs goes back to its default."},

	// Audit
	"listAuditLogs": {about: "Every change, sign-in and failed sign-in, the newest first. Entries are append-only and never hold passwords or keys."},

	// Edges
	"listEdges": {about: "What each edge of the last day said of itself when it was last heard: the revision of links that it serves and how many changes it lacks, links whose rules it could not use and why, and the clicks that it has still to deliver. Every replica answers alike."},

	// URLs
	"createURL": {about: "Without `customSlug` a slug of seven characters is made. The link works at every edge within a second. A destination is stored as ASCII: a host in other letters becomes its IDNA form (`bücher.example` is `xn--bcher-kva.example`), and other non-ASCII characters are percent-encoded as UTF-8. An ASCII address is kept byte for byte.", example: `{"originalUrl":"https://example.com/a/long/path","customSlug":"launch","title":"Launch","utmSource":"newsletter"}`, conflict: true},
	"listURLs":  {about: "A page of one's own links, an administrator's of everybody's. `sortBy` is createdAt, updatedAt, clickCount, title, expiresAt or slug."},
	"urlStats":  {about: "Counts one's own links, an administrator's everybody's."},
	"utmSuggestions": {about: "Up to 20 values that links have in a campaign field, the most frequent first, for a form to complete. " +
		"Those of all users count, so that a team spells its campaigns alike."},
	"getURL":    {about: "One link. `status` reads EXPIRED once `expiresAt` has passed."},
	"updateURL": {about: "Changes the fields that are given: what is left out stays, null or an empty text clears. The slug can't change.", example: `{"title":"Launch day","expiresAt":"2027-12-31T00:00:00.000Z"}`},
	"patchURL":  {about: "The same as PUT at this path.", example: `{"isABTesting":true}`},
	"deleteURL": {about: "The link answers 404 from then on, as do its reports. Its clicks stay in the totals over all links."},
	"explainURL": {about: "Decides one made-up visit by the very code that redirects visitors, and tells each step: which rules matched and what every condition saw, the odds of the variants, and the final address. " +
		"Nothing is counted. All fields are optional.", example: `{"userAgent":"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1","country":"DE","language":"de-DE,de;q=0.9","query":"utm_source=mail","time":"2027-01-31T12:00:00.000Z"}`},
	"urlQRCode":      {},
	"bulkCreateURLs": {about: "1 to 1,000 links. Each stands alone: those at fault are told with their index and reason, the others are made.", example: `{"urls":[{"originalUrl":"https://example.com/a"},{"originalUrl":"https://example.com/b","customSlug":"launch-b"}]}`},
	"bulkUpdateURLs": {about: "1 to 1,000 links: `status`; or `operation: \"bundle\"` with the bundle's id as `value`; or `operation` as an object of type status, bundle, expiration or utm. A link that is not there is a 404 for all.", example: `{"urlIds":["01970000-0000-7000-8000-000000000000"],"status":"INACTIVE"}`},
	"bulkDeleteURLs": {about: "1 to 1,000 links. A link that is not there is a 404, and none is deleted.", example: `{"urlIds":["01970000-0000-7000-8000-000000000000"]}`},

	// Variants
	"createVariant": {about: "The first variant turns A/B testing on. The chance of a variant is its weight over the sum of the weights of the active ones.", example: `{"name":"B","targetUrl":"https://example.com/b","weight":30}`},
	"listVariants":  {about: "All variants, the oldest first, with their clicks."},
	"getVariant":    {about: "One variant of the link."},
	"updateVariant": {about: "Changes the fields that are given. When no variant is left active, A/B testing goes off.", example: `{"weight":70}`},
	"deleteVariant": {about: "With the last variant A/B testing goes off, and the link leads to its own destination."},

	// Routing rules
	"listRoutingTemplates": {about: "Conditions that can be copied into a rule by their key."},
	"createRoutingRule": {about: "The first rule turns smart routing on. Of the active rules the first that matches wins, from the highest priority down. A condition is `{type, operator, value}`; groups nest to 8 levels.",
		example: `{"name":"Phones in Germany","targetUrl":"https://example.com/de/m","priority":10,"conditions":{"operator":"AND","conditions":[{"type":"country","operator":"in","value":["DE"]},{"type":"device","operator":"equals","value":"MOBILE"}]}}`},
	"createRoutingRuleFromTemplate": {about: "Copies a template's conditions into a new rule. `templateId` says the same as `templateKey`.", example: `{"templateKey":"MOBILE_ONLY","targetUrl":"https://example.com/m"}`},
	"listRoutingRules":              {about: "In the order of evaluation, with how often each has matched."},
	"getRoutingRule":                {about: "One rule of the link; `conditions` reads as it was sent."},
	"updateRoutingRule":             {about: "Changes the fields that are given; `conditions` is replaced as a whole.", example: `{"priority":20}`},
	"deleteRoutingRule":             {about: "With the last rule smart routing goes off."},
	"updateRoutingSettings":         {about: "Turns smart routing on or off, and sets where the link leads if no rule matches.", example: `{"isSmartRouting":true,"defaultUrl":"https://example.com/other"}`},

	// Images
	"uploadOGImage": {},
	"getOGImage":    {about: "The image as it was made from the upload. It may be cached for a day; a new upload has a new key."},

	// Analytics
	"linkReport":        {about: "Totals, a line for every day, and the shares of places, devices, browsers, referrers and campaigns. Bots are left out unless `includeBots` is true."},
	"overview":          {about: "The same figures over all of one's own links, an administrator's over everybody's, and the links with most clicks."},
	"topURLs":           {about: "Links by their clicks in the range, the most first."},
	"recentClicks":      {about: "Single clicks, the newest first; at most 100."},
	"recentClicksAlias": {about: "The same as /api/analytics/urls/{id}/recent-clicks."},
	"linkBots":          {about: "How much of the link's traffic is bots, and which."},
	"bots":              {about: "How much of the traffic is bots, and which, over all of one's own links."},
	"botsAlias":         {about: "The same as /api/analytics/bots."},
	"abTests":           {about: "Every link with variants: the clicks and visitors of each variant, and its share beside the one that its weight promises."},
	"abTestsAlias":      {about: "The same as /api/analytics/ab-tests."},
	"abTest":            {about: "The clicks and visitors of each variant of one link."},
	"routingReport":     {about: "How often each rule has matched, by day, and who the visitors were."},
	"exportLink":        {about: "A CSV file with sections, or JSON. Cells that a spreadsheet could take for formulas begin with an apostrophe. `includeClicks` adds up to 10,000 single clicks."},
	"export":            {about: "The same for all of one's own links, or for the one that `urlId` names."},

	"liveClicks": {about: "Server-sent events for as long as the connection stands: each click of one's own links soon after it is stored, its id as the event's `id`, and as `data` the JSON of a click as in recent clicks, with `urlId` and `slug`. " +
		"A reader who is too slow loses the oldest clicks and gets an event `dropped` with their `count`. A comment comes every 5 seconds. The stream ends within seconds after the session does. " +
		"Clicks from before are not sent again: fetch recent clicks for them. A user can have 5 streams open (429)."},

	// Bundles
	"createBundle":     {about: "A named, ordered group of links; it doesn't change where they lead.", example: `{"name":"Launch","color":"#3B82F6","icon":"folder","urlIds":["01970000-0000-7000-8000-000000000000"]}`},
	"listBundles":      {about: "A page of bundles. Archived ones are left out unless `status` is ARCHIVED."},
	"getBundle":        {about: "The bundle, its links in their order, and their clicks."},
	"updateBundle":     {about: "Changes the fields that are given; null or an empty text goes back to the default.", example: `{"name":"Launch day","color":"#10B981"}`},
	"deleteBundle":     {about: "Removes the grouping only; the links and their clicks stay."},
	"archiveBundle":    {about: "Hides the bundle from lists. Its data is kept, and its links go on."},
	"restoreBundle":    {about: "The opposite of archiving."},
	"bundleStats":      {about: "The clicks of the bundle's links, the links with most, and the last seven days."},
	"addToBundle":      {about: "A link that is in the bundle already is a conflict.", example: `{"urlId":"01970000-0000-7000-8000-000000000000"}`, conflict: true},
	"addManyToBundle":  {about: "Puts up to 1,000 links at the end, in the order given.", example: `{"urlIds":["01970000-0000-7000-8000-000000000000"]}`},
	"removeFromBundle": {about: "Removes the link from the bundle only, and answers with the bundle."},
	"moveInBundle":     {about: "Places count from 0 and stay without gaps.", example: `{"order":0}`},

	// Webhooks
	"createWebhook": {about: "Events of one's own links are sent to the address, signed with the secret, which is shown in this answer only. An administrator's webhook with `scope: \"all\"` gets those of everybody's links.",
		example: `{"name":"Our CRM","url":"https://hooks.example.com/shortline","events":["url.created","url.clicked"],"headers":{"X-Team":"growth"}}`},
	"listWebhooks":    {about: "A page of webhooks with the figures of their deliveries. Secrets are never shown."},
	"getWebhook":      {about: "One webhook with the figures of its deliveries."},
	"updateWebhook":   {about: "Changes the fields that are given; a new secret or address counts from the next attempt on.", example: `{"isActive":false}`},
	"deleteWebhook":   {about: "Removes the webhook, its log, and what was still to be sent."},
	"testWebhook":     {about: "Sends a `webhook.test` now and waits for the answer. It is a 201 even if the receiver fails: `success` tells."},
	"listWebhookLogs": {about: "The attempts of the last 30 days, with what was sent and what came back."},
	"retryWebhook":    {about: "Sends the payload again to where the webhook leads now, as a new attempt; `isSuccess` tells what came of it. An attempt that succeeded can't be repeated (400)."},
}
