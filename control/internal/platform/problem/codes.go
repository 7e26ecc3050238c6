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
	{"TOO_LONG", []string{"must be at most %d characters long", "must have at most %d characters", "must be 1 to %d characters long", "must have 1 to %d characters"}},
	{"TOO_MANY_BYTES", []string{"must be at most %d bytes long", "must have at most %d bytes"}},
	{"LENGTH", []string{"must be %d to %d bytes long"}},
	{"TOO_SHORT", []string{"must have at least %d characters"}},
	{"TOO_MANY", []string{"must have at most %d items", "must have at most %d entries", "must have at most %d headers", "must hold at most %d tags"}},
	{"CONTROL", []string{"must not contain control characters"}},
	{"ADDRESS", []string{"must be an http or https address", "must be an absolute URL such as https://example.com/hook"}},
	{"HTTPS", []string{"must begin with https://"}},
	{"CREDENTIALS", []string{"must not contain a user name or password"}},
	{"PRIVATE", []string{"must not resolve to a private, local or otherwise special address", "Nothing was sent: the address is not a public one."}},
	{"HOST", []string{"must name a valid host, such as example.com", "must be a host name, such as go.example.com",
		"must be a host name without a scheme; leave out the part up to ://", "must be a host name without a path; leave out the part from the slash on"}},
	{"RESERVED", []string{"is a reserved word"}},
	{"SLUG", []string{"must be 3 to 50 letters, digits, hyphens or underscores"}},
	{"WORKSPACE_SLUG", []string{"must have %d to %d lower-case letters a to z, digits and hyphens"}},
	{"TAKEN", []string{"is in use", "is registered already", "%q is already taken", "%q is in use", "there is a tag %q", "there is a view %q", "there is a template %q",
		"The slug was taken meanwhile. Choose another.", "The workspace has a tag of this name.", "The workspace has a template of this name.",
		"You have a view of this name for this screen.", "The domain is taken.", "A workspace with this slug already exists.", "A user with this email already exists."}},
	{"FUTURE", []string{"must lie in the future", "must lie ahead"}},
	{"AFTER_START", []string{"must lie after startsAt"}},
	{"BEFORE_END", []string{"must lie before expiresAt"}},
	{"UP_TO", []string{"must be 0 to %d", "must be a number from 0 to %d", "must be a number of seconds from 0 to %d"}},
	{"FROM_TO", []string{"must be a whole number from %d to %d"}},
	{"CLICKS", []string{"must be a number from 1 to %d, or null for no limit"}},
	{"NUMBER", []string{"must be a whole number"}},
	{"TIME", []string{"must be a date or time in ISO 8601, such as 2027-01-31T12:00:00Z", "must be a date or time in ISO 8601, or null"}},
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
	{"PASSWORDS_LOST", []string{"links with a password become open to everybody, because passwords are not imported (column %q); rows: %d"}},
	{"COLUMN_IGNORED", []string{"the column %q is not imported; rows with content: %d"}},
	{"NO_IMPORTER", []string{"The user who started the import was deactivated.",
		"The user who started the import no longer has the role EDITOR in the workspace."}},
	{"LINKS_FULL", []string{"The service has %d links, which is the limit. Delete links, and import the other rows again.",
		"The service has %d links, which is the limit. Nothing was created. Delete links first."}},
	{"SIGN_IN", []string{"Email or password is not right."}},
	{"NOT_FOUND", []string{"%s not found.", "The object does not exist."}},
	{"STALE", []string{"The object has changed meanwhile. Its present version is %s."}},
	{"ADMIN_ONLY", []string{"Only administrators may do this."}},
	{"ROLE", []string{"This needs the role %s in the workspace; you are %s."}},
	{"LAST_ADMIN", []string{"The last active administrator must stay."}},
	{"LAST_OWNER", []string{"The last OWNER of a workspace must stay."}},
	{"CLICK_STORE", []string{"The click store is not available at the moment.", "The click store is not available at the moment. Try again shortly.",
		"The click store of this workspace is not available at the moment. Try again shortly.", "The click store of this workspace is catching up. Try again shortly."}},
	{"UNAVAILABLE", []string{"The service is not available at the moment, try again shortly."}},
	{"INTERNAL", []string{"Something went wrong on our side."}},
	{"DOMAIN_HAS_LINKS", []string{"The domain has %d links. Delete them first."}},
	{"LIMIT", []string{"You own %d workspaces already, which is the limit.", "You have %d views in this workspace, which is the limit. Delete one first.",
		"You have %d API keys already, which is the limit; delete one first.", "The workspace has %d imports, which is the limit. Delete one first.",
		"The workspace already has %d webhooks, which is the limit. Delete one first."}},
	{"ANSWERED", []string{"The receiver answered %d %s.", "The receiver answered %d."}},
	{"SILENT", []string{"The receiver did not answer within %s."}},
	{"UNRESOLVED", []string{"The host name could not be resolved."}},
	{"CERTIFICATE", []string{"The certificate was not accepted: %s."}},
	{"CONNECTION", []string{"The connection failed: %s."}},
	{"NO_TXT", []string{"No TXT record at %s yet."}},
	{"OTHER_TXT", []string{"The TXT record at %s has another value: %s; expected %q.", "The TXT records at %s have other values: %s; expected %q."}},
	{"NO_ROUTE", []string{"No CNAME, A or AAAA record at %s yet; expected %s."}},
	{"OTHER_ROUTE", []string{"%s resolves to the private address %s; expected %s.", "%s resolves to %s, which does not belong to this service; expected %s."}},
	{"MORE_ROUTES", []string{"%s also resolves to %s, which does not belong to this service. Remove the other records."}},
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
