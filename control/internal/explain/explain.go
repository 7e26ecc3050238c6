// Package explain reports where a link leads a given visitor, and why. It does so for the link as it is stored, and for a
// draft that is not saved. Replay decides the visits of the past again and compares a draft with the stored link.
//
// It gives the same answer as an edge, because it compiles the record that edges receive and calls the code that edges
// run (packages decision, rule, visitor and link). It changes and counts nothing. Known weakness: an edge may use a
// newer or older location database than this process.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/each"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/visitor"
)

// Config holds settings that edges have as well.
type Config struct {
	// BaseURL is the public address of the service, such as "https://sho.rt".
	BaseURL string
	// Zone is the default zone of time conditions; nil means UTC.
	Zone *time.Location

	// Links and Routing check drafts.
	Links   *links.Service
	Routing *routing.Service
}

// Service implements the use case. It is safe for concurrent use.
type Service struct {
	cfg   Config
	home  decision.Home
	store *store.Store
	geo   *visitor.Geo

	clicks analytics.Store // nil: there are no visits to replay
}

// New returns a Service. If geo is nil, a visitor's location is known only if the Visit gives it.
func New(cfg Config, s *store.Store, geo *visitor.Geo) (*Service, error) {
	home, err := decision.ParseHome(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	return &Service{cfg: cfg, home: home, store: s, geo: geo}, nil
}

// Replaying returns a copy of s that can also replay the visits of a click store.
func (s *Service) Replaying(clicks analytics.Store) *Service {
	again := *s
	again.clicks = clicks
	return &again
}

// Outcomes of a visit.
const (
	Redirect = "REDIRECT"
	// the link has not started, gets no path, or its domain is not in service, so visitors get 404 or go to the domain's address
	Absent   = "ABSENT"
	Gone     = "GONE"     // the link is inactive, or has expired or is exhausted without an address for afterwards
	Ended    = "ENDED"    // the link has expired or is exhausted; the visitor goes to its expiredUrl
	Preview  = "PREVIEW"  // preview page for social crawlers
	Password = "PASSWORD" // password form; the decision after a correct password is explained too
	Loop     = "LOOP"     // the destination is this service
)

// The parts that can choose the destination.
const (
	ByRule     = "RULE"
	ByVariant  = "VARIANT"
	ByDefault  = "DEFAULT"
	ByOriginal = "ORIGINAL"
)

// Explanation describes the decision about one visit.
type Explanation struct {
	Outcome  string
	Status   int // HTTP status
	Visitor  Seen
	Rules    []Rule    // active rules in evaluation order, including rules that are not reached
	Variants []Variant // active variants with a weight

	// The destination of the first matching rule, else of a variant, which is drawn at random as for a real visitor.
	ChosenBy  string
	RuleID    string // "": none, or one of a draft without an id
	VariantID string // "": none, or one of a draft without an id
	Index     *int   // place of the rule or variant in the list of a draft; nil: none
	TargetURL string
	Location  string // with the parameters of link and visitor, and an empty click id

	ClickParameter string // the parameter to which an edge adds the id of the click; "": none
}

// Rule is the result of one rule. Its ID is "" if it is new in a draft.
type Rule struct {
	store.Rule
	Index     *int // place in the list of a draft; nil: the rule is stored
	Trace     rule.Trace
	Evaluated bool // false if smart routing is off or an earlier rule matched
	Wins      bool
	Location  string
}

// Variant is one variant and its chance in percent, for a visitor that no rule matches. Its ID is "" if it is new in a draft.
type Variant struct {
	store.Variant
	Index      *int // place in the list of a draft; nil: the variant is stored
	Percentage float64
	Location   string
}

// Seen describes the visitor as the service sees them; "" means unknown.
type Seen struct {
	visitor.Agent
	visitor.Place
	Language  string
	IP        string
	Referer   string
	UTM       link.UTM
	UnixMilli int64
	Returning bool
	// Percentile is the visitor's place among all visitors of the link, from 0 to below 100.
	Percentile float64
}

// Explain decides one visit of the caller's link without counting it. With a draft, it does so as if the draft were saved.
func (s *Service) Explain(ctx context.Context, p auth.Principal, urlID string, v Visit, d *Draft) (Explanation, error) {
	who, query, err := s.meet(&v)
	if err != nil {
		return Explanation{}, err
	}
	c, err := s.readLink(ctx, p, urlID)
	if err != nil {
		return Explanation{}, err
	}
	if d != nil {
		if c, err = s.redraft(ctx, p, c, *d); err != nil {
			return Explanation{}, err
		}
	}
	return s.explain(c, who, query)
}

// ExplainNew is Explain for a link of the caller's workspace that does not exist yet.
func (s *Service) ExplainNew(ctx context.Context, p auth.Principal, v Visit, d NewDraft) (Explanation, error) {
	who, query, err := s.meet(&v)
	if err != nil {
		return Explanation{}, err
	}
	c, err := s.draft(ctx, p, d)
	if err != nil {
		return Explanation{}, err
	}
	return s.explain(c, who, query)
}

func (s *Service) explain(c configuration, who *simulatedVisitor, query []byte) (Explanation, error) {
	l := &c.link
	record := publish.Record(l, strings.TrimRight(s.cfg.BaseURL, "/"))
	plan, err := decision.Compile(&record, rule.Options{Zone: s.cfg.Zone})
	if err != nil {
		return Explanation{}, fmt.Errorf("explain: %w", err)
	}
	who.visit(&plan)
	choice := plan.Choose(who, rand.Uint64())
	parameter := ""
	if record.TrackConversions {
		parameter = cmp.Or(record.ClickParameter, link.DefaultClickParameter)
	}
	lead := func(target string) string {
		if who.path != nil {
			target = string(link.AppendPath(nil, target, who.path))
		}
		return string(link.AppendTracked(nil, target, record.UTM, query, parameter, nil))
	}
	e := Explanation{Visitor: who.seen(), ClickParameter: parameter, TargetURL: choice.Target, Location: lead(choice.Target)}
	barrier := decision.BarrierOf(&record)
	barrier.Exhausted = l.ExhaustedAt != 0
	met := barrier.Meet(who)
	if who.path != nil && !(record.Forward && link.Forwardable(who.path)) {
		met = decision.Absent // an edge finds no link at this address
	}
	e.Outcome, e.Status, _ = s.outcome(met, &record, choice.Target, c.at)

	traces, err := s.traces(record, who)
	if err != nil {
		return Explanation{}, err
	}
	e.ChosenBy = otherwise(&record)
	reached := record.SmartRouting
	for i := range l.Rules {
		r := Rule{Rule: l.Rules[i], Trace: traces[i], Evaluated: reached, Location: lead(l.Rules[i].TargetURL),
			Wins: record.Rules[i].ID == choice.Rule}
		r.ID, r.Index = c.rules.show(r.ID)
		if r.Wins {
			e.ChosenBy, e.RuleID, e.Index, reached = ByRule, r.ID, r.Index, false
		}
		e.Rules = append(e.Rules, r)
	}
	for i := range l.Variants {
		v := Variant{Variant: l.Variants[i], Location: lead(l.Variants[i].TargetURL)}
		v.ID, v.Index = c.variants.show(v.ID)
		if record.ABTesting {
			v.Percentage = percent.Of(decision.Odds(record.Variants, i))
		}
		if record.Variants[i].ID == choice.Variant {
			e.ChosenBy, e.VariantID, e.Index = ByVariant, v.ID, v.Index
		}
		e.Variants = append(e.Variants, v)
	}
	return e, nil
}

// otherwise returns what chooses the destination if neither a rule nor a variant does.
func otherwise(r *link.Record) string {
	if r.SmartRouting && r.Default != "" {
		return ByDefault
	}
	return ByOriginal
}

// traces evaluates every rule, even if smart routing is off.
func (s *Service) traces(record link.Record, who rule.Facts) ([]rule.Trace, error) {
	record.SmartRouting = true
	plan, err := decision.Compile(&record, rule.Options{Zone: s.cfg.Zone})
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	return each.At(plan.Rules, func(r *decision.Rule) rule.Trace { return r.Program.Explain(who) }), nil
}

// outcome returns how an edge answers, and the address to which it redirects a visitor who does not reach the destination, or
// "". at is the domain of the link; nil for the host of BASE_URL.
func (s *Service) outcome(o decision.Outcome, r *link.Record, target string, at *store.Domain) (outcome string, status int,
	elsewhere string) {
	home := func(url string) bool { return s.home.Has(url) || at != nil && decision.HomeOf(at.Hostname).Has(url) }
	expiredURL, notFoundURL := r.ExpiredURL, ""
	if at != nil {
		if at.Status != store.DomainActive {
			return Absent, http.StatusNotFound, ""
		}
		expiredURL, notFoundURL = cmp.Or(expiredURL, at.ExpiredURL), at.NotFoundURL
	}
	leads := func(url string) bool { return url != "" && !home(url) }
	switch o {
	case decision.Absent:
		if leads(notFoundURL) {
			return Absent, http.StatusFound, notFoundURL
		}
		return Absent, http.StatusNotFound, ""
	case decision.Ended:
		if leads(expiredURL) {
			return Ended, http.StatusFound, expiredURL
		}
		return Gone, http.StatusGone, ""
	case decision.Gone:
		return Gone, http.StatusGone, ""
	case decision.AskPassword:
		return Password, http.StatusOK, ""
	case decision.Preview:
		return Preview, http.StatusOK, ""
	}
	if home(target) {
		return Loop, http.StatusLoopDetected, ""
	}
	return Redirect, cmp.Or(int(r.Code), http.StatusFound), ""
}
