package fleet

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// launchCluster starts brokers that are also controllers, without waiting until they are ready.
func (f *Fleet) launchCluster() {
	f.t.Helper()
	n := f.cfg.Brokers
	var voters, controllers []string
	for i := range n {
		f.brokers = append(f.brokers, testkit.FreeAddr(f.t))
		controllers = append(controllers, testkit.FreeAddr(f.t))
		voters = append(voters, fmt.Sprintf("%d@%s", i+1, controllers[i]))
	}
	copies := fmt.Sprint(min(3, n))
	for i, addr := range f.brokers {
		dir := filepath.Join(f.Dir, fmt.Sprintf("kafka%d", i+1))
		if err := os.MkdirAll(filepath.Join(dir, "log"), 0o755); err != nil {
			f.t.Fatal(err)
		}
		// The file that Kafka writes when it formats the folder of a broker.
		format := fmt.Sprintf("version=1\nnode.id=%d\ncluster.id=c2hvcnRsaW5lLXRlc3RzAQ\n", i+1)
		if err := os.WriteFile(filepath.Join(dir, "log", "meta.properties"), []byte(format), 0o600); err != nil {
			f.t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			f.t.Fatal(err)
		}
		args := []string{"-dir", dir, "-port", port, "-heap", "256"}
		for _, set := range []string{
			"node.id=" + fmt.Sprint(i+1), "controller.quorum.voters=" + strings.Join(voters, ","),
			"listeners=PLAINTEXT://" + addr + ",CONTROLLER://" + controllers[i],
			"default.replication.factor=" + copies, "offsets.topic.replication.factor=" + copies,
			"min.insync.replicas=" + fmt.Sprint(max(1, min(3, n)-1)), "unclean.leader.election.enable=false",
			// Shorter than the defaults, so that a dead broker is detected sooner.
			"broker.session.timeout.ms=4000", "broker.heartbeat.interval.ms=500",
		} {
			args = append(args, "-set", set)
		}
		name := fmt.Sprintf("kafka%d", i+1)
		f.Cluster = append(f.Cluster, process(f.t, f.Dir, name, binary(f.t, "kafkad"), args, nil, dials(addr)))
	}
	f.Kafka = f.Cluster[0]
	for _, b := range f.Cluster {
		f.launch(b)
	}
}
