package shared_test

import (
	"testing"

	"github.com/shortline/shortline/shared/testing/archtest"
)

// The packages of shared, which both planes import and which import neither. Those of the language (what a link, a rule
// or a click is) come first, those that every program needs after them.
var layers = []archtest.Layer{
	{Path: "shared/link", Is: "a link as it is stored and sent, with conditions as their authors wrote them: package rule compiles them"},
	{Path: "shared/click", May: []string{"shared/link"}, Is: "a click as it is stored and sent"},
	{Path: "shared/rule", May: []string{"shared/click"},
		Is: "compiled conditions, which ask for facts by rule.Facts and do not know visitors"},
	{Path: "shared/decision", May: []string{"shared/link", "shared/rule"}, Is: "where a visit goes, from facts that the caller has"},
	{Path: "shared/visitor", May: []string{"shared/accept", "shared/click", "shared/link", "shared/rule"}, Is: "what is known of a visitor from a request"},
	{Path: "shared/conversion", May: []string{"shared/click"}, Is: "what visitors do after a click"},
	{Path: "shared/snapshot", May: []string{"shared/click", "shared/conversion", "shared/link"}, Is: "how links reach edges"},
	{Path: "shared/limit", Is: "how edges share the clicks of links with a limit"},
	{Path: "shared/lockout", May: []string{"shared/client"}, Is: "the rules of throttling, and how edges share them"},
	{Path: "shared/abuse", Is: "reports of visitors about links, and how they travel"},
	{Path: "shared/client", Is: "the name under which a client is counted"},
	{Path: "shared/accept", Is: "what clients prefer, by their headers"},
	{Path: "shared/framing", Is: "which HTTP requests are accepted"},

	{Path: "shared/backoff", Is: "delays between retries"},
	{Path: "shared/cli", May: []string{"shared/config", "shared/ops", "shared/service"}, Is: "command lines"},
	{Path: "shared/config", Is: "settings"},
	{Path: "shared/conns", Is: "limits of connections"},
	{Path: "shared/design", Is: "the colours and sizes of everything that people see"},
	{Path: "shared/durable", Is: "locked folders and replaced files"},
	{Path: "shared/each", Is: "lists of lists"},
	{Path: "shared/fairqueue", Is: "slots that clients share fairly"},
	{Path: "shared/job", May: []string{"shared/backoff", "shared/metric"}, Is: "work that is repeated in the background"},
	{Path: "shared/kafkaconn", May: []string{"shared/backoff", "shared/config"}, Is: "the connection to Kafka that both adapters use"},
	{Path: "shared/metric", Is: "exporting counters as metrics"},
	{Path: "shared/ops", May: []string{"shared/metric"}, Is: "the operator's port"},
	{Path: "shared/peertls", Is: "TLS between edges and control planes"},
	{Path: "shared/seal", Is: "encryption of secrets that are stored or sent"},
	{Path: "shared/service", Is: "starting and stopping"},
	{Path: "shared/testing/testkit", Is: "helpers of tests"},
	{Path: "shared/testing/testserver", May: []string{"shared/testing/testkit"}, Is: "servers that all test processes share"},
	{Path: "shared/testing/testserver/keeper", Is: "the program that ends a shared server which nobody uses"},
	{Path: "shared/tracing", May: []string{"shared/config"}, Is: "traces"},
}

var libraries = []archtest.Library{
	{Path: "github.com/prometheus/client_golang/prometheus", In: []string{"shared/metric", "shared/ops", "shared/tracing"}},
	{Path: "go.opentelemetry.io/otel", In: []string{"shared/tracing"}},
	{Path: "golang.org/x/sys", In: []string{"shared/durable", "shared/visitor"}},
	{Path: "golang.org/x/net", In: []string{"shared/link"}},
	{Path: "golang.org/x/text", In: []string{"shared/conversion", "shared/link"}},
	{Path: "github.com/dchest/siphash", In: []string{"shared/conversion"}},
	{Path: "github.com/oschwald/maxminddb-golang/v2", In: []string{"shared/visitor"}},
	{Path: "github.com/klauspost/compress", In: []string{"shared/snapshot"}},
	{Path: "github.com/segmentio/kafka-go", In: []string{"shared/kafkaconn"}},
	{Path: "github.com/caarlos0/env/v11", In: []string{"shared/config"}},
}

func TestImports(t *testing.T) {
	t.Parallel()
	archtest.Check(t, archtest.Module{Path: "shared", Dir: ".", Layers: layers, Libraries: libraries})
}

func TestNames(t *testing.T) {
	t.Parallel()
	archtest.CheckNames(t, ".")
}
