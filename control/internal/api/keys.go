package api

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/store"
)

// APIKey describes an API key without the key itself.
type APIKey struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Prefix     string `json:"prefix" doc:"The key's first characters."`
	ExpiresAt  *Time  `json:"expiresAt" nullable:"true" doc:"Null means never."`
	CreatedAt  Time   `json:"createdAt"`
	LastUsedAt *Time  `json:"lastUsedAt" nullable:"true" doc:"With a precision of one minute."`
}

// NewAPIKey describes a new API key with the key itself, which is shown only once.
type NewAPIKey struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Key       string `json:"key" doc:"Shown only in this response."`
	Prefix    string `json:"prefix"`
	ExpiresAt *Time  `json:"expiresAt" nullable:"true"`
	CreatedAt Time   `json:"createdAt"`
}

// APIKeyList has the same rows under two names.
type APIKeyList struct {
	APIKeys []APIKey `json:"apiKeys"`
	List[APIKey]
}

func keyOf(k store.Key) APIKey {
	return APIKey{k.ID, k.Name, k.Prefix, timeOf(k.ExpiresAt), Time(k.CreatedAt), timeOf(k.LastUsedAt)}
}

func (s *Server) registerKeys() {
	declare := func(method, path, id, summary string) endpoint {
		return endpoint{Method: method, Path: "/api/api-keys" + path, ID: id, Summary: summary, Tag: "API keys"}
	}
	create := declare(http.MethodPost, "", "createAPIKey", "Create an API key")
	create.Limit, create.Escalates = limitAPIKeys, true
	handle(s, create, s.createKey)
	handle(s, declare(http.MethodGet, "", "listAPIKeys", "List your API keys"), s.listKeys)
	handle(s, declare(http.MethodGet, "/{id}", "getAPIKey", "Get an API key"), s.getKey)
	handle(s, declare(http.MethodDelete, "/{id}", "deleteAPIKey", "Delete an API key"), s.deleteKey)
}

type createKeyIn struct {
	Body struct {
		Name      string    `json:"name" doc:"1 to 100 characters."`
		ExpiresAt Opt[Time] `json:"expiresAt,omitempty" doc:"Must be in the future. Null means never."`
	}
}

func (s *Server) createKey(ctx context.Context, in *createKeyIn) (*body[NewAPIKey], error) {
	var expires *int64
	if t := in.Body.ExpiresAt.Pointer(); t != nil {
		expires = (*int64)(t)
	}
	key, k, err := s.Keys.Create(ctx, principal(ctx), in.Body.Name, expires)
	if err != nil {
		return nil, err
	}
	return &body[NewAPIKey]{NewAPIKey{k.ID, k.Name, key, k.Prefix, timeOf(k.ExpiresAt), Time(k.CreatedAt)}}, nil
}

func (s *Server) listKeys(ctx context.Context, in *Paging) (*body[APIKeyList], error) {
	rows, err := s.Keys.List(ctx, principal(ctx))
	if err != nil {
		return nil, err
	}
	from := min(in.offset(100), len(rows))
	shown := eachOf(keyOf)(rows[from:min(from+in.size(100), len(rows))])
	return &body[APIKeyList]{APIKeyList{shown, listOf(shown, len(rows), *in, 100)}}, nil
}

func (s *Server) getKey(ctx context.Context, in *ByID) (*body[APIKey], error) {
	return respond(keyOf)(s.Keys.Get(ctx, principal(ctx), in.ID))
}

func (s *Server) deleteKey(ctx context.Context, in *ByID) (*struct{}, error) {
	return nil, s.Keys.Delete(ctx, principal(ctx), in.ID)
}
