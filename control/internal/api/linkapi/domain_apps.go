package linkapi

import (
	"encoding/json"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/store"
)

// AppLinks are the files that let apps open the links of a domain.
type AppLinks struct {
	Apple   json.RawMessage `json:"apple" doc:"For iOS: the object at /.well-known/apple-app-site-association, or null."`
	Android json.RawMessage `json:"android" doc:"For Android: the array at /.well-known/assetlinks.json, or null."`
}

// AppLinksFields are those of AppLinks that a request sets.
type AppLinksFields struct {
	Apple   json.RawMessage `json:"apple,omitempty" doc:"An object; null removes it."`
	Android json.RawMessage `json:"android,omitempty" doc:"An array; null removes it. Both together have at most 16 KiB."`
}

func appLinksOf(d *store.Domain) AppLinks {
	return AppLinks{Apple: json.RawMessage(orNull(d.AppleApp)), Android: json.RawMessage(orNull(d.AssetLinks))}
}

func orNull(document string) string {
	if document == "" {
		return "null"
	}
	return document
}

// documents returns the texts that a request sets; nil keeps a text, and "" removes it.
func documents(o kit.Opt[AppLinksFields]) (apple, android *string) {
	if !o.Set {
		return nil, nil
	}
	if o.Null {
		none := ""
		return &none, &none
	}
	return document(o.Value.Apple), document(o.Value.Android)
}

func document(sent json.RawMessage) *string {
	if sent == nil {
		return nil
	}
	text := string(sent)
	if text == "null" {
		text = ""
	}
	return &text
}
