package screening

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/link"
)

// Verdict is an answer of the check service.
type Verdict uint8

// The verdicts.
const (
	Unknown Verdict = iota // there was no answer, or not a valid one
	Allowed
	Blocked
)

// Occasions of a question.
const (
	OccasionChange = "CHANGE" // a destination is being set
	OccasionDaily  = "DAILY"
)

type question struct {
	URL      string `json:"url"`
	Host     string `json:"host"`
	Occasion string `json:"occasion"`
}

type answer struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

// maxReason is the length of a reason in characters.
const maxReason = 200

// Ask asks the check service about one destination. The reason belongs to Blocked and may be empty. An error belongs to
// Unknown. Without a check service every destination is allowed.
func (s *Service) Ask(ctx context.Context, destination, occasion string) (v Verdict, reason string, err error) {
	if !s.Asks() {
		return Allowed, "", nil
	}
	if s.broken.open() {
		s.answers[Unknown].Add(1)
		return Unknown, "", errors.New("the destination check failed a moment ago")
	}
	v, reason, err = s.post(ctx, question{destination, link.DestinationHost(destination), occasion})
	s.answers[v].Add(1)
	if v == Unknown && ctx.Err() == nil {
		if s.broken.fail() {
			s.cfg.Logger.Error("destination check failed", "error", err.Error(), "required", s.cfg.Required)
		}
	} else if v != Unknown {
		s.broken.succeed()
	}
	return v, reason, err
}

func (s *Service) post(ctx context.Context, q question) (Verdict, string, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return Unknown, "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.CheckURL, bytes.NewReader(body))
	if err != nil {
		return Unknown, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Shortline")
	if s.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+s.cfg.Token.Reveal())
	}
	res, err := s.http.Do(req)
	if err != nil {
		return Unknown, "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return Unknown, "", fmt.Errorf("the check service answers %s", res.Status)
	}
	var a answer
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil {
		return Unknown, "", fmt.Errorf("read the answer of the check service: %w", err)
	}
	switch a.Verdict {
	case "allow":
		return Allowed, "", nil
	case "block":
		return Blocked, clean(a.Reason), nil
	}
	return Unknown, "", fmt.Errorf("the check service answers the verdict %.20q", a.Verdict)
}

// clean makes a reason one line of limited length.
func clean(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool { return r < ' ' || r == 0x7F }), " ")
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason])
	}
	return strings.TrimSpace(text)
}

// parallel is the number of questions of one request at a time.
const parallel = 16

// Screen asks about the destinations that a request sets. It returns the problem of each in their order: "" if it is
// allowed, or the end of a sentence that begins with the field's name. The error is a 503 if the settings require the check
// and there was no answer.
func (s *Service) Screen(ctx context.Context, destinations []string) ([]string, error) {
	problems := make([]string, len(destinations))
	if !s.Asks() || len(destinations) == 0 {
		return problems, nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxTimeout)
	defer cancel()
	first := map[string]int{}
	var group sync.WaitGroup
	slots := make(chan struct{}, parallel)
	unknown := make([]bool, len(destinations))
	for i, d := range destinations {
		if _, ok := first[d]; ok {
			continue
		}
		first[d] = i
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			v, reason := Unknown, ""
			_ = job.Contain(s.cfg.Logger, func() error {
				v, reason, _ = s.Ask(ctx, d, OccasionChange)
				return nil
			})
			switch v {
			case Blocked:
				if problems[i] = "must not lead to this address, which the operator's check refuses"; reason != "" {
					problems[i] += ": " + reason
				}
			case Unknown:
				unknown[i] = true
			}
		})
	}
	group.Wait()
	for i, d := range destinations {
		problems[i] = problems[first[d]]
		if unknown[i] && s.cfg.Required {
			return nil, &problem.Error{Kind: problem.Unavailable, Message: "Destinations cannot be checked at the moment. Try again soon.",
				RetryAfter: pause}
		}
	}
	return problems, nil
}

// broken skips questions for a while after several failures in a row, so that a dead check service does not delay every
// change by its timeout.
type broken struct {
	mu       sync.Mutex
	failures int
	until    time.Time
}

const (
	tolerated = 3
	pause     = 10 * time.Second
)

func (b *broken) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Now().Before(b.until)
}

// fail notes a failure and reports whether it is worth a log entry.
func (b *broken) fail() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	if b.failures >= tolerated {
		b.until = time.Now().Add(pause)
	}
	return b.failures == 1 || b.failures == tolerated
}

func (b *broken) succeed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.until = 0, time.Time{}
}
