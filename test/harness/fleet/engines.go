package fleet

import (
	"path/filepath"
	"strings"

	"github.com/shortline/shortline/shared/testing/testkit"
	"github.com/shortline/shortline/test/harness/clickstore"
)

// Shard is a further click store, without a proxy.
type Shard struct {
	Name    string
	Process *Process
	Store   clickstore.Store
}

// Engine is the ClickHouse server of a shard.
type Engine struct {
	*Process
	Shard string
	Addr  string // host:port where control planes reach it
	Store clickstore.Store
}

// Address returns what control calls the server.
func (e *Engine) Address() string { return e.Addr + "/default" }

// launchEngine starts a ClickHouse engine, which is not ready yet, and returns it with the address of its native interface.
func (f *Fleet) launchEngine(shard string) (e *Engine, native string) {
	f.t.Helper()
	name := "clickhouse"
	if shard != mainShard {
		name += "-" + shard
	}
	addr, native := testkit.FreeAddr(f.t), testkit.FreeAddr(f.t)
	e = &Engine{Shard: shard, Addr: addr, Store: clickstore.Store{URL: "http://" + addr}}
	args := []string{"-listen", addr, "-native", native, "-data", filepath.Join(f.Dir, name), "-lib", engineLib(f.t)}
	e.Process = process(f.t, f.Dir, name, binary(f.t, "chd"), args, nil, answers("http://"+addr+"/ping"))
	f.launch(e.Process)
	return e, native
}

// mainShard is the name of the first shard.
const mainShard = "main"

func (f *Fleet) launchClickHouse() {
	f.t.Helper()
	for _, shard := range append([]string{mainShard}, f.cfg.Shards...) {
		e, native := f.launchEngine(shard)
		if shard == mainShard {
			target := e.Addr
			if f.cfg.NativeStore {
				target = native
			}
			f.StoreProxy = f.proxy(testkit.FreeAddr(f.t), target)
			f.ClickHouse, f.Store, e.Addr = e.Process, e.Store, f.StoreProxy.Addr()
		} else {
			f.Shards = append(f.Shards, Shard{shard, e.Process, e.Store})
		}
		if i := len(f.Engines); i < len(f.cfg.StoreAddrs) {
			e.Addr = f.cfg.StoreAddrs[i]
		}
		f.Engines = append(f.Engines, e)
	}
}

// StoreURL returns the URL of the first ClickHouse server for control planes, behind StoreProxy.
func (f *Fleet) StoreURL() string {
	scheme := "http"
	if f.cfg.NativeStore {
		scheme = "clickhouse"
	}
	return scheme + "://" + f.Engines[0].Address()
}

// storeEnv is the setting that names the click stores.
func (f *Fleet) storeEnv() string {
	if len(f.Engines) == 1 {
		return "CLICKHOUSE_URL=" + f.StoreURL()
	}
	var list []string
	for i, e := range f.Engines {
		url := "http://" + e.Address()
		if i == 0 {
			url = f.StoreURL()
		}
		list = append(list, e.Shard+"="+url)
	}
	return "CLICKHOUSE_URLS=" + strings.Join(list, ",")
}

// Everything returns the servers that together have all clicks.
func (f *Fleet) Everything() (list clickstore.Set) {
	for _, e := range f.Engines {
		list = append(list, e.Store)
	}
	return list
}
