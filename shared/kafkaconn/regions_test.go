package kafkaconn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/kafkaconn"
)

func TestParseRegions(t *testing.T) {
	t.Parallel()
	s := kafkaconn.Settings{Brokers: []string{"kafka-eu:9092"}, Topic: "clicks", TLS: true}
	one, err := kafkaconn.ParseRegions(" ", s)
	if err != nil || len(one) != 1 || one[0].Name != "" || !slices.Equal(one[0].Brokers, s.Brokers) {
		t.Errorf("without regions: %+v, %v", one, err)
	}
	list, err := kafkaconn.ParseRegions("eu-west=kafka-eu:9092, kafka-eu-2:9092; us.east=[2001:db8::1]:9092;", s)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list[0].Name != "eu-west" || !slices.Equal(list[0].Brokers, []string{"kafka-eu:9092", "kafka-eu-2:9092"}) ||
		list[0].Topic != "clicks" || !list[0].TLS {
		t.Errorf("%+v", list[0])
	}
	if list[1].Name != "us.east" || !slices.Equal(list[1].Brokers, []string{"[2001:db8::1]:9092"}) {
		t.Errorf("%+v", list[1])
	}
	if _, err := kafkaconn.ParseRegions("eu=a:1;us=b:1", kafkaconn.Settings{}); err != nil {
		t.Errorf("without KAFKA_BROKERS, as for the role ingest alone: %v", err)
	}
}

func TestParseRegions_names_every_problem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"eu=a:1;us=b:1;eu=c:1":          {"eu is named twice"},
		"eu=a:1,b:1;us=B:1":             {"eu and us both have the broker B:1"},
		"eu=;us=,":                      {"eu has no brokers", "us has no brokers"},
		"eu=a;=b:1;a:1;e u=c:1":         {`eu: "a" is not host:port`, `"": a name has`, `"a:1" is not name=host:port`, `"e u": a name has`},
		";":                             {"names no region"},
		"us=b:1":                        {"KAFKA_BROKERS: a:1 is in no region"},
		"eu=a:1;us=a2:1":                {"must be brokers of one region, but KAFKA_REGIONS has them in eu and us"},
		"eu=a:1;eu=a:1;us=a:1;ap=x,y,;": {"eu is named twice", "eu and us both have", `ap: "x" is not`, `ap: "y" is not`},
	} {
		_, err := kafkaconn.ParseRegions(text, kafkaconn.Settings{Brokers: []string{"a:1", "a2:1"}})
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %q is missing in %v", text, w, err)
			}
		}
		if err != nil && len(strings.Split(err.Error(), "\n")) != len(want) {
			t.Errorf("%q: %d problems expected:\n%v", text, len(want), err)
		}
	}
}
