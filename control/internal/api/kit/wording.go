package kit

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/shortline/shortline/control/internal/platform/problem"
)

// messageCode is the code of a message in English, for programs with words of their own.
type messageCode string

// Schema implements huma.SchemaProvider.
func (messageCode) Schema(huma.Registry) *huma.Schema { return CodeSchema(problem.Codes()) }

// Wording is the code of the message beside it.
type Wording struct {
	Code   messageCode `json:"code,omitempty" doc:"The code of the message. Messages without one are in English only."`
	Values []string    `json:"values,omitempty" doc:"What belongs in the sentence of the code, in the order of the English message."`
}

// WordingOf returns the code of a message, if it has one.
func WordingOf(message string) Wording {
	code, values := problem.Code(message)
	return Wording{messageCode(code), values}
}

// fieldProblem is a problem.Field with its code.
type fieldProblem struct {
	problem.Field
	Wording
}

func fieldProblems(list []problem.Field) (out []fieldProblem) {
	for _, f := range list {
		out = append(out, fieldProblem{f, WordingOf(f.Message)})
	}
	return out
}

// CodeSchema documents a text that is one of some codes.
func CodeSchema(codes []string) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, code := range codes {
		s.Enum = append(s.Enum, code)
	}
	return s
}
