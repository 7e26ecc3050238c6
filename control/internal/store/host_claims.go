package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// ClaimID names a number (externalId) that a shop gives conversions, within a workspace and a name.
type ClaimID string

// NewClaimID returns the id of a number. The store keeps no numbers, because they may tell something about people.
func NewClaimID(workspace uint64, name, number string) ClaimID {
	b := binary.BigEndian.AppendUint64(nil, workspace)
	b = append(append(append(b, name...), 0), number...)
	sum := sha256.Sum256(b)
	return ClaimID(base64.RawURLEncoding.EncodeToString(sum[:16]))
}

// Claim is the conversion that counts for a number: the one of this click.
type Claim struct {
	ID        ClaimID
	Link      uint64
	Time, Tag int64 // of the click
}

func scanClaim(row interface{ Scan(...any) error }) (o Claim, err error) {
	return o, row.Scan(&o.ID, &o.Link, &o.Time, &o.Tag)
}

// Claims reads the conversions that count for numbers.
func (c Conn) Claims(ctx context.Context, ids []ClaimID) (map[ClaimID]Claim, error) {
	out, err := found(ctx, c, scanClaim, `SELECT id, link_num, clicked_at, tag FROM conversion_claims WHERE id IN (keys)`, Distinct(ids),
		func(o *Claim) ClaimID { return o.ID })
	if err != nil {
		return nil, fmt.Errorf("read claims: %w", err)
	}
	return out, nil
}

// ClaimNumbers adds those claims whose numbers no conversion has yet. Of claims with the same number, the first one counts. Read
// the result after the transaction, because another one may add the same numbers.
func (tx *Tx) ClaimNumbers(ctx context.Context, claims []Claim, now int64) error {
	claims = slices.Clone(claims)
	// Transactions that add the same numbers wait for each other, so all of them use one order.
	slices.SortStableFunc(claims, func(a, b Claim) int { return cmp.Compare(a.ID, b.ID) })
	claims = slices.CompactFunc(claims, func(a, b Claim) bool { return a.ID == b.ID })
	for part := range slices.Chunk(claims, batch/5) {
		var args []any
		for _, o := range part {
			args = append(args, o.ID, o.Link, o.Time, o.Tag, now)
		}
		rows := strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?, ?), ", len(part)), ", ")
		query := `INSERT INTO conversion_claims (id, link_num, clicked_at, tag, claimed_at) VALUES ` + rows + ` ON CONFLICT DO NOTHING`
		if _, err := tx.Exec(ctx, query, args...); err != nil {
			return fmt.Errorf("claim numbers: %w", err)
		}
	}
	return nil
}

// ForgetClaims removes claims that were claimed before a time, at most a given number of them.
func (tx *Tx) ForgetClaims(ctx context.Context, before int64, most int) error {
	return tx.Do(ctx, `DELETE FROM conversion_claims WHERE id IN (
		SELECT id FROM conversion_claims WHERE claimed_at < ? ORDER BY claimed_at LIMIT ?)`, before, most)
}
