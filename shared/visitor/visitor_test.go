package visitor_test

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"testing"

	"github.com/maxmind/mmdbwriter/mmdbtype"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/rule"
	"github.com/shortline/shortline/shared/visitor"
)

func someone() visitor.Input {
	return visitor.Input{
		UserAgent:      []byte(iphoneSafari),
		AcceptLanguage: []byte("zh-TW,zh;q=0.9,en;q=0.8"),
		Referer:        []byte("https://news.example/item?id=1"),
		UTM:            link.UTM{Source: "s", Medium: "m", Campaign: "c", Term: "t", Content: "o"},
		IP:             netip.MustParseAddr("1.2.3.4"),
		UnixMilli:      1_780_000_000_123,
	}
}

func cityDB(t testing.TB) *visitor.Geo {
	return open(t, database(t, "GeoIP2-City", map[string]mmdbtype.Map{"1.2.0.0/16": nested("US", "CA", "California", "San José")}, 24))
}

func TestVisitor_facts(t *testing.T) {
	t.Parallel()
	geo, agents := cityDB(t), visitor.NewAgents(64)
	want := map[rule.Field]string{
		rule.FieldDevice: "MOBILE", rule.FieldOS: "iOS", rule.FieldBrowser: "Safari", rule.FieldCountry: "US",
		rule.FieldRegionCode: "US-CA",
		rule.FieldRegionName: "California", rule.FieldCity: "San José", rule.FieldLanguage: "zh-TW",
		rule.FieldReferer:   "https://news.example/item?id=1",
		rule.FieldUTMSource: "s", rule.FieldUTMMedium: "m", rule.FieldUTMCampaign: "c", rule.FieldUTMTerm: "t", rule.FieldUTMContent: "o",
		rule.FieldContinent: "NA",
	}
	var v visitor.Visitor
	for range 2 { // the second round uses the cache
		v.Reset(someone(), geo, agents)
		for range 2 {
			for field, value := range want {
				if got := v.Fact(field); got != value {
					t.Errorf("field %d: got %q, want %q", field, got, value)
				}
			}
		}
		if v.UnixMilli() != 1_780_000_000_123 {
			t.Errorf("time %d", v.UnixMilli())
		}
	}

	v.Reset(visitor.Input{}, nil, nil)
	for field := range want {
		if got := v.Fact(field); got != "" {
			t.Errorf("field %d of the zero visitor is %q", field, got)
		}
	}
	if !v.Agent().Bot {
		t.Error("a request without a User-Agent is not a bot")
	}
	if got := v.Fact(rule.Field(200)); got != "" {
		t.Errorf("an unknown field is %q", got)
	}
}

func TestVisitor_cache_survives_request_memory(t *testing.T) {
	t.Parallel()
	agents := visitor.NewAgents(8)
	var v visitor.Visitor
	buffer := []byte(iphoneSafari)
	v.Reset(visitor.Input{UserAgent: buffer}, nil, agents)
	v.Agent()
	copy(buffer, windowsEdge) // as the next request on the connection would
	for ua, os := range map[string]string{iphoneSafari: "iOS", windowsEdge: "Windows", string(buffer): visitor.Parse(string(buffer)).OS} {
		if got := agents.Lookup(ua).OS; got != os {
			t.Errorf("%s: got %q, want %q", ua, got, os)
		}
	}
}

func TestAgents_agree_with_Parse_under_pressure(t *testing.T) {
	t.Parallel()
	var all []string
	for _, row := range rows(t, "agents.tsv") {
		all = append(all, row[3])
	}
	agents := visitor.NewAgents(64) // far too few, so that entries are evicted all the time
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 5 * len(all) {
				ua := all[(i*(2*g+1)+g)%len(all)]
				if got, want := agents.Lookup(ua), visitor.Parse(ua); got != want {
					t.Errorf("%s: got %+v, want %+v", ua, got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// Not parallel, because it measures the heap.
func TestAgents_memory_is_bounded(t *testing.T) {
	const size, flood = 1024, 200_000
	agents := visitor.NewAgents(size)
	before := heap()
	for i := range flood {
		agents.Lookup(fmt.Sprintf("%s made up %d %0300d", iphoneSafari, i, i))
	}
	const bound = 2 * size * (visitor.MaxUserAgent + 256)
	if grown := int64(heap()) - int64(before); grown > bound {
		t.Errorf("%d bytes for %d agents, want at most %d", grown, flood, bound)
	}
	runtime.KeepAlive(agents)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A flood of User-Agents that occur once must not evict one that recurs. A cache hit does not allocate.
func TestAgents_common_ones_stay(t *testing.T) {
	agents := visitor.NewAgents(64)
	flood := make([]string, 2000)
	for i := range flood {
		flood[i] = fmt.Sprintf("made up %d", i)
	}
	agents.Lookup(iphoneSafari)
	missed := 0
	var before, after runtime.MemStats
	for _, ua := range flood {
		agents.Lookup(ua)
		runtime.ReadMemStats(&before)
		agents.Lookup(iphoneSafari)
		runtime.ReadMemStats(&after)
		if after.Mallocs-before.Mallocs >= 2 { // an entry and its key
			missed++
		}
	}
	if missed > 2 { // the runtime may allocate for itself
		t.Errorf("evicted %d times", missed)
	}
}

func TestVisitor_allocates_nothing(t *testing.T) {
	geo, agents, in := cityDB(t), visitor.NewAgents(64), someone()
	var v visitor.Visitor
	all := func() {
		v.Reset(in, geo, agents)
		for f := rule.FieldDevice; f <= rule.FieldUTMContent; f++ {
			v.Fact(f)
		}
	}
	all()
	if n := testing.AllocsPerRun(100, all); n != 0 {
		t.Errorf("%v allocations for a visitor", n)
	}
	if n := testing.AllocsPerRun(100, func() { visitor.Parse(googlebot) }); n != 0 {
		t.Errorf("%v allocations for Parse", n)
	}
	if n := testing.AllocsPerRun(100, func() { visitor.Preferred("de;q=0.1, en-US;q=0.7") }); n != 0 {
		t.Errorf("%v allocations for Preferred", n)
	}
}

func BenchmarkAgents_Lookup(b *testing.B) {
	var all []string
	for _, row := range rows(b, "agents.tsv") {
		all = append(all, row[3])
	}
	agents := visitor.NewAgents(visitor.DefaultAgents)
	for _, ua := range all {
		agents.Lookup(ua)
	}
	b.Run("same", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			agents.Lookup(iphoneSafari)
		}
	})
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			agents.Lookup(all[i%len(all)])
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				agents.Lookup(all[i%len(all)])
			}
		})
	})
}

func BenchmarkVisitor(b *testing.B) {
	geo, agents, in := cityDB(b), visitor.NewAgents(64), someone()
	var v visitor.Visitor
	b.ReportAllocs()
	for b.Loop() {
		v.Reset(in, geo, agents)
		v.Fact(rule.FieldDevice)
		v.Fact(rule.FieldCountry)
		v.Fact(rule.FieldLanguage)
	}
}
