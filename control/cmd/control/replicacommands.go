package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/shards"
	"github.com/shortline/shortline/control/internal/store"
)

// stateOf describes the state of a server.
func stateOf(r store.ClickReplica) string {
	since := (time.Duration(r.Ago) * time.Millisecond).Round(time.Second)
	switch r.State {
	case store.ReplicaInSync:
		return fmt.Sprintf("in sync for %v", since)
	case store.ReplicaFilling:
		return fmt.Sprintf("being filled for %v", since)
	case store.ReplicaRemoved:
		return fmt.Sprintf("removed %v ago", since)
	}
	return fmt.Sprintf("out of sync for %v: %s", since, r.Reason)
}

// removeReplica takes a server out of a shard.
func removeReplica(ctx context.Context, o *shardOperator, args []string, out io.Writer) error {
	return o.with(ctx, func(d *shards.Directory, _ []shardAt) error {
		forgotten, err := d.RemoveReplica(ctx, args[0], args[1])
		switch {
		case err != nil:
			return err
		case forgotten:
			fmt.Fprintf(out, "%s was forgotten, and can be added again\n", args[1])
		default:
			fmt.Fprintf(out, "%s is no longer used; take it out of CLICKHOUSE_URLS of all processes. To add it again later, run this command once more after that\n", args[1])
		}
		return nil
	})
}

// verifyReplicas compares the servers of each shard.
func verifyReplicas(ctx context.Context, o *shardOperator, _ []string, out io.Writer) error {
	return o.database(ctx, func(st *store.Store, list []shardAt) error {
		known, err := st.ClickReplicas(ctx)
		if err != nil {
			return err
		}
		differ := false
		for _, sh := range list {
			if len(sh.copies) == 0 {
				continue
			}
			servers := map[string]shards.MovingServer{}
			for _, url := range sh.all() {
				for _, r := range known {
					if r.Shard != sh.name || r.Address != address(url) || r.State != store.ReplicaInSync {
						continue
					}
					s, err := o.ClickHouse.open(ctx, shardAt{name: sh.name, url: url}, nil)
					if err != nil {
						return err
					}
					defer s.Close()
					servers[r.Address] = s
				}
			}
			if len(servers) < 2 {
				fmt.Fprintf(out, "%s: %d servers are in sync, so there is nothing to compare\n", sh.name, len(servers))
				continue
			}
			days, err := shards.Compare(ctx, servers)
			if err != nil {
				return err
			}
			for _, d := range days {
				if !d.Same {
					differ = true
					fmt.Fprintf(out, "%s: %s differs: %s\n", sh.name, d.Day, d.Counts)
				}
			}
			fmt.Fprintf(out, "%s: %d servers, %d days compared\n", sh.name, len(servers), len(days))
		}
		if differ {
			return errors.New("servers of a shard differ; clicks that arrive now may be the reason for the present day, so repeat the command")
		}
		return nil
	})
}
