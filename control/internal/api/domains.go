package api

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/domains/dnscheck"
	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/control/internal/store"
)

// Domain is a host name under which a workspace has links of its own.
type Domain struct {
	ID            string         `json:"id"`
	Hostname      string         `json:"hostname" doc:"In ASCII; international names are in Punycode." example:"go.acme.com"`
	DisplayName   string         `json:"displayName" doc:"The host name for people, with international characters." example:"go.acme.com"`
	WorkspaceID   string         `json:"workspaceId"`
	Status        string         `json:"status" enum:"PENDING,ACTIVE,FAILED,SUSPENDED" doc:"PENDING until the TXT record is found, ACTIVE while edges serve the domain, FAILED after the TXT record was missing for a week, SUSPENDED while an administrator keeps it out of service."`
	SuspendReason *string        `json:"suspendReason" doc:"Why an administrator suspended the domain."`
	Records       []DomainRecord `json:"records" doc:"The DNS records that the owner of the name has to set."`
	Certificate   *Certificate   `json:"certificate" doc:"The certificate for TLS; null before the service has begun to order one, and if it orders none."`
	RootURL       *string        `json:"rootUrl" doc:"Where visitors of / go. Without it they get 404."`
	NotFoundURL   *string        `json:"notFoundUrl" doc:"Where visitors of slugs go that do not exist. Without it they get 404."`
	ExpiredURL    *string        `json:"expiredUrl" doc:"Where visitors of expired and exhausted links go that have no expiredUrl themselves. Without it they get 410."`
	HSTS          int64          `json:"hsts" doc:"max-age of the header Strict-Transport-Security in seconds; 0: no header."`
	BrandName     *string        `json:"brandName" doc:"The name on pages for visitors, such as the one that asks for a password. Without it, the pages show the brand of the service."`
	BrandLogoURL  *string        `json:"brandLogoUrl" doc:"The picture beside the name."`
	AppLinks      AppLinks       `json:"appLinks"`
	IsDefault     bool           `json:"isDefault" doc:"Whether new links of the workspace get this domain if they name none."`
	URLCount      int            `json:"urlCount" doc:"Number of links, at most 10,000."`
	CheckedAt     *Time          `json:"checkedAt" doc:"When the records were last looked for."`
	CreatedAt     Time           `json:"createdAt"`
	UpdatedAt     Time           `json:"updatedAt"`
}

// Certificate is what edges present to visitors of a domain.
type Certificate struct {
	Status        string  `json:"status" enum:"PENDING,ACTIVE,FAILED" doc:"PENDING until the first order succeeds, ACTIVE, or FAILED if the last order failed. An earlier certificate stays in use."`
	Source        string  `json:"source" enum:"ACME,UPLOADED" doc:"ACME if the service orders and renews the certificate, UPLOADED if an owner has uploaded it."`
	Issuer        *string `json:"issuer" doc:"The certificate authority; null if there is no certificate yet." example:"Let's Encrypt"`
	NotBefore     *Time   `json:"notBefore" doc:"When the certificate begins; null if there is none yet."`
	NotAfter      *Time   `json:"notAfter" doc:"When the certificate ends; null if there is none yet."`
	LastError     *string `json:"lastError" doc:"Why the last order failed; null if it did not."`
	NextAttemptAt *Time   `json:"nextAttemptAt" doc:"When the next order is placed, if the last one failed."`
}

func certificateOf(c *store.Certificate) *Certificate {
	out := &Certificate{Status: c.Status, Source: c.Source, Issuer: text(c.Issuer), NotBefore: instant(c.NotBefore), NotAfter: instant(c.NotAfter), LastError: text(c.LastError)}
	if c.Status == store.CertificateFailed {
		out.NextAttemptAt = instant(c.NextAt)
	}
	return out
}

type uploadCertificate struct {
	Certificate Opt[string] `json:"certificate" required:"true" doc:"The certificate and those of its authorities in PEM, the one of the host first. At most 10 KiB."`
	PrivateKey  Opt[string] `json:"privateKey" required:"true" doc:"The private key in PEM, not encrypted. Responses never contain it."`
}

// DomainRecord is a DNS record that the owner of a domain has to set.
type DomainRecord struct {
	Type    string  `json:"type" enum:"TXT,CNAME,A,AAAA"`
	Name    string  `json:"name" example:"_shortline.go.acme.com"`
	Value   string  `json:"value"`
	Found   bool    `json:"found" doc:"Whether the record was right at the last check."`
	Message *string `json:"message" doc:"What the last check found instead."`
	Wording
}

// DomainFields are the fields of a domain that can be changed.
type DomainFields struct {
	RootURL     Opt[string]         `json:"rootUrl,omitempty" doc:"null or an empty string removes it."`
	NotFoundURL Opt[string]         `json:"notFoundUrl,omitempty" doc:"null or an empty string removes it."`
	ExpiredURL  Opt[string]         `json:"expiredUrl,omitempty" doc:"null or an empty string removes it."`
	HSTS        Opt[int64]          `json:"hsts,omitempty" doc:"Seconds, at most two years."`
	BrandName   Opt[string]         `json:"brandName,omitempty" doc:"At most 60 characters. null or an empty string removes it." example:"Acme"`
	BrandLogo   Opt[string]         `json:"brandLogoUrl,omitempty" doc:"An https URL. Browsers of visitors load the picture from there. null or an empty string removes it."`
	AppLinks    Opt[AppLinksFields] `json:"appLinks,omitempty" doc:"Files that let apps open the links of the domain. null removes both."`
	IsDefault   Opt[bool]           `json:"isDefault,omitempty" doc:"true takes the mark from the workspace's other domains."`
}

func (f *DomainFields) input() domains.Input {
	apple, android := documents(f.AppLinks)
	return domains.Input{
		RootURL: given(f.RootURL, ""), NotFoundURL: given(f.NotFoundURL, ""), ExpiredURL: given(f.ExpiredURL, ""), HSTS: given(f.HSTS, 0), Default: given(f.IsDefault, false),
		BrandName: given(f.BrandName, ""), BrandLogo: given(f.BrandLogo, ""), AppleApp: apple, AssetLinks: android,
	}
}

type createDomain struct {
	Hostname Opt[string] `json:"hostname" required:"true" doc:"A host name without scheme, port and path." example:"go.acme.com"`
	DomainFields
}

const (
	domainPage  = 20
	maxURLCount = 10_000
)

// domainsOf converts domains for their owners.
func (s *Server) domainsOf(ctx context.Context, list []store.Domain) ([]Domain, error) {
	nums := make([]uint64, len(list))
	for i := range list {
		nums[i] = list[i].Workspace
	}
	spaces, err := s.Store.WorkspaceIDs(ctx, nums)
	if err != nil {
		return nil, err
	}
	for i := range list {
		nums[i] = list[i].Num
	}
	certificates, err := s.Store.CertificatesOf(ctx, nums)
	if err != nil {
		return nil, err
	}
	out := make([]Domain, len(list))
	for i := range list {
		d := &list[i]
		n, err := s.Store.CountLinksOf(ctx, d.Num, maxURLCount)
		if err != nil {
			return nil, err
		}
		out[i] = Domain{
			ID: d.ID, Hostname: d.Hostname, DisplayName: hostname.Display(d.Hostname), WorkspaceID: spaces[d.Workspace], Status: d.Status, SuspendReason: text(d.Suspended), Records: s.records(d),
			RootURL: text(d.RootURL), NotFoundURL: text(d.NotFoundURL), ExpiredURL: text(d.ExpiredURL), HSTS: d.HSTS, BrandName: text(d.BrandName), BrandLogoURL: text(d.BrandLogo), AppLinks: appLinksOf(d), IsDefault: d.Default,
			URLCount: min(n, maxURLCount), CheckedAt: instant(d.CheckedAt), CreatedAt: Time(d.CreatedAt), UpdatedAt: Time(d.UpdatedAt),
		}
		if c, ok := certificates[d.Num]; ok {
			out[i].Certificate = certificateOf(&c)
		}
	}
	return out, nil
}

// records returns the records that an owner has to set: the proof, and what leads visitors to edges.
func (s *Server) records(d *store.Domain) []DomainRecord {
	list := []DomainRecord{{Type: "TXT", Name: dnscheck.TXTName(d.Hostname), Value: d.Token, Found: d.Proof.OK, Message: text(d.Proof.Message), Wording: wordingOf(d.Proof.Message)}}
	route := DomainRecord{Name: d.Hostname, Found: d.Route.OK, Message: text(d.Route.Message), Wording: wordingOf(d.Route.Message)}
	to := s.Domains.Targets()
	if to.Hostname != "" {
		route.Type, route.Value = "CNAME", to.Hostname
		return append(list, route)
	}
	for _, addr := range to.Addresses {
		if route.Type, route.Value = "A", addr.String(); addr.Is6() {
			route.Type = "AAAA"
		}
		list = append(list, route)
	}
	return list
}

func (s *Server) answerDomain(ctx context.Context, d store.Domain, err error) (*body[Domain], error) {
	if err != nil {
		return nil, err
	}
	shown, err := s.domainsOf(ctx, []store.Domain{d})
	if err != nil {
		return nil, err
	}
	return &body[Domain]{shown[0]}, nil
}

func (s *Server) registerDomains() {
	declare := func(method, path, id, summary string) endpoint {
		return endpoint{Method: method, Path: "/api/domains" + path, ID: id, Summary: summary, Tag: "Domains"}
	}
	handle(s, declare(http.MethodGet, "", "listDomains", "List domains"), func(ctx context.Context, in *named) (*body[List[Domain]], error) {
		rows, total, err := s.Domains.List(ctx, principal(ctx), in.Search, in.offset(domainPage), in.size(domainPage))
		if err != nil {
			return nil, err
		}
		shown, err := s.domainsOf(ctx, rows)
		if err != nil {
			return nil, err
		}
		return &body[List[Domain]]{listOf(shown, total, in.Paging, domainPage)}, nil
	})
	handle(s, declare(http.MethodGet, "/{id}", "getDomain", "Get a domain"), func(ctx context.Context, in *ByID) (*body[Domain], error) {
		d, err := s.Domains.Get(ctx, principal(ctx), in.ID)
		return s.answerDomain(ctx, d, err)
	})
	handle(s, declare(http.MethodPost, "", "createDomain", "Add a domain"), func(ctx context.Context, in *struct{ Body createDomain }) (*body[Domain], error) {
		d, err := s.Domains.Create(ctx, principal(ctx), in.Body.Hostname.Value, in.Body.input())
		return s.answerDomain(ctx, d, err)
	})
	handle(s, declare(http.MethodPut, "/{id}", "updateDomain", "Update the given fields of a domain"), func(ctx context.Context, in *struct {
		ByID
		Body DomainFields
	}) (*body[Domain], error) {
		d, err := s.Domains.Update(ctx, principal(ctx), in.ID, in.Body.input())
		return s.answerDomain(ctx, d, err)
	})
	verify := declare(http.MethodPost, "/{id}/verify", "verifyDomain", "Look for the DNS records of a domain")
	verify.Status = http.StatusOK
	handle(s, verify, func(ctx context.Context, in *ByID) (*body[Domain], error) {
		d, err := s.Domains.Verify(ctx, principal(ctx), in.ID)
		return s.answerDomain(ctx, d, err)
	})
	suspend := declare(http.MethodPost, "/{id}/suspend", "suspendDomain", "Suspend a domain")
	suspend.Status, suspend.Tag, suspend.Need = http.StatusOK, "Abuse", admin
	handle(s, suspend, func(ctx context.Context, in *struct {
		ByID
		Body struct {
			Reason string `json:"reason" maxLength:"500" doc:"Why the domain is suspended, for its owners."`
		}
	}) (*body[Domain], error) {
		d, err := s.Domains.Suspend(ctx, principal(ctx), in.ID, in.Body.Reason)
		return s.answerDomain(ctx, d, err)
	})
	lift := declare(http.MethodDelete, "/{id}/suspend", "liftDomainSuspension", "Lift the suspension of a domain")
	lift.Tag, lift.Need = "Abuse", admin
	handle(s, lift, func(ctx context.Context, in *ByID) (*noContent, error) {
		_, err := s.Domains.Lift(ctx, principal(ctx), in.ID)
		return &noContent{}, err
	})
	handle(s, declare(http.MethodPut, "/{id}/certificate", "uploadCertificate", "Upload a certificate"), func(ctx context.Context, in *struct {
		ByID
		Body uploadCertificate
	}) (*body[Domain], error) {
		d, err := s.Domains.Upload(ctx, principal(ctx), in.ID, in.Body.Certificate.Value, in.Body.PrivateKey.Value)
		return s.answerDomain(ctx, d, err)
	})
	handle(s, declare(http.MethodDelete, "/{id}/certificate", "deleteCertificate", "Delete an uploaded certificate"), func(ctx context.Context, in *ByID) (*noContent, error) {
		return nil, s.Domains.RemoveUpload(ctx, principal(ctx), in.ID)
	})
	handle(s, declare(http.MethodDelete, "/{id}", "deleteDomain", "Delete a domain without links"), func(ctx context.Context, in *ByID) (*noContent, error) {
		return nil, s.Domains.Delete(ctx, principal(ctx), in.ID)
	})
}
