package peopleapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/keys"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/store"
)

// APIKey describes an API key without the key itself.
type APIKey struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Prefix      string    `json:"prefix" doc:"The key's first characters."`
	Scopes      []string  `json:"scopes" values:"keyScope" doc:"What the key is limited to. Empty means all that its user may do in the workspace."`
	AllowedIPs  []string  `json:"allowedIps" doc:"Addresses and networks from which the key can be used. Empty means all."`
	WorkspaceID string    `json:"workspaceId" doc:"The only workspace that the key reaches, unless it is an unlimited key of an administrator."`
	CreatedBy   KeyUser   `json:"createdBy" doc:"The user as whom the key acts."`
	MadeByKeyID *string   `json:"madeByKeyId" nullable:"true" doc:"The API key with which this one was made, and with which it is deleted. Null if it was made in a session."`
	IsLegacy    bool      `json:"isLegacy" doc:"Whether the key was created by a release without checksums in keys. Rotate such a key."`
	ExpiresAt   *kit.Time `json:"expiresAt" doc:"Null means never."`
	CreatedAt   kit.Time  `json:"createdAt"`
	LastUsedAt  *kit.Time `json:"lastUsedAt" doc:"With a precision of one minute."`
	LastUsedIP  *string   `json:"lastUsedIp" doc:"The address of the last use. Null if it is unknown."`
}

// KeyUser is the user who has created an API key.
type KeyUser struct {
	ID    string `json:"id"`
	Email string `json:"email"`
}

// NewAPIKey describes a new API key with the key itself, which is shown only once.
type NewAPIKey struct {
	APIKey
	Key string `json:"key" doc:"Shown only in this response."`
}

// APIKeyList has the same rows under two names.
type APIKeyList struct {
	APIKeys []APIKey `json:"apiKeys"`
	kit.List[APIKey]
}

func keyOf(k store.Key) APIKey {
	return APIKey{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Scopes: strings.Fields(k.Scopes), AllowedIPs: strings.Fields(k.AllowedIPs),
		WorkspaceID: k.WorkspaceID,
		CreatedBy:   KeyUser{k.UserID, k.Email}, MadeByKeyID: kit.Text(k.MadeBy), IsLegacy: !k.Checksummed,
		ExpiresAt:  kit.TimeOf(k.ExpiresAt),
		CreatedAt:  kit.Time(k.CreatedAt),
		LastUsedAt: kit.TimeOf(k.LastUsedAt), LastUsedIP: kit.Text(k.LastUsedIP),
	}
}

var keyResource = kit.Resource{
	Tag: "API keys", About: "Credentials for scripts and integrations.",
	Read: kit.Needs(auth.WorkspaceAdmin, 0), Change: kit.Needs(auth.WorkspaceAdmin, 0),
	Values: map[string][]any{"keyScope": kit.Enum(auth.ScopeNames()...)},
}

func (s *server) registerKeys() {
	declare := kit.Under("/api/api-keys", "API keys")
	create := declare(http.MethodPost, "", "createAPIKey", "Create an API key").
		About("A key that is created with a key has at most its scopes, its addresses and its end, and is deleted with it. If the operator " +
			"has set API_KEYS_ADMINISTER=false, this requires a session. Only this response contains the full key. A key works in the workspace " +
			"in which it was created. It never does more than the role of its user in the workspace permits, and `scopes` limit it further. An " +
			"unlimited key of an administrator, created in the personal workspace, reaches everything. The number of keys per user is " +
			"limited (409).").
		Example(`{"name":"Deployment","expiresAt":"2027-12-31T00:00:00.000Z",` +
			`"scopes":["links:write","analytics:read"],"allowedIps":["203.0.113.0/24"]}`).Fails(http.StatusConflict)
	create.Limit, create.Escalates = kit.LimitAPIKeys, true
	kit.Handle(s.Kit, create, s.createKey)
	kit.Handle(s.Kit, declare(http.MethodGet, "", "listAPIKeys", "List the API keys of the workspace").
		About("The keys of the workspace with prefix, limits and last use. In a personal workspace these are your keys. The keys themselves "+
			"are not stored."), s.listKeys)
	kit.Handle(s.Kit, declare(http.MethodGet, "/{id}", "getAPIKey", "Get an API key").
		About("Returns a key by id, without the full key."), s.getKey)
	rotate := declare(http.MethodPost, "/{id}/rotate", "rotateAPIKey", "Replace the secret of an API key").
		About("A key can rotate itself and the keys that were created with it, within its own end. If the operator has set " +
			"API_KEYS_ADMINISTER=false, this requires a session. The old secret stops working immediately on all replicas, and only this " +
			"response contains the new one. Name, scopes and allowed addresses stay. Only the user who has created a key can rotate it.").
		Example(`{"expiresAt":"2027-12-31T00:00:00.000Z"}`).Fails(http.StatusConflict)
	rotate.Limit, rotate.Escalates, rotate.Status = kit.LimitAPIKeys, true, http.StatusOK
	kit.Handle(s.Kit, rotate, s.rotateKey)
	kit.Handle(s.Kit, declare(http.MethodDelete, "/{id}", "deleteAPIKey", "Delete an API key").
		About("The key and the keys that were created with it stop working immediately on all replicas. With `endMade`, the users, "+
			"invitations and webhooks that were made with them end, too; only an administrator can deactivate users (403)."), s.deleteKey)
}

type createKeyIn struct {
	Body struct {
		Name       string            `json:"name" doc:"1 to 100 characters."`
		ExpiresAt  kit.Opt[kit.Time] `json:"expiresAt,omitempty" doc:"Must be in the future. Without it, the key lasts as long as the operator permits, by default forever."`
		Scopes     kit.Opt[[]string] `json:"scopes,omitempty" values:"keyScope" doc:"None means all that you may do in the workspace."`
		AllowedIPs kit.Opt[[]string] `json:"allowedIps,omitempty" doc:"At most 20 addresses or networks (CIDR) from which the key can be used. None means all."`
	}
}

func (s *server) createKey(ctx context.Context, in *createKeyIn) (*kit.Body[NewAPIKey], error) {
	b := in.Body
	key, k, err := s.Keys.Create(ctx, kit.Principal(ctx), keys.Input{
		Name: b.Name, ExpiresAt: (*int64)(b.ExpiresAt.Pointer()), Scopes: b.Scopes.Value, AllowedIPs: b.AllowedIPs.Value,
	})
	if err != nil {
		return nil, err
	}
	return kit.NewBody(NewAPIKey{keyOf(k), key}), nil
}

type rotateKeyIn struct {
	kit.ByID
	Body struct {
		ExpiresAt kit.Opt[kit.Time] `json:"expiresAt,omitempty" doc:"A new expiry, which is required if the key has expired. Null means as long as the operator permits. Without it, the expiry stays."`
	}
}

func (s *server) rotateKey(ctx context.Context, in *rotateKeyIn) (*kit.Body[NewAPIKey], error) {
	var expires *keys.Expiry
	if in.Body.ExpiresAt.Set {
		expires = &keys.Expiry{At: (*int64)(in.Body.ExpiresAt.Pointer())}
	}
	key, k, err := s.Keys.Rotate(ctx, kit.Principal(ctx), in.ID, expires)
	if err != nil {
		return nil, err
	}
	return kit.NewBody(NewAPIKey{keyOf(k), key}), nil
}

func (s *server) listKeys(ctx context.Context, in *kit.Paging) (*kit.Body[APIKeyList], error) {
	rows, err := s.Keys.List(ctx, kit.Principal(ctx))
	if err != nil {
		return nil, err
	}
	from := min(in.Offset(100), len(rows))
	shown := kit.EachOf(keyOf)(rows[from:min(from+in.Size(100), len(rows))])
	return kit.NewBody(APIKeyList{shown, kit.ListOf(shown, len(rows), *in, 100)}), nil
}

func (s *server) getKey(ctx context.Context, in *kit.ByID) (*kit.Body[APIKey], error) {
	return kit.Respond(keyOf)(s.Keys.Get(ctx, kit.Principal(ctx), in.ID))
}

type deleteKeyIn struct {
	kit.ByID
	EndMade bool `query:"endMade" doc:"Also deactivate users, revoke invitations and pause webhooks that were made with these keys."`
}

func (s *server) deleteKey(ctx context.Context, in *deleteKeyIn) (*struct{}, error) {
	return nil, s.Keys.Delete(ctx, kit.Principal(ctx), in.ID, in.EndMade)
}
