package logrepeat_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shortline/shortline/control/internal/platform/logrepeat"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A10: a fault that lasts writes one line in ten seconds, which says how often it was repeated.
func TestA10_a_warning_is_written_once_in_ten_seconds_with_a_count(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out testkit.Buffer
		log := logrepeat.New(slog.New(slog.NewTextHandler(&out, nil)))
		read := 0
		lines := func() (list []string) {
			synctest.Wait()
			for line := range strings.Lines(out.String()[read:]) {
				read += len(line)
				_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
				list = append(list, line)
			}
			return list
		}
		want := func(when string, want ...string) {
			t.Helper()
			if got := lines(); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: got\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		for i := range 30 { // three seconds
			for _, edge := range []string{"a", "b"} {
				log.Warn("edge report not stored", "edge", edge, "failures", i, "error", errors.New(fmt.Sprint("no ", i)))
			}
			log.With("edge", "c").Warn("edge report not stored")
			<-time.After(100 * time.Millisecond)
		}
		log.Error("clicks missing", "from", 1)
		log.Error("clicks missing", "from", 2)
		log.Info("audit log head")
		log.Info("audit log head")
		want("at first", `level=WARN msg="edge report not stored" edge=a failures=0 error="no 0"`,
			`level=WARN msg="edge report not stored" edge=b failures=0 error="no 0"`,
			`level=WARN msg="edge report not stored" edge=c`, `level=ERROR msg="clicks missing" from=1`,
			`level=ERROR msg="clicks missing" from=2`,
			`level=INFO msg="audit log head"`, `level=INFO msg="audit log head"`)
		<-time.After(8 * time.Second)
		got := strings.Join(lines(), "\n")
		for _, line := range []string{`edge=a failures=29 error="no 29" repeated=29`, `edge=b failures=29 error="no 29" repeated=29`,
			`edge=c repeated=29`} {
			if strings.Count(got, line) != 1 || strings.Count(got, "\n") != 2 {
				t.Errorf("after ten seconds: %s is missing in\n%s", line, got)
			}
		}
		<-time.After(logrepeat.Window + time.Second)
		want("without repetition")
		log.Warn("edge report not stored", "edge", "a")
		want("later", `level=WARN msg="edge report not stored" edge=a`)
		<-time.After(logrepeat.Window + time.Second) // the window ends, so that no timer is left
	})
}
