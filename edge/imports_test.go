package edge_test

import (
	"testing"

	"github.com/shortline/shortline/shared/testing/archtest"
)

// The layers of the edge. A package imports packages of its own layer, those that its layer lists, and shared. The hot
// path and the spool must work when everything else is down, so only the facade joins them to other parts, and only
// programs choose the adapters. An edge never imports the control plane.
var layers = []archtest.Layer{
	{
		Path: "edge/cmd", May: []string{"edge", "edge/remote"},
		Is: "the program: an edge with adapters for other processes",
	},
	{
		Path: "edge/remote", May: []string{"edge/internal/controlclient", "edge/internal/kafkasink"},
		Is: "the adapters to other processes for programs outside this module, which cannot import internal packages",
	},
	{
		Path: "edge", May: []string{
			"edge/internal/agent", "edge/internal/conversions", "edge/internal/hosts", "edge/internal/latency", "edge/internal/listen",
			"edge/internal/lockout", "edge/internal/missing", "edge/internal/pages", "edge/internal/proxy", "edge/internal/quota",
			"edge/internal/ratelimit", "edge/internal/redirect", "edge/internal/ship", "edge/internal/spool", "edge/internal/table",
		},
		Is: "the facade that joins all parts of an edge",
	},
	{
		Path: "edge/internal/redirect", May: []string{"edge/internal/apierror", "edge/internal/brokenpath", "edge/internal/hosts",
			"edge/internal/latency", "edge/internal/listen", "edge/internal/lockout", "edge/internal/missing", "edge/internal/pages",
			"edge/internal/passwords", "edge/internal/quota", "edge/internal/ratelimit", "edge/internal/spool", "edge/internal/table"},
		Is: "the hot path, which must not depend on where links come from and where clicks go",
	},
	{
		Path: "edge/internal/pages", May: []string{"edge/internal/apierror"},
		Is: "the pages for visitors, without knowledge of requests and of links in memory",
	},
	{
		Path: "edge/internal/proxy", May: []string{"edge/internal/apierror"},
		Is: "the proxy of API requests, apart from the hot path",
	},
	{
		Path: "edge/internal/agent", May: []string{"edge/internal/table"},
		Is: "what keeps the table up to date from a snapshot.Source",
	},
	{
		Path: "edge/internal/ship", May: []string{"edge/internal/spool"},
		Is: "what delivers clicks from the spool to a click.Sink",
	},
	{
		Path: "edge/internal/conversions", May: []string{"edge/internal/ship", "edge/internal/spool"},
		Is: "what takes conversions in, without knowledge of links and of HTTP",
	},
	{Path: "edge/internal/apierror", Is: "the error bodies of the API"},
	{Path: "edge/internal/brokenpath", Is: "slugs that a broken path may have had, without knowledge of links and of HTTP"},
	{Path: "edge/internal/hosts", Is: "the host names that the edge serves, which must not depend on where they come from"},
	{Path: "edge/internal/latency", Is: "how long answers took, without knowledge of what they were"},
	{
		Path: "edge/internal/listen", May: []string{"edge/internal/proxyheader"},
		Is: "connections and their deadlines, without knowledge of links",
	},
	{Path: "edge/internal/proxyheader", Is: "the headers of the PROXY protocol"},
	{Path: "edge/internal/lockout", Is: "throttling of link passwords; other edges are behind lockout.Exchange"},
	{Path: "edge/internal/missing", Is: "counts of slugs that do not exist, in fixed memory"},
	{Path: "edge/internal/passwords", Is: "comparisons of link passwords, which must leave the processor to redirects"},
	{Path: "edge/internal/quota", Is: "counts of limited links; other edges are behind limit.Exchange"},
	{Path: "edge/internal/ratelimit", Is: "rate limits of clients, in fixed memory"},
	{Path: "edge/internal/spool", Is: "clicks on disk, which must not depend on where they go"},
	{Path: "edge/internal/table", Is: "links in memory, which must not depend on where they come from"},
	{Path: "edge/internal/controlclient", Is: "the adapter to a control plane over HTTP"},
	{Path: "edge/internal/kafkasink", Is: "the adapter to Kafka"},
	{
		Path: "edge/bench", May: []string{"edge", "edge/internal/hosts", "edge/internal/kafkasink", "edge/internal/listen",
			"edge/internal/redirect", "edge/internal/spool", "edge/internal/table"},
		Is: "the benchmarks, which measure single parts and the whole",
	},
}

// No library of databases, and none with cgo: an edge is one static binary without a database.
var libraries = []archtest.Library{
	{Path: "github.com/prometheus/client_golang/prometheus"},
	{Path: "go.opentelemetry.io/otel"},
	{Path: "golang.org/x/sys"},
	{Path: "github.com/valyala/fasthttp", In: []string{"edge"}},
	{Path: "github.com/dgraph-io/ristretto/v2", In: []string{"edge/internal/table"}},
	{Path: "golang.org/x/sync", In: []string{"edge/internal/table"}},
	{Path: "golang.org/x/crypto", In: []string{"edge/internal/passwords"}},
	{Path: "github.com/segmentio/kafka-go", In: []string{"edge/internal/kafkasink"}},
	{Path: "github.com/klauspost/compress", In: []string{"edge/internal/kafkasink"}},
	{Path: "github.com/maxmind/mmdbwriter", In: []string{"edge/bench"}},
	{Path: "github.com/twmb/franz-go", In: []string{"edge/bench"}},
}

func TestImports(t *testing.T) {
	t.Parallel()
	archtest.Check(t, archtest.Module{Path: "edge", Dir: ".", All: []string{"shared"}, Layers: layers, Libraries: libraries})
}

func TestNames(t *testing.T) {
	t.Parallel()
	archtest.CheckNames(t, ".")
}
