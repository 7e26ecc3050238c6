package clickhouse

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/backoff"
)

// Errors of a replica that cannot do its part at present.
const (
	codeServerReadOnly = 164 // READONLY: the server or the user may not write
	codeReadOnly       = 242 // TABLE_IS_READ_ONLY: the replica lost Keeper, or is starting
	codeFewReplicas    = 285 // TOO_FEW_LIVE_REPLICAS: a quorum is impossible until another replica is back
	codeQuorumBusy     = 286 // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE: the previous insert has not reached its quorum
	codeNotInQuorum    = 289 // REPLICA_IS_NOT_IN_QUORUM: the replica lacks data that a quorum has
	codeUnknownInsert  = 319 // UNKNOWN_STATUS_OF_INSERT: the insert has not reached its quorum in time
	codeStale          = 369 // ALL_REPLICAS_ARE_STALE: all replicas lag too far
	codeKeeper         = 999 // KEEPER_EXCEPTION: Keeper does not answer, or the session with it has ended
	replicaTries       = 5
)

// replicaPauses add up to one to two seconds before the last attempt.
var replicaPauses = backoff.Policy{First: 130 * time.Millisecond, Most: 1040 * time.Millisecond}

// replicaCodes are counted separately.
var replicaCodes = [...]int{codeServerReadOnly, codeReadOnly, codeFewReplicas, codeQuorumBusy, codeNotInQuorum, codeUnknownInsert,
	codeStale, codeKeeper}

// brief are the replicaCodes that may pass within two seconds. The others wait for a server or for an operator, and before 319
// the server has waited for a minute already.
var brief = []int{codeReadOnly, codeQuorumBusy, codeNotInQuorum, codeStale, codeKeeper}

// replicaErrors counts responses with one of replicaCodes.
type replicaErrors [len(replicaCodes)]atomic.Uint64

// note counts err if it is one of a replica, and reports whether it may pass soon.
func (r *replicaErrors) note(err error) bool {
	if err == nil {
		return false
	}
	have := code(err)
	if i := slices.Index(replicaCodes[:], have); i >= 0 {
		r[i].Add(1)
	}
	return slices.Contains(brief, have)
}

// retry repeats f a few times within two seconds while a replica reports an error that may pass soon. f must be safe to repeat: a
// read, or an insert of rows with identities. After that, ingest repeats the batch as after any other error.
//
// If the service has several addresses, it also repeats f at once when a connection was lost. The pool may have more connections to
// the server that is gone, and each attempt removes one of them.
func (s *Store) retry(ctx context.Context, f func() error) error {
	for try, stale := 1, 0; ; try++ {
		err := f()
		if s.several && stale < s.conn.Stats().MaxIdleConns && ctx.Err() == nil && lost(err) {
			stale++
			try--
			continue
		}
		if !s.stats.replica.note(err) || try == replicaTries {
			return err
		}
		if !backoff.Sleep(ctx, replicaPauses.Delay(try)) {
			return err
		}
	}
}

// lost reports whether a connection broke. It is false if no connection could be made, or if the server was too slow.
func lost(err error) bool {
	var broken *net.OpError
	if errors.Is(err, errNoAddress) {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &broken) && !broken.Timeout()
}
