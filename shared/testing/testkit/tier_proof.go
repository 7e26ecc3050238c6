//go:build proof

package testkit

const proof = true
