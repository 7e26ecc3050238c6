package reportapi

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/api/kit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/shared/conversion"
)

// ConversionItem describes one item of a request. Package conversion has its rules.
type ConversionItem struct {
	ClickID    string  `json:"clickId" doc:"The id of the click, from the query of the destination." example:"AAAeJAaHuVl57wU2e4T1xzbsPwSbOLy1"`
	Name       string  `json:"name" maxLength:"64" doc:"What happened: letters, digits, spaces and . _ : / -. A link has at most 50 different names." example:"purchase"`
	Value      float64 `json:"value,omitempty" minimum:"0" maximum:"1000000000" doc:"A number with at most four decimals." example:"49.9"`
	Currency   string  `json:"currency,omitempty" doc:"ISO 4217." example:"EUR"`
	ExternalID string  `json:"externalId,omitempty" maxLength:"128" doc:"Your own id, such as an order number. It counts once for the name in the workspace, whichever click it comes with." example:"order-1001"`
	OccurredAt string  `json:"occurredAt,omitempty" format:"date-time" doc:"When it happened; without it, now."`
	Repeatable bool    `json:"repeatable,omitempty" doc:"Counts the name again for the same click, once for each externalId, which it needs."`
}

// ConversionItems is a list of items.
type ConversionItems struct {
	Items []ConversionItem `json:"items" minItems:"1" maxItems:"1000"`
}

// ConversionResult tells what became of an item.
type ConversionResult struct {
	Index   int     `json:"index" doc:"The place of the item in the request, from 0."`
	Verdict string  `json:"verdict" enum:"accepted,duplicate,invalid,malformed,forged,foreign,expired,before_click,in_future,too_many_goals" doc:"accepted: it is stored. duplicate: it was accepted before, and does not count again; field is externalId if that was with another click. All others are refused: invalid (a field is wrong), malformed (no click id), forged (not from this installation), foreign (a link of another workspace), expired (the click is too old), before_click and in_future (the time is impossible), too_many_goals (the link has 50 other names)."`
	Field   *string `json:"field,omitempty" doc:"The field to blame."`
	Message *string `json:"message,omitempty" doc:"What to change."`
}

// ConversionsSent is the response to conversions.
type ConversionsSent struct {
	Accepted int                `json:"accepted" doc:"Number of items that were stored."`
	Rejected int                `json:"rejected" doc:"Number of all others, duplicates included."`
	Results  []ConversionResult `json:"results" doc:"One for each item, in the order of the request."`
}

var conversionResource = kit.Resource{
	Tag: "Conversions", About: "What visitors do after a click, such as a purchase.",
	Read: kit.Needs(auth.Viewer, auth.AnalyticsRead), Change: kit.Needs(auth.Editor, auth.ConversionsWrite),
}

func (s *server) registerConversions() {
	send := kit.Endpoint{Method: http.MethodPost, Path: "/api/conversions", ID: "sendConversions", Summary: "Send conversions",
		Tag: "Conversions", Limit: kit.LimitConversions, Raw: true, Status: http.StatusAccepted}.
		About("Records what visitors did after a click, such as a purchase. `clickId` is the value of the parameter `sl_click` that the " +
			"visitor's destination received. The body is one object, an array, or `{\"items\": […]}`, with 1 to 1,000 items, or one object per " +
			"line as `application/x-ndjson`. " +
			"The response tells what became of each item; the items with `accepted` are stored durably. The first conversion of a name counts " +
			"for each click, unless it is `repeatable` and has an `externalId`. Sending a conversion again is harmless. 503: nothing was lost or " +
			"half done, so send the same request again.").
		Example(`{"clickId":"AAAeJAaHuVl57wU2e4T1xzbsPwSbOLy1","name":"purchase","value":49.9,"currency":"EUR","externalId":"order-1001"}`)
	s.HandleRaw(send, s.sendConversions)
	one, many := s.Schema(reflect.TypeFor[ConversionItem]()), s.Schema(reflect.TypeFor[ConversionItems]())
	least, most := 1, conversion.MaxItems
	s.Describe(&huma.Operation{
		Method: send.Method, Path: send.Path, OperationID: send.ID, Summary: send.Summary, Tags: []string{send.Tag},
		Security: []map[string][]string{{"bearer": {}}, {"apiKey": {}}, {"cookie": {}}},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {
				Schema: &huma.Schema{OneOf: []*huma.Schema{one, many, {Type: huma.TypeArray, Items: one, MinItems: &least,
					MaxItems: &most}}}},
			ndjson: {Schema: &huma.Schema{Type: huma.TypeString, Description: "One object per line."}},
		}},
		Responses: map[string]*huma.Response{
			"202": {Description: "Accepted",
				Content: map[string]*huma.MediaType{"application/json": {Schema: s.Schema(reflect.TypeFor[ConversionsSent]())}}}},
	})
}

func (s *server) sendConversions(c echo.Context) error {
	r := c.Request()
	body, err := kit.WholeBody(c, kit.MaxBody)
	if err != nil {
		return err
	}
	if len(body) > kit.LargeBody {
		slot, err := s.TakeTurn(c)
		if err != nil {
			return err
		}
		defer slot.Leave()
	}
	items, err := readItems(body, r.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	results, err := s.Conversions.Accept(r.Context(), kit.Principal(r.Context()), items)
	if err != nil {
		return err
	}
	out := ConversionsSent{Results: make([]ConversionResult, len(results))}
	for i, result := range results {
		if result.Verdict == conversion.Accepted {
			out.Accepted++
		} else {
			out.Rejected++
		}
		out.Results[i] = ConversionResult{i, string(result.Verdict), kit.Text(result.Field), kit.Text(result.Message)}
	}
	return c.JSON(http.StatusAccepted, out)
}

// browserConversion is one conversion in the request of POST /c (edge/internal/redirect/convert.go).
type browserConversion struct {
	Key        string  `json:"key,omitempty" doc:"The workspace's publishable key. Required here or as the parameter key of the query."`
	ClickID    string  `json:"clickId" doc:"The value of the click parameter that the page received."`
	Name       string  `json:"name" doc:"What happened, such as purchase."`
	Value      float64 `json:"value,omitempty" doc:"An amount of money."`
	Currency   string  `json:"currency,omitempty" doc:"ISO 4217 code of the value's currency."`
	ExternalID string  `json:"externalId,omitempty" doc:"Your id of the conversion, such as an order number."`
	OccurredAt string  `json:"occurredAt,omitempty" format:"date-time" doc:"When it happened; without it, now."`
	Repeatable bool    `json:"repeatable,omitempty" doc:"Whether one click can convert more than once. Requires externalId."`
}

// documentBrowserConversions adds what edges serve to the pages of web sites, at every host.
func (s *server) documentBrowserConversions() {
	str := &huma.Schema{Type: huma.TypeString}
	with := func(ok map[string]*huma.Response, errors ...int) map[string]*huma.Response {
		for _, status := range errors {
			ok[strconv.Itoa(status)] = s.Failure(status)
		}
		return ok
	}
	body := s.Schema(reflect.TypeFor[browserConversion]())
	s.Describe(&huma.Operation{
		Method: http.MethodPost, Path: "/c", OperationID: "sendBrowserConversion", Summary: "Send conversions from a web page",
		Description: "Served by edges at every host. Only pages of a workspace's sites may send: the origin must be in the conversion " +
			"settings, and requests of others get 403. The body is one conversion, an array, or an object with `items` and `key`, with at most " +
			"100 items and 16 KiB; only the script of `/sl.js` needs to know this. The verdict `accepted` is provisional: edges do not compare " +
			"conversions, and the control plane drops copies. " +
			"A client and a key have limits of conversions a minute (429). 503: the edge has no space at the moment and accepted nothing, so " +
			"send the same request again. Sending a conversion again is harmless.",
		Tags: []string{kit.VisitorTag},
		Parameters: []*huma.Param{{Name: "key", In: "query", Description: "The workspace's publishable key, if the body has none.",
			Schema: str}},
		RequestBody: &huma.RequestBody{Required: true,
			Content: map[string]*huma.MediaType{
				"application/json": {Schema: body,
					Example: json.RawMessage(
						`{"key":"pk_3J9fQ2mVtY","clickId":"AAAeJAaHuVl57wU2e4T1xzbsPwSbOLy1","name":"purchase","value":49.9,"currency":"EUR"}`)},
				"text/plain": {Schema: body}}},
		Responses: with(map[string]*huma.Response{
			"202": {Description: "What became of each conversion.",
				Content: map[string]*huma.MediaType{"application/json": {Schema: s.Schema(reflect.TypeFor[ConversionsSent]())}}},
		}, http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
			http.StatusTooManyRequests, http.StatusServiceUnavailable),
	})
	s.Describe(&huma.Operation{
		Method: http.MethodGet, Path: "/sl.js", OperationID: "conversionScript", Summary: "Load the script that sends conversions",
		Description: "Served by edges at every host. The script keeps the click id of the page's address, and sends conversions to `/c`. " +
			"Browsers may keep it for a day.",
		Tags: []string{kit.VisitorTag},
		Responses: with(map[string]*huma.Response{
			"200": {Description: "The script.", Content: map[string]*huma.MediaType{"text/javascript": {Schema: str}}},
			"304": {Description: "The script has the ETag of the request."},
		}, http.StatusTooManyRequests),
	})
}
