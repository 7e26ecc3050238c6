package api

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/store"
)

// APIKey is a key without the key.
type APIKey struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Prefix     string `json:"prefix" doc:"The key's first characters."`
	ExpiresAt  *Time  `json:"expiresAt" nullable:"true" doc:"Null: never."`
	CreatedAt  Time   `json:"createdAt"`
	LastUsedAt *Time  `json:"lastUsedAt" nullable:"true" doc:"To the minute."`
}

// NewAPIKey is a key with the key, which is shown this once.
type NewAPIKey struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Key       string `json:"key" doc:"Not shown again."`
	Prefix    string `json:"prefix"`
	ExpiresAt *Time  `json:"expiresAt" nullable:"true"`
	CreatedAt Time   `json:"createdAt"`
}

// APIKeyList carries the rows under two names.
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
	handle(s, declare(http.MethodGet, "", "listAPIKeys", "List one's own API keys"), s.listKeys)
	handle(s, declare(http.MethodGet, "/{id}", "getAPIKey", "Get an API key"), s.getKey)
	handle(s, declare(http.MethodDelete, "/{id}", "deleteAPIKey", "Delete an API key, which is invalid at once"), s.deleteKey)
}

type createKeyIn struct {
	Body struct {
		Name      string    `json:"name" doc:"1 to 100 characters."`
		ExpiresAt Opt[Time] `json:"expiresAt,omitempty" doc:"Must lie ahead; null means never."`
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
	shown := []APIKey{}
	for _, k := range rows[from:min(from+in.size(100), len(rows))] {
		shown = append(shown, keyOf(k))
	}
	return &body[APIKeyList]{APIKeyList{shown, listOf(shown, len(rows), *in, 100)}}, nil
}

func (s *Server) getKey(ctx context.Context, in *ByID) (*body[APIKey], error) {
	k, err := s.Keys.Get(ctx, principal(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &body[APIKey]{keyOf(k)}, nil
}

func (s *Server) deleteKey(ctx context.Context, in *ByID) (*struct{}, error) {
	return nil, s.Keys.Delete(ctx, principal(ctx), in.ID)
}
