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
	"github.com/shortline/shortline/control/internal/clicks/analytics/replicated"
	"github.com/shortline/shortline/control/internal/clicks/analytics/sharded"
	"github.com/shortline/shortline/control/internal/clicks/shards"
	"github.com/shortline/shortline/shared/config"
)

// clicksAt holds the settings of the click store.
type clicksAt struct {
	URL       config.Secret `env:"CLICKHOUSE_URL" help:"clickhouse://USER:PASSWORD@HOST:9000/DATABASE, or http(s):// with the port of the HTTP interface (roles api, ingest and experiments)"`
	URLs      config.Secret `env:"CLICKHOUSE_URLS" help:"several click stores (shards) instead of CLICKHOUSE_URL, as name=URL, separated by commas; the shard that has the existing clicks comes first. Several servers that have the same clicks are separated by |. CLICKHOUSE_URL is the same as one shard with the name main. All processes need the same list; see operations.md to add a shard"`
	Cluster   string        `env:"CLICKHOUSE_CLUSTER" help:"name of the cluster for replicated and sharded tables; empty means a single server. The choice cannot be changed later. We have not run this mode: try it with your cluster first. Inserts wait for a majority of a shard's replicas. Use two: that is both. Of three, one may lack clicks, and so would reports that read it"`
	Retention int           `env:"CLICK_RETENTION_DAYS" envDefault:"0" help:"number of days for which clicks are kept; they are deleted by whole months, and the counters of links, variants and rules still include them (role ingest); 0 means no limit"`
}

// shardAt is one click store of the settings.
type shardAt struct {
	name, url string
	copies    []string // URLs of other servers that have the same clicks
}

// mainShard is the name of the only shard of CLICKHOUSE_URL.
const mainShard = "main"

// maxShards keeps the number of metrics and of questions about everything small.
const maxShards = 64

var (
	// shardStart finds where each shard begins. A URL may contain commas between hosts.
	shardStart = regexp.MustCompile(`(?:^|,)\s*([^=,/?@]*)=(?:[a-z]+)://`)
	shardName  = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)
)

// configured reports whether the settings name a click store.
func (c clicksAt) configured() bool { return c.URL != "" || c.URLs != "" }

// shards returns the click stores of the settings. Errors never contain a URL, which may have a password.
func (c clicksAt) shards() ([]shardAt, error) {
	if c.URLs == "" {
		return []shardAt{{name: mainShard, url: c.URL.Reveal()}}, storeAddress("CLICKHOUSE_URL", c.URL.Reveal())
	}
	if c.URL != "" {
		return nil, errors.New("CLICKHOUSE_URL: must be empty if CLICKHOUSE_URLS is set; write its value there as the first shard: main=URL")
	}
	text := c.URLs.Reveal()
	starts := shardStart.FindAllStringSubmatchIndex(text, -1)
	if len(starts) == 0 || starts[0][0] != 0 {
		return nil, errors.New("CLICKHOUSE_URLS: must be a list such as main=clickhouse://user:password@host:9000/shortline,b=clickhouse://…")
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
		sh := shardAt{name: text[at[2]:at[3]]}
		sh.url, sh.copies = servers(text[at[3]+1 : end])
		switch {
		case !shardName.MatchString(sh.name):
			problem("the name of shard %d must have up to 31 lower-case letters, digits and hyphens, and begin with a letter", i+1)
		case names[sh.name]:
			problem("two shards have the name %q", sh.name)
		}
		for _, url := range sh.all() {
			if err := storeAddress(fmt.Sprintf("CLICKHOUSE_URLS: shard %q", sh.name), url); err != nil {
				problems = append(problems, err)
			} else if in := urls[address(url)]; in == sh.name {
				problem("the shard %q has two servers with the same address", sh.name)
			} else if in != "" {
				problem("the shards %q and %q have the same URL", in, sh.name)
			}
			urls[address(url)] = sh.name
		}
		if len(sh.copies) > 0 && c.Cluster != "" {
			problem("the shard %q has several servers, and CLICKHOUSE_CLUSTER is set; choose one of the two ways to have copies", sh.name)
		}
		names[sh.name] = true
		list = append(list, sh)
	}
	if len(list) > maxShards {
		problem("at most %d shards", maxShards)
	}
	return list, errors.Join(problems...)
}

// servers splits the URLs of a shard. They are separated by |, because a URL may contain commas.
func servers(text string) (first string, others []string) {
	list := strings.Split(text, "|")
	for i, url := range list {
		list[i] = strings.TrimSpace(url)
	}
	if len(list) > 1 {
		others = list[1:]
	}
	return list[0], others
}

// all returns the URLs of all servers of a shard.
func (sh shardAt) all() []string { return append([]string{sh.url}, sh.copies...) }

// addresses returns their addresses.
func (sh shardAt) addresses() (list []string) {
	for _, url := range sh.all() {
		list = append(list, address(url))
	}
	return list
}

// address returns the part of a URL that people may see: hosts, ports and the database.
func address(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host + u.Path
}

// storeAddress checks the URL of a click store.
func storeAddress(setting, address string) error {
	u, err := url.Parse(address)
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
	return err
}

// open connects to one click store.
func (c clicksAt) open(ctx context.Context, sh shardAt, log *slog.Logger) (*clickhouse.Store, error) {
	s, err := clickhouse.Open(ctx, clickhouse.Config{URL: sh.url, Cluster: c.Cluster, Logger: log})
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
	if len(list) == 1 && directory == nil && len(list[0].copies) == 0 {
		return c.open(ctx, list[0], nil)
	}
	var knows sharded.Directory // nil, unlike an interface with a nil *shards.Directory
	if directory != nil {
		knows = directory
	}
	stores, err := c.each(ctx, list, directory)
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

// each opens all click stores, by name. The directory knows which servers of a shard are in sync.
func (c clicksAt) each(ctx context.Context, list []shardAt, directory *shards.Directory) (map[string]replicated.Server, error) {
	return opened(ctx, list, func(ctx context.Context, sh shardAt) (replicated.Server, error) { return c.shard(ctx, sh, directory) })
}

// opened opens all click stores, by name.
func opened(ctx context.Context, list []shardAt, open func(context.Context, shardAt) (replicated.Server, error)) (map[string]replicated.Server, error) {
	stores := map[string]replicated.Server{}
	for _, sh := range list {
		s, err := open(ctx, sh)
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

// shard opens one click store, with one server or several.
func (c clicksAt) shard(ctx context.Context, sh shardAt, directory *shards.Directory) (replicated.Server, error) {
	if len(sh.copies) > 0 {
		return c.copies(ctx, sh, directory)
	}
	return c.open(ctx, sh, nil)
}

func namesOf(list []shardAt) []string {
	names := make([]string, len(list))
	for i, sh := range list {
		names[i] = sh.name
	}
	return names
}
