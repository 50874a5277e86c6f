package schema

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// errTooComplex stops a check. The library has no way to be interrupted but a panic from an extension.
var errTooComplex = errors.New("too complex")

// A check may visit this many subschemas, and more for a long document: visits of a well-meant schema grow with the
// document. A visit takes about a microsecond.
const (
	stepsPerCheck = 200_000
	stepsPerByte  = 4
)

// steps is an extension of every subschema that counts visits.
type steps struct{ left int }

// visit is the weight of one subschema: itself and those it applies directly, which end before they count
// themselves when the type does not fit.
type visit struct {
	steps  *steps
	weight int
}

// Compile makes every subschema count.
func (s *steps) Compile(_ jsonschema.CompilerContext, keywords map[string]any) (jsonschema.ExtSchema, error) {
	weight := 1
	for _, value := range keywords {
		switch value := value.(type) {
		case []any:
			weight += len(value)
		case map[string]any:
			weight += len(value)
		}
	}
	return visit{s, weight}, nil
}

// Validate counts one visit and accepts every value.
func (v visit) Validate(jsonschema.ValidationContext, any) error {
	v.steps.left -= v.weight
	if v.steps.left < 0 {
		panic(errTooComplex)
	}
	return nil
}
