package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// times remembers how long each package took when it was last tested on this machine, in the user's cache folder. The
// packages that take longest start first, so that no processor is idle at the end.
type times struct {
	file string
	// Seconds is the time of a package by its import path. Total is that of the last complete run.
	Seconds map[string]float64
	Total   float64
}

// usual are the packages that take longest, with their usual seconds on two processors, for the first run on a machine.
var usual = map[string]float64{
	project + "test/harness":                                 300,
	project + "test/browser":                                 150,
	project + "control/internal/api":                         120,
	project + "control/internal/clicks/analytics/clickhouse": 100,
	project + "control/cmd/standalone":                       60,
	project + "control/internal/clicks/analytics/duckdb":     50,
	project + "test/harness/e2e":                             50,
	project + "control/internal/certs":                       40,
	project + "test/deploy":                                  40,
	project + "control/internal/clicks/ingest/kafkasource":   40,
	project + "control/internal/manage/webhooks":             30,
	project + "control/internal/clicks/cluster/shards":       30,
}

func readTimes() (*times, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	t := &times{file: filepath.Join(cache, "shortline", "test-times.json")}
	text, err := os.ReadFile(t.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if json.Unmarshal(text, t) != nil || t.Seconds == nil { // an unreadable file is replaced
		t.Seconds = map[string]float64{}
	}
	for pkg, s := range usual {
		if t.Seconds[pkg] == 0 {
			t.Seconds[pkg] = s
		}
	}
	return t, nil
}

// longestFirst sorts packages by the time that they took.
func (t *times) longestFirst(packages []string) {
	slices.SortStableFunc(packages, func(a, b string) int {
		switch {
		case t.Seconds[a] > t.Seconds[b]:
			return -1
		case t.Seconds[a] < t.Seconds[b]:
			return 1
		}
		return 0
	})
}

// keep records the times of packages that were really tested.
func (t *times) keep(packages []outcome, total time.Duration) error {
	for _, p := range packages {
		if !p.Cached && p.Action == "pass" {
			t.Seconds[p.Package] = p.Took.Seconds()
		}
	}
	if total > 0 {
		t.Total = total.Seconds()
	}
	text, err := json.MarshalIndent(t, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(t.file, text, 0o644)
}
