//go:build !linux

package main

func main() { println("bench: runs only on Linux, because it pins processes to processors") }
