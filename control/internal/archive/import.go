package archive

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/link"
)

// Options says how to import.
type Options struct {
	DryRun bool
	// SkipConflicts imports everything else if something cannot be imported, such as a link whose slug is taken.
	SkipConflicts bool
}

// Report says what an import did, or what it would do.
type Report struct {
	Manifest Manifest
	Kinds    []*Kind
	// Deactivated is the number of created links that visitors cannot use before an owner activates them: links that had a password, and
	// links that were suspended.
	Deactivated int
	Problems    []Problem // the first of them
	AllProblems int
}

// Kind counts the objects of a kind.
type Kind struct {
	Name    string
	Rows    int64 // in the archive
	Created int64 // or, in a dry run, to be created; of figures: stored, also if they were stored already
	Present int64 // the workspace has them already
	Skipped int64 // because of problems
}

// Problem says why an object cannot be imported.
type Problem struct {
	Kind    string
	Name    string // of the object
	Field   string
	Message string
}

// Kinds of objects, in the order of their import.
const (
	kindTag        = "tag"
	kindTemplate   = "utm_template"
	kindDomain     = "domain"
	kindBundle     = "bundle"
	kindLink       = "url"
	kindWebhook    = "webhook"
	kindClick      = "click"
	kindConversion = "conversion"
)

// AllKinds lists the names of kinds.
var AllKinds = []string{kindTag, kindTemplate, kindDomain, kindBundle, kindLink, kindWebhook, kindClick, kindConversion}

// mostProblems is the number of problems in a Report.
const mostProblems = 100

// run is one pass over an archive: a dry run, or the import.
type run struct {
	*Service
	a      *opened
	p      auth.Principal
	dry    bool
	report *Report
	kinds  map[string]*Kind

	newDomains map[string]bool      // in a dry run: domains that the import would add
	badDomains map[string]bool      // domains that cannot be added
	numbers    map[string]uint64    // of links, by the ids in the archive
	parts      map[link.ID]link.ID  // ids of rules and variants that have another id here
	ids        map[string]string    // ids of links and bundles that have another id here
	counts     map[uint64]int64     // clicks of people, by link
	partCounts map[link.ID]*counter // and by rule and variant
}

// Import checks an archive, and then adds what it has to the caller's workspace. What the workspace has already stays as it is. Without
// SkipConflicts, an archive of which something cannot be imported is a Conflict. Repeat an import that failed: it adds what is missing.
func (s *Service) Import(ctx context.Context, p auth.Principal, file io.ReaderAt, size int64, o Options) (*Report, error) {
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	a, err := open(file, size)
	if err != nil {
		return nil, err
	}
	if err := a.checkMembers(ctx); err != nil {
		return nil, problem.Doing("import a workspace", err)
	}
	report, err := s.pass(ctx, p, a, true)
	if err != nil || o.DryRun {
		return report, problem.Doing("import a workspace", err)
	}
	if report.AllProblems > 0 && !o.SkipConflicts {
		return nil, report.conflict()
	}
	if report, err = s.pass(ctx, p, a, false); err != nil {
		return nil, problem.Doing("import a workspace", err)
	}
	rows := map[string]any{}
	for _, k := range report.Kinds {
		rows[k.Name] = map[string]any{"created": k.Created, "present": k.Present, "skipped": k.Skipped}
	}
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "WORKSPACE_IMPORTED", EntityType: "workspace",
			EntityID: p.Workspace.ID, Workspace: p.Workspace.Num, Metadata: map[string]any{"rows": rows,
				"from": a.manifest.Workspace.ID, "exportedAt": a.manifest.ExportedAt}})
	})
	return report, problem.Doing("import a workspace", err)
}

// conflict returns the problem of an archive that cannot be imported as a whole.
func (r *Report) conflict() error {
	e := problem.New(problem.Conflict,
		"%d objects of the archive cannot be imported. Nothing was changed. Use skipConflicts to import the others.",
		r.AllProblems)
	for _, f := range r.Problems {
		e.Fields = append(e.Fields, problem.Field{Field: f.Kind + "." + f.Name + "." + f.Field, Message: f.Message})
	}
	return e
}

func (s *Service) pass(ctx context.Context, p auth.Principal, a *opened, dry bool) (*Report, error) {
	r := &run{Service: s, a: a, p: p, dry: dry, report: &Report{Manifest: a.manifest, Problems: []Problem{}}, kinds: map[string]*Kind{},
		newDomains: map[string]bool{}, badDomains: map[string]bool{}, numbers: map[string]uint64{}, parts: map[link.ID]link.ID{},
		ids: map[string]string{}, counts: map[uint64]int64{}, partCounts: map[link.ID]*counter{}}
	for i, name := range []string{tagsName, templatesName, domainsName, bundlesName, linksName, webhooksName, clicksName, conversionsName} {
		k := &Kind{Name: AllKinds[i], Rows: a.member(name).Rows}
		r.kinds[k.Name], r.report.Kinds = k, append(r.report.Kinds, k)
	}
	for _, part := range []func(context.Context) error{r.tags, r.templates, r.domains, r.bundles, r.links, r.fillBundles, r.webhooks,
		r.clicks, r.conversions, r.counters} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return r.report, nil
}

// refuse counts an object that cannot be imported. err is a problem with it; any other error is returned.
func (r *run) refuse(kind, name string, err error) error {
	var e *problem.Error
	if !errors.As(err, &e) || e.Kind == problem.Unavailable || e.Kind == problem.TooMany {
		return oursOr(err)
	}
	r.kinds[kind].Skipped++
	r.report.AllProblems++
	if len(r.report.Problems) == mostProblems {
		return nil
	}
	one := Problem{Kind: kind, Name: problem.Clip(name), Message: e.Message}
	if len(e.Fields) > 0 {
		one.Field, one.Message = e.Fields[0].Field, e.Fields[0].Message
	}
	r.report.Problems = append(r.report.Problems, one)
	return nil
}

// mapped returns the id that an object gets here if its own id is in use elsewhere. It is always the same for a workspace.
func (r *run) mapped(id string) string {
	space, err := uuid.Parse(r.p.Workspace.ID)
	if err != nil {
		space = uuid.NameSpaceOID
	}
	return uuid.NewSHA1(space, []byte("archive "+id)).String()
}

// place returns the id that an object has or gets here, and whether the workspace has the object already. holders are the present
// objects with the id or the mapped id.
func (r *run) place(id string, holders map[string]store.Holder) (here string, present bool) {
	other := r.mapped(id)
	if h, taken := holders[other]; taken {
		return other, h.Workspace == r.p.Workspace.Num
	}
	if h, taken := holders[id]; !taken || h.Workspace == r.p.Workspace.Num {
		return id, taken
	}
	return other, false
}

// both returns ids and what they would be mapped to.
func (r *run) both(ids []string) []string {
	out := make([]string, 0, 2*len(ids))
	for _, id := range ids {
		out = append(out, id, r.mapped(id))
	}
	return out
}

// object is an object of an archive that is created by one call.
type object struct {
	id, name string
	check    func() error
	create   func(past store.Past) error
	created  Time
	updated  Time
}

// createEach creates the objects that the workspace lacks. A present object with the same name is no problem if same says so.
func (r *run) createEach(ctx context.Context, kind, table string, list []object, same func(*object) (bool, error)) error {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].id
	}
	holders, err := r.store.HoldersOf(ctx, table, r.both(ids))
	if err != nil {
		return fmt.Errorf("find present objects: %w", err)
	}
	k := r.kinds[kind]
	for i := range list {
		o := &list[i]
		here, present := r.place(o.id, holders)
		if r.ids[o.id] = here; !present && same != nil {
			if present, err = same(o); err != nil {
				return err
			}
		}
		if present {
			k.Present++
			continue
		}
		if r.dry {
			err = o.check()
		} else {
			err = o.create(store.Past{ID: here, CreatedAt: int64(o.created), UpdatedAt: int64(o.updated)})
		}
		if err == nil {
			k.Created++
		} else if err := r.refuse(kind, o.name, err); err != nil {
			return err
		}
	}
	return nil
}
