package systemapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// JSONValue is any JSON value. The zero value means that none was given.
type JSONValue []byte

// MarshalJSON implements json.Marshaler.
func (v JSONValue) MarshalJSON() ([]byte, error) {
	if len(v) == 0 {
		return []byte("null"), nil
	}
	return v, nil
}

// UnmarshalJSON implements json.Unmarshaler. It keeps the text.
func (v *JSONValue) UnmarshalJSON(b []byte) error {
	*v = append([]byte{}, b...)
	return nil
}

// Schema allows any value.
func (JSONValue) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Description: "Any JSON value."}
}

// Setting is a system setting.
type Setting struct {
	ID          string    `json:"id"`
	Key         string    `json:"key"`
	Value       JSONValue `json:"value"`
	Description *string   `json:"description"`
	CreatedAt   kit.Time  `json:"createdAt"`
	UpdatedAt   kit.Time  `json:"updatedAt"`
}

func settingOf(v store.Setting) Setting {
	return Setting{v.ID, v.Key, JSONValue(v.Value), v.Description, kit.Time(v.CreatedAt), kit.Time(v.UpdatedAt)}
}

var settingsResource = kit.Resource{
	Tag: "System settings", About: "Settings of the installation, which only administrators reach, and its version.",
	Read: kit.Needs(kit.AnyRole, 0), Change: kit.Needs(kit.AnyRole, 0),
}

func (s *server) registerSettings() {
	declare := func(method, path, id, summary string) kit.Endpoint {
		return kit.Endpoint{Method: method, Path: "/api/settings/system" + path, ID: id, Summary: summary, Tag: "System settings",
			Need: kit.Admin}
	}
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listSettings", "List system settings").
		About("All settings, sorted by key."), s.listSettings)
	kit.Handle(s.Kit, declare(http.MethodGet, "/{key}", "getSetting", "Get a system setting").
		About("Returns the setting, or null if it is not set."), s.getSetting)
	kit.Handle(s.Kit, declare(http.MethodPut, "/{key}", "putSetting", "Set a system setting").
		About("Accepts any JSON value. `sso_enforce` = `{\"enabled\": true}` turns password sign-in off while an identity provider is active. "+
			"`require_2fa` = `{\"enabled\": true}` requires a second factor of everybody who signs in: a session of a user without one reaches "+
			"only the set-up (403 with `error` = `Second Factor Required` otherwise), while API keys keep working. You need a second factor "+
			"yourself to turn it on. Both settings need a session. `base_slugs` = `{\"caseSensitive\": false, \"slugs\": \"extended\", "+
			"\"minSlugLength\": 1}` sets the rules for slugs on the host of the service, as domains have them; 409 while slugs would meet.").
		Example(`{"value":{"enabled":true},"description":"Single sign-on only"}`).Fails(http.StatusConflict), s.putSetting)
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{key}", "deleteSetting", "Delete a system setting").
		About("Deletes the setting, so its default applies."), s.deleteSetting)
}

func (s *server) listSettings(ctx context.Context, _ *struct{}) (*kit.Body[[]Setting], error) {
	return kit.Respond(kit.EachOf(settingOf))(s.Settings.List(ctx, kit.Principal(ctx)))
}

// ByKey is embedded in a request about one setting.
type ByKey struct {
	Key string `path:"key" doc:"The setting's key."`
}

func (s *server) getSetting(ctx context.Context, in *ByKey) (*kit.Body[*Setting], error) {
	v, found, err := s.Settings.Get(ctx, kit.Principal(ctx), in.Key)
	if err != nil || !found {
		return &kit.Body[*Setting]{}, err
	}
	out := settingOf(v)
	return kit.NewBody(&out), nil
}

type putSettingIn struct {
	ByKey
	Body struct {
		Value       JSONValue       `json:"value"`
		Description kit.Opt[string] `json:"description,omitempty"`
	}
}

func (s *server) putSetting(ctx context.Context, in *putSettingIn) (*kit.Body[Setting], error) {
	if len(in.Body.Value) == 0 {
		return nil, problem.OfField("value", "is required")
	}
	return kit.Respond(settingOf)(s.Settings.Put(ctx, kit.Principal(ctx), in.Key, json.RawMessage(in.Body.Value), in.Body.Description.Set,
		in.Body.Description.Pointer()))
}

func (s *server) deleteSetting(ctx context.Context, in *ByKey) (*struct{}, error) {
	return nil, s.Settings.Delete(ctx, kit.Principal(ctx), in.Key)
}
