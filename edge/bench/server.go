//go:build linux

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/shortline/shortline/edge/internal/hosts"
	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/edge/internal/spool"
	"github.com/shortline/shortline/edge/internal/table"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/visitor"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/valyala/fasthttp"
)

// serveBare is the baseline: the plain HTTP server with a constant answer that has the same header fields.
func serveBare(*settings) error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = bareServer().Serve(l) }()
	plus, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server, listener := plusServer(plus)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = listener.Run(ctx) }()
	go func() { _ = server.Serve(listener) }()
	return converse(map[string]string{"bare": l.Addr().String(), "bare+": plus.Addr().String()}, nil)
}

// plusServer returns bareServer behind the edge's listener and with the options of the edge's server.
func plusServer(ln net.Listener) (*fasthttp.Server, *listen.Listener) {
	l := listen.New(ln, redirect.Timeouts)
	l.AwaitHeads(1 << 16)
	s := bareServer()
	s.ConnState, s.ReadBufferSize, s.WriteBufferSize = l.State, 8<<10, 4<<10
	s.DisableHeaderNamesNormalizing, s.SecureErrorLogMessage, s.CloseOnShutdown = true, true, true
	return s, l
}

// serveEdge runs the edge's redirect with its table and its spool on two addresses: one for direct visitors and one
// behind a trusted proxy, so that visitors have addresses all over the world.
func serveEdge(s *settings) error {
	dir, err := os.MkdirTemp(s.dir, "bench-spool-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	began := time.Now()
	tab, err := table.New(table.Config{})
	if err != nil {
		return err
	}
	if err := fill(tab, s); err != nil {
		return err
	}
	loaded := time.Since(began)
	geo, err := openGeo(s.geo, dir)
	if err != nil {
		return err
	}
	quiet := slog.New(slog.DiscardHandler)
	clicks, err := spool.Open(spool.Config{Dir: filepath.Join(dir, "spool"), CapBytes: 32 << 30, MinFreePercent: 1,
		Sync: spool.SyncMode(s.sync), Logger: quiet})
	if err != nil {
		return err
	}
	defer func() { _ = clicks.Close() }()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = clicks.Run(ctx) }()
	hello := map[string]string{"table": fmt.Sprintf("table of %d links: %.0f MB, filled in %.1f s", tab.Len(), float64(tab.Bytes())/1e6,
		loaded.Seconds())}
	agents := visitor.NewAgents(visitor.DefaultAgents)
	trusted, err := visitor.ParsePrefixes("127.0.0.0/8")
	if err != nil {
		return err
	}
	keys, err := openKeys(filepath.Join(dir, "hosts"), quiet)
	if err != nil {
		return err
	}
	defer func() { _ = keys.Close() }()
	type server struct {
		proxies visitor.Prefixes
		hosts   *hosts.Table
	}
	servers := map[string]server{"direct": {}, "proxied": {proxies: trusted}}
	if s.selects(tracked) { // an idle listener costs a little, too
		servers["tracking"] = server{hosts: keys}
	}
	for name, at := range servers {
		h, err := redirect.New(redirect.Config{BaseURL: "https://sho.rt", Trusted: at.proxies},
			redirect.Deps{Table: tab, Spool: clicks, Agents: agents, Geo: geo, Hosts: at.hosts, Logger: quiet})
		if err != nil {
			return err
		}
		raw, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return err
		}
		l := listen.New(raw, redirect.Timeouts)
		go func() { _ = l.Run(ctx) }()
		go func() { _ = redirect.NewServer(h, l).Serve(l) }()
		hello[name] = raw.Addr().String()
	}
	stopProfile, err := profiling(s.profile)
	if err != nil {
		return err
	}
	defer stopProfile()
	churn := churner{table: tab}
	return converse(hello, func(ask string) string { return answer(ask, tab, clicks, &churn) })
}

// openKeys returns a table of no host names and the keys of click ids.
func openKeys(dir string, quiet *slog.Logger) (*hosts.Table, error) {
	keys, err := hosts.Open(hosts.Config{Dir: dir, Logger: quiet})
	if err != nil {
		return nil, err
	}
	first, last := conversion.PeriodsAt(time.Now(), 0)
	keys.Apply(&snapshot.Hosts{Full: true,
		Conversions: &snapshot.Conversions{Keys: conversion.Derive([][]byte{[]byte("bench")}, first, last)}})
	return keys, nil
}

// profiling writes the CPU profile of this process to a file until stop is called. It does nothing without a file.
func profiling(file string) (stop func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, pprof.StartCPUProfile(f)
}

// openGeo opens a geo database: the given file, or one that is made in dir.
func openGeo(file, dir string) (*visitor.Geo, error) {
	if file == "" {
		file = filepath.Join(dir, "geo.mmdb")
		if err := makeGeo(file); err != nil {
			return nil, err
		}
	}
	return visitor.OpenGeo(file)
}

// answer carries out one command of the benchmark's parent process.
func answer(command string, tab *table.Table, clicks *spool.Spool, churn *churner) string {
	switch command {
	case "clicks":
		st := clicks.Stats()
		return asJSON(clickCount{st.Appended, st.Dropped})
	case "compile":
		c, err := coldCompiles()
		if err != nil {
			return err.Error()
		}
		return asJSON(c)
	case "figures":
		return asJSON(figuresOf(tab))
	case "churn":
		churn.start()
		return "{}"
	case "calm":
		return churn.stop()
	case "mallocs":
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return fmt.Sprint(m.Mallocs)
	}
	st := clicks.Stats()
	return fmt.Sprintf("spool: %s, %d clicks stored, %d dropped, %d waited for a segment, %d not shipped", st.State,
		st.Appended, st.Dropped,
		st.Late, st.Pending)
}

// serveKafka runs an in-memory Kafka broker for an edge that ships clicks.
func serveKafka(*settings) error {
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		return err
	}
	defer c.Close()
	return converse(map[string]string{"kafka": c.ListenAddrs()[0]}, nil)
}
