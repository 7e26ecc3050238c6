package ascode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/shortline/shortline/client"
	"github.com/shortline/shortline/client/cmd/shortline/internal/remote"
)

// The limits of a request to PUT /api/urls/bulk, with some room.
const (
	mostItems     = 1000
	mostBody      = 2<<20 - 4096
	mostValues    = 48_000
	mostPasswords = 30
)

// batch is a part of the items, as JSON.
type batch struct {
	first int
	items []json.RawMessage
}

// batches splits items so that each request keeps the limits of the server.
func batches(items []map[string]any) ([]batch, error) {
	var out []batch
	bytes, values, passwords := 0, 0, 0
	for i, one := range items {
		raw, err := json.Marshal(one)
		if err != nil {
			return nil, fmt.Errorf("write item %d: %w", i, err)
		}
		n, secret := valuesIn(raw), 0
		if text1(one["password"]) != "" {
			secret = 1
		}
		last := len(out) - 1
		if last < 0 || len(out[last].items) == mostItems || bytes+len(raw)+1 > mostBody || values+n > mostValues ||
			passwords+secret > mostPasswords {
			out, bytes, values, passwords = append(out, batch{first: i}), 0, 0, 0
			last++
		}
		out[last].items = append(out[last].items, raw)
		bytes, values, passwords = bytes+len(raw)+1, values+n, passwords+secret
	}
	return out, nil
}

// valuesIn counts the values of JSON generously: each name and each value is followed by one of these.
func valuesIn(raw []byte) int {
	return bytes.Count(raw, []byte(",")) + bytes.Count(raw, []byte("{")) + bytes.Count(raw, []byte("[")) + 1
}

// upsert sends a batch.
func upsert(ctx context.Context, r *remote.Remote, b batch, dry bool) ([]client.UpsertedLink, error) {
	got, err := r.Upsert(ctx, b.items, dry)
	if err != nil {
		return nil, err
	}
	if len(got) != len(b.items) {
		return nil, fmt.Errorf("the server answered %d results for %d links", len(got), len(b.items))
	}
	return got, nil
}

// parallel is how many requests run at a time.
const parallel = 4

// dryRun asks what would become of all items.
func dryRun(ctx context.Context, r *remote.Remote, items []map[string]any, seen func(n int)) ([]client.UpsertedLink, error) {
	list, err := batches(items)
	if err != nil {
		return nil, err
	}
	out := make([]client.UpsertedLink, len(items))
	var mu sync.Mutex
	done := 0
	err = someAtATime(ctx, len(list), func(ctx context.Context, i int) error {
		got, err := upsert(ctx, r, list[i], true)
		if err != nil {
			return err
		}
		copy(out[list[i].first:], got)
		mu.Lock()
		defer mu.Unlock()
		done += len(got)
		seen(done)
		return nil
	})
	return out, err
}

// someAtATime calls do with the numbers below n, some at a time. After an error it starts no more.
func someAtATime(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	turns := make(chan struct{}, parallel)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for i := range n {
		turns <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			defer func() { <-turns }()
			if err := do(ctx, i); err != nil {
				mu.Lock()
				defer mu.Unlock()
				if failed == nil || errors.Is(failed, context.Canceled) {
					failed = err
				}
				cancel(err)
			}
		})
	}
	wait.Wait()
	if failed == nil {
		return ctx.Err()
	}
	return failed
}
