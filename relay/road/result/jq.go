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
	"strings"
	"sync"
	"time"

	"github.com/itchyny/gojq"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/lib/sandbox"
	"tabrelay/relay/road/fault"
)

// Limits of one jq expression. It comes from an agent, and a few characters can ask for all the memory there is.
const (
	jqLength    = 8 << 10
	jqOutput    = 10 << 20
	jqMemory    = 256 << 20
	jqGrace     = 5 * time.Second // for a slow machine to start and end the process
	jqProcesses = 2               // at once; more wait
)

// jqTime is a variable, so that tests need not wait.
var jqTime = 2 * time.Second

// jqProcess is the name of the process that evaluates an expression.
const jqProcess = "evaluate-jq"

func init() { sandbox.Serve(jqProcess, jqMemory, serveJQ) }

// jqQuestion is the first line of what the process reads; the document follows.
type jqQuestion struct {
	Expression string        `json:"expression"`
	Time       time.Duration `json:"time"`
}

// jqAnswer is the first line of what it writes; the value follows, unless there is a problem.
type jqAnswer struct {
	Problem string `json:"problem,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

var jqRunning = make(chan struct{}, jqProcesses)

// jq evaluates an expression on a valid document. Several values become a list. The expression sees the document only:
// no environment, no files, no modules, no other input. It is evaluated in a process of its own, because a few
// characters can keep a processor busy without end, or take all memory, within one step that nothing interrupts
// (comparing or printing a value that holds itself twice, sixty times over).
func jq(ctx context.Context, doc json.RawMessage, expression string) (json.RawMessage, *fault.Error) {
	if _, failure := compile(expression); failure != nil {
		return nil, failure
	}
	select {
	case jqRunning <- struct{}{}:
		defer func() { <-jqRunning }()
	case <-ctx.Done():
		return nil, fault.CallEnded(ctx, "while jq ran")
	}
	p, err := sandbox.Start(jqProcess, sandbox.Limits{Time: jqTime + jqGrace, Reply: jqOutput + 64<<10})
	if err != nil {
		return nil, notEvaluated(err)
	}
	defer p.Close()
	_, _ = p.Write(append(rawjson.MustEncode(jqQuestion{expression, jqTime}), '\n')) // if it ended, Answer says why
	_, _ = p.Write(doc)
	answer, err := p.Reply(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, fault.CallEnded(ctx, "while jq ran")
	case errors.Is(err, sandbox.ErrTime):
		return nil, tooMuch(err)
	case err != nil: // it died of what it was asked for: there was no memory, or no stack
		return nil, tooMuch(sandbox.ErrMemory)
	}
	line, value, _ := bytes.Cut(answer, []byte{'\n'})
	var a jqAnswer
	switch err := json.Unmarshal(line, &a); {
	case err != nil:
		return nil, notEvaluated(err)
	case a.Problem != "":
		return nil, fault.New(fault.ValidationError, a.Problem, fault.WithHint(a.Hint))
	case !rawjson.Valid(value):
		return nil, notEvaluated(errors.New("the process answered with no value"))
	}
	return value, nil
}

// serveJQ evaluates one expression in its process, which it ends when the time is over.
func serveJQ(in io.Reader, out io.Writer) (err error) {
	r := bufio.NewReader(in)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	var q jqQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return err
	}
	doc, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	var once sync.Once
	answer := func(value json.RawMessage, failure *fault.Error) {
		once.Do(func() {
			var a jqAnswer
			if failure != nil {
				a = jqAnswer{failure.Message, failure.Hint}
			}
			_, err = out.Write(append(append(rawjson.MustEncode(a), '\n'), value...))
		})
	}
	time.AfterFunc(q.Time, func() {
		answer(nil, tooMuch(sandbox.ErrTime))
		os.Exit(0)
	})
	code, failure := compile(q.Expression)
	if failure != nil {
		answer(nil, failure)
		return err
	}
	answer(run(code, doc))
	return err
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

func run(code *gojq.Code, doc json.RawMessage) (json.RawMessage, *fault.Error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber() // so that large integers stay what they are
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, wrongQuery("the result cannot be decoded: "+err.Error(), "")
	}
	values := code.Run(value)
	var list []json.RawMessage
	for size := 0; ; {
		value, ok := values.Next()
		if !ok {
			break
		}
		if err, failed := value.(error); failed {
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
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

func notEvaluated(cause error) *fault.Error {
	return fault.New(fault.InternalError, "The jq expression could not be evaluated", fault.WithCause(cause),
		fault.WithOutcome(fault.NotExecuted), fault.WithHint("Read the result in pieces with offset and limit."))
}

func tooMuch(cause error) *fault.Error {
	return wrongQuery(cause.Error(), "Select less, or read the result in pieces with offset and limit.")
}

func wrongQuery(problem, hint string) *fault.Error {
	hint = cmp.Or(hint, "Correct the expression; .[0] | keys shows what an item has.")
	return fault.New(fault.ValidationError, "The jq expression cannot be used: "+problem, fault.WithHint(hint))
}
