package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/shortline/shortline/control/internal/backup/fleet"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/cluster/sharded"
	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
	"github.com/shortline/shortline/control/internal/manage/media/object"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/kafkaconn"
)

// keeper holds the settings of backup and restore: every place where a fleet keeps data.
type keeper struct {
	DatabaseURL   config.Secret `env:"DATABASE_URL" help:"postgres://USER:PASSWORD@HOST/DATABASE; restore needs the role that owns the tables"`
	EncryptionKey config.Secret `env:"ENCRYPTION_KEY" help:"keys that encrypt secrets in the database, separated by commas; the first encrypts, all decrypt"`
	ClickHouse    clicksAt
	Kafka         kafkaconn.Settings
	Regions       string `env:"KAFKA_REGIONS" help:"Kafka clusters that ingest reads, as for the control plane; empty: only KAFKA_BROKERS"`
	DataDir       string `env:"DATA_DIR" envDefault:"./data" help:"folder of images unless MEDIA_S3_ENDPOINT is set"`
	Media         object.S3Config
}

// Validate reports every problem.
func (k *keeper) Validate() error {
	problems := []error{databaseAddress(k.DatabaseURL), k.ClickHouse.validate(), k.Media.Validate()}
	if len(k.EncryptionKey.Keys()) == 0 {
		problems = append(problems, errors.New("ENCRYPTION_KEY: is required"))
	}
	clusters, err := k.clusters()
	if err != nil {
		problems = append(problems, err)
	}
	if len(clusters) > 0 {
		problems = append(problems, clusters[0].Kafka.Validate())
	}
	return errors.Join(problems...)
}

// clusters returns the Kafka clusters that ingest reads; none if no brokers are set.
func (k *keeper) clusters() (list []kafkasource.Config, err error) {
	if len(k.Kafka.Brokers) == 0 && k.Regions == "" {
		return nil, nil
	}
	regions, err := kafkaconn.ParseRegions(k.Regions, k.Kafka)
	for _, r := range regions {
		list = append(list, kafkasource.Config{Region: r.Name, Kafka: r.Settings})
	}
	return list, err
}

// withStores connects to all stores and calls f. use makes the click store of the opened ones.
func (k *keeper) withStores(
	ctx context.Context, out io.Writer, use func(stores map[string]*clickhouse.Store, all *fleet.Fleet) error, f func(*fleet.Fleet) error,
) error {
	list, err := k.ClickHouse.shards()
	if err != nil {
		return err
	}
	objects, err := object.Open(k.Media, k.DataDir)
	if err != nil {
		return err
	}
	all := &fleet.Fleet{Database: store.Config{URL: k.DatabaseURL.Reveal(), MaxConns: 4}, Objects: objects,
		Keys: k.EncryptionKey.Keys(), Out: out}
	if all.Kafka, err = k.clusters(); err != nil {
		return err
	}
	return k.ClickHouse.opened(ctx, list, func(stores map[string]*clickhouse.Store) error {
		if err := use(stores, all); err != nil {
			return err
		}
		return f(all)
	})
}

// allShards returns the store of all shards.
func allShards(list []shardAt, stores map[string]*clickhouse.Store, directory sharded.Directory) *sharded.Store {
	all := sharded.New(namesOf(list), directory)
	for name, s := range stores {
		all.Use(name, s)
	}
	return all
}

func backUp(ctx context.Context, k *keeper, args []string, out io.Writer) (err error) {
	st, err := store.Open(ctx, store.Config{URL: k.DatabaseURL.Reveal(), MaxConns: 2})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	directory, several, end, err := k.ClickHouse.running(ctx, st)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	list, err := k.ClickHouse.shards()
	if err != nil {
		return err
	}
	use := func(stores map[string]*clickhouse.Store, f *fleet.Fleet) error {
		f.Clicks = stores[list[0].name]
		if several {
			for name, s := range stores {
				if err := directory.Register(ctx, name, s); err != nil {
					return err
				}
			}
			f.Clicks = allShards(list, stores, directory)
		}
		return nil
	}
	return k.withStores(ctx, out, use, func(f *fleet.Fleet) error {
		m, err := f.Backup(ctx, args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s contains %d links and %d clicks\n", args[0], m.Links, m.Clicks)
		return nil
	})
}

// restored makes a fleet restore clicks into the shards that the backup names.
func (k *keeper) restored(stores map[string]*clickhouse.Store, f *fleet.Fleet) error {
	list, err := k.ClickHouse.shards()
	if err != nil {
		return err
	}
	directory := &sharded.Fixed{First: list[0].name}
	f.Clicks = allShards(list, stores, directory)
	f.Shards = func(s fleet.Shards) error {
		var missing []string
		for name := range s.Identities {
			if stores[name] == nil {
				missing = append(missing, name)
			}
		}
		if len(missing) > 0 {
			slices.Sort(missing)
			return fmt.Errorf(
				"CLICKHOUSE_URLS: the backup has clicks of several click stores, and needs those with the same names; missing: %s",
				strings.Join(missing, ", "))
		}
		if s.First != "" {
			directory.First = s.First
		}
		directory.Workspaces = s.Workspaces
		return nil
	}
	f.Identify = func(ctx context.Context, s fleet.Shards) error {
		for name, id := range s.Identities {
			if err := stores[name].SetIdentity(ctx, id); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

func restore(ctx context.Context, k *keeper, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("restore", flag.ContinueOnError)
	flags.SetOutput(out)
	force := flags.Bool("force", false, "replace the content of the database and the click store")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("usage: control restore [-force] DIR")
	}
	return k.withStores(ctx, out, k.restored, func(f *fleet.Fleet) error {
		m, err := f.Restore(ctx, flags.Arg(0), *force)
		if m == nil {
			return err
		}
		fmt.Fprintf(out, "%d links, %d clicks and %d images of %s were restored\n",
			m.Links, m.Clicks, fleet.Images(m), m.CreatedAt.Format("2006-01-02 15:04:05 MST"))
		if err != nil {
			return fmt.Errorf("everything is restored, but Kafka would not deliver the clicks since the backup again; "+
				"run the command again with -force, or take the group of ingest back yourself: %w", err)
		}
		return nil
	})
}
