package client_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/shortline/shortline/client"
)

func TestConditions_are_what_the_API_takes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		condition client.Matcher
		want      string
	}{
		{client.Country("DE"), `{"type":"country","operator":"equals","value":"DE"}`},
		{client.Country("DE", "AT"), `{"type":"country","operator":"in","value":["DE","AT"]}`},
		{client.Country("DE").Not(), `{"type":"country","operator":"not_equals","value":"DE"}`},
		{client.Country("DE").Not().Not(), `{"type":"country","operator":"equals","value":"DE"}`},
		{client.Continent("EU"), `{"type":"continent","operator":"equals","value":"EU"}`},
		{client.Region("DE-BY"), `{"type":"region","operator":"equals","value":"DE-BY"}`},
		{client.City("Berlin"), `{"type":"city","operator":"equals","value":"Berlin"}`},
		{client.Language("de-DE"), `{"type":"language","operator":"equals","value":"de-DE"}`},
		{client.OnDevice(client.DeviceMobile, client.DeviceTablet), `{"type":"device","operator":"in","value":["MOBILE","TABLET"]}`},
		{client.OS("iOS"), `{"type":"os","operator":"equals","value":"iOS"}`},
		{client.Browser("Firefox"), `{"type":"browser","operator":"equals","value":"Firefox"}`},
		{client.Match(client.ConditionTypeReferer, client.Contains, "news"), `{"type":"referer","operator":"contains","value":"news"}`},
		{client.UTM("utm_source", "mail"), `{"type":"utm_source","operator":"equals","value":"mail"}`},
		{client.IP("192.0.2.7"), `{"type":"ip","operator":"in","value":["192.0.2.7"]}`},
		{client.NewVisitor(), `{"type":"visitor","operator":"equals","value":"new"}`},
		{client.ReturningVisitor().Not(), `{"type":"visitor","operator":"not_equals","value":"returning"}`},
		{client.Percentage(12.5), `{"type":"percentage","operator":"less_than","value":12.5}`},
		{client.Query("ref", client.In, "a", "b"), `{"type":"query","operator":"in","value":{"name":"ref","value":["a","b"]}}`},
		{client.Query("ref", client.StartsWith, "a"), `{"type":"query","operator":"starts_with","value":{"name":"ref","value":"a"}}`},
		{client.TimeOfDay(client.Between, client.Span{Start: "09:00", End: "18:00", Timezone: "Europe/Berlin"}),
			`{"type":"time","operator":"between","value":{"start":"09:00","end":"18:00","timezone":"Europe/Berlin"}}`},
		{client.Date(client.After, client.Span{Start: "2026-12-24"}), `{"type":"date","operator":"after","value":{"start":"2026-12-24"}}`},
		{client.Weekdays("", time.Monday, time.Sunday), `{"type":"day_of_week","operator":"in","value":[1,7]}`},
		{client.Weekdays("Asia/Tokyo", time.Saturday).Not(),
			`{"type":"day_of_week","operator":"not_in","value":{"days":[6],"timezone":"Asia/Tokyo"}}`},
		{client.And(client.Country("DE"), client.Or()),
			`{"operator":"AND","conditions":[{"type":"country","operator":"equals","value":"DE"},{"operator":"OR","conditions":[]}]}`},
	} {
		got, err := json.Marshal(test.condition)
		if err != nil || string(got) != test.want {
			t.Errorf("got %s, %v\nwant %s", got, err, test.want)
		}
	}
}

// A condition is written in the form in which it was read, also one that this client does not know.
func TestConditions_are_read_without_loss(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"operator":"AND","conditions":[]}`,
		`{"logicalOperator":"OR","items":[{"type":"os","operator":"in","value":["iOS"]},{"operator":"AND","conditions":[]}]}`,
		`{"operator":"OR","conditions":[{"logicalOperator":"AND","items":[{"type":"date","operator":"before","value":"2026-12-24"}]}]}`,
		`{"operator":"AND","conditions":[{"type":"time","operator":"after","value":{"start":"09:00","end":null,"timezone":null}}]}`,
		`{"operator":"AND","conditions":[{"type":"percentage","operator":"less_than","value":12.3400}]}`,
		`{"operator":"AND","conditions":[{"type":"moon","operator":"is","value":{"phase":[1.0,"x"]}}]}`,
	} {
		var group client.ConditionGroup
		if err := json.Unmarshal([]byte(text), &group); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(group); err != nil || string(got) != text {
			t.Errorf("got %s, %v\nwant %s", got, err, text)
		}
	}
	for _, text := range []string{`{}`, `[]`, `{"operator":"AND","conditions":[1]}`, `{"operator":"AND","conditions":[{}]}`} {
		var group client.ConditionGroup
		if err := json.Unmarshal([]byte(text), &group); err == nil {
			t.Errorf("%s is read as %+v", text, group)
		}
	}
}

func TestCondition_values(t *testing.T) {
	t.Parallel()
	read := func(text string) (c client.Condition) {
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	if got := client.Country("DE", "AT").Texts(); !slices.Equal(got, []string{"DE", "AT"}) {
		t.Errorf("the countries are %v", got)
	}
	if c := client.Query("ref", client.Equals, "a"); c.Parameter() != "ref" || !slices.Equal(c.Texts(), []string{"a"}) {
		t.Errorf("the parameter is %s, %v", c.Parameter(), c.Texts())
	}
	span := client.Span{Start: "09:00", End: "18:00", Timezone: "Europe/Berlin"}
	if got := client.TimeOfDay(client.Between, span).Span(); got != span {
		t.Errorf("the time is %+v", got)
	}
	if got := read(`{"type":"date","operator":"after","value":"2026-12-24"}`).Span(); got != (client.Span{Start: "2026-12-24"}) {
		t.Errorf("the date is %+v", got)
	}
	for _, value := range []string{`7`, `[7]`, `{"days":[7]}`} {
		days, _ := read(`{"type":"day_of_week","operator":"equals","value":` + value + `}`).Days()
		if !reflect.DeepEqual(days, []time.Weekday{time.Sunday}) {
			t.Errorf("the days of %s are %v", value, days)
		}
	}
	if days, zone := client.Weekdays("Asia/Tokyo", time.Friday).Days(); len(days) != 1 || days[0] != time.Friday || zone != "Asia/Tokyo" {
		t.Errorf("the days are %v in %s", days, zone)
	}
	if got := client.Percentage(12.5).Percent(); got != 12.5 {
		t.Errorf("the percentage is %v", got)
	}
	other := client.Percentage(1)
	if days, _ := other.Days(); other.Texts() != nil || other.Parameter() != "" || other.Span() != (client.Span{}) || days != nil {
		t.Errorf("a percentage has values of other types: %v", days)
	}
}
