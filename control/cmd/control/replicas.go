package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/replicated"
	"github.com/shortline/shortline/control/internal/clicks/analytics/sharded"
	"github.com/shortline/shortline/control/internal/clicks/shards"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/service"
)

// copiesAt reaches the servers of a shard that may have no tables yet. It implements shards.Servers.
type copiesAt map[string]clickhouse.Config // by address

// copiesOf returns the servers of a shard.
func (c clicksAt) copiesOf(sh shardAt) copiesAt {
	at := copiesAt{}
	for _, url := range sh.all() {
		at[address(url)] = clickhouse.Config{URL: url, Cluster: c.Cluster}
	}
	return at
}

// Identity implements shards.Servers.
func (at copiesAt) Identity(ctx context.Context, address string) (string, error) {
	if at[address].URL == "" {
		return "", errors.New("CLICKHOUSE_URLS lacks the server")
	}
	return clickhouse.IdentityAt(ctx, at[address])
}

// Prepare implements shards.Servers.
func (at copiesAt) Prepare(ctx context.Context, address, identity string) (err error) {
	s, err := clickhouse.Open(ctx, at[address])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if has, err := s.HasClicks(ctx); err != nil || has {
		if has {
			err = errors.New("the server has clicks, but no identity; a server that is added must be an empty database")
		}
		return err
	}
	return s.SetIdentity(ctx, identity)
}

// useReplicas makes a shard of several servers, each of which is opened as soon as it is available.
func (p *plane) useReplicas(sh shardAt, directory *shards.Directory, all *sharded.Store, maintain bool) error {
	set := replicated.New(sh.name, sh.addresses(), directory.Members(sh.name), p.Logger)
	if err := p.Registry.Register(set); err != nil {
		return fmt.Errorf("register the metrics of replicas: %w", err)
	}
	first := sync.OnceFunc(func() { all.Use(sh.name, set) })
	for _, url := range sh.all() {
		one := shardAt{name: sh.name, url: url}
		p.adapters = append(p.adapters, adapter{"ClickHouse server " + address(url), service.Func(func(ctx context.Context) error {
			clicks, err := p.awaitServer(ctx, "ClickHouse server "+address(url), func(ctx context.Context) (*clickhouse.Store, error) {
				return p.admitted(ctx, one, sh.addresses(), directory)
			})
			if clicks == nil {
				return err
			}
			set.Use(address(url), clicks)
			directory.Opened(sh.name, address(url))
			first()
			labels := prometheus.Labels{"shard": sh.name, "server": address(url)}
			return p.maintain(ctx, one, clicks, prometheus.WrapRegistererWith(labels, p.Registry), maintain)
		})})
	}
	p.adapters = append(p.adapters, adapter{"replicas of shard " + sh.name, set})
	if maintain {
		p.adapters = append(p.adapters, adapter{"filler of shard " + sh.name, shards.NewFiller(directory, sh.name, set, p.ClickHouse.copiesOf(sh), p.Logger)})
	}
	return nil
}

// admitted opens a server if the directory admits it.
func (p *plane) admitted(ctx context.Context, sh shardAt, servers []string, directory *shards.Directory) (*clickhouse.Store, error) {
	id, err := clickhouse.IdentityAt(ctx, clickhouse.Config{URL: sh.url, Cluster: p.ClickHouse.Cluster})
	if err != nil {
		return nil, err
	}
	open, err := directory.Admit(ctx, sh.name, address(sh.url), servers, id)
	if err != nil {
		return nil, err
	}
	if !open {
		return nil, errors.New("it lacks clicks, and waits to be filled")
	}
	clicks, err := p.ClickHouse.open(ctx, sh, p.Logger)
	if err != nil {
		return nil, err
	}
	if err = directory.Register(ctx, sh.name, shardOf{clicks}); err == nil {
		if id, err = clicks.Identity(ctx); err == nil {
			open, err = directory.Admit(ctx, sh.name, address(sh.url), servers, id)
		}
	}
	if err == nil && !open {
		err = errors.New("it was put out of sync")
	}
	if err != nil {
		return nil, errors.Join(err, clicks.Close())
	}
	return clicks, nil
}

// shardOf is one of the servers of a shard, with the identity of the shard.
type shardOf struct{ *clickhouse.Store }

// Identity implements shards.Server.
func (s shardOf) Identity(ctx context.Context) (string, error) {
	id, err := s.Store.Identity(ctx)
	return replicated.ShardIdentity(id), err
}

// copies opens a shard of several servers for a command. Servers that do not answer, or lack clicks, are left out.
func (c clicksAt) copies(ctx context.Context, sh shardAt, directory *shards.Directory) (replicated.Server, error) {
	if directory == nil {
		return nil, fmt.Errorf("DATABASE_URL: is needed, because the database knows which servers of the shard %q have all clicks", sh.name)
	}
	set := replicated.New(sh.name, sh.addresses(), directory.Members(sh.name), nil)
	known, err := directory.Replicas(ctx)
	if err != nil {
		return nil, err
	}
	var errs []error
	opened := false
	for _, url := range sh.all() {
		id, err := clickhouse.IdentityAt(ctx, clickhouse.Config{URL: url, Cluster: c.Cluster})
		for _, r := range known {
			if err != nil || r.Shard != sh.name || r.Address != address(url) || r.Identity != id || id == "" {
				continue
			}
			var clicks *clickhouse.Store
			if clicks, err = c.open(ctx, shardAt{name: sh.name, url: url}, nil); err == nil {
				set.Use(r.Address, clicks)
				directory.Opened(sh.name, r.Address)
				opened = true
			}
		}
		errs = append(errs, err)
	}
	if !opened {
		return nil, fmt.Errorf("shard %s: %w", sh.name, errors.Join(append(errs, errors.New("none of its servers can be used"))...))
	}
	go func() { _ = set.Run(ctx) }() // it returns nil
	return set, nil
}

// migrate updates the tables of all servers. A server of several that has no identity is new, or was emptied: control makes its
// tables when no process reads it.
func (c clicksAt) migrate(ctx context.Context, out io.Writer) error {
	list, err := c.shards()
	if err != nil {
		return err
	}
	for _, sh := range list {
		for _, url := range sh.all() {
			if len(sh.copies) > 0 {
				id, err := clickhouse.IdentityAt(ctx, clickhouse.Config{URL: url, Cluster: c.Cluster})
				if err != nil {
					return fmt.Errorf("shard %s: %w", sh.name, err)
				}
				if id == "" {
					fmt.Fprintf(out, "%s is empty; the control plane makes its tables\n", address(url))
					continue
				}
			}
			s, err := c.open(ctx, shardAt{name: sh.name, url: url}, nil)
			if err == nil {
				err = s.Close()
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// emptied opens a shard for a restore, which fills all of its servers.
func (c clicksAt) emptied(ctx context.Context, sh shardAt) (replicated.Server, error) {
	if len(sh.copies) == 0 {
		return c.open(ctx, sh, nil)
	}
	set := replicated.New(sh.name, sh.addresses(), replicated.Fixed(sh.addresses()), nil)
	for _, url := range sh.all() {
		s, err := c.open(ctx, shardAt{name: sh.name, url: url}, nil)
		if err != nil {
			return nil, errors.Join(err, set.Close())
		}
		set.Use(address(url), s)
	}
	return set, nil
}

// again records that all servers of the settings are in sync, after a restore. The database of the backup may name others.
func (k *keeper) again(ctx context.Context) (err error) {
	list, err := k.ClickHouse.shards()
	if err != nil {
		return err
	}
	st, err := store.Open(ctx, store.Config{URL: k.DatabaseURL.Reveal(), MaxConns: 2})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	known, err := st.ClickShards(ctx)
	if err != nil {
		return err
	}
	var all []store.ClickReplica
	for _, sh := range list {
		if len(sh.copies) == 0 || !slices.ContainsFunc(known, func(k store.ClickShard) bool { return k.Name == sh.name }) {
			continue
		}
		at := k.ClickHouse.copiesOf(sh)
		for _, a := range sh.addresses() {
			id, err := at.Identity(ctx, a)
			if err != nil {
				return err
			}
			all = append(all, store.ClickReplica{Shard: sh.name, Address: a, Identity: id, State: store.ReplicaInSync})
		}
	}
	return st.Tx(ctx, func(tx *store.Tx) error {
		if err := tx.LockClickShards(ctx); err != nil {
			return fmt.Errorf("lock the list of shards: %w", err)
		}
		return tx.ReplaceClickReplicas(ctx, all)
	})
}
