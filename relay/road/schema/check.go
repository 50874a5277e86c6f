package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"tabrelay/relay/lib/rawjson"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	Path    string // steps[0].click; empty for the document itself
	Message string // one sentence without a full stop
}

// Check reports everything that is wrong with doc, sorted by path; nothing when it satisfies the schema.
func (s *Schema) Check(doc json.RawMessage) []Problem {
	value, depth, err := rawjson.Decode(doc)
	if depth > maxDocumentDepth {
		return []Problem{{Message: fmt.Sprintf("nested deeper than %d levels", maxDocumentDepth)}}
	}
	if err != nil {
		return []Problem{{Message: err.Error()}}
	}
	err = s.validate(value, len(doc))
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []Problem{{Message: "too complex to be checked against the schema"}}
	}
	found := reader{schema: s.root, doc: value}.problems(invalid)
	slices.SortFunc(found, func(a, b Problem) int {
		return strings.Compare(a.Path+"\x00"+a.Message, b.Path+"\x00"+b.Message)
	})
	return slices.Compact(found)
}

// validate runs the library with a limit on steps, and turns its panics into errors.
func (s *Schema) validate(value any, size int) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the check was abandoned: %v", r)
		}
	}()
	s.steps.left = stepsPerCheck + stepsPerByte*size
	return s.compiled.Validate(value)
}

// maxProblems is how many problems a model is told at once.
const maxProblems = 8

// Explain joins problems with a document into one line, for example
// "steps[0].click: expected integer, but got string". A problem with the document as a whole has no path before it.
func Explain(problems []Problem) string { return ExplainAs("", problems) }

// ExplainAs is Explain with the name of the document before each path.
func ExplainAs(name string, problems []Problem) string {
	var b strings.Builder
	for i, p := range problems {
		if i == maxProblems {
			fmt.Fprintf(&b, "; and %d more", len(problems)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		place := name + p.Path
		if name != "" && p.Path != "" && p.Path[0] != '[' {
			place = name + "." + p.Path
		}
		if place != "" {
			b.WriteString(place + ": ")
		}
		b.WriteString(p.Message)
	}
	return b.String()
}
