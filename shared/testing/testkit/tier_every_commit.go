//go:build !proof

package testkit

const proof = false
