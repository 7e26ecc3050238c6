package linkapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/explain"
	"github.com/shortline/shortline/control/internal/platform/auth"
)

// Replay compares where past visits led with where they would lead with a draft.
type Replay struct {
	Visitors int             `json:"visitors" doc:"Stored clicks that were decided again. Each click counts as one visitor."`
	Changed  int             `json:"changed" doc:"Visitors who would get another outcome or another address."`
	Unknown  int             `json:"unknown" doc:"Visitors whose decision depends on a fact that is not stored. They are in no flow and not in changed."`
	Flows    []ReplayFlow    `json:"flows" doc:"Visitors by their two decisions, most first. All flows and unknown add up to visitors."`
	Visits   []ReplayedVisit `json:"visits" doc:"The newest 200 visits."`
}

// ReplayFlow is the number of visitors with the same two decisions.
type ReplayFlow struct {
	From     ReplayDecision `json:"from" doc:"With the saved link."`
	To       ReplayDecision `json:"to" doc:"With the draft."`
	Visitors int            `json:"visitors"`
}

// ReplayDecision is where a past visit leads.
type ReplayDecision struct {
	Outcome   string  `json:"outcome" enum:"REDIRECT,ABSENT,GONE,ENDED,PREVIEW,PASSWORD,LOOP" doc:"As in explainURL."`
	ChosenBy  *string `json:"chosenBy" values:"chosenBy" doc:"null if the visitor does not reach a destination."`
	RuleID    *string `json:"ruleId" doc:"null if another part chose the destination, or if the rule is new in the draft."`
	VariantID *string `json:"variantId" doc:"null if another part chose the destination, or if the variant is new in the draft."`
	Index     *int    `json:"index" doc:"Place of the rule or variant in the list of the draft, from 0. null: it is not from a list of a draft."`
	URL       *string `json:"url" doc:"Destination with the link's campaign parameters, without the visitor's own ones. null: the visitor is not redirected."`
}

// ReplayedVisit is a past visit with its two decisions.
type ReplayedVisit struct {
	At       kit.Time        `json:"at"`
	Country  *string         `json:"country"`
	Region   *string         `json:"region"`
	City     *string         `json:"city"`
	Device   *string         `json:"device"`
	OS       *string         `json:"os"`
	Browser  *string         `json:"browser"`
	Language *string         `json:"language"`
	Referer  *string         `json:"referer"`
	IsBot    bool            `json:"isBot"`
	Before   *ReplayDecision `json:"before" doc:"With the saved link. null: unknown."`
	After    *ReplayDecision `json:"after" doc:"With the draft. null: unknown."`
	Changed  bool            `json:"changed"`
	Unknown  []string        `json:"unknown" doc:"Types of conditions whose facts are not stored and decide this visit, such as query."`
}

type replayIn struct {
	kit.URLPath
	Body struct {
		Draft LinkDraft         `json:"draft" required:"true" doc:"Unsaved changes of the link, as for explainURL."`
		Limit int               `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"1000" doc:"How many of the newest clicks are decided again. A link and a draft with hundreds of conditions permit fewer; then the response is 400 and names the number."`
		From  kit.Opt[kit.Time] `json:"from,omitempty" doc:"Only clicks at or after this time."`
		To    kit.Opt[kit.Time] `json:"to,omitempty" doc:"Only clicks before this time."`
		Bots  kit.Opt[bool]     `json:"bots,omitempty" doc:"Also clicks of bots."`
	}
}

func (s *server) registerReplay() {
	kit.Handle(s.Kit, kit.Endpoint{
		Method: http.MethodPost, Path: "/api/urls/{id}/explain/replay", ID: "replayURL",
		Summary: "Compare a draft with the saved short URL for past visitors", Tag: "URLs",
		Role: auth.Viewer, Scope: auth.AnalyticsRead, // it tells about visitors
		Status: http.StatusOK, Limit: kit.LimitAnalytics, MaxBody: draftBody, Work: kit.Computing,
	}.
		About("Decides the newest stored clicks of the link again, with the link as it is saved and with the draft, and compares the "+
			"destinations. Nothing is stored. Both sides use the same random numbers, so a visit that changes does so because of the draft. "+
			"Clicks lack some facts: the query, whether the visitor has been here before, the region of the language, and possibly parts of the "+
			"address. A visit whose decision depends on such a fact counts as `unknown`.").
		Example(`{"draft":{"rules":[{"name":"Germany",`+
			`"targetUrl":"https://example.com/de","conditions":{"operator":"AND",`+
			`"conditions":[{"type":"country","operator":"equals","value":"DE"}]}}]},"limit":500}`),
		func(ctx context.Context, in *replayIn) (*kit.Body[Replay], error) {
			b := &in.Body
			ask := explain.Ask{Limit: b.Limit, From: int64(b.From.Value), To: int64(b.To.Value), Bots: b.Bots.Value}
			return kit.Respond(replayOf)(s.Explain.Replay(ctx, kit.Principal(ctx), in.ID, *b.Draft.draft(), ask))
		})
}

func replayOf(r explain.Replay) Replay {
	out := Replay{Visitors: r.Visitors, Changed: r.Changed, Unknown: r.Unknown, Flows: make([]ReplayFlow, len(r.Flows)),
		Visits: make([]ReplayedVisit, len(r.Visits))}
	for i := range r.Flows {
		f := &r.Flows[i]
		out.Flows[i] = ReplayFlow{*decisionOf(&f.From), *decisionOf(&f.To), f.Visitors}
	}
	for i := range r.Visits {
		v := &r.Visits[i]
		c := &v.Click
		out.Visits[i] = ReplayedVisit{
			At: kit.Time(c.Time), Country: kit.Text(c.Country), Region: kit.Text(c.Region), City: kit.Text(c.City),
			Device:  kit.Text(c.Device),
			OS:      kit.Text(c.OS),
			Browser: kit.Text(c.Browser), Language: kit.Text(c.Language), Referer: kit.Text(c.Referer), IsBot: c.Bot,
			Before: decisionOf(v.Before), After: decisionOf(v.After), Changed: v.Changed, Unknown: append([]string{}, v.Unknown...),
		}
	}
	return out
}

func decisionOf(d *explain.Decision) *ReplayDecision {
	if d == nil {
		return nil
	}
	out := &ReplayDecision{Outcome: d.Outcome, ChosenBy: kit.Text(d.ChosenBy), RuleID: kit.Text(d.RuleID), VariantID: kit.Text(d.VariantID),
		URL: kit.Text(d.URL)}
	if d.Index >= 0 {
		out.Index = &d.Index
	}
	return out
}
