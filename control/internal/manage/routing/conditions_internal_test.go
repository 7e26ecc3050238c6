package routing

import "testing"

// Conditions are shown in the form of the document, and otherwise as they were sent, byte for byte.
func TestD4_shown_conditions(t *testing.T) {
	t.Parallel()
	for authored, want := range map[string]string{
		`{ "operator":"AND", "conditions":[{"type":"device","operator":"equals","value":"mobile"}]}`: "",
		`{"logicalOperator":"or","items":[{"type":" Country","operator":"IN",` +
			`"value":["DE"]},{"operator":"and","conditions":[{"type":"OS","operator":"Equals","value":"iOS <b>"}]}]}`: `{"items":[{"operator":"in","type":"country","value":["DE"]},{"conditions":[{"operator":"equals","type":"os","value":"iOS <b>"}],"operator":"AND"}],"logicalOperator":"OR"}`,
		`{"operator":"AND","conditions":[{"type":"percentage","operator":"less_than","value":" 12.50"}]}`:   `{"conditions":[{"operator":"less_than","type":"percentage","value":12.50}],"operator":"AND"}`,
		`{"operator":"AND","conditions":[{"type":"day_of_week","operator":"in","value":{"days":[0,"5"]}}]}`: `{"conditions":[{"operator":"in","type":"day_of_week","value":{"days":[7,5]}}],"operator":"AND"}`,
		`{"operator":"AND","conditions":[{"type":"day_of_week","operator":"equals","value":3}]}`:            "", "not JSON": "",
		"null": "", "[]": "",
	} {
		if want == "" {
			want = authored
		}
		if got := string(ShownConditions(authored)); got != want {
			t.Errorf("%s is shown as %s, want %s", authored, got, want)
		}
	}
}
