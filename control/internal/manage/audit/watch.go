package audit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/metric"
)

const (
	watchEvery  = time.Minute
	watchWithin = 10 * time.Second
	// hashDigits is the number of hex digits of a hash that the number of a metric can represent exactly.
	hashDigits = 12
)

// Watcher logs the head of the chain once a minute and exports the start of its hash in a metric. Logs and metrics are stored outside
// the database, so they reveal changes that the chain cannot. It also checks that the previous head still exists. It
// is a service.
type Watcher struct {
	metric.Set // makes it a prometheus.Collector
	job.Group

	store *store.Store
	log   *slog.Logger

	mu   sync.Mutex
	last Head

	lost  atomic.Uint64
	value atomic.Uint64 // first digits of the hash
}

// NewWatcher returns a Watcher. every is the interval between two checks; 0 means a minute.
func NewWatcher(st *store.Store, log *slog.Logger, every time.Duration) *Watcher {
	log = cmp.Or(log, slog.Default())
	every = cmp.Or(every, watchEvery)
	w := &Watcher{store: st, log: log}
	w.Group = job.Group{{Name: "audit_head", Every: every, Timeout: min(every, watchWithin), Do: w.look, Logger: log}}
	w.Set = metric.Set{
		metric.Gauge("shortline_audit_log_head_hash", "First 12 hex digits of the newest row's hash, as a number.", w.value.Load),
		metric.Total("shortline_audit_log_changes_total", "Checks that found the previous newest row of the audit log missing or changed.",
			w.lost.Load),
	}
	return w
}

func (w *Watcher) look(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	seq, hash, mac, err := w.store.AuditHead(ctx)
	before := ""
	if err == nil && w.last.Seq > 0 {
		before, err = w.store.AuditHash(ctx, w.last.Seq)
	}
	if err != nil {
		return fmt.Errorf("read the head of the audit log: %w", err)
	}
	if w.last.Seq > 0 && before != w.last.Hash {
		w.lost.Add(1)
		w.log.Error("audit log row missing or changed", "row", w.last.Seq, "hash_was", w.last.Hash, "hash_is", before)
	}
	w.last = Head{seq, hash}
	if len(hash) >= hashDigits {
		if n, err := strconv.ParseUint(hash[:hashDigits], 16, 64); err == nil {
			w.value.Store(n)
		}
	}
	w.log.Info("audit log head", "row", seq, "hash", hash, "hmac", mac.String)
	return nil
}
