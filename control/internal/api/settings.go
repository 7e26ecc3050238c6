package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

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
	CreatedAt   Time      `json:"createdAt"`
	UpdatedAt   Time      `json:"updatedAt"`
}

func settingOf(v store.Setting) Setting {
	return Setting{v.ID, v.Key, JSONValue(v.Value), v.Description, Time(v.CreatedAt), Time(v.UpdatedAt)}
}

func (s *Server) registerSettings() {
	declare := func(method, path, id, summary string) endpoint {
		return endpoint{Method: method, Path: "/api/settings/system" + path, ID: id, Summary: summary, Tag: "System settings", Need: admin}
	}
	handle(s, declare(http.MethodGet, "", "listSettings", "List system settings"), s.listSettings)
	handle(s, declare(http.MethodGet, "/{key}", "getSetting", "Get a system setting"), s.getSetting)
	handle(s, declare(http.MethodPut, "/{key}", "putSetting", "Set a system setting"), s.putSetting)
	handle(s, declare(http.MethodDelete, "/{key}", "deleteSetting", "Delete a system setting"), s.deleteSetting)
}

func (s *Server) listSettings(ctx context.Context, _ *struct{}) (*body[[]Setting], error) {
	return respond(eachOf(settingOf))(s.Settings.List(ctx, principal(ctx)))
}

// ByKey is embedded in a request about one setting.
type ByKey struct {
	Key string `path:"key" doc:"The setting's key."`
}

func (s *Server) getSetting(ctx context.Context, in *ByKey) (*body[*Setting], error) {
	v, found, err := s.Settings.Get(ctx, principal(ctx), in.Key)
	if err != nil || !found {
		return &body[*Setting]{}, err
	}
	out := settingOf(v)
	return &body[*Setting]{&out}, nil
}

type putSettingIn struct {
	ByKey
	Body struct {
		Value       JSONValue   `json:"value"`
		Description Opt[string] `json:"description,omitempty"`
	}
}

func (s *Server) putSetting(ctx context.Context, in *putSettingIn) (*body[Setting], error) {
	if len(in.Body.Value) == 0 {
		return nil, problem.OfField("value", "is required")
	}
	return respond(settingOf)(s.Settings.Put(ctx, principal(ctx), in.Key, json.RawMessage(in.Body.Value), in.Body.Description.Set, in.Body.Description.Pointer()))
}

func (s *Server) deleteSetting(ctx context.Context, in *ByKey) (*struct{}, error) {
	return nil, s.Settings.Delete(ctx, principal(ctx), in.Key)
}
