package imports

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/manage/links"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	// shownProblems limits the problems of a preview.
	shownProblems = 1000
	previewRows   = 1000 // in one step
)

// Preview is what an import would do. Each row is in one of the counts.
type Preview struct {
	Rows, Create, Update, Skip, Rename, Errors int
	Problems                                   []store.ImportProblem // the first ones, of rows that are skipped, too
	Warnings                                   []store.ImportProblem // what would be lost of rows without errors
	DateFormat                                 DateFormat            // "" if the plan has DatesAuto, and none or several formats fit
	Dates                                      []DateSample          // the first ones of each column
}

// Preview checks all rows of an import and changes nothing. It does not ask the operator's check service.
func (s *Service) Preview(ctx context.Context, p auth.Principal, id string, plan Plan) (Preview, error) {
	i, err := s.Get(ctx, p, id)
	if err != nil {
		return Preview{}, err
	}
	if err := notMapping(&i); err != nil {
		return Preview{}, err
	}
	t, err := s.readTable(ctx, &i)
	if err != nil {
		return Preview{}, err
	}
	how, r, err := plan.prepare(t)
	if err != nil {
		return Preview{}, err
	}
	p.Workspace.Num = i.Workspace // an ADMIN reaches other workspaces, too
	out, seen := Preview{
		Rows: len(t.rows), Problems: []store.ImportProblem{}, DateFormat: r.dates.format, Dates: r.samplesOfDates(),
	}, links.NewSeen()
	lost := newLosses(r, how, s.links.Host(&store.Link{}))
	for part := range slices.Chunk(t.rows, previewRows) {
		drafts, records, err := s.draft(ctx, p, r, part)
		if err != nil {
			return Preview{}, err
		}
		if err := s.links.PlanImports(ctx, s.store.Conn, drafts, how, seen); err != nil {
			return Preview{}, fmt.Errorf("preview an import: %w", err)
		}
		for n, d := range drafts {
			lost.addRow(&part[n], &records[n], d)
			switch d.Outcome {
			case links.RowCreates:
				out.Create++
			case links.RowUpdates:
				out.Update++
			case links.RowSkips:
				out.Skip++
			case links.RowRenames:
				out.Rename++
			default:
				out.Errors++
			}
			out.Problems = append(out.Problems, r.problemsOf(&part[n], d.Reasons())...)
		}
		out.Problems = out.Problems[:min(len(out.Problems), shownProblems)]
	}
	out.Warnings = lost.warnings(out.Update)
	return out, nil
}

// draft reads and checks rows. The records are what the rows hold.
func (s *Service) draft(ctx context.Context, p auth.Principal, r *reader, rows []row) ([]*links.Draft, []record, error) {
	records, items, malformed := make([]record, len(rows)), make([]links.Imported, len(rows)), make([][]problem.Field, len(rows))
	for i := range rows {
		records[i], malformed[i] = r.readRow(&rows[i])
		items[i] = records[i].Imported
	}
	drafts, err := s.links.DraftImports(ctx, p, items)
	if err != nil {
		return nil, nil, fmt.Errorf("check rows of an import: %w", err)
	}
	for i, d := range drafts {
		d.Refuse(malformed[i])
	}
	return drafts, records, nil
}

// Problems reads a page of the problems that an import has had so far, in the order of the file, and counts all of them.
func (s *Service) Problems(ctx context.Context, p auth.Principal, id string, offset, limit int) ([]store.ImportProblem, int, error) {
	i, err := s.Get(ctx, p, id)
	if err != nil {
		return nil, 0, err
	}
	list, total, err := s.store.ImportProblems(ctx, i.Num, offset, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("list problems of an import: %w", err)
	}
	return list, total, nil
}

// LeftRows returns the delimiter of the file of an import, and a function that calls f with its header and with each row
// that has failed or was skipped so far. The last cell is the reason.
func (s *Service) LeftRows(ctx context.Context, p auth.Principal, id string) (delimiter rune,
	each func(ctx context.Context, f func(cells []string) error) error, err error) {
	i, err := s.Get(ctx, p, id)
	if err != nil {
		return 0, nil, err
	}
	t, err := s.readTable(ctx, &i)
	if err != nil {
		return 0, nil, err
	}
	width := len(t.header)
	if width > 1 && strings.TrimSpace(t.header[width-1]) == reasonTitle {
		width-- // the file has failed before
	}
	return t.delimiter, func(ctx context.Context, f func([]string) error) error {
		if err := f(append(slices.Clone(t.header[:width]), reasonTitle)); err != nil {
			return err
		}
		return s.eachReason(ctx, i.Num, func(line int, reason string) error {
			at, ok := slices.BinarySearchFunc(t.rows, line, func(r row, line int) int { return r.line - line })
			if !ok {
				return fmt.Errorf("the file of the import has no row in line %d", line)
			}
			cells := make([]string, width, max(width, len(t.rows[at].cells))+1)
			copy(cells, t.rows[at].cells)
			if extra := t.rows[at].cells; len(extra) > len(t.header) {
				cells = append(cells[:width], extra[width:]...)
			}
			return f(append(cells, reason))
		})
	}, nil
}

// eachReason calls f with each line that has failed or was skipped, and with all its problems as a text.
func (s *Service) eachReason(ctx context.Context, num uint64, f func(line int, reason string) error) error {
	line, part := 0, 0
	var reasons []string
	flush := func() error {
		if len(reasons) == 0 {
			return nil
		}
		return f(line, strings.Join(reasons, "; "))
	}
	for {
		list, err := s.store.ImportProblemsAfter(ctx, num, line, part, previewRows)
		if err != nil {
			return fmt.Errorf("read problems of an import: %w", err)
		}
		for _, p := range list {
			if p.Line != line {
				if err := flush(); err != nil {
					return err
				}
				reasons = nil
			}
			line, part = p.Line, p.Part
			reasons = append(reasons, strings.TrimSpace(cmp.Or(p.Column, p.Field)+" "+p.Message))
		}
		if len(list) < previewRows {
			return flush()
		}
	}
}
