package audit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shortline/shortline/control/internal/store"
)

// ErrTampered is wrapped by the error of Verify if the log was changed.
var ErrTampered = errors.New("audit log has been tampered with")

// UpgradeWindow is how long rows without an HMAC are accepted after the first row with one. During a rolling upgrade,
// programs of the previous release still write them. The operator must accept later ones explicitly.
const UpgradeWindow = 24 * time.Hour

// Head is the sequence number and hash of the newest row. A copy outside the database also reveals that the newest
// rows were removed.
type Head struct {
	Seq  int64
	Hash string
}

// Span is a range of rows, including both ends.
type Span struct{ From, To int64 }

func (s Span) String() string {
	if s.From == s.To {
		return fmt.Sprint("row ", s.From)
	}
	return fmt.Sprintf("rows %d-%d", s.From, s.To)
}

// ParseSpans parses ranges of rows such as "120-131,140".
func ParseSpans(text string) (spans []Span, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		a, err1 := strconv.ParseInt(from, 10, 64)
		b, err2 := strconv.ParseInt(to, 10, 64)
		if err1 != nil || err2 != nil || a < 1 || b < a {
			return nil, fmt.Errorf("%q is not a range of rows such as 120-131", part)
		}
		spans = append(spans, Span{a, b})
	}
	return spans, nil
}

// Checks configures Verify.
type Checks struct {
	// Keys are all keys that may have signed rows. Without keys the HMACs are not checked.
	Keys [][]byte
	// Accepted are rows without an HMAC that the operator accepts.
	Accepted []Span
}

// Report is the result of Verify for an intact log.
type Report struct {
	Head       Head
	SignedFrom int64  // the first row with an HMAC; 0: none
	Unsigned   []Span // later rows without an HMAC that were accepted
}

// Verify reads the whole log. Its error names the first invalid row.
func Verify(ctx context.Context, c store.Conn, checks Checks) (Report, error) {
	ring, err := newKeyRing(checks.Keys)
	if err != nil {
		return Report{}, err
	}
	v := verifier{ring: ring, accepted: checks.Accepted}
	if err := c.EachAudit(ctx, v.row); err != nil {
		return v.Report, err
	}
	return v.Report, nil
}

type verifier struct {
	Report
	ring     keyRing
	accepted []Span
	until    int64 // end of the upgrade window, ms
	signedAt int64 // time of the last row with an HMAC
}

func (v *verifier) row(r store.AuditRow) error {
	if r.Seq != v.Head.Seq+1 {
		return fmt.Errorf("%w: row %d is followed by row %d", ErrTampered, v.Head.Seq, r.Seq)
	}
	if want := chain(v.Head.Hash, r); r.Hash != want {
		return fmt.Errorf("%w: row %d (%s) does not match its hash", ErrTampered, r.Seq, r.ID)
	}
	v.Head = Head{r.Seq, r.Hash}
	if r.MAC.Valid {
		return v.signed(r)
	}
	if v.SignedFrom != 0 {
		return v.unsigned(r)
	}
	return nil
}

func (v *verifier) signed(r store.AuditRow) error {
	if len(v.ring) > 0 {
		switch good, known := v.ring.verify(r.Hash, r.MAC.String); {
		case !known:
			return fmt.Errorf(
				"row %d is signed with a key that is neither in ENCRYPTION_KEY nor in AUDIT_KEY (its id is %.8s); add the key that was replaced to "+
					"AUDIT_KEY",
				r.Seq, strings.TrimPrefix(r.MAC.String, "v1."))
		case !good:
			return fmt.Errorf("%w: row %d (%s) does not match its HMAC", ErrTampered, r.Seq, r.ID)
		}
	}
	if v.SignedFrom == 0 {
		v.SignedFrom = r.Seq
		v.until = r.CreatedAt + UpgradeWindow.Milliseconds()
	}
	v.signedAt = r.CreatedAt
	return nil
}

// unsigned checks a row without an HMAC that follows signed rows.
func (v *verifier) unsigned(r store.AuditRow) error {
	ok := r.CreatedAt <= v.until && v.signedAt <= v.until
	for _, s := range v.accepted {
		ok = ok || s.From <= r.Seq && r.Seq <= s.To
	}
	if !ok {
		return fmt.Errorf(
			"%w: row %d (%s) of %s has no HMAC, though rows have one from row %d on; if a program of an older release wrote it, accept it with "+
				"AUDIT_UNSIGNED=%d",
			ErrTampered, r.Seq, r.ID, time.UnixMilli(r.CreatedAt).UTC().Format(time.RFC3339), v.SignedFrom, r.Seq)
	}
	if n := len(v.Unsigned); n > 0 && v.Unsigned[n-1].To == r.Seq-1 {
		v.Unsigned[n-1].To = r.Seq
	} else {
		v.Unsigned = append(v.Unsigned, Span{r.Seq, r.Seq})
	}
	return nil
}
