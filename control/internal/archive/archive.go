// Package archive writes a whole workspace as one file, and makes a workspace of such a file.
//
// An archive is a ZIP file. Objects are lines of JSON, figures are CSV and Apache Parquet, and the last member, manifest.json, has the
// version of the format and the size, the number of rows and the SHA-256 of every other member. docs/users/archive.md describes it.
//
// An export reads the database in one snapshot, and then the click store. It needs little memory, whatever the workspace has. An import
// checks the complete file before it changes anything. Then it adds what is missing, in transactions of some hundred links, so an import
// that was interrupted is repeated: what is there already stays as it is.
//
// An archive has no secrets: no passwords of links, no secrets or headers of webhooks, no keys.
package archive

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/manage/bundles"
	"github.com/shortline/shortline/control/internal/manage/domains"
	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/manage/routing"
	"github.com/shortline/shortline/control/internal/manage/tags"
	"github.com/shortline/shortline/control/internal/manage/utmtemplates"
	"github.com/shortline/shortline/control/internal/manage/webhooks"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// Config configures New.
type Config struct {
	// Dir is the folder for temporary files; "" means that of the system.
	Dir string
	// Now is nil for time.Now.
	Now func() time.Time
	// Logger is nil for slog.Default().
	Logger *slog.Logger
}

// Uses are the use cases by which an import creates objects, so that the rules for objects of the API apply.
type Uses struct {
	Links        *links.Service
	Routing      *routing.Service
	Bundles      *bundles.Service
	Tags         *tags.Service
	UTMTemplates *utmtemplates.Service
	Domains      *domains.Service
	Webhooks     *webhooks.Service
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	cfg    Config
	store  *store.Store
	clicks analytics.Store
	use    Uses
	turns  chan struct{} // limits how many exports and imports this process runs at a time
}

// most is how many imports and beginnings of exports a process runs at a time.
const most = 2

// New returns a Service for open stores.
func New(cfg Config, st *store.Store, clicks analytics.Store, use Uses) *Service {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg: cfg, store: st, clicks: clicks, use: use, turns: make(chan struct{}, most)}
}

// MaxUpload is the size of the largest archive that can be imported, in bytes.
const MaxUpload = 4 << 30

// enter takes a turn, which the caller ends with leave. It does not wait, because turns take long.
func (s *Service) enter() (leave func(), err error) {
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns }, nil
	default:
		return nil, &problem.Error{Kind: problem.Unavailable, Message: "Other archives are being written or read. Try again shortly.",
			RetryAfter: 30 * time.Second}
	}
}
