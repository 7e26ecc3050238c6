package fleet

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shortline/shortline/shared/testing/kafkatest"
)

// AddBroker starts Apache Kafka beside the Kafka of the fleet, as the broker of another region. addr is its address,
// host:port. The broker has no proxy, and no control plane reads it.
func (f *Fleet) AddBroker(name, addr string) *Process {
	f.t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		f.t.Fatal(err)
	}
	p := process(f.t, f.Dir, name, binary(f.t, "kafkad"), []string{"-dir", filepath.Join(f.Dir, name), "-port", port}, nil, dials(addr))
	p.Start()
	return p
}

// mirrorLog makes MirrorMaker 2 log warnings, and the starts of its tasks.
const mirrorLog = `status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
logger.tasks.name = org.apache.kafka.connect.runtime.AbstractWorkerSourceTask
logger.tasks.level = info
logger.topics.name = org.apache.kafka.connect.mirror
logger.topics.level = info
`

// MirrorMaker prepares a process of Apache MirrorMaker 2 with the given settings. Start launches it without waiting: it copies
// messages some seconds later.
func (f *Fleet) MirrorMaker(name string, settings map[string]string) *Process {
	f.t.Helper()
	jars := "mirrormaker-" + kafkatest.Version
	jars = filepath.Dir(inCache(f.t, "mirrormaker", filepath.Join(jars, "connect-mirror-"+kafkatest.Version+".jar")))
	dir := filepath.Join(f.Dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.t.Fatal(err)
	}
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s=%s\n", key, strings.ReplaceAll(settings[key], `\`, `\\`))
	}
	file, log := filepath.Join(dir, "mm2.properties"), filepath.Join(dir, "log4j2.properties")
	for path, content := range map[string]string{file: text.String(), log: mirrorLog} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	return process(f.t, f.Dir, name, "java", []string{
		"-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError", "-XX:-UsePerfData",
		"-Dlog4j2.configurationFile=" + log, "-cp", filepath.Join(jars, "*"), "org.apache.kafka.connect.mirror.MirrorMaker", file,
	}, nil, func() error { return nil })
}
