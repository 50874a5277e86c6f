package result

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
)

// Limits of one jq expression. It comes from an agent, and a few characters can ask for all the memory there is.
const (
	jqLength = 8 << 10
	jqOutput = 10 << 20
	jqLook   = 5 * time.Millisecond
)

// Variables, so that tests need not wait.
var (
	jqTime          = 2 * time.Second
	jqMemory uint64 = 256 << 20 // by which memory may grow meanwhile
)

// Evaluator evaluates a jq expression on a valid document. Several values become a list. The expression sees the
// document only: no environment, no files, no modules, no other input.
type Evaluator func(ctx context.Context, doc json.RawMessage, expression string) (json.RawMessage, *fault.Error)

// turn lets one expression run at a time in this process, so that their memory does not add up.
var turn = make(chan struct{}, 1)

// jq evaluates in this process. Steps of an expression that take long by themselves, such as comparing two large values,
// are not interrupted: where expressions come from an agent, an evaluator made by Apart is needed.
func jq(ctx context.Context, doc json.RawMessage, expression string) (json.RawMessage, *fault.Error) {
	code, failure := compile(expression)
	if failure != nil {
		return nil, failure
	}
	ctx, cancel := context.WithTimeoutCause(ctx, jqTime, errJQTime)
	defer cancel()
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, interrupted(ctx)
	}
	ctx, stop := frugal(ctx)
	defer stop()
	return run(ctx, code, doc)
}

func compile(expression string) (*gojq.Code, *fault.Error) {
	if len(expression) > jqLength {
		return nil, wrongQuery(fmt.Sprintf("it has %d bytes; at most %d are allowed", len(expression), jqLength), "")
	}
	parsed, err := gojq.Parse(expression)
	if err != nil {
		return nil, unparsed(expression, err)
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		return nil, wrongQuery(err.Error(), "")
	}
	return code, nil
}

func run(ctx context.Context, code *gojq.Code, doc json.RawMessage) (json.RawMessage, *fault.Error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber() // so that large integers stay what they are
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, wrongQuery("the result cannot be decoded: "+err.Error(), "")
	}
	return collect(ctx, code.RunWithContext(ctx, value))
}

var (
	errJQTime   = errors.New("it takes too long")
	errJQMemory = errors.New("it needs too much memory")
)

// collect reads the values an expression gives.
func collect(ctx context.Context, values gojq.Iter) (json.RawMessage, *fault.Error) {
	var list []json.RawMessage
	size := 0
	for {
		value, ok := values.Next()
		if ctx.Err() != nil {
			return nil, interrupted(ctx)
		}
		if !ok {
			break
		}
		if err, failed := value.(error); failed {
			var halt *gojq.HaltError
			if errors.As(err, &halt) && halt.Value() == nil {
				break
			}
			return nil, wrongQuery(err.Error(), "")
		}
		raw, err := gojq.Marshal(value)
		if err != nil {
			return nil, wrongQuery(err.Error(), "")
		}
		if size += len(raw) + 1; size > jqOutput {
			return nil, wrongQuery(fmt.Sprintf("it gives more than %d bytes", jqOutput), "Select less.")
		}
		list = append(list, raw)
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return rawjson.List(list), nil
}

// frugal ends the context when memory grows too much. An expression is stopped between two steps, so a step
// that needs very much by itself still gets it, once.
func frugal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	most := memory() + jqMemory
	go func() {
		defer close(ended)
		look := time.NewTicker(jqLook)
		defer look.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				if memory() > most {
					cancel(errJQMemory)
					return
				}
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
	}
}

// memory is what this process uses for values and for calls.
func memory() (bytes uint64) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	for _, s := range samples {
		bytes += s.Value.Uint64()
	}
	return bytes
}

// unparsed says where an expression is wrong.
func unparsed(expression string, err error) *fault.Error {
	var at *gojq.ParseError
	if !errors.As(err, &at) {
		return wrongQuery(err.Error(), "")
	}
	end := min(max(at.Offset, 0), len(expression))
	start := max(0, end-len(at.Token))
	place := len([]rune(strings.ToValidUTF8(expression[:start], "?"))) + 1
	return wrongQuery(fmt.Sprintf("%v at character %d", err, place), "")
}

func interrupted(ctx context.Context) *fault.Error {
	cause := context.Cause(ctx)
	if errors.Is(cause, errJQTime) || errors.Is(cause, errJQMemory) {
		return tooMuch(cause)
	}
	return fault.New(fault.Cancelled, "The call ended while jq ran", fault.WithOutcome(fault.NotExecuted), fault.WithCause(cause))
}

func tooMuch(cause error) *fault.Error {
	return wrongQuery(cause.Error(), "Select less, or read the result in pieces with offset and limit.")
}

func wrongQuery(problem, hint string) *fault.Error {
	if hint == "" {
		hint = "Correct the expression; .[0] | keys shows what an item has."
	}
	return fault.New(fault.ValidationError, "The jq expression cannot be used: "+problem, fault.WithHint(hint))
}
