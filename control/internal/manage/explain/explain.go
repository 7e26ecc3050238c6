// Package explain tells a link's owner where the link leads a visitor, and why.
//
// It promises the answer that an edge would give, because it compiles the very record that edges get and asks the
// very code that they ask (packages decision, rule, visitor and link); nothing is decided here. It changes and
// counts nothing. Known weakness: edges may know places from a newer or older database than this process does.
package explain

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/fleet/publish"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/percent"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/decision"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/visitor"
)

// Config is what edges are told, too.
type Config struct {
	// BaseURL is the service's public address, such as "https://sho.rt".
	BaseURL string
	// Zone is that of time conditions that name none; nil is UTC.
	Zone *time.Location
}

// Service is the use case. It is safe for concurrent use.
type Service struct {
	cfg   Config
	home  decision.Home
	store *store.Store
	geo   *visitor.Geo
}

// New makes the use case. Without geo, which may be nil, a visitor's place is known only where it is given.
func New(cfg Config, s *store.Store, geo *visitor.Geo) (*Service, error) {
	home, err := decision.ParseHome(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	return &Service{cfg: cfg, home: home, store: s, geo: geo}, nil
}

// What a visitor is answered with.
const (
	Redirect = "REDIRECT"
	Gone     = "GONE"     // the link is turned off or has expired
	Preview  = "PREVIEW"  // the page for social crawlers
	Password = "PASSWORD" // the form; what follows a right password is explained all the same
	Loop     = "LOOP"     // the destination is this service itself
)

// Who chose the destination.
const (
	ByRule     = "RULE"
	ByVariant  = "VARIANT"
	ByDefault  = "DEFAULT"
	ByOriginal = "ORIGINAL"
)

// Explanation is all that decides one visit.
type Explanation struct {
	Outcome  string
	Status   int // HTTP
	Visitor  Seen
	Rules    []Rule    // the active ones in the order of evaluation, also those that are not reached
	Variants []Variant // the active ones that have a weight

	// The destination: that of the first rule that matches, else of a variant, drawn now as it is for each visitor.
	ChosenBy  string
	RuleID    string // "" for none
	VariantID string // "" for none
	TargetURL string
	Location  string // with the parameters of link and visitor
}

// Rule is one rule and what it came to.
type Rule struct {
	store.Rule
	Trace     rule.Trace
	Evaluated bool // false if smart routing is off or an earlier rule has matched
	Location  string
}

// Variant is one variant and the chance, in percent, that a visitor whom no rule matches is led to it.
type Variant struct {
	store.Variant
	Percentage float64
	Location   string
}

// Seen is what the service knows of the visitor; "" stands for unknown.
type Seen struct {
	visitor.Agent
	visitor.Place
	Language  string
	IP        string
	Referer   string
	UTM       link.UTM
	UnixMilli int64
}

// Explain decides one visit of a link of the caller's, without counting it.
func (s *Service) Explain(ctx context.Context, p auth.Principal, urlID string, v Visit) (Explanation, error) {
	who, query, err := s.meet(&v)
	if err != nil {
		return Explanation{}, err
	}
	l, err := s.read(ctx, p, urlID)
	if err != nil {
		return Explanation{}, err
	}
	record := publish.Record(&l, strings.TrimRight(s.cfg.BaseURL, "/"))
	plan, err := decision.Compile(&record, rule.Options{Zone: s.cfg.Zone})
	if err != nil {
		return Explanation{}, fmt.Errorf("explain: %w", err)
	}
	choice := plan.Choose(who, rand.Uint64())
	lead := func(target string) string {
		return string(link.AppendLocation(nil, target, record.UTM, query))
	}
	e := Explanation{Visitor: who.seen(), TargetURL: choice.Target, Location: lead(choice.Target)}
	e.Outcome, e.Status = s.outcome(decision.BarrierOf(&record).Meet(who), choice.Target)

	traces, err := s.traces(record, who)
	if err != nil {
		return Explanation{}, err
	}
	reached := record.SmartRouting
	for i := range l.Rules {
		e.Rules = append(e.Rules, Rule{l.Rules[i], traces[i], reached, lead(l.Rules[i].TargetURL)})
		if record.Rules[i].ID == choice.Rule {
			e.RuleID, reached = l.Rules[i].ID, false
		}
	}
	for i := range l.Variants {
		percentage := 0.0
		if record.ABTesting {
			percentage = percent.Of(decision.Odds(record.Variants, i))
		}
		e.Variants = append(e.Variants, Variant{l.Variants[i], percentage, lead(l.Variants[i].TargetURL)})
		if record.Variants[i].ID == choice.Variant {
			e.VariantID = l.Variants[i].ID
		}
	}
	switch {
	case e.RuleID != "":
		e.ChosenBy = ByRule
	case e.VariantID != "":
		e.ChosenBy = ByVariant
	case record.SmartRouting && record.Default != "":
		e.ChosenBy = ByDefault
	default:
		e.ChosenBy = ByOriginal
	}
	return e, nil
}

// read gives the link as edges know it, if the caller may know of it.
func (s *Service) read(ctx context.Context, p auth.Principal, urlID string) (l store.Link, err error) {
	err = s.store.View(ctx, func(c store.Conn) error {
		l, err = links.Visible(p)(c.FullLink(ctx, urlID))
		return err
	})
	return l, err
}

// traces tells what each rule comes to, whether or not smart routing is on.
func (s *Service) traces(record link.Record, who rule.Facts) ([]rule.Trace, error) {
	record.SmartRouting = true
	plan, err := decision.Compile(&record, rule.Options{Zone: s.cfg.Zone})
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	traces := make([]rule.Trace, len(plan.Rules))
	for i := range plan.Rules {
		traces[i] = plan.Rules[i].Program.Explain(who)
	}
	return traces, nil
}

func (s *Service) outcome(o decision.Outcome, target string) (outcome string, status int) {
	switch o {
	case decision.Gone:
		return Gone, http.StatusGone
	case decision.AskPassword:
		return Password, http.StatusOK
	case decision.Preview:
		return Preview, http.StatusOK
	}
	if s.home.Has(target) {
		return Loop, http.StatusLoopDetected
	}
	return Redirect, http.StatusFound
}
