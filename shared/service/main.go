package service

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func stack() string { return string(debug.Stack()) }

// UntilSignal returns a context that ends at the first SIGINT or SIGTERM. A second signal ends the process immediately
// with status 130.
func UntilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	sig := make(chan os.Signal, 2)
	signal.Notify(sig, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-sig:
		case <-ctx.Done():
			signal.Stop(sig)
			return
		}
		cancel()
		<-sig
		os.Exit(130)
	}()
	return ctx, cancel
}
