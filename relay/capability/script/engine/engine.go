package engine

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/grafana/sobek"
	"github.com/grafana/sobek/file"
	"github.com/grafana/sobek/parser"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/sandbox"
)

// Name is the process's.
const Name = "run-script"

// mostMemory is by how much its memory may grow where whoever starts it says nothing else.
const mostMemory = 64 << 20

// mostDepth is how deep calls of functions may nest.
const mostDepth = 2000

// uninterrupted is how long a single step of the engine, such as a regular expression that tries everything, may go on
// after its time of the processor is used up: within it nothing can be stopped but the process.
const uninterrupted = time.Second

//go:embed world.js
var world string

func init() { sandbox.Serve(Name, mostMemory, serve) }

// serve is the process: it runs one script.
func serve(in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(bufio.NewReaderSize(in, 64<<10))
	worldProgram, err := sobek.Compile("world.js", "("+strings.TrimRight(world, ";\n")+")", true)
	if err != nil {
		return err
	}
	if _, _, err := compile("0"); err != nil { // the first time takes longer
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(Said{}); err != nil { // it is ready
		return err
	}
	var told Told
	if decoder.Decode(&told) != nil || told.Start == nil {
		return nil // nobody wants one
	}
	e := &engine{start: *told.Start, out: encoder, left: told.Start.CPU, waiting: map[int]answers{}}
	program, uses, err := compile(e.start.Script)
	if err != nil {
		return e.end(End{Failed: failedToRead(err)})
	}
	if err := e.out.Encode(Said{Uses: uses}); err != nil {
		return err
	}
	told = Told{}
	if decoder.Decode(&told) != nil || told.Go == nil {
		return nil
	}
	e.inbox = newInbox(decoder)
	e.vm = sobek.New()
	e.vm.SetMaxCallStackSize(mostDepth)
	// A text that is evaluated could name a file as its source map, which would be read, or bring one that lies about
	// where in the script a call is.
	e.vm.SetParserOptions(parser.WithDisableSourceMaps)
	return e.end(e.run(worldProgram, program, told.Go))
}

// engine is one run of a script.
type engine struct {
	start Start
	vm    *sobek.Runtime
	inbox *inbox

	saying lock.Mutex // whoever holds it says something
	out    *json.Encoder
	left   time.Duration // of the processor

	number  int
	waiting map[int]answers // by number: what the script waits for
	lost    error           // the relay does not listen any more

	describe, stringify sobek.Callable
}

// answers are what ends a call in the script.
type answers struct {
	at              Place
	resolve, reject sobek.Callable
}

func (e *engine) end(how End) error {
	if e.lost != nil {
		return e.lost
	}
	e.saying.Lock()
	defer e.saying.Unlock()
	return e.out.Encode(Said{End: &how})
}

// busy has the engine do something, which ends when its time of the processor is used up.
func (e *engine) busy(do func() error) error {
	began := time.Now()
	limit := time.AfterFunc(e.left, func() { e.vm.Interrupt(Busy) })
	stuck := time.AfterFunc(max(e.left, 0)+uninterrupted, e.giveUp)
	err := do()
	limit.Stop()
	stuck.Stop()
	e.left -= time.Since(began)
	return err
}

// giveUp ends the process in the middle of a step that cannot be interrupted.
func (e *engine) giveUp() {
	if e.end(End{Failed: e.usedUp(Place{})}) != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func (e *engine) usedUp(at Place) *Failed {
	return &Failed{Why: Busy, At: at, Message: fmt.Sprintf("The script computes for more than %v", e.start.CPU)}
}

// run runs a script to its end.
func (e *engine) run(world, script *sobek.Program, g *Go) End {
	var promise *sobek.Promise
	err := e.busy(func() error {
		if err := e.prepare(world, g); err != nil {
			return err
		}
		value, err := e.vm.RunProgram(script)
		if err != nil {
			return err
		}
		main, _ := sobek.AssertFunction(value)
		if value, err = main(sobek.Undefined()); err != nil {
			return err
		}
		promise, _ = value.Export().(*sobek.Promise)
		return nil
	})
	for err == nil && e.lost == nil && promise.State() == sobek.PromiseStatePending {
		if len(e.waiting) == 0 {
			return End{Failed: &Failed{Why: Stuck, Message: "The script waits for something that never comes"}}
		}
		ended, heard := e.inbox.next()
		if e.lost = heard; heard != nil {
			return End{}
		}
		err = e.busy(func() error { return e.settle(ended) })
	}
	if err != nil {
		return End{Failed: e.failure(err)}
	}
	if promise.State() == sobek.PromiseStateRejected {
		return End{Failed: e.thrown(promise.Result())}
	}
	return e.value(promise.Result())
}

// prepare gives the script what it finds.
func (e *engine) prepare(world *sobek.Program, g *Go) error {
	value, err := e.vm.RunProgram(world)
	if err != nil {
		return err
	}
	give, _ := sobek.AssertFunction(value)
	parse, _ := sobek.AssertFunction(e.vm.Get("JSON").ToObject(e.vm).Get("parse"))
	asValue := func(of any) sobek.Value {
		text, _ := json.Marshal(of) // it came as JSON
		value, _ := parse(sobek.Undefined(), e.vm.ToValue(string(text)))
		return value
	}
	host := e.vm.NewObject()
	for name, function := range map[string]any{"call": e.call, "sleep": e.sleep, "log": e.log} {
		if err := host.Set(name, function); err != nil {
			return err
		}
	}
	made, err := give(sobek.Undefined(), host, asValue(g.Tools), asValue(g.Objects), e.vm.ToValue(e.start.Line))
	if err != nil {
		return err
	}
	e.describe, _ = sobek.AssertFunction(made.ToObject(e.vm).Get("describe"))
	e.stringify, _ = sobek.AssertFunction(made.ToObject(e.vm).Get("stringify"))
	const no, yes = sobek.FLAG_FALSE, sobek.FLAG_TRUE
	return e.vm.GlobalObject().DefineDataProperty("args", asValue(g.Args), no, no, yes)
}

// say sends a message.
func (e *engine) say(s Said) {
	e.saying.Lock()
	defer e.saying.Unlock()
	if err := e.out.Encode(s); err != nil && e.lost == nil {
		e.lost = err
	}
}

// wait notes what the script waits for.
func (e *engine) wait(resolve, reject sobek.Value) (number int, at Place) {
	e.number++
	a := answers{at: e.place()}
	a.resolve, _ = sobek.AssertFunction(resolve)
	a.reject, _ = sobek.AssertFunction(reject)
	e.waiting[e.number] = a
	return e.number, a.at
}

// call asks for a call of a tool. Its arguments are JSON of the engine's own.
func (e *engine) call(c sobek.FunctionCall) sobek.Value {
	tool, arguments := c.Argument(0).String(), c.Argument(1).String()
	if !sendable(arguments) {
		panic(e.vm.NewTypeError("The arguments of %s nest too deep", tool))
	}
	number, at := e.wait(c.Argument(2), c.Argument(3))
	e.say(Said{Call: &Call{number, tool, json.RawMessage(arguments), at}})
	return sobek.Undefined()
}

// sendable reports whether JSON of the engine's can be part of a message: it nests no deeper than can be read.
func sendable(text string) bool { return json.Valid([]byte("[[" + text + "]]")) }

func (e *engine) sleep(c sobek.FunctionCall) sobek.Value {
	number, _ := e.wait(c.Argument(1), sobek.Undefined())
	e.say(Said{Sleep: &Sleep{number, c.Argument(0).ToInteger()}})
	return sobek.Undefined()
}

func (e *engine) log(c sobek.FunctionCall) sobek.Value {
	line := clip.Bytes(c.Argument(0).String(), e.start.Line)
	e.say(Said{Log: &line})
	return sobek.Undefined()
}

// settle tells the script how a call ended.
func (e *engine) settle(ended *Ended) error {
	a, open := e.waiting[ended.Number]
	if !open {
		return nil
	}
	delete(e.waiting, ended.Number)
	if ended.Failed == nil {
		_, err := a.resolve(sobek.Undefined(), e.vm.ToValue(string(ended.Value)))
		return err
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(ended.Failed, &members); err != nil {
		return err
	}
	members["line"], members["column"] = number(a.at.Line), number(a.at.Column)
	failed, err := json.Marshal(members)
	if err != nil {
		return err
	}
	_, err = a.reject(sobek.Undefined(), e.vm.ToValue(string(failed)))
	return err
}

func number(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// place is where the script is at the moment.
func (e *engine) place() Place { return innermost(e.vm.CaptureCallStack(0, nil)) }

// innermost is the innermost place in the script of a stack.
func innermost(stack []sobek.StackFrame) Place {
	for _, frame := range stack {
		if p := frame.Position(); p.Filename == source && p.Line > 1 {
			return placeOf(p)
		}
	}
	return Place{}
}

// placeOf is a place in the script as it was sent, which has no line of the function around it.
func placeOf(p file.Position) Place { return Place{Line: p.Line - 1, Column: p.Column} }

// failure says what ended the engine in the middle of the script.
func (e *engine) failure(err error) *Failed {
	if stopped, ok := errors.AsType[*sobek.InterruptedError](err); ok {
		return e.usedUp(innermost(stopped.Stack()))
	}
	if endless, ok := errors.AsType[*sobek.StackOverflowError](err); ok {
		return &Failed{Why: Deep, At: innermost(endless.Stack()),
			Message: fmt.Sprintf("The script nests more than %d calls of functions", mostDepth)}
	}
	if thrown, ok := errors.AsType[*sobek.Exception](err); ok {
		failed := e.thrown(thrown.Value())
		if failed.At == (Place{}) {
			failed.At = innermost(thrown.Stack())
		}
		return failed
	}
	return &Failed{Why: Threw, Message: err.Error()}
}

// thrown says what a script threw.
func (e *engine) thrown(value sobek.Value) *Failed {
	failed := &Failed{Why: Threw}
	var said sobek.Value
	err := e.busy(func() (err error) {
		said, err = e.describe(sobek.Undefined(), value)
		return err
	})
	var described struct {
		*Failed
		Stack        string  `json:"stack"`
		Line, Column float64 // of a call that failed
		RetryAfterMs float64 `json:"retryAfterMs"`
	}
	described.Failed = failed
	if _, endless := errors.AsType[*sobek.InterruptedError](err); endless { // a getter of what it threw
		return e.failure(err)
	}
	if err != nil || json.Unmarshal([]byte(said.String()), &described) != nil {
		failed.Message = "It threw something that cannot be shown"
		return failed
	}
	if failed.Why = Threw; described.RetryAfterMs > 0 {
		failed.RetryAfterMs = new(int64(min(described.RetryAfterMs, 1e9)))
	}
	switch {
	case failed.Tool != "" && described.Line > 0:
		failed.At = Place{int(min(described.Line, 1e6)), int(min(described.Column, 1e6))}
	default:
		failed.At = inStack(described.Stack)
	}
	return failed
}

var position = lazyregexp.New(`\b` + regexp.QuoteMeta(source) + `:(\d{1,6}):(\d{1,6})`)

// inStack is the innermost place in the script that the stack of an error names.
func inStack(stack string) Place {
	found := position.FindStringSubmatch(stack)
	if found == nil {
		return Place{}
	}
	line, _ := strconv.Atoi(found[1])
	column, _ := strconv.Atoi(found[2])
	return placeOf(file.Position{Line: line, Column: column})
}

// value is what the script returned, as JSON.
func (e *engine) value(returned sobek.Value) End {
	var text sobek.Value
	err := e.busy(func() (err error) {
		text, err = e.stringify(sobek.Undefined(), returned)
		return err
	})
	if err != nil {
		failed := e.failure(err)
		if failed.Why == Threw {
			failed.Why, failed.Message = NoValue, "What the script returned has no JSON form: "+failed.Message
		}
		return End{Failed: failed}
	}
	value := text.String()
	switch {
	case len(value) > e.start.Value:
		return End{Failed: &Failed{Why: TooLarge, Bytes: len(value),
			Message: fmt.Sprintf("What the script returned has %d bytes; at most %d are passed on", len(value),
				e.start.Value)}}
	case value != "" && !sendable(value):
		return End{Failed: &Failed{Why: NoValue, Message: "What the script returned nests too deep"}}
	}
	return End{Value: []byte(value)}
}
