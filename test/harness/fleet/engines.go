package fleet

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shortline/shortline/shared/testkit"
	"github.com/shortline/shortline/test/harness/clickstore"
)

// Shard is a further click store, without a proxy. With Config.Copies, it is the first server of the shard.
type Shard struct {
	Name    string
	Process *Process
	Store   clickstore.Store
}

// Engine is one of the ClickHouse servers of a shard.
type Engine struct {
	*Process
	Shard string
	Copy  int    // 0 is the first server of the shard
	Addr  string // host:port where control planes reach it
	Store clickstore.Store

	dir  string // of its data
	left bool   // the settings lack it
}

// Address returns what control calls the server.
func (e *Engine) Address() string { return e.Addr + "/default" }

// Empty kills the server, removes its data, and starts it at the same address.
func (e *Engine) Empty() {
	e.t.Helper()
	e.Kill()
	if err := os.RemoveAll(e.dir); err != nil {
		e.t.Fatal(err)
	}
	e.Start()
}

// launchEngine starts a ClickHouse engine, which is not ready yet, and returns it with the address of its native interface.
func (f *Fleet) launchEngine(shard string, number int) (e *Engine, native string) {
	f.t.Helper()
	name := "clickhouse"
	if shard != mainShard {
		name += "-" + shard
	}
	if number > 0 {
		name += "-" + strconv.Itoa(number+1)
	}
	addr, native := testkit.FreeAddr(f.t), testkit.FreeAddr(f.t)
	e = &Engine{Shard: shard, Copy: number, Addr: addr, Store: clickstore.Store{URL: "http://" + addr}, dir: filepath.Join(f.Dir, name)}
	args := []string{"-listen", addr, "-native", native, "-data", e.dir, "-lib", engineLib(f.t)}
	e.Process = process(f.t, f.Dir, name, binary(f.t, "chd"), args, nil, answers("http://"+addr+"/ping"))
	f.launch(e.Process)
	return e, native
}

// mainShard is the name of the first shard.
const mainShard = "main"

func (f *Fleet) launchClickHouse() {
	f.t.Helper()
	for _, shard := range append([]string{mainShard}, f.cfg.Shards...) {
		for number := range max(1, f.cfg.Copies) {
			e, native := f.launchEngine(shard, number)
			switch {
			case number > 0:
			case shard == mainShard:
				target := e.Addr
				if f.cfg.NativeStore {
					target = native
				}
				f.StoreProxy = f.proxy(testkit.FreeAddr(f.t), target)
				f.ClickHouse, f.Store, e.Addr = e.Process, e.Store, f.StoreProxy.Addr()
			default:
				f.Shards = append(f.Shards, Shard{shard, e.Process, e.Store})
			}
			if i := len(f.Engines); i < len(f.cfg.StoreAddrs) {
				e.Addr = f.cfg.StoreAddrs[i]
			}
			f.Engines = append(f.Engines, e)
		}
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
	shard := ""
	for i, e := range f.Engines {
		url := "http://" + e.Address()
		if i == 0 {
			url = f.StoreURL()
		}
		switch {
		case e.left:
		case e.Shard != shard:
			list, shard = append(list, e.Shard+"="+url), e.Shard
		default:
			list[len(list)-1] += "|" + url
		}
	}
	return "CLICKHOUSE_URLS=" + strings.Join(list, ",")
}

// Configure takes one of several servers of a shard out of the settings, or back in. Control planes learn of it when they start
// again.
func (f *Fleet) Configure(e *Engine, in bool) {
	e.left = !in
	for _, n := range f.controlPlanes() {
		n.env = append(n.env, f.storeEnv()) // the last value counts
	}
}

// Everything returns the servers that together have all clicks, one of each shard: the first ones, the second ones, and so on.
func (f *Fleet) Everything() []clickstore.Set {
	list := make([]clickstore.Set, max(1, f.cfg.Copies))
	for _, e := range f.Engines {
		list[e.Copy] = append(list[e.Copy], e.Store)
	}
	return list
}
