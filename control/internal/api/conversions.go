package api

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/manage/conversions"
)

// ConversionSettings are the settings of a workspace for conversions.
type ConversionSettings struct {
	ClickParameter string   `json:"clickParameter" doc:"The query parameter with the id of the click that edges add to destinations." example:"sl_click"`
	Hosts          []string `json:"hosts" doc:"Web sites whose pages may send conversions. *.example.com is every name below example.com."`
	PublishableKey *string  `json:"publishableKey" doc:"The key that pages send with conversions. It is not secret. null before the settings are first changed." example:"slp_8d0f3c5a9b1e4f7780c2d6e5a4b39f10"`
}

type putConversionSettings struct {
	ClickParameter Opt[string]   `json:"clickParameter,omitempty" doc:"A letter and at most 31 letters, digits, hyphens and underscores. null stands for sl_click."`
	Hosts          Opt[[]string] `json:"hosts,omitempty" doc:"At most 50 host names without scheme, port and path. null stands for none."`
}

func conversionSettings(s conversions.Settings, err error) (*body[ConversionSettings], error) {
	if err != nil {
		return nil, err
	}
	return &body[ConversionSettings]{ConversionSettings{s.ClickParameter, append([]string{}, s.Hosts...), text(s.Key)}}, nil
}

func (s *Server) registerConversionSettings() {
	const path, tag = "/api/conversions/settings", "Conversion settings"
	handle(s, endpoint{Method: http.MethodGet, Path: path, ID: "getConversionSettings", Summary: "Get the settings of conversions", Tag: tag},
		func(ctx context.Context, _ *struct{}) (*body[ConversionSettings], error) {
			return conversionSettings(s.ConversionSettings.Get(ctx, principal(ctx)))
		})
	handle(s, endpoint{Method: http.MethodPut, Path: path, ID: "putConversionSettings", Summary: "Change the given settings of conversions", Tag: tag},
		func(ctx context.Context, in *struct{ Body putConversionSettings }) (*body[ConversionSettings], error) {
			input := conversions.Input{ClickParameter: given(in.Body.ClickParameter, "")}
			input.Hosts = given(in.Body.Hosts, nil)
			return conversionSettings(s.ConversionSettings.Update(ctx, principal(ctx), input))
		})
	handle(s, endpoint{Method: http.MethodPost, Path: path + "/rotate-key", ID: "rotateConversionKey", Summary: "Replace the publishable key", Tag: tag, Status: http.StatusOK},
		func(ctx context.Context, _ *struct{}) (*body[ConversionSettings], error) {
			return conversionSettings(s.ConversionSettings.RotateKey(ctx, principal(ctx)))
		})
}
