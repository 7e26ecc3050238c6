package store

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/shortline/shortline/shared/client"
)

// ErasedVisitor is how many rows EraseVisitor has changed or deleted.
type ErasedVisitor struct{ Deliveries, Logs, LinkLockouts int64 }

// EraseVisitor removes a visitor's address: from deliveries of webhooks that wait, which go out without it; with the whole
// row from the log of deliveries; and from what is held against wrong passwords. Of an IPv6 address the latter know the
// first address of its /64, which is erased with it.
func (tx *Tx) EraseVisitor(ctx context.Context, ip netip.Addr) (e ErasedVisitor, err error) {
	quoted := fmt.Sprintf("%q", ip.String()) // as JSON has it
	like := "%" + quoted + "%"               // an address has no wildcards
	if e.Deliveries, err = tx.Exec(ctx, `UPDATE webhook_deliveries SET payload = replace(payload, ?, 'null') WHERE payload LIKE ?`, quoted, like); err != nil {
		return e, err
	}
	if e.Logs, err = tx.Exec(ctx, `DELETE FROM webhook_logs WHERE payload LIKE ? OR response LIKE ?`, like, like); err != nil {
		return e, err
	}
	e.LinkLockouts, err = tx.Exec(ctx, `DELETE FROM guesses WHERE client = ?`, client.Key(ip).String())
	return e, err
}
