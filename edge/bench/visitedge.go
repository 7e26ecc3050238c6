//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shortline/shortline/edge"
	"github.com/shortline/shortline/edge/internal/kafkasink"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/kafkaconn"
	"github.com/shortline/shortline/shared/seal"
	"github.com/shortline/shortline/shared/snapshot"
)

// visitDomain is the number of the custom domain whose name is visitHost.
const visitDomain = 1

// hostSource is a control plane with one list of hosts that does not change.
type hostSource struct{ list snapshot.Hosts }

func (s *hostSource) Hosts(ctx context.Context, after snapshot.Cursor) ([]byte, error) {
	if after == s.list.Cursor {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return snapshot.AppendHosts(nil, &s.list, snapshot.SigningKey{}), nil
}

// visitHosts returns a list with one custom domain and its certificate, and the key that seals the private key.
func visitHosts(dir string) (*hostSource, []byte, error) {
	chain, err := os.ReadFile(filepath.Join(dir, chainFile))
	if err != nil {
		return nil, nil, err
	}
	key, err := os.ReadFile(filepath.Join(dir, keyFile))
	if err != nil {
		return nil, nil, err
	}
	secret := bytes.Repeat([]byte("k"), seal.MinKey)
	box, err := seal.New(snapshot.SealPurpose, secret)
	if err != nil {
		return nil, nil, err
	}
	private, _ := pem.Decode(key)
	cert := &snapshot.Certificate{Key: box.Seal(snapshot.SealPlace(visitHost), string(private.Bytes))}
	for block, rest := pem.Decode(chain); block != nil; block, rest = pem.Decode(rest) {
		cert.Chain = append(cert.Chain, block.Bytes)
	}
	return &hostSource{snapshot.Hosts{
		Cursor: snapshot.Cursor{Incarnation: 1, Revision: 1}, Full: true,
		Hosts:   []snapshot.Host{{Name: visitHost, Domain: visitDomain, Certificate: cert}},
		Tickets: []string{box.Seal(snapshot.TicketPlace, hex.EncodeToString(bytes.Repeat([]byte("t"), 32)))},
	}}, secret, nil
}

// noChanges is a control plane whose links do not change.
type noChanges struct{}

func (noChanges) Changes(ctx context.Context, _ snapshot.Cursor) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// linkSource is a control plane with plain links, each on all domains.
type linkSource struct {
	noChanges
	links   int
	domains []uint64
}

func (n linkSource) Snapshot(context.Context) (io.ReadCloser, error) {
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(n.write(w)) }()
	return r, nil
}

func (n linkSource) write(to io.Writer) error {
	w, err := snapshot.NewWriter(to, snapshot.Cursor{Incarnation: 1, Revision: uint64(n.links * len(n.domains))})
	if err != nil {
		return err
	}
	num := uint64(0)
	for i := range uint32(n.links) {
		for _, domain := range n.domains {
			num++
			l := linkOf(num, domain, classPlain, i)
			if err := w.Add(&l); err != nil {
				return err
			}
		}
	}
	return w.Close()
}

// nowhere is a sink that discards clicks.
type nowhere struct{}

func (nowhere) Deliver(context.Context, *click.Batch) error { return nil }

// serveWhole runs a complete edge with one custom domain and its certificate. Each of the given domains has all links; 0 is the
// domain of BASE_URL.
func serveWhole(s *settings, domains ...uint64) error {
	data, err := os.MkdirTemp(s.data, "edge-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(data) }()
	hosts, secret, err := visitHosts(s.data)
	if err != nil {
		return err
	}
	sink := click.Sink(nowhere{})
	if s.kafka != "" {
		kafka, err := kafkasink.New(kafkasink.Config{
			Kafka: kafkaconn.Settings{Brokers: []string{s.kafka}, Topic: "clicks", CreateTopic: true, Partitions: 4},
			Dir:   filepath.Join(data, "kafka"), Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return err
		}
		defer kafka.Close()
		background, stop := context.WithCancel(context.Background())
		defer stop()
		go func() { _ = kafka.Run(background) }()
		sink = kafka
	}
	// After its first start, an edge writes its links to the disk. That is not a cost of requests.
	ready := func(e *edge.Edge) error {
		if !e.Ready() || e.Hosts() == 0 {
			return fmt.Errorf("the edge has %d hosts; it has links: %t", e.Hosts(), e.Ready())
		}
		for _, file := range []string{"links.state", "links.image"} {
			if found, err := filepath.Glob(filepath.Join(data, "*", file)); err != nil || len(found) == 0 {
				return fmt.Errorf("the edge has not written %s, %v", file, err)
			}
		}
		return nil
	}
	return runEdge(s,
		edge.Config{TLSAddr: "127.0.0.1:0", CertificateKeys: [][]byte{secret}, DataDir: data, MaxConnections: 2 * maxIdleConnections},
		edge.Deps{Links: linkSource{links: s.links, domains: domains}, Hosts: hosts, Sink: sink, Registry: prometheus.NewRegistry()}, ready)
}

// runEdge runs a complete edge until the input of this process ends. It answers "clicks", and frees memory when asked to.
func runEdge(s *settings, cfg edge.Config, deps edge.Deps, ready func(*edge.Edge) error) error {
	cfg.ListenAddr, cfg.BaseURL, deps.Logger = "127.0.0.1:0", "https://"+plainHost, slog.New(slog.DiscardHandler)
	e, err := edge.New(cfg, deps)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	if err = await(time.Minute, time.Millisecond, func() error { return ready(e) }); err == nil {
		var end func()
		if end, err = profiling(s.profile); err == nil {
			err = converse(map[string]string{"tls": e.SecureAddr().String(), "plain": e.Addr().String()}, func(ask string) string {
				if ask == "free" {
					debug.FreeOSMemory()
					return "{}"
				}
				st := e.Stats().Spool
				return asJSON(clickCount{st.Appended, st.Dropped})
			})
			end()
		}
	}
	stop()
	if failed := <-ended; err == nil {
		err = failed
	}
	return err
}
