//go:build !linux

package main

func main() { println("bench: holds processes to processors, which it can do on Linux only") }
