package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/analytics/clickhouse"
	"github.com/shortline/shortline/control/internal/clicks/cluster/sharded"
	"github.com/shortline/shortline/control/internal/clicks/cluster/shards"
	"github.com/shortline/shortline/shared/config"
	"github.com/shortline/shortline/shared/each"
)

// clicksAt holds the settings of the click store.
type clicksAt struct {
	URL        config.Secret `env:"CLICKHOUSE_URL" help:"clickhouse://USER:PASSWORD@HOST:9000/DATABASE, or http(s):// with the port of the HTTP interface; several hosts of one service are separated by commas and tried in turn (roles api, ingest and experiments)"`
	URLs       config.Secret `env:"CLICKHOUSE_URLS" help:"several click stores (shards) instead of CLICKHOUSE_URL, as name=URL, separated by commas; the shard that has the existing clicks comes first. CLICKHOUSE_URL is the same as one shard with the name main. All processes need the same list; see operations.md to add a shard"`
	Replicated bool          `env:"CLICKHOUSE_REPLICATED" envDefault:"false" help:"make replicated tables, for services of several ClickHouse servers with Keeper; not for a cloud service, which replicates by itself. The choice cannot be changed later. We have not run this with several servers: try it with yours first. Inserts wait for a majority of the servers. Use two: that is both. Of three, one may lack clicks, and so would reports that read it"`
	Cluster    string        `env:"CLICKHOUSE_CLUSTER" help:"refused; earlier releases made tables of a cluster with it. CLICKHOUSE_REPLICATED replaces it"`
	Retention  int           `env:"CLICK_RETENTION_DAYS" envDefault:"0" help:"number of days for which clicks are kept; they are deleted by whole months, and the counters of links, variants and rules still include them (role ingest); 0 means no limit"`
}

// shardAt is one click store of the settings.
type shardAt struct {
	name, url string
}

// mainShard is the name of the only shard of CLICKHOUSE_URL.
const mainShard = "main"

// maxShards keeps the number of metrics and of questions about everything small.
const maxShards = 64

var (
	// shardStart finds where each shard begins. A URL may contain commas between hosts.
	shardStart = regexp.MustCompile(`(?:^|,)\s*([^=,/?@]*)=(?:[a-z]+)://`)
	shardName  = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)
	// severalURLs finds what separated the servers of a shard in earlier releases.
	severalURLs = regexp.MustCompile(`\|\s*[a-z]+://`)
)

// configured reports whether the settings name a click store.
func (c clicksAt) configured() bool { return c.URL != "" || c.URLs != "" }

// shards returns the click stores of the settings. Errors never contain a URL, which may have a password.
func (c clicksAt) shards() ([]shardAt, error) {
	if c.URLs == "" {
		return []shardAt{{name: mainShard, url: c.URL.Reveal()}}, storeAddress("CLICKHOUSE_URL", c.URL.Reveal())
	}
	if c.URL != "" {
		return nil, errors.New(
			"CLICKHOUSE_URL: must be empty if CLICKHOUSE_URLS is set; write its value there as the first shard: main=URL")
	}
	text := c.URLs.Reveal()
	starts := shardStart.FindAllStringSubmatchIndex(text, -1)
	if len(starts) == 0 || starts[0][0] != 0 {
		return nil, errors.New(
			"CLICKHOUSE_URLS: must be a list such as main=clickhouse://user:password@host:9000/shortline,b=clickhouse://…")
	}
	var list []shardAt
	var problems []error
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("CLICKHOUSE_URLS: "+format, args...))
	}
	names, urls := map[string]bool{}, map[string]string{}
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		sh := shardAt{text[at[2]:at[3]], strings.TrimSpace(text[at[3]+1 : end])}
		switch {
		case !shardName.MatchString(sh.name):
			problem("the name of shard %d must have up to 31 lower-case letters, digits and hyphens, and begin with a letter", i+1)
		case names[sh.name]:
			problem("two shards have the name %q", sh.name)
		}
		if err := storeAddress(fmt.Sprintf("CLICKHOUSE_URLS: shard %q", sh.name), sh.url); err != nil {
			problems = append(problems, err)
		} else if in := urls[address(sh.url)]; in != "" {
			problem("the shards %q and %q have the same URL", in, sh.name)
		}
		names[sh.name], urls[address(sh.url)] = true, sh.name
		list = append(list, sh)
	}
	if len(list) > maxShards {
		problem("at most %d shards", maxShards)
	}
	return list, errors.Join(problems...)
}

// address returns the part of a URL that people may see: hosts, ports and the database.
func address(text string) string {
	u, err := parsed(text)
	if err != nil {
		return ""
	}
	return u.Host + u.Path
}

// parsed parses a URL. Package url takes several hosts for a mistake if the scheme is http or https.
func parsed(text string) (*url.URL, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	u, err := url.Parse("clickhouse://" + rest)
	if err == nil {
		u.Scheme = scheme
	}
	return u, err
}

// storeAddress checks the URL of a click store.
func storeAddress(setting, address string) error {
	if severalURLs.MatchString(address) {
		return errors.New(setting + ": servers that are separated by | are no longer supported; name one ClickHouse service: see " +
			clickhouse.UpgradePage)
	}
	u, err := parsed(address)
	if err != nil || u.Host == "" {
		return errors.New(setting + ": must be an address such as clickhouse://user:password@host:9000/shortline") // never the value
	}
	switch u.Scheme {
	case "clickhouse", "http", "https":
		return nil
	}
	return errors.New(setting + ": must begin with clickhouse://, http:// or https://")
}

func (c clicksAt) validate() error {
	if c.Retention < 0 {
		return errors.New("CLICK_RETENTION_DAYS: must not be negative")
	}
	_, err := c.shards()
	if c.Cluster != "" {
		err = errors.Join(err, errors.New("CLICKHOUSE_CLUSTER: is no longer supported; CLICKHOUSE_REPLICATED replaces it: see "+
			clickhouse.UpgradePage))
	}
	return err
}

// connect connects to one click store.
func (c clicksAt) connect(ctx context.Context, sh shardAt, log *slog.Logger) (*clickhouse.Store, error) {
	s, err := clickhouse.Open(ctx, clickhouse.Config{URL: sh.url, Replicated: c.Replicated, Logger: log})
	if err != nil && c.URLs != "" {
		err = fmt.Errorf("shard %s: %w", sh.name, err)
	}
	return s, err
}

// all opens the click stores for commands; all shards must answer. Without a directory, only questions that name no workspace
// have an answer, and clicks of workspaces that move count twice. The caller runs the directory.
func (c clicksAt) all(ctx context.Context, directory *shards.Directory) (analytics.Store, error) {
	list, err := c.shards()
	if err != nil {
		return nil, err
	}
	if len(list) == 1 && directory == nil {
		return c.connect(ctx, list[0], nil)
	}
	var knows sharded.Directory // nil, unlike an interface with a nil *shards.Directory
	if directory != nil {
		knows = directory
	}
	stores, err := c.each(ctx, list)
	if err != nil {
		return nil, err
	}
	all := allShards(list, stores, knows)
	for _, sh := range list {
		if directory == nil {
			continue
		}
		if err := directory.Register(ctx, sh.name, stores[sh.name]); err != nil {
			return nil, errors.Join(err, all.Close())
		}
	}
	return all, nil
}

// each opens all click stores, by name.
func (c clicksAt) each(ctx context.Context, list []shardAt) (map[string]*clickhouse.Store, error) {
	stores := map[string]*clickhouse.Store{}
	for _, sh := range list {
		s, err := c.connect(ctx, sh, nil)
		if err != nil {
			for _, s := range stores {
				err = errors.Join(err, s.Close())
			}
			return nil, err
		}
		stores[sh.name] = s
	}
	return stores, nil
}

// opened calls f with all click stores, by name.
func (c clicksAt) opened(ctx context.Context, list []shardAt, f func(map[string]*clickhouse.Store) error) (err error) {
	stores, err := c.each(ctx, list)
	if err != nil {
		return err
	}
	for _, s := range stores {
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	return f(stores)
}

// migrate updates the tables of all click stores.
func (c clicksAt) migrate(ctx context.Context) error {
	list, err := c.shards()
	if err != nil {
		return err
	}
	return c.opened(ctx, list, func(map[string]*clickhouse.Store) error { return nil })
}

func namesOf(list []shardAt) []string {
	return each.Of(list, func(sh shardAt) string { return sh.name })
}
