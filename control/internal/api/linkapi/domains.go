package linkapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/domains/dnscheck"
	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/control/internal/manage/slugs"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/each"
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
	CaseSensitive bool           `json:"caseSensitive" doc:"Whether slugs that differ in case only are different links. If not, a slug is found in any case."`
	Slugs         string         `json:"slugs" values:"slugForm"`
	MinSlugLength int            `json:"minSlugLength" doc:"Characters that a slug has at least."`
	IsDefault     bool           `json:"isDefault" doc:"Whether new links of the workspace get this domain if they name none."`
	URLCount      int            `json:"urlCount" doc:"Number of links, at most 10,000."`
	CheckedAt     *kit.Time      `json:"checkedAt" doc:"When the records were last looked for."`
	CreatedAt     kit.Time       `json:"createdAt"`
	UpdatedAt     kit.Time       `json:"updatedAt"`
}

// Certificate is what edges present to visitors of a domain.
type Certificate struct {
	Status        string    `json:"status" enum:"PENDING,ACTIVE,FAILED" doc:"PENDING until the first order succeeds, ACTIVE, or FAILED if the last order failed. An earlier certificate stays in use."`
	Source        string    `json:"source" enum:"ACME,UPLOADED" doc:"ACME if the service orders and renews the certificate, UPLOADED if an owner has uploaded it."`
	Issuer        *string   `json:"issuer" doc:"The certificate authority; null if there is no certificate yet." example:"Let's Encrypt"`
	NotBefore     *kit.Time `json:"notBefore" doc:"When the certificate begins; null if there is none yet."`
	NotAfter      *kit.Time `json:"notAfter" doc:"When the certificate ends; null if there is none yet."`
	LastError     *string   `json:"lastError" doc:"Why the last order failed; null if it did not."`
	NextAttemptAt *kit.Time `json:"nextAttemptAt" doc:"When the next order is placed, if the last one failed."`
}

func certificateOf(c *store.Certificate) *Certificate {
	out := &Certificate{Status: c.Status, Source: c.Source, Issuer: kit.Text(c.Issuer), NotBefore: kit.Instant(c.NotBefore),
		NotAfter: kit.Instant(c.NotAfter), LastError: kit.Text(c.LastError)}
	if c.Status == store.CertificateFailed {
		out.NextAttemptAt = kit.Instant(c.NextAt)
	}
	return out
}

type uploadCertificate struct {
	Certificate kit.Opt[string] `json:"certificate" required:"true" doc:"The certificate and those of its authorities in PEM, the one of the host first. At most 10 KiB."`
	PrivateKey  kit.Opt[string] `json:"privateKey" required:"true" doc:"The private key in PEM, not encrypted. Responses never contain it."`
}

// DomainRecord is a DNS record that the owner of a domain has to set.
type DomainRecord struct {
	Type    string  `json:"type" enum:"TXT,CNAME,A,AAAA"`
	Name    string  `json:"name" example:"_shortline.go.acme.com"`
	Value   string  `json:"value"`
	Found   bool    `json:"found" doc:"Whether the record was right at the last check."`
	Message *string `json:"message" doc:"What the last check found instead."`
	kit.Wording
}

// DomainFields are the fields of a domain that can be changed.
type DomainFields struct {
	RootURL       kit.Opt[string]         `json:"rootUrl,omitempty" doc:"null or an empty string removes it."`
	NotFoundURL   kit.Opt[string]         `json:"notFoundUrl,omitempty" doc:"null or an empty string removes it."`
	ExpiredURL    kit.Opt[string]         `json:"expiredUrl,omitempty" doc:"null or an empty string removes it."`
	HSTS          kit.Opt[int64]          `json:"hsts,omitempty" doc:"Seconds, at most two years."`
	BrandName     kit.Opt[string]         `json:"brandName,omitempty" doc:"At most 60 characters. null or an empty string removes it." example:"Acme"`
	BrandLogo     kit.Opt[string]         `json:"brandLogoUrl,omitempty" doc:"An https URL. Browsers of visitors load the picture from there. null or an empty string removes it."`
	AppLinks      kit.Opt[AppLinksFields] `json:"appLinks,omitempty" doc:"Files that let apps open the links of the domain. null removes both."`
	CaseSensitive kit.Opt[bool]           `json:"caseSensitive,omitempty" doc:"true if left out. false is a conflict while slugs differ in case only; the message names them."`
	Slugs         kit.Opt[string]         `json:"slugs,omitempty" values:"slugForm" doc:"basic if left out: letters, digits, hyphens and underscores. extended: also dots, slashes and letters of all scripts."`
	MinSlugLength kit.Opt[int64]          `json:"minSlugLength,omitempty" doc:"1 to 3; 3 if left out." example:"1"`
	IsDefault     kit.Opt[bool]           `json:"isDefault,omitempty" doc:"true takes the mark from the workspace's other domains."`
}

func (f *DomainFields) input() domains.Input {
	apple, android := documents(f.AppLinks)
	return domains.Input{
		RootURL: kit.Given(f.RootURL, ""), NotFoundURL: kit.Given(f.NotFoundURL, ""), ExpiredURL: kit.Given(f.ExpiredURL, ""),
		HSTS: kit.Given(f.HSTS, 0), Default: kit.Given(f.IsDefault, false),
		BrandName: kit.Given(f.BrandName, ""), BrandLogo: kit.Given(f.BrandLogo, ""), AppleApp: apple, AssetLinks: android,
		CaseSensitive: kit.Given(f.CaseSensitive, true), Slugs: kit.Given(f.Slugs, ""), MinSlug: kit.Given(f.MinSlugLength, 0),
	}
}

type createDomain struct {
	Hostname kit.Opt[string] `json:"hostname" required:"true" doc:"A host name without scheme, port and path." example:"go.acme.com"`
	DomainFields
}

const (
	domainPage  = 20
	maxURLCount = 10_000
)

// domainsOf converts domains for their owners.
func (s *server) domainsOf(ctx context.Context, list []store.Domain) ([]Domain, error) {
	nums := each.At(list, func(d *store.Domain) uint64 { return d.Workspace })
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
			ID: d.ID, Hostname: d.Hostname, DisplayName: hostname.Display(d.Hostname), WorkspaceID: spaces[d.Workspace], Status: d.Status,
			SuspendReason: kit.Text(d.Suspended), Records: s.records(d),
			RootURL: kit.Text(d.RootURL), NotFoundURL: kit.Text(d.NotFoundURL), ExpiredURL: kit.Text(d.ExpiredURL), HSTS: d.HSTS,
			BrandName: kit.Text(d.BrandName), BrandLogoURL: kit.Text(d.BrandLogo), AppLinks: appLinksOf(d), IsDefault: d.Default,
			CaseSensitive: !d.Slugs.Fold, Slugs: slugs.Form(d.Slugs), MinSlugLength: slugs.Least(d.Slugs),
			URLCount: min(n, maxURLCount), CheckedAt: kit.Instant(d.CheckedAt), CreatedAt: kit.Time(d.CreatedAt),
			UpdatedAt: kit.Time(d.UpdatedAt),
		}
		if c, ok := certificates[d.Num]; ok {
			out[i].Certificate = certificateOf(&c)
		}
	}
	return out, nil
}

// records returns the records that an owner has to set: the proof, and what leads visitors to edges.
func (s *server) records(d *store.Domain) []DomainRecord {
	list := []DomainRecord{{Type: "TXT", Name: dnscheck.TXTName(d.Hostname), Value: d.Token, Found: d.Proof.OK,
		Message: kit.Text(d.Proof.Message), Wording: kit.WordingOf(d.Proof.Message)}}
	route := DomainRecord{Name: d.Hostname, Found: d.Route.OK, Message: kit.Text(d.Route.Message), Wording: kit.WordingOf(d.Route.Message)}
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

func (s *server) answerDomain(ctx context.Context, d store.Domain, err error) (*kit.Body[Domain], error) {
	if err != nil {
		return nil, err
	}
	shown, err := s.domainsOf(ctx, []store.Domain{d})
	if err != nil {
		return nil, err
	}
	return kit.NewBody(shown[0]), nil
}

var domainResource = kit.Resource{
	Values: map[string][]any{"slugForm": kit.Enum(slugs.Basic, slugs.Extended)},
	Tag:    "Domains", About: "Host names under which a workspace has links of its own.",
	Read: kit.Needs(auth.Viewer, auth.LinksRead|auth.DomainsScope), Change: kit.Needs(auth.WorkspaceAdmin, auth.DomainsScope),
}

func domainEndpoint(method, path, id, summary string) kit.Endpoint {
	return kit.Endpoint{Method: method, Path: "/api/domains" + path, ID: id, Summary: summary, Tag: "Domains"}
}

func (s *server) registerDomains() {
	declare := domainEndpoint
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listDomains", "List domains").
		About("A page of domains in the order of their host names."),
		func(ctx context.Context, in *named) (*kit.Body[kit.List[Domain]], error) {
			rows, total, err := s.Domains.List(ctx, kit.Principal(ctx), in.Search, in.Offset(domainPage), in.Size(domainPage))
			if err != nil {
				return nil, err
			}
			shown, err := s.domainsOf(ctx, rows)
			if err != nil {
				return nil, err
			}
			return kit.NewBody(kit.ListOf(shown, total, in.Paging, domainPage)), nil
		})
	kit.Handle(s.Kit, declare(http.MethodGet, "/{id}", "getDomain", "Get a domain").
		About("A domain, with the DNS records to set and what the last check found."),
		func(ctx context.Context, in *kit.ByID) (*kit.Body[Domain], error) {
			d, err := s.Domains.Get(ctx, kit.Principal(ctx), in.ID)
			return s.answerDomain(ctx, d, err)
		})
	kit.Handle(s.Kit, declare(http.MethodPost, "", "createDomain", "Add a domain").
		About("Adds a host name. Set the DNS records of the response, then verify the domain. A name that another workspace has proved to be "+
			"its own gets 409.").
		Example(`{"hostname":"go.acme.com","rootUrl":"https://acme.com"}`).Fails(http.StatusConflict),
		func(ctx context.Context, in *struct{ Body createDomain }) (*kit.Body[Domain], error) {
			d, err := s.Domains.Create(ctx, kit.Principal(ctx), in.Body.Hostname.Value, in.Body.input())
			return s.answerDomain(ctx, d, err)
		})
	kit.Handle(s.Kit, declare(http.MethodPut, "/{id}", "updateDomain", "Update the given fields of a domain").
		About("Changes the given fields: missing fields are kept, null or an empty string clears an address. The host name cannot be changed. "+
			"`caseSensitive` = false is a conflict while slugs of the domain differ in case only.").
		Example(`{"notFoundUrl":"https://acme.com/lost"}`).Fails(http.StatusConflict), func(ctx context.Context, in *struct {
		kit.ByID
		Body DomainFields
	}) (*kit.Body[Domain], error) {
		d, err := s.Domains.Update(ctx, kit.Principal(ctx), in.ID, in.Body.input())
		return s.answerDomain(ctx, d, err)
	})
	verify := declare(http.MethodPost, "/{id}/verify", "verifyDomain", "Look for the DNS records of a domain").
		About("Looks for the records now, which takes at most five seconds. With the TXT record the domain becomes ACTIVE, and edges serve " +
			"its links within seconds. The service also looks by itself: often at first, then daily.")
	verify.Status = http.StatusOK
	kit.Handle(s.Kit, verify, func(ctx context.Context, in *kit.ByID) (*kit.Body[Domain], error) {
		d, err := s.Domains.Verify(ctx, kit.Principal(ctx), in.ID)
		return s.answerDomain(ctx, d, err)
	})
	s.registerSuspensions()
	s.registerCertificates()
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{id}", "deleteDomain", "Delete a domain without links").
		About("Deletes a domain that has no links. Edges stop serving it within seconds.").Fails(http.StatusConflict),
		kit.Delete(s.Domains.Delete))
}

func (s *server) registerSuspensions() {
	declare := domainEndpoint
	suspend := declare(http.MethodPost, "/{id}/suspend", "suspendDomain", "Suspend a domain").
		About("Edges stop serving the domain within seconds. The owners see the reason, keep the name, and cannot lift the suspension. " +
			"Suspending a suspended domain replaces the reason. A domain that is not in service gets 409.").
		Example(`{"reason":"Phishing"}`).Fails(http.StatusConflict)
	suspend.Status, suspend.Tag, suspend.Need = http.StatusOK, "Abuse", kit.Admin
	kit.Handle(s.Kit, suspend, func(ctx context.Context, in *struct {
		kit.ByID
		Body struct {
			Reason string `json:"reason" maxLength:"500" doc:"Why the domain is suspended, for its owners."`
		}
	}) (*kit.Body[Domain], error) {
		d, err := s.Domains.Suspend(ctx, kit.Principal(ctx), in.ID, in.Body.Reason)
		return s.answerDomain(ctx, d, err)
	})
	lift := declare(http.MethodDelete, "/{id}/suspend", "liftDomainSuspension", "Lift the suspension of a domain").
		About("Edges serve the domain again. Without a suspension nothing changes.")
	lift.Tag, lift.Need = "Abuse", kit.Admin
	kit.Handle(s.Kit, lift, func(ctx context.Context, in *kit.ByID) (*kit.NoContent, error) {
		_, err := s.Domains.Lift(ctx, kit.Principal(ctx), in.ID)
		return &kit.NoContent{}, err
	})
}

func (s *server) registerCertificates() {
	declare := domainEndpoint
	kit.Handle(s.Kit, declare(http.MethodPut, "/{id}/certificate", "uploadCertificate", "Upload a certificate").
		About("Edges present the certificate within seconds, and the service orders none until it is deleted. A certificate that visitors "+
			"would not accept gets 400 with the reason, and the previous one stays in use. The end of the certificate is announced by e-mail and "+
			"webhook.").
		Example(`{"certificate":"-----BEGIN CERTIFICATE-----\n…","privateKey":"-----BEGIN PRIVATE KEY-----\n…"}`).
		Fails(http.StatusConflict),
		func(ctx context.Context, in *struct {
			kit.ByID
			Body uploadCertificate
		}) (*kit.Body[Domain], error) {
			d, err := s.Domains.Upload(ctx, kit.Principal(ctx), in.ID, in.Body.Certificate.Value, in.Body.PrivateKey.Value)
			return s.answerDomain(ctx, d, err)
		})
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{id}/certificate", "deleteCertificate", "Delete an uploaded certificate").
		About("If the service orders certificates, the uploaded one stays in use until there is another one; otherwise the domain has no TLS "+
			"from now on. Without an uploaded certificate nothing changes."),
		kit.Delete(s.Domains.RemoveUpload))
}
