package domains

import (
	"bytes"
	"encoding/json"

	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
	"github.com/shortline/shortline/shared/snapshot"
)

// applyApps writes the documents for apps to a domain and adds their problems to v.
func (in *Input) applyApps(d *store.Domain, v *problem.Fields) {
	for _, f := range []struct {
		name, kind string
		first      byte
		given      *string
		to         *string
	}{{"appLinks.apple", "object", '{', in.AppleApp, &d.AppleApp}, {"appLinks.android", "array", '[', in.AssetLinks, &d.AssetLinks}} {
		if f.given == nil {
			continue
		}
		var b bytes.Buffer // without the spaces of the request: edges keep it in memory
		if err := json.Compact(&b, []byte(*f.given)); *f.given != "" && (err != nil || b.Bytes()[0] != f.first) {
			v.Add(f.name, "must be a JSON %s or null", f.kind)
			continue
		}
		*f.to = b.String()
	}
	if len(d.AppleApp)+len(d.AssetLinks) > snapshot.MaxAppLinks {
		v.Add("appLinks", "must have at most %d bytes", snapshot.MaxAppLinks)
	}
}

// auditedApps returns the documents for apps as an audit entry shows them.
func auditedApps(d *store.Domain) map[string]any {
	out := map[string]any{"apple": nil, "android": nil}
	if d.AppleApp != "" {
		out["apple"] = json.RawMessage(d.AppleApp)
	}
	if d.AssetLinks != "" {
		out["android"] = json.RawMessage(d.AssetLinks)
	}
	return out
}
