package kafkaconn

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
)

// Region is the Kafka of one region. Its Settings differ from those of other regions only in Brokers.
type Region struct {
	// Name is the region's name in metrics and logs; "" if there is only KAFKA_BROKERS.
	Name string
	Settings
}

var regionName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,64}$`)

// ParseRegions reads the value of KAFKA_REGIONS: name=host:port,host:port;name2=host:port. An empty value means one
// region without a name, which is that of the settings. Otherwise each region has a copy of the settings with its own
// brokers. Settings.Brokers must then be brokers of one region, or empty. The error names every problem. It does not
// include those that Settings.Validate finds.
func ParseRegions(text string, s Settings) ([]Region, error) {
	if strings.TrimSpace(text) == "" {
		return []Region{{Settings: s}}, nil
	}
	var list []Region
	var problems []error
	refuse := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("KAFKA_REGIONS: "+format, args...))
	}
	named, owner := map[string]bool{}, map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue // such as after the last semicolon
		}
		name, brokers, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		switch {
		case !ok:
			refuse("%q is not name=host:port,host:port", part)
			continue
		case !regionName.MatchString(name):
			refuse("%q: a name has 1 to 64 letters, digits, dots, hyphens and underscores", name)
		case named[name]:
			refuse("%s is named twice", name)
		}
		named[name] = true
		r := Region{Name: name, Settings: s}
		r.Brokers = nil
		for b := range strings.SplitSeq(brokers, ",") {
			if b = strings.TrimSpace(b); b == "" {
				continue
			}
			if host, port, err := net.SplitHostPort(b); err != nil || host == "" || port == "" {
				refuse("%s: %q is not host:port", name, b)
			}
			key := strings.ToLower(b)
			if other, taken := owner[key]; taken && other != name {
				refuse("%s and %s both have the broker %s: clicks of one Kafka must have one name", other, name, b)
			}
			owner[key] = name
			r.Brokers = append(r.Brokers, b)
		}
		if len(r.Brokers) == 0 {
			refuse("%s has no brokers", name)
		}
		list = append(list, r)
	}
	if len(list) == 0 && len(problems) == 0 {
		refuse("%q names no region", text)
	}
	if len(s.Brokers) > 0 && len(problems) == 0 {
		if err := oneRegion(s.Brokers, owner); err != nil {
			problems = append(problems, err)
		}
	}
	return list, errors.Join(problems...)
}

// oneRegion checks that brokers belong to one region. owner has the region of each broker.
func oneRegion(brokers []string, owner map[string]string) error {
	home := ""
	for _, b := range brokers {
		name, known := owner[strings.ToLower(strings.TrimSpace(b))]
		switch {
		case !known:
			return fmt.Errorf(
				"KAFKA_BROKERS: %s is in no region of KAFKA_REGIONS, so nothing would read what the API writes there: add it to its region",
				b)
		case home != "" && name != home:
			return fmt.Errorf("KAFKA_BROKERS: must be brokers of one region, but KAFKA_REGIONS has them in %s and %s", home, name)
		}
		home = name
	}
	return nil
}
