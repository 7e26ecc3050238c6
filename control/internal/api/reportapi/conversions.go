package reportapi

import (
	"context"
	"net/http"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/manage/conversions"
	"github.com/shortline/shortline/control/internal/platform/auth"
)

// ConversionSettings are the settings of a workspace for conversions.
type ConversionSettings struct {
	ClickParameter string   `json:"clickParameter" doc:"The query parameter with the id of the click that edges add to destinations." example:"sl_click"`
	Hosts          []string `json:"hosts" doc:"Web sites whose pages may send conversions. *.example.com is every name below example.com."`
	PublishableKey *string  `json:"publishableKey" doc:"The key that pages send with conversions. It is not secret. null before the settings are first changed." example:"slp_8d0f3c5a9b1e4f7780c2d6e5a4b39f10"`
}

type putConversionSettings struct {
	ClickParameter kit.Opt[string]   `json:"clickParameter,omitempty" doc:"A letter and at most 31 letters, digits, hyphens and underscores. null stands for sl_click."`
	Hosts          kit.Opt[[]string] `json:"hosts,omitempty" doc:"At most 50 host names without scheme, port and path. null stands for none."`
}

func conversionSettings(s conversions.Settings, err error) (*kit.Body[ConversionSettings], error) {
	if err != nil {
		return nil, err
	}
	return kit.NewBody(ConversionSettings{s.ClickParameter, append([]string{}, s.Hosts...), kit.Text(s.Key)}), nil
}

var conversionSettingsResource = kit.Resource{
	Tag: "Conversion settings", About: "The click id in destinations, and web sites whose pages send conversions.",
	Read: kit.Needs(auth.Viewer, kit.AnyScope), Change: kit.Needs(auth.WorkspaceAdmin, 0),
}

func (s *server) registerConversionSettings() {
	const path, tag = "/api/conversions/settings", "Conversion settings"
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodGet, Path: path, ID: "getConversionSettings",
		Summary: "Get the settings of conversions", Tag: tag}.
		About("The settings of the workspace. The publishable key is not secret: web pages contain it."),
		func(ctx context.Context, _ *struct{}) (*kit.Body[ConversionSettings], error) {
			return conversionSettings(s.ConversionSettings.Get(ctx, kit.Principal(ctx)))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPut, Path: path, ID: "putConversionSettings",
		Summary: "Change the given settings of conversions", Tag: tag}.
		About("Changes the given fields. A new `clickParameter` reaches every edge within a second; pages must read the new name. `hosts` "+
			"replaces the list.").
		Example(`{"clickParameter":"sl_click","hosts":["shop.example.com","*.example.org"]}`),
		func(ctx context.Context, in *struct{ Body putConversionSettings }) (*kit.Body[ConversionSettings], error) {
			input := conversions.Input{ClickParameter: kit.Given(in.Body.ClickParameter, "")}
			input.Hosts = kit.Given(in.Body.Hosts, nil)
			return conversionSettings(s.ConversionSettings.Update(ctx, kit.Principal(ctx), input))
		})
	kit.Handle(s.Kit, kit.Endpoint{Method: http.MethodPost, Path: path + "/rotate-key", ID: "rotateConversionKey",
		Summary: "Replace the publishable key", Tag: tag, Status: http.StatusOK}.
		About("Edges refuse the old key within a second, so change the pages soon after."),
		func(ctx context.Context, _ *struct{}) (*kit.Body[ConversionSettings], error) {
			return conversionSettings(s.ConversionSettings.RotateKey(ctx, kit.Principal(ctx)))
		})
}
