package rule_test

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/shortline/shortline/shared/rule"
)

// addSpecial adds attacks with the types that do not compare one of a visitor's texts. Package visitor has the attack on
// the query itself.
func addSpecial(all map[string]attack) {
	one := func(v *visitor) func(author, [][]map[string]any) []*visitor {
		return func(author, [][]map[string]any) []*visitor { return []*visitor{v} }
	}
	all["addresses"] = attack{func(a author, number int) (leaves []map[string]any) {
		for i := range 100 {
			list := make([]any, 20)
			for k := range list {
				list[k] = fmt.Sprintf("10.%d.%d.%d/31", number, i, 10*k+2)
			}
			leaves = append(leaves, map[string]any{"type": "ip", "operator": "in", "value": list})
		}
		return leaves
	}, one(&visitor{ip: netip.MustParseAddr("10.255.255.255")})}
	all["dates"] = attack{func(_ author, number int) (leaves []map[string]any) {
		for i := range 100 {
			leaves = append(leaves, map[string]any{"type": "date", "operator": "before",
				"value": fmt.Sprintf("%04d-01-01T00:00:%02dZ", 1000+i,
					number%60)})
		}
		return leaves
	}, one(&visitor{now: 1_780_000_000_000})}
	all["percentages"] = attack{func(_ author, number int) (leaves []map[string]any) {
		for i := range 100 {
			leaves = append(leaves, map[string]any{"type": "percentage", "operator": "less_than",
				"value": fmt.Sprintf("%d.%04d", number, i+1)})
		}
		return leaves
	}, one(&visitor{share: ^uint64(0)})}
	for name, op := range map[string]string{"parameters, found": "contains", "parameters, equal": "equals", "parameters, listed": "in"} {
		all[name] = attack{func(a author, _ int) (leaves []map[string]any) {
			for i := range 100 {
				text := any(strings.Repeat("σ", 120) + a.letters(alphabets[1], 4))
				if op == "in" {
					list := make([]any, 9)
					for k := range list {
						list[k] = text.(string) + a.letters(alphabets[1], 2)
					}
					text = list
				}
				leaves = append(leaves, map[string]any{"type": "query", "operator": op,
					"value": map[string]any{"name": fmt.Sprint("n", i%10),
						"value": text}})
			}
			return leaves
		}, one(namedParams(strings.Repeat("Σ", 127)))}
	}
	all["visitors and continents"] = attack{func(_ author, number int) (leaves []map[string]any) {
		for range 100 {
			leaves = append(leaves, map[string]any{"type": "continent", "operator": "contains", "value": fmt.Sprint("x", number)},
				map[string]any{"type": "visitor", "operator": "not_in", "value": []any{"new", "returning"}})
		}
		return leaves[:100]
	}, one(&visitor{facts: [rule.Fields]string{rule.FieldContinent: "EU", rule.FieldVisitor: rule.ReturningVisitor}})}
}

func namedParams(value string) *visitor {
	v := &visitor{now: 1_780_000_000_000, params: map[string]string{}}
	for i := range 10 {
		v.params[fmt.Sprint("n", i)] = value
	}
	return v
}
