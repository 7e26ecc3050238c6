// Package remote exports the adapters that connect an edge to other processes: the control plane, and the Kafka topic for
// clicks. An edge in the control plane's own process needs neither, so it does not link them.
//
// The package only gives the adapters names outside this module. Their packages document them.
package remote

import (
	"github.com/shortline/shortline/edge/internal/controlclient"
	"github.com/shortline/shortline/edge/internal/kafkasink"
)

// Control configures the connection to the control plane.
type Control = controlclient.Config

// Source is the control plane for edge.Deps: Links, Reports, Lockout, Limits, Abuse and ClockAhead.
type Source = controlclient.Client

// NewSource returns a client of the control plane. It does not connect yet.
func NewSource(cfg Control) (*Source, error) { return controlclient.New(cfg) }

// Kafka configures the connection to Kafka.
type Kafka = kafkasink.Config

// Sink is a click.Sink for edge.Deps. The caller closes it after the edge has stopped.
type Sink = kafkasink.Sink

// NewSink returns a sink for clicks. It does not connect yet. Its Run creates the topic if it is missing.
func NewSink(cfg Kafka) (*Sink, error) { return kafkasink.New(cfg) }
