package result

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"tabrelay/relay/fault"
)

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

func evaluateApart(ctx context.Context, executable string, doc json.RawMessage, expression string) (json.RawMessage, *fault.Error) {
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
		return nil, fault.New(fault.InternalError, "The jq expression could not be evaluated", fault.WithCause(cmp.Or(err, errNoVerdict)),
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
