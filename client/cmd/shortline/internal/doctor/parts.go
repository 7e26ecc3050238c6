package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/output"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

func asAnswer(err error) (string, bool) {
	var answer *client.APIError
	if !errors.As(err, &answer) || answer.Message == "" {
		return "", false
	}
	return answer.Message, true
}

// rows reads a list. A list that the key may not read is skipped.
func (e *examination) rows(ctx context.Context, check, path string) ([]output.Row, bool) {
	list, err := e.remote.List(ctx, path, nil, 0, nil)
	if err == nil {
		var rows []output.Row
		if rows, err = output.Decode[[]output.Row](list.JSON()); err == nil {
			return rows, true
		}
	}
	e.failed(check, err)
	return nil, false
}

func (e *examination) failed(check string, err error) {
	if remote.Is(err, http.StatusForbidden, http.StatusNotFound) {
		e.add(check, skipped, "your key may not see this: "+message(err), "")
		return
	}
	e.add(check, problem, message(err), "")
}

func (e *examination) domains(ctx context.Context) {
	rows, read := e.rows(ctx, "domains", "/api/domains")
	if read && len(rows) == 0 {
		e.add("domains", ok, "there are none", "")
	}
	for _, one := range rows {
		e.domain(ctx, one)
	}
}

func (e *examination) domain(ctx context.Context, one output.Row) {
	host := one.Text("hostname")
	check := "domain " + host
	switch status := one.Text("status"); status {
	case "ACTIVE":
		if err := e.resolve(ctx, host); err != nil {
			e.add(check, problem, fmt.Sprintf("%s has no address: %v", host, err), "add the records that this shows: shortline domains get "+host)
		} else {
			e.add(check, ok, "verified, and it has an address", "")
		}
	case "SUSPENDED":
		e.add(check, problem, "suspended: "+one.Text("suspendReason"), "ask the operator")
	default:
		var wrong []string
		for _, record := range one.Rows("records") {
			if !record.Bool("found") {
				wrong = append(wrong, record.Text("type")+" "+record.Text("name"))
			}
		}
		e.add(check, problem, fmt.Sprintf("%s: not found: %s", status, strings.Join(wrong, ", ")),
			"add the records, and run: shortline domains verify "+host)
	}
	switch one.Text("certificate.status") {
	case "FAILED":
		e.add("certificate "+host, problem, one.Text("certificate.lastError"), "see docs/operators/tls.md")
	case "ACTIVE":
		if at, err := time.Parse(time.RFC3339, one.Text("certificate.notAfter")); err == nil {
			e.ends("certificate "+host, "it", at)
		}
	}
}

func (e *examination) resolve(ctx context.Context, host string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	resolve := e.app.Resolve
	if resolve == nil {
		resolve = net.DefaultResolver.LookupHost
	}
	_, err := resolve(ctx, host)
	var wrong *net.DNSError
	if errors.As(err, &wrong) {
		return errors.New(wrong.Err) // without the name and the server
	}
	return err
}

// catchUp is the time in which an edge must have the changes that it did not have at first.
const catchUp = 2 * time.Second

func (e *examination) readEdges(ctx context.Context) ([]output.Row, error) {
	raw, err := e.remote.Get(ctx, "/api/edges", nil)
	if err != nil {
		return nil, err
	}
	row, err := output.Decode[output.Row](raw)
	return row.Rows("edges"), err
}

// edges checks whether all edges live and have the present links. Only administrators may see them.
func (e *examination) edges(ctx context.Context) {
	edges, err := e.readEdges(ctx)
	if err == nil && slices.ContainsFunc(edges, func(one output.Row) bool { return one.Int("lag") > 0 }) {
		if err = e.app.Wait(ctx, catchUp); err == nil { // changes are on their way all the time
			edges, err = e.readEdges(ctx)
		}
	}
	if err != nil {
		e.failed("edges", err)
		return
	}
	if len(edges) == 0 {
		e.add("edges", problem, "no edge has reported", "start an edge, or see whether EDGE_TOKEN is right")
	}
	for _, one := range edges {
		check := "edge " + cmp.Or(one.Text("name"), one.Text("id"))
		switch {
		case !one.Bool("isAlive"):
			e.add(check, problem, "silent since "+output.Moment(one.Text("lastSeenAt")), "is it running, and can it reach the control plane?")
		case one.Text("refused") != "":
			e.add(check, problem, "it refuses what the control plane sends: "+one.Text("refused"), "see docs/operators/troubleshooting.md")
		case one.Int("lag") > 0:
			e.add(check, warning, fmt.Sprintf("%s changes behind", output.Number(one.Int("lag"))), "can it reach the control plane, and is its disk full?")
		case one.Int("setAsideCount") > 0:
			e.add(check, problem, fmt.Sprintf("%d links cannot be served", one.Int("setAsideCount")), "shortline api GET /api/edges")
		case one.Int("spool.dropped") > 0:
			e.add(check, warning, fmt.Sprintf("%s clicks were dropped, because its disk was full", output.Number(one.Int("spool.dropped"))), "")
		default:
			e.add(check, ok, fmt.Sprintf("%s links", output.Number(one.Int("links"))), "")
		}
	}
}

func (e *examination) webhooks(ctx context.Context) {
	rows, read := e.rows(ctx, "webhooks", "/api/webhooks")
	if read && len(rows) == 0 {
		e.add("webhooks", ok, "there are none", "")
	}
	for _, one := range rows {
		check := "webhook " + one.Text("name")
		switch {
		case one.Text("pauseReason") != "":
			e.add(check, warning, "paused: "+one.Text("pauseReason"), "shortline webhooks update "+one.Text("id")+" --resume")
		case !one.Bool("isActive"):
			e.add(check, ok, "not active", "")
		case one.Text("failingSince") != "":
			e.add(check, problem, fmt.Sprintf("fails since %s: %s", output.Moment(one.Text("failingSince")), one.Text("lastError")),
				"shortline webhooks logs "+one.Text("id"))
		default:
			e.add(check, ok, "delivers", "")
		}
	}
}

func (e *examination) freshness(ctx context.Context) {
	raw, err := e.remote.Get(ctx, "/api/analytics/freshness", nil)
	if err != nil {
		e.failed("reports", err)
		return
	}
	row, err := output.Decode[output.Row](raw)
	if err != nil {
		e.add("reports", problem, err.Error(), "")
		return
	}
	lag := time.Duration(row.Float("lagSeconds") * float64(time.Second))
	if lag > maxFreshness {
		e.add("reports", warning, "clicks are counted "+lag.Round(time.Second).String()+" late", "see docs/operators/troubleshooting.md")
		return
	}
	e.add("reports", ok, "clicks are counted within "+max(lag, time.Second).Round(time.Second).String(), "")
}
