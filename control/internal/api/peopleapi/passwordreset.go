package peopleapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
)

func (s *server) registerPasswordReset() {
	declare := func(path, id, summary string) kit.Endpoint {
		return kit.Endpoint{
			Method: http.MethodPost, Path: "/api/auth/password" + path, ID: id, Summary: summary, Tag: "Account",
			Need: kit.Public, Status: http.StatusOK, Limit: kit.LimitPasswordReset,
		}
	}
	kit.Handle(s.Kit, declare("/forgot", "forgotPassword", "Get a link to choose a new password").
		About("Sends an e-mail with a link that works once, for 30 minutes. The response is the same for unknown addresses, and takes the "+
			"same time. It is 403 for every address if the installation sends no e-mail (an administrator must reset the password) or if "+
			"passwords are turned off. A client may ask five times an hour for one address, all clients together 20 times (429).").
		Example(`{"email":"ann@example.com"}`).Fails(http.StatusForbidden), s.forgotPassword)
	kit.Handle(s.Kit, declare("/reset", "resetForgottenPassword", "Choose a new password").
		About("Sets a new password with the token from the e-mail. All sessions of the user end, and the API keys are deleted. The response "+
			"does not sign in, and a second factor stays on. A token that expired or was used gets 400.").
		Example(`{"token":"VQGJ7WC3L4BTN2K5YF6ZEXRAMH","newPassword":"battery staple"}`).Fails(http.StatusForbidden), s.resetForgotten)
}

type forgotPasswordIn struct {
	Body struct {
		Email string `json:"email" minLength:"1" maxLength:"1000"`
	}
}

func (s *server) forgotPassword(ctx context.Context, in *forgotPasswordIn) (*kit.Body[kit.Message], error) {
	if err := s.Accounts.RequestReset(ctx, in.Body.Email); err != nil {
		return nil, err
	}
	return kit.NewMessage("If there is an account with this email, an e-mail with a link is on its way. The link works for 30 minutes."),
		nil
}

type resetForgottenIn struct {
	Body struct {
		Token       string `json:"token" minLength:"1" maxLength:"1000" doc:"From the link in the e-mail."`
		NewPassword string `json:"newPassword" doc:"At least 8 characters and at most 72 bytes. Common passwords and your own email are refused."`
	}
}

func (s *server) resetForgotten(ctx context.Context, in *resetForgottenIn) (*kit.Body[kit.Message], error) {
	if err := s.Accounts.Reset(ctx, in.Body.Token, in.Body.NewPassword); err != nil {
		return nil, err
	}
	return kit.NewMessage("The password was set. All sessions have ended, and the API keys were deleted. Sign in with the new password."),
		nil
}
