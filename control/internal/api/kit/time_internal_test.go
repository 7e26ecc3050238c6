package kit

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/platform/isotime"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The setting is the timeout of every endpoint that has no longer one. A stream has none.
func TestTimeoutOf(t *testing.T) {
	t.Parallel()
	k := &Kit{cfg: Config{Timeout: time.Minute}}
	for own, want := range map[time.Duration]time.Duration{0: time.Minute, time.Second: time.Minute, time.Hour: time.Hour, -1: -1} {
		testkit.Equal(t, k.timeoutOf(&Endpoint{Timeout: own}), want, "the timeout of an endpoint with %v", own)
	}
	testkit.Equal(t, k.timeoutOf(nil), time.Minute, "the timeout of an unknown address")
}

// A time that passes the schema can be read, and a possible date passes it.
func TestF7_the_pattern_of_times(t *testing.T) {
	t.Parallel()
	matches := regexp.MustCompile(timePattern).MatchString
	for _, year := range []int{0, 1900, 1999, 2000, 2024, 2027, 2028, 2100, 2400, 9999} {
		for month := range 14 {
			for day := range 33 {
				date := fmt.Sprintf("%04d-%02d-%02d", year, month, day)
				if _, err := isotime.Parse(date); matches(date) != (err == nil) {
					t.Errorf("%s: matches %v, %v", date, matches(date), err)
				}
			}
		}
	}
	for hour := range 26 {
		for _, form := range []string{"2027-01-31T%02d:00", "2027-01-31 %02d:59:59.5", "2027-01-31t12:00:00+%02d",
			"2027-01-31T12:00-%02d:30",
			"2027-01-31T12:00:00,25+%02d00", "2027-01-31T10:%02d:00z"} {
			text := fmt.Sprintf(form, hour)
			if _, err := isotime.Parse(text); matches(text) != (err == nil) {
				t.Errorf("%s: matches %v, %v", text, matches(text), err)
			}
		}
	}
}
