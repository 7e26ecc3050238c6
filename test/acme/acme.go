// Package acme pins the versions of Pebble, an ACME server for tests, and of its DNS server. Package shared/testing/acmetest builds
// and starts them.
package acme
