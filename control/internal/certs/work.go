package certs

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/backoff"
	"github.com/shortline/shortline/shared/job"
	"github.com/shortline/shortline/shared/snapshot"
)

const (
	// claim is how long a certificate stays claimed after the control plane that claimed it was killed.
	claim = 45 * time.Second
	// reclaim is how often a control plane extends its claim.
	reclaim = 15 * time.Second
	// orderTime is the time limit of the work on one certificate.
	orderTime = 3 * time.Minute
	// doubt is the number of failing certificates of a workspace from which on its new domains are likely to fail, too.
	doubt = 10
)

// task is the work on one certificate. It travels in the context of certmagic.
type task struct {
	cert     store.Certificate
	doubtful bool
	replaces *x509.Certificate // that the order renews; nil: none
}

type taskKey struct{}

func taskOf(ctx context.Context) *task {
	t, ok := ctx.Value(taskKey{}).(*task)
	if !ok {
		panic("BUG: certs: an order without a task")
	}
	return t
}

// start claims certificates that are due, as many as there are slots, and works on them in the background: first those
// that are likely to succeed.
func (s *Service) start(ctx context.Context) error {
	for _, doubtful := range []bool{false, true} {
		if s.now() < s.pause(doubtful).Load() {
			continue
		}
		due, err := s.store.CertificatesDue(ctx, doubtful, doubt, s.now(), atOnce)
		if err != nil {
			return fmt.Errorf("list due certificates: %w", err)
		}
		for i := range due {
			t := &task{cert: due[i], doubtful: doubtful}
			if doubtful && !acquireSlot(s.slow) {
				return nil
			}
			if !acquireSlot(s.slots) {
				releaseSlot(s.slow, t.doubtful)
				return nil
			}
			mine, err := s.claim(ctx, t)
			if err != nil || !mine {
				<-s.slots
				releaseSlot(s.slow, t.doubtful)
				if err != nil {
					return err
				}
				continue
			}
			s.orders.Go(func() {
				defer func() {
					<-s.slots
					releaseSlot(s.slow, t.doubtful)
				}()
				s.work(ctx, t)
			})
		}
	}
	return nil
}

// pause returns until when the budget allows no orders, in Unix milliseconds: of those that are likely to fail, or of others.
func (s *Service) pause(doubtful bool) *atomic.Int64 {
	if doubtful {
		return &s.paused[1]
	}
	return &s.paused[0]
}

func acquireSlot(slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
		return false
	}
}

func releaseSlot(slots chan struct{}, entered bool) {
	if entered {
		<-slots
	}
}

// claim claims a certificate, and reports false if another control plane was faster.
func (s *Service) claim(ctx context.Context, t *task) (mine bool, err error) {
	until := s.now() + claim.Milliseconds()
	err = s.store.Tx(ctx, func(tx *store.Tx) (err error) {
		mine, err = tx.ClaimCertificate(ctx, t.cert.Num, t.cert.NextAt, until)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("claim the certificate of %s: %w", t.cert.Hostname, err)
	}
	if mine {
		t.cert.NextAt = until
	}
	return mine, nil
}

// work does what a certificate needs, and stores the outcome.
func (s *Service) work(ctx context.Context, t *task) {
	working, cancel := context.WithTimeout(context.WithValue(ctx, taskKey{}, t), orderTime)
	defer cancel()
	var held sync.WaitGroup
	hold, release := context.WithCancel(working)
	held.Go(func() { s.hold(hold, t, cancel) })
	var got *pair
	var look time.Time
	err := job.Contain(s.cfg.Logger, func() (err error) {
		got, look, err = s.provide(working, t)
		return err
	})
	release()
	held.Wait() // before the outcome, because it moves NextAt, too
	if ctx.Err() != nil {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer stop()
		if err != nil { // because the process ends: another control plane, or the next start, continues at once
			err = &errRateLimited{}
		}
	}
	if err := s.settle(ctx, t, got, look, err); err != nil {
		s.cfg.Logger.Error("certificate not stored", "hostname", t.cert.Hostname, "error", err.Error())
	}
}

// hold extends the claim until ctx ends. If somebody else has the certificate, it calls lost.
func (s *Service) hold(ctx context.Context, t *task, lost func()) {
	for backoff.Sleep(ctx, reclaim) {
		if mine, err := s.claim(ctx, t); err == nil && !mine {
			lost()
			return
		}
	}
}

// provide returns the certificate that a host name should have, and when to look at it again: the certificate of the last
// order, or that of a new one.
func (s *Service) provide(ctx context.Context, t *task) (have *pair, look time.Time, err error) {
	name := t.cert.Hostname
	if have, err = s.load(ctx, name); err != nil {
		return nil, look, err
	}
	if have != nil {
		renew, look := s.plan(ctx, have.leaf, name)
		// A newer certificate than that of edges is of an order whose control plane was killed before it stored the outcome.
		newer := t.cert.NotBefore > 0 && have.leaf.NotBefore.UnixMilli() > t.cert.NotBefore
		if s.cfg.Now().Before(renew) || newer {
			return have, look, nil
		}
		t.replaces = have.leaf
		err = s.config.RenewCertSync(ctx, name, true)
	} else {
		// The rest of an incomplete certificate would hide that there is none.
		if err := s.files.Delete(ctx, certmagic.StorageKeys.CertsSitePrefix(s.issuer.IssuerKey(), name)); err != nil {
			return nil, look, err
		}
		err = s.config.ObtainCertSync(ctx, name)
	}
	if err != nil {
		return nil, look, err
	}
	if have, err = s.load(ctx, name); err == nil && have == nil {
		err = errors.New("the certificate is not in the database")
	}
	if err != nil {
		return nil, look, err
	}
	_, look = s.plan(ctx, have.leaf, name)
	return have, look, nil
}

// settle stores the outcome of the work on a certificate.
func (s *Service) settle(ctx context.Context, t *task, got *pair, look time.Time, failed error) error {
	if earliest := s.cfg.Now().Add(soon); look.Before(earliest) {
		look = earliest
	}
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		c, err := tx.LockCertificate(ctx, t.cert.Num)
		if errors.Is(err, store.ErrNotFound) || err == nil && (c.Source != store.CertificateACME || c.NextAt != t.cert.NextAt) {
			return nil // deleted, uploaded or claimed meanwhile
		} else if err != nil {
			return err
		}
		if failed != nil {
			return s.fail(ctx, tx, &c, failed)
		}
		return s.succeed(ctx, tx, &c, got, look)
	})
}

// succeed stores a certificate and tells edges, unless they have it.
func (s *Service) succeed(ctx context.Context, tx *store.Tx, c *store.Certificate, got *pair, look time.Time) error {
	renewed := c.NotAfter > 0
	same := c.Status == store.CertificateActive && c.Chain == string(got.chain)
	c.NextAt, c.Status, c.LastError, c.Failures = look.UnixMilli(), store.CertificateActive, "", 0
	if same {
		return tx.UpdateCertificate(ctx, c)
	}
	c.Chain, c.SealedKey = string(got.chain), s.edges.Seal(snapshot.SealPlace(c.Hostname), string(got.key))
	c.Issuer, c.NotBefore, c.NotAfter = IssuerOf(got.leaf), got.leaf.NotBefore.UnixMilli(), got.leaf.NotAfter.UnixMilli()
	c.Announced, c.UpdatedAt = 0, s.now()
	if err := tx.UpdateCertificate(ctx, c); err != nil {
		return err
	}
	if err := tx.TouchHost(ctx, c.Hostname); err != nil {
		return err
	}
	if err := s.notifyIssued(ctx, tx, c, renewed); err != nil {
		return err
	}
	tx.AfterCommit(func() {
		s.cfg.Logger.Info("certificate issued", "hostname", c.Hostname, "issuer", c.Issuer, "not_after", got.leaf.NotAfter,
			"renewal", renewed)
	})
	return nil
}

// fail stores why there is no new certificate, and when to try again. Edges keep an earlier certificate.
func (s *Service) fail(ctx context.Context, tx *store.Tx, c *store.Certificate, failed error) error {
	now := s.now()
	var w *errRateLimited
	if errors.As(failed, &w) {
		c.NextAt = now
		if w.until > 0 { // many certificates may wait for the same time
			c.NextAt = w.until + rand.N(5*time.Second).Milliseconds()
		}
		return tx.UpdateCertificate(ctx, c)
	}
	c.Failures++
	again := delay(c.Failures)
	c.LastError = explainOther(failed)
	var r *refusal
	if errors.As(failed, &r) {
		c.LastError = r.words
		again = max(again, r.after)
	}
	c.Status, c.NextAt, c.UpdatedAt = store.CertificateFailed, now+again.Milliseconds(), now
	if err := tx.UpdateCertificate(ctx, c); err != nil {
		return err
	}
	if c.Failures == notifyAfter {
		if err := s.notifyFailed(ctx, tx, c); err != nil {
			return err
		}
	}
	if backoff.LogWorthy(c.Failures) {
		s.cfg.Logger.Warn("certificate not issued", "hostname", c.Hostname, "failures", c.Failures, "retry_in",
			again.Round(time.Second), "error",
			failed.Error())
	}
	return nil
}

// IssuerOf names the authority that issued a certificate, such as "Let's Encrypt".
func IssuerOf(leaf *x509.Certificate) string {
	if len(leaf.Issuer.Organization) > 0 {
		return leaf.Issuer.Organization[0]
	}
	return leaf.Issuer.CommonName
}
