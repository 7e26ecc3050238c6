// Package remote joins an edge to what is in other processes: a control plane that it gets links from, and a Kafka
// topic that its clicks go to. An edge in the control plane's own process needs neither, and so doesn't link them.
//
// It only gives names outside this module to the adapters; what they promise is said there.
package remote

import (
	"github.com/shortline/shortline/edge/internal/controlclient"
	"github.com/shortline/shortline/edge/internal/kafkasink"
)

// Control says where the control plane is.
type Control = controlclient.Config

// Source is a snapshot.Source for edge.Deps.
type Source = controlclient.Client

// NewSource makes a source of links. It connects to nobody yet.
func NewSource(cfg Control) (*Source, error) { return controlclient.New(cfg) }

// Kafka says where clicks go.
type Kafka = kafkasink.Config

// Sink is a click.Sink for edge.Deps. It is closed after the edge has stopped.
type Sink = kafkasink.Sink

// NewSink makes a sink for clicks. It connects to nobody yet. Its Run makes sure of the topic, beside the edge.
func NewSink(cfg Kafka) (*Sink, error) { return kafkasink.New(cfg) }
