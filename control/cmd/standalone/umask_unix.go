//go:build unix

package main

import "syscall"

// private makes every file that the program creates unreadable for other users: the data folder holds password
// hashes and visitors' addresses.
func private() { syscall.Umask(0o077) }
