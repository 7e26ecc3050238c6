package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shortline/shortline/control/internal/app"
	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/cluster/sharded"
	"github.com/shortline/shortline/control/internal/clicks/cluster/shards"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/service"
)

// directory returns the directory of shards, and whether there are several. It refuses settings that lack a shard.
func (c clicksAt) directory(ctx context.Context, st *store.Store, log *slog.Logger) (*shards.Directory, bool, error) {
	list, err := c.shards()
	if err != nil {
		return nil, false, err
	}
	d := shards.New(st, namesOf(list), log)
	// Recorded before the list of shards is read: see shards.Directory.Open.
	if err := d.Record(ctx); err != nil {
		return nil, false, err
	}
	several, err := d.Several(ctx)
	if err == nil && several {
		err = d.Check(ctx)
	}
	return d, several, err
}

// running is directory for a command: the directory runs until end is called.
func (c clicksAt) running(ctx context.Context, st *store.Store) (d *shards.Directory, several bool, end func() error, err error) {
	d, several, err = c.directory(ctx, st, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, false, nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	return d, several, func() error { stop(); return <-ended }, nil
}

// known calls f with the database and the click stores. The database knows where the clicks of workspaces are.
func (c clicksAt) known(ctx context.Context, database config.Secret, f func(*store.Store, analytics.Store) error) (err error) {
	st, err := store.Open(ctx, store.Config{URL: database.Reveal(), MaxConns: 4})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	directory, several, end, err := c.running(ctx, st)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if !several {
		directory = nil
	}
	clicks, err := c.all(ctx, directory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clicks.Close()) }()
	return f(st, clicks)
}

// useClicks makes the click store, which adapters open as soon as it is available. A process that stores clicks also maintains
// the rollups.
func (p *plane) useClicks(ctx context.Context, maintain bool) error {
	list, err := p.ClickHouse.shards()
	if err != nil {
		return err
	}
	directory, several, err := p.ClickHouse.directory(ctx, p.Store, p.Logger)
	if err != nil {
		return err
	}
	p.adapters = append(p.adapters, adapter{"directory of shards", directory})
	p.Registry.MustRegister(directory.JobMetrics())
	if !several {
		late := analytics.NewLate()
		p.clicks = app.Clicks{Store: late, Opened: late.Opened()}
		p.adapters = append(p.adapters,
			adapter{"ClickHouse", service.Func(func(ctx context.Context) error { return p.openClicks(ctx, list[0], late, maintain) })})
		return nil
	}
	all := sharded.New(directory.Names(), directory)
	p.clicks = app.Clicks{Store: all, Opened: all.Opened()}
	for _, sh := range list {
		p.adapters = append(p.adapters, adapter{"ClickHouse shard " + sh.name, service.Func(func(ctx context.Context) error {
			return p.openShard(ctx, sh, directory, all, maintain)
		})})
	}
	if err := p.Registry.Register(all); err != nil {
		return fmt.Errorf("register the metrics of shards: %w", err)
	}
	return nil
}

// openClicks opens the only click store.
func (p *plane) openClicks(ctx context.Context, sh shardAt, late *analytics.Late, maintain bool) error {
	clicks := await(ctx, p.Logger, nil, "ClickHouse", time.Minute, func(ctx context.Context) (*clickhouse.Store, error) {
		return p.ClickHouse.connect(ctx, sh, p.Logger)
	})
	if clicks == nil {
		return nil
	}
	late.Use(clicks)
	return p.maintain(ctx, sh, clicks, p.Registry, maintain)
}

// openShard opens a shard and registers it.
func (p *plane) openShard(ctx context.Context, sh shardAt, directory *shards.Directory, all *sharded.Store, maintain bool) error {
	clicks, err := p.awaitServer(ctx, "ClickHouse shard "+sh.name, func(ctx context.Context) (*clickhouse.Store, error) {
		clicks, err := p.ClickHouse.connect(ctx, sh, p.Logger)
		if err != nil {
			return nil, err
		}
		if err := directory.Register(ctx, sh.name, clicks); err != nil {
			return nil, errors.Join(err, clicks.Close())
		}
		return clicks, nil
	})
	if clicks == nil {
		return err
	}
	all.Use(sh.name, clicks)
	return p.maintain(ctx, sh, clicks, prometheus.WrapRegistererWith(prometheus.Labels{"shard": sh.name, "server": address(sh.url)},
		p.Registry), maintain)
}

// awaitServer calls open until it succeeds; it returns nil if ctx ends first. A server that is refused at the first attempt is an
// error, which ends the process: its settings are wrong. A server that is refused later, after it could not be reached, stays
// unused, and the others are served.
func (p *plane) awaitServer(ctx context.Context, what string, open func(context.Context) (*clickhouse.Store, error)) (*clickhouse.Store,
	error) {
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	tries := 0
	clicks := await(waiting, p.Logger, nil, what, time.Minute, func(ctx context.Context) (*clickhouse.Store, error) {
		tries++
		clicks, err := open(ctx)
		var refused *shards.RefusedError
		if tries == 1 && errors.As(err, &refused) {
			stop(err)
		}
		return clicks, err
	})
	if clicks == nil && ctx.Err() == nil {
		return nil, context.Cause(waiting)
	}
	return clicks, nil
}

// maintain watches the clock of a server that was opened. It builds rollups until ctx ends, if the process stores clicks.
func (p *plane) maintain(ctx context.Context, sh shardAt, clicks *clickhouse.Store, registry prometheus.Registerer, maintain bool) error {
	p.clocks.AddServer("ClickHouse "+address(sh.url), clicks.Clock)
	if !maintain {
		<-ctx.Done()
		return nil
	}
	if err := registry.Register(clicks); err != nil {
		return fmt.Errorf("register the metrics of rollups: %w", err)
	}
	jobs := clicks.Jobs(sh.name)
	p.Registry.MustRegister(jobs.JobMetrics())
	return jobs.Run(ctx)
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
func (o *shardOperator) with(ctx context.Context, f func(*shards.Directory, []shardAt) error) error {
	return o.database(ctx, func(st *store.Store, list []shardAt) error {
		return f(shards.New(st, namesOf(list), slog.New(slog.DiscardHandler)), list)
	})
}

// database calls f with the database.
func (o *shardOperator) database(ctx context.Context, f func(*store.Store, []shardAt) error) (err error) {
	list, err := o.ClickHouse.shards()
	if err != nil {
		return err
	}
	st, err := store.Open(ctx, store.Config{URL: o.DatabaseURL.Reveal(), MaxConns: 4})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return f(st, list)
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
		moves, err := d.Moves(ctx)
		for _, text := range moves {
			fmt.Fprintln(out, text)
		}
		return err
	})
}

// moveWorkspace moves workspaces to a shard, or ends such a move.
func moveWorkspace(ctx context.Context, o *shardOperator, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("move-workspace", flag.ContinueOnError)
	flags.SetOutput(out)
	cancel := flags.Bool("cancel", false, "end a move: the workspaces stay where they were")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *cancel && flags.NArg() != 1 || !*cancel && flags.NArg() < 2 {
		return errors.New("usage: control move-workspace SHARD WORKSPACE... or control move-workspace -cancel WORKSPACE")
	}
	names := flags.Args()
	if !*cancel {
		names = names[1:]
	}
	return o.database(ctx, func(st *store.Store, list []shardAt) error {
		var workspaces []uint64
		for _, name := range names {
			num, err := shards.Workspace(ctx, st, name)
			if err != nil {
				return err
			}
			workspaces = append(workspaces, num)
		}
		return o.ClickHouse.opened(ctx, list, func(stores map[string]*clickhouse.Store) error {
			servers := map[string]shards.MovingServer{}
			for name, s := range stores {
				servers[name] = s
			}
			mover := shards.NewMover(st, servers, func(text string) { fmt.Fprintln(out, text) })
			if *cancel {
				if err := mover.Cancel(ctx, workspaces[0]); err != nil {
					return err
				}
				fmt.Fprintln(out, "the move is cancelled")
				return nil
			}
			if err := mover.Move(ctx, workspaces, flags.Arg(0)); err != nil {
				return err
			}
			fmt.Fprintf(out, "all clicks are in %s\n", flags.Arg(0))
			return nil
		})
	})
}

func openShard(ctx context.Context, o *shardOperator, args []string, out io.Writer) error {
	return o.database(ctx, func(st *store.Store, list []shardAt) error {
		d := shards.New(st, namesOf(list), slog.New(slog.DiscardHandler))
		if err := o.ClickHouse.opened(ctx, list, func(stores map[string]*clickhouse.Store) error {
			servers := map[string]shards.Server{}
			for name, s := range stores {
				servers[name] = s
			}
			return d.Open(ctx, args[0], servers)
		}); err != nil {
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
			s, err := o.ClickHouse.connect(ctx, sh, nil)
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
