//go:build linux && amd64

package main

import (
	"sync"
	"syscall"
	"unsafe"
)

// action is the kernel's struct sigaction.
type action struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// guarded are the signals whose handlers the library replaces. Without Go's handlers, a nil dereference would end the
// process without a message.
var guarded = []syscall.Signal{syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGILL, syscall.SIGBUS, syscall.SIGSYS, syscall.SIGFPE,
	syscall.SIGTSTP, syscall.SIGTRAP, syscall.SIGURG}

// handlers are Go's handlers from before the library was loaded.
var handlers = sync.OnceValue(func() map[syscall.Signal]*action {
	m := map[syscall.Signal]*action{}
	for _, s := range guarded {
		a := new(action)
		sigaction(s, nil, a)
		m[s] = a
	}
	return m
})

// keepSignals calls f and restores Go's handlers.
func keepSignals(f func()) {
	list := handlers()
	f()
	for s, a := range list {
		sigaction(s, a, nil)
	}
}

func sigaction(s syscall.Signal, set, old *action) {
	const maskSize = 8
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)),
		maskSize, 0, 0)
	if errno != 0 {
		panic("BUG: sigaction: " + errno.Error())
	}
}
