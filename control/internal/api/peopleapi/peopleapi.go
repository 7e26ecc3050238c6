// Package peopleapi has the endpoints of people: accounts and their sessions, passwords and second factors, single sign-on, users,
// API keys, workspaces and invitations.
package peopleapi

import (
	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/archive"
	"github.com/shortline/shortline/control/internal/manage/accounts"
	"github.com/shortline/shortline/control/internal/manage/invitations"
	"github.com/shortline/shortline/control/internal/manage/keys"
	"github.com/shortline/shortline/control/internal/manage/passkeys"
	"github.com/shortline/shortline/control/internal/manage/sso"
	"github.com/shortline/shortline/control/internal/manage/workspaces"
)

// Deps are use cases. The endpoints of one that is nil do not exist.
type Deps struct {
	Accounts    *accounts.Service
	Keys        *keys.Service
	Passkeys    *passkeys.Service
	SSO         *sso.Service
	Workspaces  *workspaces.Service
	Invitations *invitations.Service // needs Workspaces
	Archives    *archive.Service
}

// server answers the requests.
type server struct {
	*kit.Kit
	Deps
}

// Register adds the resources and their endpoints to the API.
func Register(k *kit.Kit, d Deps) {
	s := &server{k, d}
	k.Resources(
		accountResource, passkeyResource, signOnResource, workspaceResource, archiveResource,
		invitationResource, keyResource, pairingResource, userResource, providerResource,
	)
	if s.Accounts != nil {
		s.registerAccount()
		s.registerSessions()
		s.registerPasswordReset()
		s.registerUsers()
	}
	if s.Passkeys != nil {
		s.registerPasskeys()
	}
	if s.Keys != nil {
		s.registerKeys()
		s.registerPairings()
	}
	if s.Workspaces != nil {
		s.registerWorkspaces()
	}
	if s.Archives != nil {
		s.registerArchives()
	}
	if s.Invitations != nil {
		s.registerInvitations()
	}
	if s.SSO != nil {
		s.registerSSO()
	}
}
