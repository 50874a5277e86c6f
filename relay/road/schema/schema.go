// Package schema compiles and checks JSON Schemas that strangers wrote, against documents that strangers sent.
// It bounds what either can cost, and turns a mismatch into short sentences that a model can act on.
//
// The work is done by santhosh-tekuri/jsonschema/v5, which panics on some numbers, reads files that a $ref names
// and needs exponential time for some schemas. Here no loader is open, numbers are floats, size and depth are
// limited, every step of a check is counted, and a panic is a refusal.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
)

// Limits of a schema. A real tool's schema has 1-10 KiB and a depth below 12.
const (
	MaxBytes = 64 << 10
	MaxDepth = 32

	// maxDocumentDepth bounds documents: the checker's error paths grow with their depth.
	maxDocumentDepth = 1000
)

// compileTime is a stop for what nobody thought of, far above what a loaded machine needs: the largest schema allowed
// compiles in about 20 ms. A variable, so that tests see the other limits at work however busy their machine is.
var compileTime = 10 * time.Second

const location = "tabrelay:///schema.json"

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	root any // the decoded schema, to name what would have been right

	mu       lock.Mutex // one check at a time, because steps belong to it
	compiled *jsonschema.Schema
	steps    *steps
}

// Compile checks that raw is a JSON Schema (drafts 4 to 2020-12, the latter when it does not say) within the limits,
// and compiles it. A pattern that RE2 cannot compile, such as one with lookahead, is left out of the check;
// references may only point into the schema itself.
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(raw) > MaxBytes {
		return nil, fmt.Errorf("the schema has %d bytes; at most %d are allowed", len(raw), MaxBytes)
	}
	if rawjson.Depth(raw) > MaxDepth {
		return nil, fmt.Errorf("the schema is nested deeper than %d levels", MaxDepth)
	}
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	normalize(root)
	text, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	return within(compileTime, func() (*Schema, error) { return compile(root, string(text)) })
}

// compile does the work of Compile and tries the result on an empty object, which finds infinite loops.
func compile(root any, text string) (s *Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("the schema cannot be compiled: %v", r)
		}
	}()
	s = &Schema{root: root, steps: &steps{}}
	c := jsonschema.NewCompiler()
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%q is outside of the schema, and nothing is loaded", url)
	}
	// else it would depend on whether $schema is there
	c.AssertFormat = true
	c.Formats = map[string]func(any) bool{"regex": func(any) bool { return true }} // RE2 is no judge of JavaScript's
	c.RegisterExtension("steps", nil, s.steps)
	if err := c.AddResource(location, strings.NewReader(text)); err != nil {
		return nil, short(err)
	}
	if s.compiled, err = c.Compile(location); err != nil {
		return nil, short(err)
	}
	var invalid *jsonschema.ValidationError
	if err := s.validate(map[string]any{}, 0); err != nil && !errors.As(err, &invalid) {
		return nil, short(err)
	}
	return s, nil
}

// within gives up waiting for work that takes too long. It cannot be stopped, but limits on size and depth make it end.
func within(limit time.Duration, work func() (*Schema, error)) (*Schema, error) {
	type result struct {
		s   *Schema
		err error
	}
	done := make(chan result, 1)
	go func() {
		s, err := work()
		done <- result{s, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.s, r.err
	case <-timer.C:
		return nil, fmt.Errorf("the schema took longer than %v to compile", limit)
	}
}

// short leaves out the library's frame and keeps the reason.
func short(err error) error {
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		for len(invalid.Causes) > 0 {
			invalid = invalid.Causes[0]
		}
		return fmt.Errorf("not a valid JSON Schema: at %s: %s", pointer(invalid.InstanceLocation).path("schema", nil),
			invalid.Message)
	}
	if failed, ok := errors.AsType[*jsonschema.SchemaError](err); ok && failed.Err != nil {
		err = failed.Err
	}
	text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "jsonschema: "), location, "")
	return errors.New("the schema cannot be compiled: " + text)
}

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
