package store

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/shortline/shortline/shared/client"
)

// ErasedVisitor counts the rows that EraseVisitor changed or deleted.
type ErasedVisitor struct{ Deliveries, Logs, LinkLockouts int64 }

// EraseVisitor erases a visitor's address. Waiting webhook deliveries lose the address and are still sent. Rows of the
// delivery log and link lockouts are deleted. Lockouts store the first address of an IPv6 client's /64, so that
// address is erased as well.
func (tx *Tx) EraseVisitor(ctx context.Context, ip netip.Addr) (e ErasedVisitor, err error) {
	quoted := fmt.Sprintf("%q", ip.String()) // as a JSON string
	like := "%" + quoted + "%"               // an address contains no wildcards
	if e.Deliveries, err = tx.Exec(ctx, `UPDATE webhook_deliveries SET payload = replace(payload, ?, 'null') WHERE payload LIKE ?`, quoted,
		like); err != nil {
		return e, err
	}
	if e.Logs, err = tx.Exec(ctx, `DELETE FROM webhook_logs WHERE payload LIKE ? OR response LIKE ?`, like, like); err != nil {
		return e, err
	}
	e.LinkLockouts, err = tx.Exec(ctx, `DELETE FROM guesses WHERE client = ?`, client.Key(ip).String())
	return e, err
}
