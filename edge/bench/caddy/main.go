// Command caddy is Caddy with the few modules that the benchmark needs. It is built from pinned sources.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/caddytls"
)

func main() { caddycmd.Main() }
