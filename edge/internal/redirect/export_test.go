package redirect

import "github.com/shortline/shortline/edge/internal/listen"

// AnswerOf returns what answers simple requests in the loop of a port.
func AnswerOf(h *Handler) listen.Answer { return newVisits(h).Answer }
