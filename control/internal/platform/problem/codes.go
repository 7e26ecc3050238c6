package problem

import (
	"regexp"
	"slices"
	"strings"
)

// sentences are the messages that programs may want to say in other words or another language, as formats, by their code. A message that
// is stored, such as the error of a delivery, has the code of its sentence, too. Other messages have none.
var sentences = []struct {
	code    string
	formats []string
}{
	{"REQUIRED", []string{"is required", "must not be empty", "is required: name the column with the destinations"}},
	{"TOO_LONG", []string{"must be at most %d characters long", "must have at most %d characters", "must be 1 to %d characters long",
		"must have 1 to %d characters"}},
	{"TOO_MANY_BYTES", []string{"must be at most %d bytes long", "must have at most %d bytes"}},
	{"LENGTH", []string{"must be %d to %d bytes long"}},
	{"TOO_SHORT", []string{"must have at least %d characters"}},
	{"TOO_MANY", []string{"must have at most %d items", "must have at most %d entries", "must have at most %d headers",
		"must hold at most %d tags"}},
	{"CONTROL", []string{"must not contain control characters"}},
	{"ADDRESS", []string{"must be an http or https address", "must be an absolute URL such as https://example.com/hook"}},
	{"SCHEMES", []string{"must be an address with one of these schemes: %s"}},
	{"OWN_LINK", []string{"must not be one of this service's own short links"}},
	{"HTTPS", []string{"must begin with https://"}},
	{"CREDENTIALS", []string{"must not contain a user name or password"}},
	{"PRIVATE", []string{"must not resolve to a private, local or otherwise special address",
		"Nothing was sent: the address is not a public one."}},
	{"HOST", []string{"must name a valid host, such as example.com", "must be a host name, such as go.example.com",
		"must be a host name without a scheme; leave out the part up to ://",
		"must be a host name without a path; leave out the part from the slash on",
		"must be a host name without a user name; leave out the part up to @",
		"must be a host name without a query or fragment; leave out the part from ? or # on",
		"must be a host name without a port; leave out the part from the colon on", "must be a host name, not an IP address",
		"must not have a wildcard; add each host name on its own", "must not contain spaces",
		"must not have an empty label: remove the dot at the start, or one of two dots in a row",
		"must have at least two labels, such as go.example.com"}},
	{"RESERVED", []string{"is a reserved word"}},
	{"SLUG", []string{"must be 3 to 50 letters, digits, hyphens or underscores"}},
	{"SLUG_OF_HOST", []string{"is too short for this host or has other characters than letters, digits, hyphens and underscores",
		"must have letters of one script, digits, - and _, with single dots and slashes between them; see the least length of this host"}},
	{"SLUG_FORM", []string{"must be basic or extended"}},
	{"SLUG_LENGTH", []string{"must be 1, 2 or 3"}},
	{"CASE_MEETS", []string{"cannot be turned off while slugs differ in case only: %s", "Some slugs differ in case only."}},
	{"WORKSPACE_SLUG", []string{"must have %d to %d lower-case letters a to z, digits and hyphens"}},
	{"TAKEN", []string{"is in use", "is registered already", "%q is already taken", "%q is in use", "there is a tag %q",
		"there is a view %q", "there is a template %q", "Another link of the workspace has this externalId.",
		"The slug was taken meanwhile. Choose another.", "The workspace has a tag of this name.",
		"The workspace has a template of this name.",
		"You have a view of this name for this screen.", "The domain is taken.", "A workspace with this slug already exists.",
		"A user with this email already exists."}},
	{"FUTURE", []string{"must lie in the future", "must lie ahead"}},
	{"AFTER_START", []string{"must lie after startsAt"}},
	{"BEFORE_END", []string{"must lie before expiresAt"}},
	{"UP_TO", []string{"must be 0 to %d", "must be a number from 0 to %d", "must be a number of seconds from 0 to %d"}},
	{"FROM_TO", []string{"must be a whole number from %d to %d"}},
	{"CLICKS", []string{"must be a number from 1 to %d, or null for no limit"}},
	{"NUMBER", []string{"must be a whole number"}},
	{"TIME", []string{"must be a date or time in ISO 8601, such as 2027-01-31T12:00:00Z", "must be a date or time in ISO 8601, or null",
		"must be a date or a time in ISO 8601"}},
	{"BOOLEAN", []string{"must be true or false"}},
	{"REDIRECT", []string{"must be 301, 302, 307 or 308"}},
	{"EMAIL", []string{"must be an email address"}},
	{"COMMON_PASSWORD", []string{"is one of the most common passwords"}},
	{"PASSWORD_IS_EMAIL", []string{"must not be the email address"}},
	{"NOT_RIGHT", []string{"is not right", "The current password is not right.", "The code is not right."}},
	{"MEMBER", []string{"belongs to a member", "This user is a member of the workspace already."}},
	{"SKIPPED", []string{"is taken, so the row is skipped"}},
	{"CELLS", []string{"has more cells than the file has columns; a cell that contains the delimiter needs quotation marks"}},
	{"SLUGS_LOST", []string{"no column is mapped to the slug, so all slugs are generated, and the old addresses are lost"}},
	{"SLUGS_MADE", []string{"slugs are generated; rows without one: %d"}},
	{"SLUGS_FROM", []string{"the slug comes from the column %q where %q is empty; rows: %d"}},
	{"OTHER_HOSTS", []string{"other hosts whose addresses become links on another domain: %d"}},
	{"OTHER_HOST", []string{"addresses on %q become links on another domain, only the slug is kept; rows: %d"}},
	{"DATES_KEPT", []string{"links that exist keep the date of their creation; rows: %d"}},
	{"PASSWORDS_LOST",
		[]string{"links with a password become open to everybody, because passwords are not imported (column %q); rows: %d"}},
	{"COLUMN_IGNORED", []string{"the column %q is not imported; rows with content: %d"}},
	{"TAGS_JOINED", []string{"the names of tags are separated by %q here, so %q is one tag"}},
	{"NO_JSON", []string{"the cell is no JSON array, so %q is one tag"}},
	{"LAST_PART", []string{"only the last part of the path %q becomes the slug"}},
	{"ADDRESSES_LOST", []string{"%q is taken; other addresses of the link that are lost: %d"}},
	{"CLICKS_LOST", []string{"clicks are not imported, so the link leads visitors until it has maxClicks new clicks"}},
	{"ROW_STATE", []string{"is %s, but the row has no %s, so the link would lead visitors; map it, or use ACTIVE or INACTIVE"}},
	{"STARTED_BY", []string{"The user who started this was deactivated.",
		"The user who started this no longer has the role EDITOR in the workspace."}},
	{"LINKS_FULL", []string{"The service has %d links, which is the limit. Delete links, and import the other rows again.",
		"The service has %d links, which is the limit. Nothing was created. Delete links first."}},
	{"SIGN_IN", []string{"Email or password is not right."}},
	{"NOT_FOUND", []string{"%s not found.", "The object does not exist."}},
	{"STALE", []string{"The object has changed meanwhile. Its present version is %s."}},
	{"ADMIN_ONLY", []string{"Only administrators may do this.", "Only administrators may see everybody's clicks.",
		"Only administrators may erase visitors.",
		"The domain is suspended. Only an administrator of the service can delete it."}},
	{"ROLE", []string{"This needs the role %s in the workspace; you are %s."}},
	{"LAST_ADMIN", []string{"The last active administrator must stay."}},
	{"LAST_OWNER", []string{"The last OWNER of a workspace must stay."}},
	{"CLICK_STORE", []string{"The click store is not available at the moment.",
		"The click store is not available at the moment. Try again shortly.",
		"The click store of this workspace is not available at the moment. Try again shortly.",
		"The click store of this workspace is catching up. Try again shortly."}},
	{"UNAVAILABLE", []string{"The service is not available at the moment, try again shortly."}},
	{"INTERNAL", []string{"Something went wrong on our side."}},
	{"DOMAIN_HAS_LINKS", []string{"The domain has %d links. Delete them first."}},
	{"LIMIT", []string{"You own %d workspaces already, which is the limit.",
		"You have %d views in this workspace, which is the limit. Delete one first.",
		"The workspace has %d segments, which is the limit. Delete one first.",
		"The workspace has %d annotations, which is the limit. Delete one first.",
		"The workspace has %d reports by e-mail, which is the limit. Delete one first.",
		"The workspace has %d shared reports, which is the limit. Delete one first.",
		"The workspace has %d alert channels, which is the limit. Delete one first.",
		"The workspace has %d alert rules, which is the limit. Delete one first.",
		"The workspace has %d edits that are not finished, which is the limit.",
		"You have %d API keys already, which is the limit; delete one first.",
		"The workspace has %d imports, which is the limit. Delete one first.",
		"The workspace already has %d webhooks, which is the limit. Delete one first.", "A workspace can have at most %d domains.",
		"A link can have at most %d variants.", "A link can have at most %d routing rules.",
		"You already have %d passkeys. Remove one first.",
		"a bundle can hold at most %d URLs"}},
	{"A_DAY", []string{"A workspace can invite %d people a day.", "You can invite %d people a day.",
		"An address can be invited %d times a day."}},
	{"ANSWERED", []string{"The receiver answered %d %s.", "The receiver answered %d."}},
	{"SILENT", []string{"The receiver did not answer within %s."}},
	{"UNRESOLVED", []string{"The host name could not be resolved."}},
	{"CERTIFICATE", []string{"The certificate was not accepted: %s."}},
	{"CONNECTION", []string{"The connection failed: %s."}},
	{"NO_TXT", []string{"No TXT record at %s yet."}},
	{"OTHER_TXT", []string{"The TXT record at %s has another value: %s; expected %q.",
		"The TXT records at %s have other values: %s; expected %q."}},
	{"NO_ROUTE", []string{"No CNAME, A or AAAA record at %s yet; expected %s."}},
	{"OTHER_ROUTE", []string{"%s resolves to the private address %s; expected %s.",
		"%s resolves to %s, which does not belong to this service; expected %s.",
		"%s is a CNAME of %s, which resolves to %s; expected %s.", "%s is a CNAME of %s, which has no address; expected %s."}},
	{"MORE_ROUTES", []string{"%s also resolves to %s, which does not belong to this service. Remove the other records."}},
	{"ONE_OF", []string{"must be one of %s"}},
	{"ORDER", []string{"must not be before startDate", "must be after startDate", "must lie after from", "must not be after to"}},
	{"PAST", []string{"must not lie in the future", "must not lie in the future, because the status is EXPIRED"}},
	{"DAYS_AHEAD", []string{"must be at most %d days ahead"}},
	{"IP", []string{"must be an IPv4 or IPv6 address"}},
	{"COLOR", []string{"must be a hexadecimal colour such as %s"}},
	{"FIXED", []string{"cannot be changed", "cannot be changed; another link has the externalId %q",
		"cannot be changed; the link is on %q",
		"cannot be changed; the link is %q"}},
	{"TOO_LARGE", []string{"The image is larger than %d MiB.", "The file is larger than %d MB.", "The logo is larger than %d MiB."}},
	{"TWICE", []string{"is given twice", "must not be given twice", "%q occurs twice in the request"}},
	{"EVENT", []string{"must contain at least one event"}},
	{"HEADER", []string{"is not a valid header name"}},
	{"SSO_ONLY", []string{"Password sign-in is turned off. Use single sign-on.",
		"Password sign-in is turned off. Use single sign-on first, as %s.",
		"Passkeys are turned off. Use single sign-on."}},
	{"OWN_ACCOUNT", []string{"of your own account cannot be changed by yourself", "You cannot delete your own account.",
		"You cannot turn off your own second factor here. Use POST /api/auth/2fa/disable.",
		"You cannot reset your own password. Change it with PUT /api/auth/password."}},
	{"FACTOR_FIRST", []string{"requires that you have a second factor yourself: set up an authenticator app or a passkey first",
		"This installation requires a second factor. Set up an authenticator app or a passkey first."}},
	{"LAST_FACTOR", []string{"This installation requires a second factor, and this is your last one. Add another one first."}},
	{"SIGNED_IN_LONG_AGO", []string{`Your sign-in is too long ago. Sign in again, or send your current password as "password".`}},
	{"USED", []string{"This invitation was used or revoked already.", "This invitation was used already.",
		"This invitation was revoked or replaced by a newer one.", "This invitation has expired. Ask for a new one.",
		"There is no such invitation. Copy the whole link. If its workspace was deleted, the invitation is gone too.",
		"The workspace of this invitation was deleted.",
		"Whoever sent this invitation may no longer invite members. Ask for a new one.",
		"is not valid: it expired or was used already; ask for another link",
		"This sign-in expired or was used already. Start again."}},
	{"INVITED_OTHER", []string{"This invitation is for %s. You are signed in as %s."}},
	{"HAS_ACCOUNT", []string{"The address %s has an account. Sign in first, then accept the invitation."}},
	{"PASSKEY", []string{"The passkey was not accepted. Sign in in another way.",
		"This passkey does not belong to an account here any more. Sign in in another way.",
		"The passkey was not accepted, because its counter shows that it may have been copied. Sign in in another way, and remove this " +
			"passkey."}},
	{"NO_MAIL", []string{"This installation sends no e-mail. Ask an administrator to reset your password.",
		"An API key can invite only by e-mail, which this installation does not send; sign in instead."}},
	{"WEBHOOK_OFF", []string{"The webhook is disabled, so nothing is sent. Enable it first.",
		"The webhook's owner is deactivated, so nothing is sent."}},
	{"DONE_ALREADY", []string{"This report was already resolved.",
		"This delivery has succeeded. Only failed deliveries can be repeated.",
		"The URL is already in this bundle.", "You are a member of the workspace already.", "Two-factor authentication is already on.",
		"Two-factor authentication is not on.", "The import was started already. Its status is %s.",
		"The import is not running. Its status is %s."}},
	{"BUSY", []string{"The workspace was deleted meanwhile.", "Links are being created in the workspace. Try again.",
		"Links are being created in workspaces of the user. Try again.",
		"A workspace of the user has got another OWNER meanwhile. Try again.",
		"The API key was rotated by another request.", "The import is running. Cancel it first.",
		"The clicks of one of the two workspaces are moving to another server at the moment. Transfer the URLs when that has ended."}},
	{"OWNER_ONLY", []string{"Only an OWNER can remove an OWNER.", "Only an OWNER can make or demote an OWNER.",
		"Only an OWNER can invite an OWNER."}},
	{"MAKER_ONLY", []string{"Only the user who has created an API key can rotate it; you can delete it."}},
	{"PERSONAL", []string{"A personal workspace has one member. Create a workspace for a team.",
		"A personal workspace can't be deleted. It goes with its user."}},
	{"TEST_OFF", []string{"A/B testing of the link is off. Turn it on first (isABTesting)."}},
	{"FEW_VARIANTS", []string{"An experiment needs at least two active variants with a weight above 0; the link has %d.",
		"cannot be turned on: the link has no active variant"}},
	{"OTHER_WORKSPACE", []string{"is the workspace in which the URLs are already", "is the workspace that is being deleted",
		"is a workspace that would be deleted with the user"}},
	{"DOMAIN_BOUND", []string{"The URL %q is on the domain %s, which belongs to its workspace. Such URLs cannot be transferred."}},
	{"NO_TLS", []string{"This service does not serve custom domains with TLS. Its operator has to set CERTIFICATE_KEY."}},
	{"RULE_COST", []string{"with the rule %q, the %d rules of this link could cost %s",
		"the rules of a link can have at most %d bytes of conditions together"}},
	{"EMPTY_FILE", []string{"is empty", "is empty; the first row must name the columns",
		"has no rows after the one with the names of the columns"}},
	{"NOT_UTF8", []string{"is in UTF-16; save it as CSV in UTF-8", "has a NUL byte in line %d; it must be CSV in UTF-8",
		"is not in UTF-8 (line %d); save it as CSV in UTF-8, not in the encoding of the system, such as Latin-1"}},
	{"NOT_CSV", []string{"has a quotation mark that is not closed, or not doubled inside a quoted cell, in the row of line %d",
		"is not valid CSV in line %d: a quotation mark must enclose the whole cell"}},
	{"TOO_MANY_ROWS", []string{"has more than %d rows; split it"}},
	{"PASSWORD_COLUMN",
		[]string{"has passwords in the column %q; passwords in plain text are not imported, so remove the column and set passwords afterwards"}},
	{"BLOCKED", []string{"The link leads to %s, which the operator of this service has blocked."}},
	{"CHECK", []string{"The operator's check refuses an address to which the link leads.",
		"The operator's check refuses an address to which the link leads: %s"}},
	{"UNSIGNED", []string{"%snot signed by a trusted key%s"}},
	{"DAMAGED", []string{"%sdamaged or foreign bytes%s"}},
	{"FORMAT", []string{"%sunknown format%s"}},
	{"RULE_UNUSABLE", []string{"link %d, rule %d: %s"}}, // what edges report of links that they set aside
	{"IDEMPOTENCY_MISMATCH", []string{"This Idempotency-Key was used for another request. Choose a new key."}},
	{"IDEMPOTENCY_RUNNING", []string{"The first request with this Idempotency-Key is still being processed. Try again shortly."}},
	{"IDEMPOTENCY_UNKNOWN", []string{
		"The first request with this Idempotency-Key took effect, but its response is not known. Look at what it has changed."}},
	{"NO_DNS", []string{"No answer within %v. Check the name servers of the domain."}},
}

type pattern struct {
	code string
	re   *regexp.Regexp
}

var patterns = func() (list []pattern) {
	verbs := strings.NewReplacer("%d", `([\d,]+)`, "%q", `"(.*)"`, "%s", `(.*)`, "%v", `(.*)`)
	for _, s := range sentences {
		for _, format := range s.formats {
			list = append(list, pattern{s.code, regexp.MustCompile(`^` + verbs.Replace(regexp.QuoteMeta(format)) + `$`)})
		}
	}
	return list
}()

// Code returns the code of a message and the values in it, or "" for a message without one.
func Code(message string) (code string, values []string) {
	for _, p := range patterns {
		if found := p.re.FindStringSubmatch(message); found != nil {
			return p.code, slices.Clone(found[1:])
		}
	}
	return "", nil
}

// Codes returns all codes of messages.
func Codes() (list []string) {
	for _, s := range sentences {
		list = append(list, s.code)
	}
	return list
}
