package auth

import (
	"context"
	"net/netip"

	"github.com/shortline/shortline/shared/client"
)

// ClientOf returns the name under which guesses from an address are counted: the IPv4 address, or the IPv6 /64, because
// a provider gives each customer at least that. A text that is not an address is returned as it is.
func ClientOf(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	return client.Key(a).String()
}

type clientKey struct{}

// WithClient stores the client of a request; see ClientOf. Passwords gives its slots to clients in turn.
func WithClient(ctx context.Context, ip string) context.Context {
	return context.WithValue(ctx, clientKey{}, ClientOf(ip))
}

func clientOf(ctx context.Context) string {
	client, _ := ctx.Value(clientKey{}).(string)
	return client
}
