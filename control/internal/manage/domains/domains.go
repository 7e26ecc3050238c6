// Package domains implements the use cases of custom domains: host names under which a workspace has links of its own.
//
// A workspace proves that it controls a name by a TXT record (package dnscheck). From then on the domain is ACTIVE, and
// edges serve its links. The proof is looked up again every day. A domain whose record is missing for a week becomes
// FAILED and leaves service, and another workspace may prove that the name is its own.
package domains

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/manage/domains/dnscheck"
	"github.com/shortline/shortline/control/internal/manage/domains/hostname"
	"github.com/shortline/shortline/control/internal/manage/slugs"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/seal"
)

const (
	maxSearch = 255
	maxHSTS   = 2 * 365 * 24 * 60 * 60 // seconds; what preload lists ask for
	// lost is how long the proof of an ACTIVE domain may be missing.
	lost = 7 * 24 * time.Hour
	// verifyEvery is the least time between two checks of a domain that its owners ask for.
	verifyEvery = 5 * time.Second
)

// Config configures a Service. Checker is required.
type Config struct {
	// Checker asks DNS.
	Checker *dnscheck.Checker
	// Targets are the places to which host names must lead.
	Targets dnscheck.Targets
	// Names restricts host names.
	Names hostname.Policy
	// Destinations restricts the addresses of a domain.
	Destinations link.Policy
	// Most is the number of domains that a workspace may have; 0 means 100.
	Most int
	// Now is nil for time.Now.
	Now func() time.Time
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// Service implements the use cases. It is safe for concurrent use. Run checks domains again.
type Service struct {
	job.Group // checks domains again; any number of processes may run it

	cfg       Config
	store     *store.Store
	box       *seal.Box // of private keys; nil: certificates cannot be uploaded
	automatic bool      // the service orders certificates
}

// New returns a Service.
func New(cfg Config, s *store.Store) *Service {
	cfg.Most = cmp.Or(cfg.Most, 100)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	d := &Service{cfg: cfg, store: s}
	d.Group = job.Group{
		{Name: "domains", Every: tick, Do: d.CheckDue, Logger: cfg.Logger},
		{Name: "reserved_names", Every: tick, Do: d.CheckReserved, Logger: cfg.Logger},
	}
	return d
}

// Targets returns the places to which host names must lead.
func (s *Service) Targets() dnscheck.Targets { return s.cfg.Targets }

func (s *Service) now() int64 { return s.cfg.Now().UnixMilli() }

// Input lists the fields of a domain that a request sets. A nil field keeps its value, and "" clears an address.
type Input struct {
	RootURL, NotFoundURL, ExpiredURL *string
	AppleApp, AssetLinks             *string // JSON; "" removes it
	HSTS                             *int64
	BrandName, BrandLogo             *string
	Default                          *bool

	CaseSensitive *bool
	Slugs         *string // basic or extended; "": basic
	MinSlug       *int64  // 0: link.MinSlug
	// Past is what a new domain brings along from another installation.
	Past store.Past
}

// CheckInput returns the problems that a new domain would have, other than that its name is taken.
func (s *Service) CheckInput(typed string, in Input) error {
	var v problem.Fields
	name, err := hostname.Parse(typed, s.cfg.Names)
	if err != nil {
		v.Add("hostname", "%s", err)
	}
	s.applyInput(&in, &store.Domain{Hostname: name.ASCII}, &v)
	return v.Err()
}

// applyInput writes the input to a domain and adds its problems to v.
func (s *Service) applyInput(in *Input, d *store.Domain, v *problem.Fields) {
	for _, f := range []struct {
		name  string
		given *string
		to    *string
	}{{"rootUrl", in.RootURL, &d.RootURL}, {"notFoundUrl", in.NotFoundURL, &d.NotFoundURL}, {"expiredUrl", in.ExpiredURL, &d.ExpiredURL}} {
		switch {
		case f.given == nil:
		case *f.given == "":
			*f.to = ""
		default:
			url, err := link.CheckDestination(*f.given, s.cfg.Destinations)
			if err == nil && link.DestinationHost(url) == d.Hostname {
				err = errors.New("must not lead to the domain itself")
			}
			if err != nil {
				v.Add(f.name, "%s", err)
				continue
			}
			*f.to = url
		}
	}
	if in.HSTS != nil {
		if d.HSTS = *in.HSTS; d.HSTS < 0 || d.HSTS > maxHSTS {
			v.Add("hsts", "must be a number of seconds from 0 to %d", maxHSTS)
		}
	}
	in.applySlugs(&d.Slugs, v)
	in.applyBrand(d, v)
	in.applyApps(d, v)
	if in.Default != nil {
		d.Default = *in.Default
	}
}

// fields returns the audited fields.
func fields(d *store.Domain) map[string]any {
	out := map[string]any{"hostname": d.Hostname, "status": d.Status, "hsts": d.HSTS, "isDefault": d.Default, "appLinks": auditedApps(d),
		"caseSensitive": !d.Slugs.Fold, "slugs": slugs.Form(d.Slugs), "minSlugLength": slugs.Least(d.Slugs)}
	for name, text := range map[string]string{"rootUrl": d.RootURL, "notFoundUrl": d.NotFoundURL, "expiredUrl": d.ExpiredURL,
		"brandName": d.BrandName, "brandLogoUrl": d.BrandLogo, "suspendReason": d.Suspended} {
		if out[name] = text; text == "" {
			out[name] = nil
		}
	}
	return out
}

// List reads a page of the workspace's domains by host name, and counts all of them. search is text in the host name. For
// an ADMIN who chose no workspace it lists the domains of all workspaces.
func (s *Service) List(ctx context.Context, p auth.Principal, search string, offset, limit int) ([]store.Domain, int, error) {
	if len(search) > maxSearch {
		return nil, 0, problem.OfField("search", "must be at most %d bytes long", maxSearch)
	}
	list, total, err := s.store.Domains(ctx, p.Scope(), search, offset, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("list domains: %w", err)
	}
	return list, total, nil
}

// visible wraps a store call that returns a domain. It returns the same error for a missing domain and for one that the
// caller may not see.
func visible(p auth.Principal) func(store.Domain, error) (store.Domain, error) {
	return auth.Visible("Domain", func(d *store.Domain) bool { return p.Sees(d.Workspace) })
}

// Get reads one domain.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (store.Domain, error) {
	return visible(p)(s.store.DomainByID(ctx, id))
}

// Create adds a domain, which is PENDING until Verify finds its records. A name that another workspace holds, or that the
// workspace has already, is a Conflict.
func (s *Service) Create(ctx context.Context, p auth.Principal, typed string, in Input) (store.Domain, error) {
	var v problem.Fields
	name, err := hostname.Parse(typed, s.cfg.Names)
	if err != nil {
		v.Add("hostname", "%s", err)
	}
	now := s.now()
	d := store.Domain{
		ID: store.NewID(), Workspace: p.Workspace.Num, Hostname: name.ASCII, Status: store.DomainPending, Slugs: link.SlugRules{Min: link.MinSlug}, Token: "shortline-" +
			auth.NewToken()[:32],
		CreatedAt: now, UpdatedAt: now,
	}
	in.Past.Apply(&d.ID, &d.CreatedAt, &d.UpdatedAt)
	s.applyInput(&in, &d, &v)
	if err := v.Err(); err != nil {
		return store.Domain{}, err
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		switch held, reserved, err := tx.HostnameHeld(ctx, d.Hostname, 0, d.Workspace, now); {
		case err != nil:
			return err
		case reserved:
			return conflict(d.Hostname, reservedMessage)
		case held:
			return s.taken(ctx, tx, &d)
		}
		if _, total, err := tx.Domains(ctx, d.Workspace, "", 0, 0); err != nil {
			return err
		} else if total >= s.cfg.Most {
			return problem.New(problem.Conflict, "A workspace can have at most %d domains.", s.cfg.Most)
		}
		switch free, err := tx.InsertDomain(ctx, &d); {
		case err != nil:
			return err
		case !free:
			return s.taken(ctx, tx, &d)
		}
		// Visitors may come before the name is proved, and must not reach links of others.
		if err := tx.TouchDomain(ctx, &d); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "DOMAIN_CREATED", EntityType: "domain", EntityID: d.ID,
			Workspace: d.Workspace, New: fields(&d)})
	})
	return d, problem.Doing("create domain", err)
}

// taken returns the Conflict for a name that cannot be added. It does not tell which other workspace has the name.
func (s *Service) taken(ctx context.Context, tx *store.Tx, d *store.Domain) error {
	message := "%q belongs to another workspace"
	if _, err := tx.DomainOf(ctx, d.Workspace, d.Hostname); err == nil {
		message = "the workspace has %q already"
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return conflict(d.Hostname, message)
}

func conflict(hostname, message string) error {
	field := problem.Field{Field: "hostname", Message: fmt.Sprintf(message, hostname)}
	return &problem.Error{Kind: problem.Conflict, Message: "The domain is taken.", Fields: []problem.Field{field}}
}
