package clickhouse

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/shared/backoff"
)

// Temporary errors of a replica.
const (
	codeReadOnly    = 242 // TABLE_IS_READ_ONLY: the replica lost Keeper, or is starting
	codeQuorumBusy  = 286 // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE: the previous insert has not reached its quorum
	codeNotInQuorum = 289 // REPLICA_IS_NOT_IN_QUORUM: the replica lacks data that a quorum has
	replicaTries    = 5
)

// replicaPauses add up to one to two seconds before the last attempt.
var replicaPauses = backoff.Policy{First: 130 * time.Millisecond, Most: 1040 * time.Millisecond}

// replicaCodes are counted separately.
var replicaCodes = [...]int{codeReadOnly, codeQuorumBusy, codeNotInQuorum}

// replicaErrors counts responses with one of replicaCodes.
type replicaErrors [len(replicaCodes)]atomic.Uint64

// note counts err if it is temporary, and reports whether it is.
func (r *replicaErrors) note(err error) bool {
	if err == nil {
		return false
	}
	have := code(err)
	for i, c := range replicaCodes {
		if have == c {
			r[i].Add(1)
			return true
		}
	}
	return false
}

// retry repeats f a few times within two seconds while a replica reports a temporary error. f must be safe to repeat: a
// read, or an insert of rows with identities. After that, ingest repeats the batch as after any other error.
func (s *Store) retry(ctx context.Context, f func() error) error {
	for try := 1; ; try++ {
		err := f()
		if !s.stats.replica.note(err) || try == replicaTries {
			return err
		}
		if !backoff.Sleep(ctx, replicaPauses.Delay(try)) {
			return err
		}
	}
}
