package result

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
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

// jq evaluates in this process. Steps of an expression that take long by themselves, such as comparing two large
// values, are not interrupted: where expressions come from an agent, an evaluator made by Apart is needed.
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
	return fault.CallEnded(ctx, "while jq ran")
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

// JQCommand is the argument with which a program is the process that evaluates one expression, see ServeJQ.
const JQCommand = "evaluate-jq"

const (
	jqProcesses = 2               // at once; more wait
	jqGrace     = 5 * time.Second // for a slow machine to start and end such a process
)

// question is the first line of what such a process reads; the document follows.
type question struct {
	Expression string `json:"expression"`
}

// verdict is the first line of what it writes; the value follows, unless there is a problem.
type verdict struct {
	Problem string `json:"problem,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// Apart evaluates each expression in a process of its own: executable, whose main calls ServeJQ when its only argument
// is JQCommand. A few characters can keep a processor busy for ever, or take all memory, within one step that nothing
// interrupts (comparing or printing a value that holds itself twice, sixty times over); a process can be ended.
func Apart(executable string) Evaluator {
	if runtime.GOOS == "linux" { // also when the file was replaced by a newer version meanwhile
		executable = "/proc/self/exe"
	}
	seats := make(chan struct{}, jqProcesses)
	return func(ctx context.Context, doc json.RawMessage, expression string) (json.RawMessage, *fault.Error) {
		if _, failure := compile(expression); failure != nil {
			return nil, failure
		}
		ctx, cancel := context.WithTimeoutCause(ctx, jqTime+jqGrace, errJQTime)
		defer cancel()
		select {
		case seats <- struct{}{}:
			defer func() { <-seats }()
		case <-ctx.Done():
			return nil, interrupted(ctx)
		}
		return evaluateApart(ctx, executable, doc, expression)
	}
}

func evaluateApart(ctx context.Context, executable string, doc json.RawMessage,
	expression string) (json.RawMessage, *fault.Error) {
	head, err := json.Marshal(question{expression})
	if err != nil {
		return nil, wrongQuery(err.Error(), "")
	}
	cmd := exec.CommandContext(ctx, executable, JQCommand)
	cmd.Args[0] = "tabrelay"
	cmd.Env = []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} // Windows starts nothing without it
	cmd.Stdin = io.MultiReader(bytes.NewReader(append(head, '\n')), bytes.NewReader(doc))
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, interrupted(ctx)
	}
	line, value, _ := bytes.Cut(out, []byte{'\n'})
	var v verdict
	if json.Unmarshal(line, &v) != nil || v.Problem == "" && (err != nil || !json.Valid(value)) {
		var exit *exec.ExitError
		if errors.As(err, &exit) { // it died of what it was asked for: there was no memory, or no stack
			return nil, tooMuch(errJQMemory)
		}
		return nil, fault.New(fault.InternalError, "The jq expression could not be evaluated",
			fault.WithCause(cmp.Or(err, errNoVerdict)),
			fault.WithOutcome(fault.NotExecuted), fault.WithHint("Read the result in pieces with offset and limit."))
	}
	if v.Problem != "" {
		return nil, fault.New(fault.ValidationError, v.Problem, fault.WithHint(v.Hint))
	}
	return value, nil
}

var errNoVerdict = errors.New("the process said nothing")

// ServeJQ evaluates one expression, as Apart asks for it, and returns the exit code. It ends the process itself when
// time or memory run out.
func ServeJQ(in io.Reader, out io.Writer) int {
	var once sync.Once
	answer := func(value json.RawMessage, failure *fault.Error) (code int) {
		once.Do(func() {
			var v verdict
			if failure != nil {
				v = verdict{failure.Message, failure.Hint}
			}
			line, err := json.Marshal(v)
			if err == nil {
				_, err = out.Write(append(append(line, '\n'), value...))
			}
			if err != nil {
				code = 1
			}
		})
		return code
	}
	r := bufio.NewReader(in)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return 2
	}
	var q question
	doc, err := io.ReadAll(r)
	if err != nil || json.Unmarshal(line, &q) != nil {
		return 2
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), jqTime, errJQTime)
	defer cancel()
	ctx, stop := frugal(ctx)
	defer stop()
	context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); errors.Is(cause, errJQTime) || errors.Is(cause, errJQMemory) {
			os.Exit(answer(nil, tooMuch(cause)))
		}
	})
	code, failure := compile(q.Expression)
	if failure != nil {
		return answer(nil, failure)
	}
	return answer(run(ctx, code, doc))
}
