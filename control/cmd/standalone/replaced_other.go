//go:build !linux

package main

// replacedSince is known on Linux only.
func replacedSince(string, string) (bool, error) { return false, nil }
