package annotations

// Kind says what an annotation is about.
type Kind string

// The kinds.
const (
	Note        Kind = "NOTE"
	Destination Kind = "DESTINATION_CHANGED"
	Rules       Kind = "RULES_CHANGED"
	Started     Kind = "EXPERIMENT_STARTED"
	Decided     Kind = "EXPERIMENT_DECIDED"
)

// Kinds lists all kinds.
var Kinds = []Kind{Note, Destination, Rules, Started, Decided}
