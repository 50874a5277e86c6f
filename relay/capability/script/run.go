package script

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tabrelay/relay/capability/script/engine"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/sandbox"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// run is one script. Its fields belong to the goroutine of do, but for those that have locks.
type run struct {
	*Scripts
	asked  call.Call // of relay__run
	args   arguments
	limits settings
	record func(calls) // keeps the ledger, before a call that changes something and after it; may be nil
	noting lock.Mutex  // held from reading the ledger until record has it: what is kept last is the newest

	ctx     context.Context // of the script and its calls
	cancel  context.CancelCauseFunc
	listens context.Context // ends with the script, before its last calls
	leave   context.CancelFunc
	clock   *clock
	process *worker
	sending lock.Mutex
	tools   map[string]*registry.Tool

	ledger    ledger
	asks      consent
	told      atomic.Bool // the person was asked about it
	approved  []string    // the tools of a script that the person keeps; nil: they do not
	beyond    consent     // to what such a script changes with other tools
	queue     chan queued // the calls that wait, in the script's order
	going     sync.WaitGroup
	number    int // of calls and pauses
	waits     waits
	untrusted trust
	log       journal
}

// Causes of a script's end besides those of its caller.
var (
	errTime  = errors.New("the script's time is over")
	errEnded = errors.New("the script has ended")
)

// enter takes one of the places for scripts whose processes run at once.
func (r *run) enter() *fault.Error {
	if n := r.running.Add(1); n > int64(r.limits.Running) {
		r.running.Add(-1)
		return fault.New(fault.Overloaded, fmt.Sprintf("%d scripts run already (scripts.running)",
			r.limits.Running), fault.WithOutcome(fault.NotExecuted), fault.WithRetryAfter(time.Second))
	}
	return nil
}

// do runs the script.
func (r *run) do(ctx context.Context) (*call.Result, *fault.Error) {
	if f := r.enter(); f != nil {
		return nil, f
	}
	defer r.running.Add(-1)
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(errEnded)
	r.listens, r.leave = context.WithCancel(r.ctx)
	if err := r.open(); err != nil {
		return nil, fault.New(fault.InternalError, "The process that runs scripts does not start",
			fault.WithOutcome(fault.NotExecuted), fault.WithCause(err))
	}
	defer context.AfterFunc(r.ctx, r.process.Close)()
	end, failure := r.follow()
	r.leave()
	if end == nil { // nobody hears how the calls end that still run
		r.cancel(errEnded)
	}
	r.going.Wait()
	if r.clock != nil {
		r.clock.stop()
	}
	r.cancel(errEnded)
	r.process.Close()
	go r.spare.refill(uint64(r.limits.Memory))
	if failure != nil {
		return nil, r.failed(failure)
	}
	return r.answer(end)
}

// open has a process read the script.
func (r *run) open() (err error) {
	if r.process, err = r.spare.take(uint64(r.limits.Memory)); err != nil {
		return err
	}
	r.send(engine.Told{Start: &engine.Start{
		Script: r.args.Script, CPU: r.limits.CPU, Value: r.limits.OutputBytes, Line: mostLine,
	}})
	return nil
}

// send tells the process something. One that has ended does not hear it, and that is seen where its messages are read.
func (r *run) send(told engine.Told) {
	text, err := json.Marshal(told)
	if err != nil {
		r.cancel(err)
		return
	}
	r.sending.Lock()
	defer r.sending.Unlock()
	_, _ = r.process.Write(append(text, '\n'))
}

// follow does what the script asks for, until its end.
func (r *run) follow() (*engine.End, *fault.Error) {
	for r.process.messages.Scan() {
		var said engine.Said
		if err := json.Unmarshal(r.process.messages.Bytes(), &said); err != nil {
			return nil, r.died(err)
		}
		switch {
		case said.End != nil:
			return said.End, nil
		case said.Uses != nil && r.clock == nil:
			if failure := r.begin(said.Uses); failure != nil {
				return nil, failure
			}
		case r.clock == nil: // it says nothing else before it may run
			return nil, r.died(errors.New("it speaks before it is asked"))
		case said.Call != nil:
			r.enqueue(*said.Call)
		case said.Sleep != nil:
			r.sleep(*said.Sleep)
		case said.Log != nil:
			r.log.add(*said.Log, r.limits.OutputBytes/4, r.progress)
		}
	}
	return nil, r.died(r.process.messages.Err())
}

// firstWord is what the process says once it has read the script: what that uses, or why it is no program.
func (r *run) firstWord() (*engine.Uses, *engine.End, *fault.Error) {
	for r.process.messages.Scan() {
		var said engine.Said
		if err := json.Unmarshal(r.process.messages.Bytes(), &said); err != nil {
			return nil, nil, r.died(err)
		}
		if said.Uses != nil || said.End != nil {
			return said.Uses, said.End, nil
		}
	}
	return nil, nil, r.died(r.process.messages.Err())
}

// begin lets the script run, if it may.
func (r *run) begin(uses *engine.Uses) *fault.Error {
	entries := r.look()
	objects := []string{}
	for _, t := range r.tools {
		if object, _ := t.Called(); !slices.Contains(objects, object) {
			objects = append(objects, object)
		}
	}
	slices.Sort(objects)
	if failure := r.foresee(uses, entries); failure != nil {
		return failure
	}
	r.queue = make(chan queued, r.limits.Calls)
	r.clock = newClock(r.limits.Time, r.asked.Paused, func() { r.cancel(errTime) })
	r.going.Go(r.carryOut)
	r.send(engine.Told{Go: &engine.Go{Args: r.args.Args, Tools: named(uses, entries), Objects: objects}})
	return nil
}

// look finds the tools that the script may see.
func (r *run) look() (entries []engine.Tool) {
	r.tools, entries = map[string]*registry.Tool{}, []engine.Tool{}
	for _, t := range r.core.Tools.List(r.asked.Session) {
		if t.Name == toolName {
			continue
		}
		r.tools[t.Name] = t
		entries = append(entries, entriesOf(t)...)
	}
	return entries
}

// entriesOf is a tool by each of its names in a script: as people write it in JavaScript, and as it is called.
func entriesOf(t *registry.Tool) (list []engine.Tool) {
	object, method := t.Called()
	first := t.First()
	_, own, _ := strings.Cut(t.Name, "__")
	names := [][2]string{{object, method}, {object, own}, {t.Group, method}, {t.Group, own}}
	for i, name := range names {
		if i == 0 || name[1] != "" && name != names[0] {
			list = append(list, engine.Tool{Name: t.Name, Object: name[0], Method: name[1], First: first, Alias: i > 0})
		}
	}
	return list
}

// named are the tools that a script gets: all of them only if its text does not say which it uses.
func named(uses *engine.Uses, entries []engine.Tool) []engine.Tool {
	if uses.Other {
		return entries
	}
	objects := map[string]bool{}
	for _, used := range uses.Tools {
		objects[used.Object] = true
	}
	kept := []engine.Tool{}
	for _, one := range entries {
		if objects[one.Object] {
			kept = append(kept, one)
		}
	}
	return kept
}

// queued is a call that waits.
type queued struct {
	engine.Call
	entry *entry
}

// enqueue takes a call of the script, or refuses it because there were too many.
func (r *run) enqueue(c engine.Call) {
	t := r.tools[c.Tool]
	if t == nil {
		r.tell(c.Number, nil, fault.New(fault.UnknownTool, "There is no tool "+fault.Excerpt(c.Tool)), c.Tool)
		return
	}
	if !r.count() {
		r.tell(c.Number, nil, r.tooMany(), t.Name)
		return
	}
	r.queue <- queued{c, r.ledger.add(t.Name, !t.ReadOnly, c.At)} // which has room for as many as are counted
}

// count counts a call or a pause, and reports whether it is one of those that the script may make.
func (r *run) count() bool {
	if r.number++; r.number > 2*r.limits.Calls {
		r.cancel(r.tooMany()) // it does not heed what it was told
	}
	return r.number <= r.limits.Calls
}

func (r *run) tooMany() *fault.Error {
	return fault.New(scriptLimit, fmt.Sprintf("A script may make at most %d calls (scripts.calls)", r.limits.Calls),
		fault.WithOutcome(fault.NotExecuted))
}

// sleep ends a pause when its time is over.
func (r *run) sleep(s engine.Sleep) {
	if !r.count() {
		r.cancel(r.tooMany())
		return
	}
	pause := time.Duration(min(max(s.Ms, 0), longest.Milliseconds())) * time.Millisecond
	r.going.Go(func() {
		over := time.NewTimer(pause)
		defer over.Stop()
		select {
		case <-over.C:
			r.tell(s.Number, nil, nil, "")
		case <-r.listens.Done():
		}
	})
}

// carryOut carries the calls out in the order in which they were made, some of them at once. What has not begun when
// the script ends does not begin: nobody waits for it.
func (r *run) carryOut() {
	slots := make(chan struct{}, r.limits.AtOnce)
	for {
		select {
		case next := <-r.queue:
			select {
			case slots <- struct{}{}:
			case <-r.listens.Done():
				return
			}
			if r.listens.Err() != nil {
				return
			}
			position := r.core.Tools.Reserve(r.asked.Session.ID)
			r.going.Go(func() {
				defer func() { <-slots }()
				r.callTool(next, position)
			})
		case <-r.listens.Done():
			return
		}
	}
}

// callTool is one call, from the script's asking to its hearing of the end.
func (r *run) callTool(next queued, position call.Position) {
	t := r.tools[next.Tool]
	c := call.Call{
		ID: call.NewID(), Script: r.asked.ID, Session: r.asked.Session, Tool: t.Name,
		Arguments: next.Arguments, Structured: true, MaxBytes: r.core.Config.ResultBytes, Position: position,
		Reason: r.asked.Reason, Ask: r.asked.Ask,
	}
	c.Paused, c.Asking = r.waiting()
	if !t.ReadOnly {
		if failure := r.mayChange(t); failure != nil {
			r.ledger.end(next.entry, failure)
			r.tell(next.Number, nil, failure, t.Name)
			return
		}
	}
	r.ledger.begin(next.entry)
	r.keep(t)
	result, failure := r.core.Tools.Do(r.ctx, c)
	r.ledger.end(next.entry, failure)
	r.keep(t)
	r.untrusted.note(result, failure)
	r.tell(next.Number, valueOf(t, result), failure, t.Name)
	if result != nil {
		for _, warning := range result.Warnings {
			r.log.add(t.Name+": "+warning, r.limits.OutputBytes/4, nil)
		}
	}
}

// keep keeps the ledger where the script may be asked for again, around each call that changes something.
func (r *run) keep(t *registry.Tool) {
	if r.record == nil || t.ReadOnly {
		return
	}
	r.noting.Lock()
	defer r.noting.Unlock()
	r.record(r.ledger.list())
}

// tell tells the script how a call ended. One that is over does not hear it: it would end with its call's failure, and
// not with what ended both.
func (r *run) tell(number int, value json.RawMessage, f *fault.Error, tool string) {
	if r.ctx.Err() != nil {
		return
	}
	ended := engine.Ended{Number: number, Value: value}
	if f != nil {
		ended.Failed = membersOf(f, tool)
	}
	r.send(engine.Told{Ended: &ended})
}

// died says why there are no more messages of the script.
func (r *run) died(err error) *fault.Error {
	cause := context.Cause(r.ctx)
	switch {
	case errors.Is(cause, errTime):
		return fault.New(fault.TimeoutCode, fmt.Sprintf("The script ran for more than %v", r.limits.Time),
			fault.WithRetryable(true), fault.WithHint("Do less in one script, or give it a larger timeoutMs."))
	case cause != nil:
		if f, ok := errors.AsType[*fault.Error](cause); ok {
			return f
		}
		return fault.CallEnded(r.ctx, "while its script ran")
	case errors.Is(err, bufio.ErrTooLong):
		return fault.New(scriptLimit, fmt.Sprintf("A message of the script, such as the arguments of a call, has more "+
			"than %d MB", mostMessage>>20))
	}
	r.process.Close()
	ended := r.process.Ended()
	if errors.Is(ended, sandbox.ErrMemory) {
		return fault.New(scriptLimit, fmt.Sprintf("The script needs more than %d MB of memory (scripts.memoryBytes)",
			r.limits.Memory>>20))
	}
	return fault.New(scriptLimit, "The script's process ended by itself", fault.WithCause(errors.Join(err, ended)),
		fault.WithHint("Run the script once more if nothing was changed; if that happens again, do less in it."))
}
