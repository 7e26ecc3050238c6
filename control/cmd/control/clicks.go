package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/analytics/sharded"
	"github.com/shortline/shortline/control/internal/clicks/shards"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/service"
)

// directory returns the directory of shards, or nil if all clicks are in one click store. It refuses settings that lack a shard.
func (c clicksAt) directory(ctx context.Context, st *store.Store, log *slog.Logger) (*shards.Directory, error) {
	list, err := c.shards()
	if err != nil {
		return nil, err
	}
	d := shards.New(st, namesOf(list), log)
	if several, err := d.Several(ctx); err != nil || !several {
		return nil, err
	}
	return d, d.Check(ctx)
}

// useClicks makes the click store, which adapters open as soon as it is available. A process that stores clicks also maintains
// the rollups.
func (p *plane) useClicks(ctx context.Context, maintain bool) error {
	list, err := p.ClickHouse.shards()
	if err != nil {
		return err
	}
	// Recorded before the list of shards is read: see shards.Directory.Open.
	process := shards.New(p.Store, namesOf(list), p.Logger)
	if err := process.Record(ctx); err != nil {
		return err
	}
	p.adapters = append(p.adapters, adapter{"record of the shards", process})
	directory, err := p.ClickHouse.directory(ctx, p.Store, p.Logger)
	if err != nil {
		return err
	}
	if directory == nil {
		late := analytics.NewLate()
		p.clicks = app.Clicks{Store: late, Opened: late.Opened()}
		p.adapters = append(p.adapters, adapter{"ClickHouse", service.Func(func(ctx context.Context) error { return p.openClicks(ctx, list[0], late, maintain) })})
		return nil
	}
	all := sharded.New(directory.Names(), directory)
	p.clicks = app.Clicks{Store: all, Opened: all.Opened()}
	for _, sh := range list {
		p.adapters = append(p.adapters, adapter{"ClickHouse shard " + sh.name, service.Func(func(ctx context.Context) error { return p.openShard(ctx, sh, directory, all, maintain) })})
	}
	if err := p.Registry.Register(all); err != nil {
		return fmt.Errorf("register the metrics of shards: %w", err)
	}
	return nil
}

// openClicks opens the only click store.
func (p *plane) openClicks(ctx context.Context, sh shardAt, late *analytics.Late, maintain bool) error {
	clicks := await(ctx, p.Logger, nil, "ClickHouse", time.Minute, func(ctx context.Context) (*clickhouse.Store, error) { return p.ClickHouse.open(ctx, sh, p.Logger) })
	if clicks == nil {
		return nil
	}
	late.Use(clicks)
	return p.maintain(ctx, clicks, p.Registry, maintain)
}

// openShard opens a shard and registers it. A server that is refused at the first attempt ends the process: its settings are
// wrong. A server that is refused later, after it could not be reached, stays unused, and the other shards are served.
func (p *plane) openShard(ctx context.Context, sh shardAt, directory *shards.Directory, all *sharded.Store, maintain bool) error {
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	tries := 0
	clicks := await(waiting, p.Logger, nil, "ClickHouse shard "+sh.name, time.Minute, func(ctx context.Context) (*clickhouse.Store, error) {
		tries++
		clicks, err := p.ClickHouse.open(ctx, sh, p.Logger)
		if err != nil {
			return nil, err
		}
		if err := directory.Register(ctx, sh.name, clicks); err != nil {
			var refused *shards.RefusedError
			if tries == 1 && errors.As(err, &refused) {
				stop(err)
			}
			return nil, errors.Join(err, clicks.Close())
		}
		return clicks, nil
	})
	if clicks == nil {
		if ctx.Err() == nil {
			return context.Cause(waiting)
		}
		return nil
	}
	all.Use(sh.name, clicks)
	return p.maintain(ctx, clicks, prometheus.WrapRegistererWith(prometheus.Labels{"shard": sh.name}, p.Registry), maintain)
}

// maintain builds rollups until ctx ends, if the process stores clicks.
func (p *plane) maintain(ctx context.Context, clicks *clickhouse.Store, registry prometheus.Registerer, maintain bool) error {
	if !maintain {
		<-ctx.Done()
		return nil
	}
	if err := registry.Register(clicks); err != nil {
		return fmt.Errorf("register the metrics of rollups: %w", err)
	}
	return clicks.Run(ctx)
}

// shardOperator holds the settings of commands on shards.
type shardOperator struct {
	DatabaseURL config.Secret `env:"DATABASE_URL" help:"postgres://USER:PASSWORD@HOST/DATABASE"`
	ClickHouse  clicksAt
}

// Validate reports every problem.
func (o *shardOperator) Validate() error {
	return errors.Join(databaseAddress(o.DatabaseURL), o.ClickHouse.validate())
}

// with calls f with the directory.
func (o *shardOperator) with(ctx context.Context, f func(*shards.Directory, []shardAt) error) (err error) {
	list, err := o.ClickHouse.shards()
	if err != nil {
		return err
	}
	st, err := store.Open(ctx, store.Config{URL: o.DatabaseURL.Reveal(), MaxConns: 4})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return f(shards.New(st, namesOf(list), slog.New(slog.DiscardHandler)), list)
}

func listShards(ctx context.Context, o *shardOperator, _ []string, out io.Writer) error {
	return o.with(ctx, func(d *shards.Directory, _ []shardAt) error {
		known, err := d.List(ctx)
		if err != nil {
			return err
		}
		if len(known) == 0 {
			fmt.Fprintln(out, "all clicks are in one click store; CLICKHOUSE_URLS adds others")
		}
		for _, sh := range known {
			state := "closed to new workspaces"
			if sh.Open {
				state = "open to new workspaces"
			}
			fmt.Fprintf(out, "%-31s  %s, %d workspaces\n", sh.Name, state, sh.Workspaces)
		}
		return nil
	})
}

func openShard(ctx context.Context, o *shardOperator, args []string, out io.Writer) error {
	return o.with(ctx, func(d *shards.Directory, list []shardAt) (err error) {
		stores, err := o.ClickHouse.each(ctx, list)
		if err != nil {
			return err
		}
		servers := map[string]shards.Server{}
		for name, s := range stores {
			servers[name] = s
			defer func() { err = errors.Join(err, s.Close()) }()
		}
		if err := d.Open(ctx, args[0], servers); err != nil {
			return err
		}
		fmt.Fprintf(out, "new workspaces can be assigned to %s\n", args[0])
		return nil
	})
}

func adoptShard(ctx context.Context, o *shardOperator, args []string, out io.Writer) error {
	return o.with(ctx, func(d *shards.Directory, list []shardAt) (err error) {
		for _, sh := range list {
			if sh.name != args[0] {
				continue
			}
			s, err := o.ClickHouse.open(ctx, sh, nil)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			if err := d.Adopt(ctx, sh.name, s); err != nil {
				return err
			}
			fmt.Fprintf(out, "%s is the database that CLICKHOUSE_URLS names now\n", sh.name)
			return nil
		}
		return fmt.Errorf("CLICKHOUSE_URLS has no shard %q", args[0])
	})
}
