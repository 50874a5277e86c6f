// Package worker runs agents that are programs of their own, over their standard input and output: by the Agent Client
// Protocol, or in the dialect of stdiobus.
//
// A [Worker] is one configured program. It is started for its first session, serves all of them at once, and is started
// anew when it ended, but not without limit. A [Session] is one conversation with it, with one turn at a time.
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/fault"
)

// Protocol is what a program speaks.
type Protocol string

// The protocols. Auto finds out: a program that does not know initialize speaks the dialect of stdiobus.
const (
	ACP      Protocol = "acp"
	Stdiobus Protocol = "stdiobus"
	Auto     Protocol = "auto"
)

const (
	startTime   = time.Minute // for a program to say what it speaks; one that is fetched first takes a while
	maxRestarts = 5           // in restartTime
	restartTime = time.Minute
	maxCorrupt  = 3 // lines that cannot be used, in corruptTime: then the program is started anew
	corruptTime = time.Minute
)

// Options is a program as a person configured it, and what it needs of the relay.
type Options struct {
	ID       string
	Command  string
	Args     []string
	Env      map[string]string // besides what every program gets
	Secrets  []string          // names of those that nobody may read
	Lacks    string            // why the program cannot be started as it is configured; empty: nothing is known
	Dir      string            // where it works; empty: in Folder
	Folder   string            // of its own, in the relay's home; made when needed
	Protocol Protocol

	Version string // of the relay, for the program
	Corrupt func() // a line of its output could not be used
	Log     zerolog.Logger
}

// Worker is one configured program, running or not. Its methods may be called concurrently.
type Worker struct {
	options Options
	running sync.WaitGroup // programs that were started and have not ended

	mu      lock.Mutex // guards the rest
	current *program   // nil: none runs
	starts  times
	corrupt times
	trouble string // why the last start failed; empty: it did not
	closed  bool
}

// New returns a worker whose program does not run yet.
func New(o Options) *Worker {
	return &Worker{options: o, starts: times{most: 1 + maxRestarts, within: restartTime},
		corrupt: times{most: maxCorrupt - 1, within: corruptTime}}
}

// Trouble is why the program cannot be used as far as is known; empty: nothing is.
func (w *Worker) Trouble() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trouble
}

// Missing is why the program cannot be found or executed, nil when it can.
func (w *Worker) Missing() error {
	if w.options.Lacks != "" {
		return errors.New(strings.TrimSuffix(w.options.Lacks, "."))
	}
	_, err := exec.LookPath(w.options.Command)
	return err
}

// Held is for how long the program is not started any more, because it ended too often.
func (w *Worker) Held() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != nil && !w.current.ended() {
		return 0
	}
	return w.starts.left(time.Now())
}

// Close ends the program and returns once nothing of it is left. It may be called more than once.
func (w *Worker) Close() {
	w.mu.Lock()
	w.closed = true
	var process *process
	if w.current != nil {
		process = w.current.process
	}
	w.mu.Unlock()
	if process != nil {
		process.stop()
	}
	w.running.Wait()
}

// track runs do beside, and has Close wait for it.
func (w *Worker) track(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		go do() // it ends with the program, which is ending
		return
	}
	w.running.Go(do)
}

// Open begins a session. The program is started if it does not run.
func (w *Worker) Open(ctx context.Context, tools Tools) (*Session, *fault.Error) {
	for {
		p, fresh, failure := w.program(ctx)
		if failure != nil {
			return nil, failure
		}
		s, err := w.open(ctx, p, tools)
		switch {
		case err == nil:
			return s, nil
		case fresh || !errors.Is(err, errEnded):
			return nil, w.failed(ctx, p, err, "it was asked for a session", fault.NotExecuted)
		}
		<-p.process.exited // it ended since its last session: that is no failure of this one
	}
}

func (w *Worker) open(ctx context.Context, p *program, tools Tools) (*Session, error) {
	if tools.Token != "" {
		p.process.hide(tools.Token)
	}
	s := &Session{worker: w, program: p, free: make(chan struct{}, 1)}
	s.free <- struct{}{}
	var err error
	if s.id, err = p.speaks.open(ctx, p, w.folder(), tools); err != nil {
		return nil, err
	}
	return s, p.enlist(s)
}

// folder is where the program works.
func (w *Worker) folder() string {
	return cmp.Or(w.options.Dir, w.options.Folder)
}

// program is the one that runs. The first to ask starts it, and all wait until it can be used.
func (w *Worker) program(ctx context.Context) (p *program, fresh bool, failure *fault.Error) {
	if p, fresh, failure = w.claim(); failure != nil {
		return nil, false, failure
	}
	select {
	case <-p.ready:
		return p, fresh, p.failure
	case <-ctx.Done():
		return nil, false, w.ended(ctx, "while it was started", fault.NotExecuted)
	}
}

// claim returns the program that runs or is being started, and begins to start one if there is none.
func (w *Worker) claim() (p *program, fresh bool, failure *fault.Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return nil, false, fault.New(fault.ShuttingDown, "The relay is stopping, so no worker is started",
			fault.WithOutcome(fault.NotExecuted))
	case w.current != nil && !w.current.ended():
		return w.current, false, nil
	}
	if left := w.starts.take(time.Now()); left > 0 {
		return nil, false, fault.New(codes.WorkerStartFailed,
			fmt.Sprintf("The worker %s ended %d times within %s, so it is not started for %s", w.options.ID,
				1+maxRestarts, restartTime, left.Round(time.Second)),
			fault.WithHint("Ask the person to look at `tabrelay logs` for why it ends."), fault.WithRetryAfter(left))
	}
	p = &program{worker: w, ready: make(chan struct{}), sessions: map[string]*Session{}}
	w.current = p
	w.running.Add(1)
	go w.run(p)
	return p, true, nil
}

// run starts a program and stays with it until it has ended.
func (w *Worker) run(p *program) {
	defer w.running.Done()
	failure := w.begin(p)
	w.mu.Lock()
	w.trouble, p.failure = "", failure
	if failure != nil {
		w.trouble = failure.Message
		w.forget(p)
	}
	w.mu.Unlock()
	close(p.ready)
	if p.process == nil {
		return
	}
	if failure != nil {
		p.process.stop()
	}
	<-p.process.exited
	w.mu.Lock()
	w.forget(p)
	w.mu.Unlock()
	p.end()
	w.options.Log.Info().Str("worker", w.options.ID).Str("end", p.process.how).
		Str("stderr", p.process.complaint()).Msg("a worker ended")
}

// forget makes room for another run of the program. The lock is held.
func (w *Worker) forget(p *program) {
	if w.current == p {
		w.current = nil
	}
}

// begin starts a program and finds out what it speaks.
func (w *Worker) begin(p *program) *fault.Error {
	o := &w.options
	if o.Lacks != "" {
		return fault.New(codes.WorkerStartFailed, "The worker "+o.ID+" could not be started: "+o.Lacks,
			fault.WithHint("Ask the person to mend workers."+o.ID+" in config.json, and to restart the relay."))
	}
	process, err := start(o)
	if err != nil {
		return fault.New(codes.WorkerStartFailed, "The worker "+o.ID+" could not be started: "+err.Error(),
			fault.WithCause(err))
	}
	p.conn = newConn(process, p.hear, func(why string) { w.unusable(p, why) })
	w.mu.Lock() // Close looks for it from now on
	p.process = process
	closed := w.closed
	w.mu.Unlock()
	go process.watch(p.conn.pump)
	if closed {
		go process.stop()
	}
	o.Log.Info().Str("worker", o.ID).Int("pid", process.pid()).Msg("a worker was started")
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	if o.Protocol == Stdiobus {
		p.speaks = stdiobus{agent: o.ID}
		return nil
	}
	return w.shakeHands(ctx, p)
}

// unusable counts a line that could not be used. Of too many, the program is ended: the next session starts it anew.
func (w *Worker) unusable(p *program, why string) {
	w.options.Log.Warn().Str("worker", w.options.ID).Str("reason", why).Msg("a line of a worker could not be used")
	if w.options.Corrupt != nil {
		w.options.Corrupt()
	}
	w.mu.Lock()
	tooMany := w.corrupt.take(time.Now()) > 0
	if tooMany {
		w.corrupt.at = nil
	}
	w.mu.Unlock()
	if tooMany {
		p.process.blame(fmt.Sprintf("it was ended, because %d lines of its output could not be used", maxCorrupt))
		p.process.kill()
	}
}

// times bounds how often something happens within a while.
type times struct {
	most   int
	within time.Duration
	at     []time.Time
}

// take notes that it happens now, unless it did too often already: then it returns how long that will last.
func (t *times) take(now time.Time) (left time.Duration) {
	if left = t.left(now); left == 0 {
		t.at = append(t.at, now)
	}
	return left
}

// left is how long it still happened too often.
func (t *times) left(now time.Time) time.Duration {
	for len(t.at) > 0 && now.Sub(t.at[0]) >= t.within {
		t.at = t.at[1:]
	}
	if len(t.at) < t.most {
		return 0
	}
	return t.within - now.Sub(t.at[0])
}
