package imports

import (
	"time"
)

// timeForm is the form of times in items.
const timeForm = "2006-01-02T15:04:05.000Z"

// baseline are the clicks that a service has counted.
type baseline struct {
	Count  int64  `json:"count"`
	Until  string `json:"until"`
	Source string `json:"source"`
}

// Outcome is what became of a row.
type Outcome string

// The outcomes.
const (
	Created   Outcome = "created"
	Renamed   Outcome = "renamed" // created with another slug
	Updated   Outcome = "updated"
	Unchanged Outcome = "unchanged"
	Skipped   Outcome = "skipped"
	Failed    Outcome = "failed"
)

// outcomes lists all, in the order of summaries.
var outcomes = []Outcome{Created, Renamed, Updated, Unchanged, Skipped, Failed}

// Result is a row of the report.
type Result struct {
	Row         int      `json:"row"` // from 1, in the order of the source
	ID          string   `json:"id"`  // at the service
	From        string   `json:"from"`
	Destination string   `json:"destination"`
	ShortURL    string   `json:"shortUrl"`
	Outcome     Outcome  `json:"outcome"`
	Reason      string   `json:"reason"`
	Lost        []string `json:"lost"`
	Clicks      int64    `json:"clicks"`
	LinkID      string   `json:"linkId"`
	Asked       bool     `json:"asked"` // whether an edge can be asked where the link leads: it is in force and has no password
}

// row is a link on its way.
type row struct {
	Result
	item    map[string]any // of PUT /api/urls/bulk
	slug    string         // that the service had
	tried   int            // the last number that was tried after the slug
	guarded bool           // a new link is inactive, because its password is not known
	settled bool           // what becomes of it is decided
	renamed bool
	written bool // by an earlier run, which was killed
}

// rowsOf converts a record: one row for its address, and one for each alias.
func (e *engine) rowsOf(r *Record) []*row {
	var list []*row
	for i, address := range append([]Address{r.Address}, r.Aliases...) {
		id := e.service + ":" + r.ID
		if i > 0 {
			id += "+" + address.String()
		}
		one := &row{slug: address.Slug, guarded: r.Guarded, Result: Result{ID: r.ID, From: address.String(),
			Destination: r.Destination, Lost: r.Lost, Clicks: r.Clicks, Asked: e.asked(r)}}
		one.item = e.item(r, address, id, i == 0)
		if r.Refused != "" {
			one.refuse(r.Refused)
		}
		list = append(list, one)
	}
	return list
}

// asked tells whether visitors are led to the destination now.
func (e *engine) asked(r *Record) bool {
	now := e.app.Now()
	return r.PasswordHash == "" && !r.Guarded && !r.Inactive && len(r.Rules) == 0 && (r.Starts.IsZero() || r.Starts.Before(now)) &&
		(r.Expires.IsZero() || r.Expires.After(now))
}

// item returns the body for a record. Fields that the service does not know are left out, so that a second run keeps what the user has
// set here.
// The first address of a record has its clicks.
func (e *engine) item(r *Record, at Address, id string, first bool) map[string]any {
	item := map[string]any{"externalId": id, "originalUrl": r.Destination}
	if at.Slug != "" {
		item["customSlug"] = at.Slug
	}
	if domain, named := e.domain(at.Host); named {
		item["domain"] = domain
	}
	for field, text := range map[string]string{
		"title": r.Title, "notes": r.Notes, "passwordHash": r.PasswordHash, "expiredUrl": r.ExpiredURL,
	} {
		if text != "" {
			item[field] = text
		}
	}
	for field, t := range map[string]time.Time{"createdAt": r.Created, "startsAt": r.Starts, "expiresAt": r.Expires} {
		if !t.IsZero() {
			item[field] = t.UTC().Format(timeForm)
		}
	}
	if item["createdAt"] == nil && !r.Expires.IsZero() { // so that the end may have passed
		item["createdAt"] = e.app.Now().Add(-time.Minute).UTC().Format(timeForm)
	}
	if first && r.Clicks > 0 {
		item["clickBaseline"] = baseline{r.Clicks, e.until.UTC().Format(timeForm), e.title}
	}
	for field, text := range r.UTM {
		item[field] = text
	}
	if r.Tags != nil {
		item["tags"] = r.Tags
	}
	if r.MaxClicks > 0 {
		item["maxClicks"] = r.MaxClicks
	}
	if r.Code != 0 {
		item["redirectCode"] = r.Code
	}
	if r.Inactive {
		item["status"] = "INACTIVE"
	}
	if len(r.Rules) > 0 {
		item["rules"] = r.Rules
	}
	return item
}

// domain returns the domain for links of a host, and whether it is to be named. Otherwise it is the default of the workspace.
func (e *engine) domain(host string) (string, bool) {
	if e.to != "" {
		return e.to, true
	}
	if host == e.own {
		return "", host != ""
	}
	if e.domains[host] {
		return host, true
	}
	return "", false
}

func (r *row) refuse(reason string) { r.conclude(Failed, reason) }

func (r *row) conclude(o Outcome, reason string) { r.Outcome, r.Reason, r.settled = o, reason, true }
