// Package client is the Go client of the Shortline API.
//
//	c := client.New("https://links.example.com", client.WithAPIKey(os.Getenv("SHORTLINE_API_KEY")))
//	link, err := c.Links.Create(ctx, client.CreateLink{OriginalURL: "https://example.com/fair", Title: client.Set("Fair")})
//
// Methods are grouped by what they concern, such as Client.Links or Client.Webhooks. There is one for each operation of the API's
// OpenAPI document. A list also has a method that yields all of its rows, such as All. Comments have the first sentence of what the
// document says; the API's reference has the rest.
//
// # Null and missing values
//
// In what the API answers, a field that can be null or missing is a pointer, which is nil then; a list is nil, too.
//
// In what you send, a field that may be left out is an [Optional]. Its zero value leaves the field out, [Set] sends a value, and [Null]
// sends null, which clears the field. A field that must be sent but can be null is a pointer. A
// parameter of a request with its zero value is left out.
//
// # Errors
//
// An answer that is not a success is an [*APIError], which has a [Code] where the API knows one. [HasCode] and [HasStatus] ask for it.
//
// # Repeated requests
//
// A request that fails without an answer, or with 429, 502, 503 or 504, is sent again as [Retry] says, if it cannot take effect twice:
// GET, PUT, DELETE, and a POST with an Idempotency-Key. The client makes a key for each POST whose operation takes one.
package client

//go:generate sh -c "cd ../control && go run ./internal/api/openapi | (cd ../.ci/tools && GOWORK=off go run ./goclient -dir ../../client)"
