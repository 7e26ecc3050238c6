package certs

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/metric"
	"github.com/shortline/shortline/shared/seal"
	"github.com/shortline/shortline/shared/snapshot"
)

const (
	// ticketLife is how long a key of session tickets is the newest one.
	ticketLife = 12 * time.Hour
	// ticketKeys is how many are kept: one that edges will use, one that they use, and one that still decrypts.
	ticketKeys = 3
	// orders and unused files are kept for some time.
	keepOrders = 7 * day
	keepFiles  = day
)

// rotateTickets adds a key of session tickets if the newest one is old enough.
func (s *Service) rotateTickets(ctx context.Context) error {
	now := s.now()
	oldest := now - ticketLife.Milliseconds()
	keys, err := s.store.TicketKeys(ctx)
	if err != nil {
		return fmt.Errorf("read ticket keys: %w", err)
	}
	if len(keys) > 0 && keys[0].CreatedAt > oldest {
		return nil
	}
	key := make([]byte, 32)
	rand.Read(key)
	sealed := s.edges.Seal(snapshot.TicketPlace, hex.EncodeToString(key))
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		_, err := tx.InsertTicketKey(ctx, sealed, now, oldest, ticketKeys)
		return err
	})
}

// removeStale removes what nobody needs: old orders, challenges of killed control planes, and files of names without a certificate.
func (s *Service) removeStale(ctx context.Context) error {
	now := store.Now()
	if err := s.store.Tx(ctx, func(tx *store.Tx) error { return tx.TrimACME(ctx, now-keepOrders.Milliseconds()) }); err != nil {
		return fmt.Errorf("remove old orders: %w", err)
	}
	hosts, err := s.store.CertificateHosts(ctx)
	if err != nil {
		return fmt.Errorf("list host names: %w", err)
	}
	used := make(map[string]bool, len(hosts))
	for _, host := range hosts {
		used[host] = true
	}
	files, err := s.store.FilesIn(ctx, "certificates")
	if err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	for i := range files {
		parts := strings.Split(files[i].Name, "/") // certificates, authority, host, file
		if len(parts) != 4 || used[parts[2]] || files[i].UpdatedAt > now-keepFiles.Milliseconds() {
			continue
		}
		if err := s.files.Delete(ctx, files[i].Name); err != nil {
			return fmt.Errorf("remove %s: %w", files[i].Name, err)
		}
	}
	return nil
}

// Reseal encrypts what older keys have encrypted with the first key, and returns the number of texts. Edges get the texts
// that concern them again. Programs may use the database at the same time.
func (s *Service) Reseal(ctx context.Context) (n int, err error) {
	nums, err := s.store.CertificateNums(ctx)
	if err != nil {
		return 0, fmt.Errorf("list certificates: %w", err)
	}
	for _, num := range nums {
		err := s.store.Tx(ctx, func(tx *store.Tx) error {
			c, err := tx.LockCertificate(ctx, num)
			if errors.Is(err, store.ErrNotFound) || err == nil && (c.SealedKey == "" || s.edges.Current(c.SealedKey)) {
				return nil
			} else if err != nil {
				return err
			}
			if c.SealedKey, err = reencrypt(s.edges, snapshot.SealPlace(c.Hostname), c.SealedKey); err != nil {
				return err
			}
			n++
			if err := tx.UpdateCertificate(ctx, &c); err != nil {
				return err
			}
			return tx.TouchHost(ctx, c.Hostname)
		})
		if err != nil {
			return n, fmt.Errorf("seal the key of certificate %d again: %w", num, err)
		}
	}
	tickets, err := s.store.TicketKeys(ctx)
	if err != nil {
		return n, fmt.Errorf("read ticket keys: %w", err)
	}
	for _, k := range tickets {
		if s.edges.Current(k.Sealed) {
			continue
		}
		sealed, err := reencrypt(s.edges, snapshot.TicketPlace, k.Sealed)
		if err == nil {
			err = s.store.Tx(ctx, func(tx *store.Tx) error { return tx.ReplaceTicketKey(ctx, k.Num, k.Sealed, sealed) })
		}
		if err != nil {
			return n, fmt.Errorf("seal a ticket key again: %w", err)
		}
		n++
	}
	more, err := s.files.reseal(ctx)
	return n + more, err
}

// reseal is Reseal for files.
func (s *storage) reseal(ctx context.Context) (n int, err error) {
	files, err := s.store.FilesIn(ctx, "")
	if err != nil {
		return 0, fmt.Errorf("list files: %w", err)
	}
	for i := range files {
		f, err := s.store.FileNamed(ctx, files[i].Name)
		if errors.Is(err, store.ErrNotFound) || err == nil && s.box.Current(f.Sealed) {
			continue
		}
		var sealed string
		if err == nil {
			sealed, err = reencrypt(s.box, filePlace(f.Name), f.Sealed)
		}
		if err == nil {
			err = s.store.Tx(ctx, func(tx *store.Tx) error { return tx.ReplaceFile(ctx, f.Name, f.Sealed, sealed) })
		}
		if err != nil {
			return n, fmt.Errorf("seal %s again: %w", files[i].Name, err)
		}
		n++
	}
	return n, nil
}

// reencrypt seals a text with the first key.
func reencrypt(box *seal.Box, place, sealed string) (string, error) {
	text, err := box.Open(place, sealed)
	if err != nil {
		return "", err
	}
	return box.Seal(place, text), nil
}

// counts are the figures of the metrics.
type counts struct {
	issued, refused atomic.Uint64
	mu              sync.Mutex
	states          map[string]store.CertificateState
}

func (c *counts) order(err error) {
	if err == nil {
		c.issued.Add(1)
	} else {
		c.refused.Add(1)
	}
}

func (s *Service) countStates(ctx context.Context) error {
	list, err := s.store.CertificateStates(ctx, s.now())
	if err != nil {
		return fmt.Errorf("count certificates: %w", err)
	}
	states := make(map[string]store.CertificateState, len(list))
	for _, state := range list {
		states[state.Status] = state
	}
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	s.counts.states = states
	return nil
}

func (c *counts) gauge(f func(states map[string]store.CertificateState) int64) func() int64 {
	return func() int64 {
		c.mu.Lock()
		defer c.mu.Unlock()
		return f(c.states)
	}
}

// sum adds up a number of all states.
func (c *counts) sum(of func(store.CertificateState) int) func() int64 {
	return c.gauge(func(all map[string]store.CertificateState) (n int64) {
		for _, state := range all {
			n += int64(of(state))
		}
		return n
	})
}

const missing, missingHelp = "shortline_certificates_missing",
	"Host names without a certificate although orders are enabled: of the service, or of custom domains whose DNS records lead to edges."

func (s *Service) metrics() metric.Set {
	type states = map[string]store.CertificateState
	set := metric.Set{
		metric.Total("shortline_certificate_orders_total", "Orders of certificates, by outcome.", s.counts.issued.Load,
			"outcome", "issued"),
		metric.Total("shortline_certificate_orders_total", "Orders of certificates, by outcome.", s.counts.refused.Load,
			"outcome", "failed"),
		metric.Time("shortline_certificate_expiry_timestamp_seconds",
			"Time at which the first certificate in use ends; 0 if there is none.",
			s.counts.gauge(func(all states) (first int64) {
				for _, state := range all {
					if state.NotAfter > 0 && (first == 0 || state.NotAfter < first) {
						first = state.NotAfter
					}
				}
				return first
			})),
		metric.Gauge("shortline_certificates_overdue", "Automatic certificates in the last quarter of their life: their renewals fail.",
			s.counts.sum(func(state store.CertificateState) int { return state.Overdue })),
		metric.Gauge(missing, missingHelp, func() int64 {
			if !s.cfg.Enabled() {
				return 0
			}
			return int64(len(s.cfg.Refused)) + s.counts.sum(func(state store.CertificateState) int { return state.MissingOwn })()
		}, "of", "service"),
		metric.Gauge(missing, missingHelp, func() int64 {
			if !s.cfg.Enabled() {
				return 0
			}
			return s.counts.sum(func(state store.CertificateState) int { return state.MissingDomains })()
		}, "of", "domain"),
	}
	for _, status := range []string{store.CertificatePending, store.CertificateActive, store.CertificateFailed} {
		set = append(set, metric.Gauge("shortline_certificates", "Certificates of host names in service, by status.",
			s.counts.gauge(func(all states) int64 {
				return int64(all[status].Count)
			}), "status", strings.ToLower(status)))
	}
	return set
}

var _ prometheus.Collector = (*Service)(nil)
