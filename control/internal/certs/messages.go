package certs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mholt/acmez/v3/acme"
)

// refusal is the error of an order.
type refusal struct {
	error
	words string        // for owners
	after time.Duration // how long the authority asks to wait; 0: it does not say
}

func (r *refusal) Unwrap() error { return r.error }

// errRateLimited is the error of an order that the budget does not allow before a time in Unix milliseconds.
type errRateLimited struct{ until int64 }

func (*errRateLimited) Error() string { return "the budget of the certificate authority is used up" }

// maxDetail is the maximum length of the authority's own words, in bytes.
const maxDetail = 400

// explain explains the error of an order to the owner of the host name. The authority's own words follow, because they name
// addresses and records.
func explain(host string, err error) string {
	var p acme.Problem
	if !errors.As(err, &p) {
		return explainOther(err)
	}
	for _, sub := range p.Subproblems {
		if p.Type == acme.ProblemTypeCompound || p.Detail == "" {
			p.Type, p.Detail = sub.Type, sub.Detail
			break
		}
	}
	lead := ""
	switch p.Type {
	case acme.ProblemTypeCAA:
		lead = fmt.Sprintf(
			"A CAA record of %s, or of a name above it, does not allow this certificate authority. Change or remove the CAA record.", host)
	case acme.ProblemTypeDNS:
		lead = fmt.Sprintf("The certificate authority could not look up %s. Check the DNS records and DNSSEC of the name.", host)
	case acme.ProblemTypeConnection:
		lead = fmt.Sprintf(
			"The certificate authority could not connect to %s. Check that the DNS records lead to this service, and that no firewall blocks "+
				"ports 80 and 443.", host)
	case acme.ProblemTypeTLS:
		lead = fmt.Sprintf(
			"The certificate authority could not establish a TLS connection to %s. Check that the DNS records lead to this service.", host)
	case acme.ProblemTypeUnauthorized, acme.ProblemTypeIncorrectResponse:
		lead = fmt.Sprintf(
			"Another server answered the certificate authority at %s. Check that all A and AAAA records lead to this service.",
			host)
	case acme.ProblemTypeRateLimited:
		lead = "The certificate authority accepts no more orders for a while. The service tries again later."
	case acme.ProblemTypeRejectedIdentifier, acme.ProblemTypeUnsupportedIdentifier:
		lead = fmt.Sprintf("The certificate authority does not issue certificates for %s.", host)
	case acme.ProblemTypeUserActionRequired, acme.ProblemTypeExternalAccountRequired, acme.ProblemTypeInvalidContact,
		acme.ProblemTypeUnsupportedContact, acme.ProblemTypeAccountDoesNotExist:
		lead = "The certificate authority does not accept the account of this service. The operator has to check the settings."
	case acme.ProblemTypeServerInternal:
		lead = "The certificate authority has a problem of its own. The service tries again later."
	default:
		lead = "The certificate authority refused the order."
	}
	return withDetail(lead, p.Detail)
}

// explainOther explains an error that does not come from the authority.
func explainOther(err error) string {
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "The certificate authority did not finish the order in time. The service tries again later."
	case errors.As(err, &network):
		return "The certificate authority cannot be reached. The service tries again later."
	}
	return "The order failed inside the service. The service tries again later, and its log has the cause."
}

// withDetail adds the words of the authority.
func withDetail(lead, detail string) string {
	detail = strings.Join(strings.Fields(strings.ToValidUTF8(detail, "?")), " ")
	if detail == "" {
		return lead
	}
	if len(detail) > maxDetail {
		end := maxDetail
		for !utf8.RuneStart(detail[end]) {
			end--
		}
		detail = detail[:end] + "…"
	}
	return lead + " It says: " + detail
}
