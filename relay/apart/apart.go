// Package apart runs what cannot be trusted with this process in a process of its own: the same program, started once
// more, with an empty environment, two pipes, and limits of memory and time after which it is ended.
package apart

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of one process.
type Limits struct {
	Memory uint64        // bytes by which its memory may grow
	Time   time.Duration // from the last byte of the question to the last of the answer
	Answer int64         // bytes
}

// What ends a process before it answered.
var (
	ErrMemory = errors.New("it needs too much memory")
	ErrTime   = errors.New("it takes too long")
	ErrAnswer = errors.New("its answer is too large")
)

const (
	look      = 5 * time.Millisecond // between two looks at the memory in use
	words     = 64 << 10             // bytes of what a process that failed said about it
	outOfHeap = 3                    // exit code of a process that ended itself for the memory it used
)

// noMemory are Go's last words where the system gives no more memory, for its heap or the stack of a thread.
var noMemory = []string{"out of memory", "cannot allocate memory", "pthread_create failed", "failed to create new OS thread"}

// Process is one process that has not answered yet.
type Process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Reader
	said   head
	limits Limits
	once   sync.Once
	ended  error
}

// Serve makes this program the process of that name when it was started as one: it does the work and ends. It is called
// from an init function, so that every program that can start the process, a test's own too, can be it.
func Serve(name string, memory uint64, do func(in io.Reader, out io.Writer) error) {
	if len(os.Args) != 2 || os.Args[1] != name {
		return
	}
	restrict(memory)
	// It ends soon: garbage is collected only when there is much of it.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(int64(memory / 4 * 3))
	most := inUse() + memory
	go func() {
		for range time.Tick(look) {
			if inUse() > most {
				os.Exit(outOfHeap)
			}
		}
	}()
	if err := do(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Start starts the process of a name.
func Start(name string, limits Limits) (*Process, error) {
	executable := "/proc/self/exe" // also when the file was replaced by a newer version meanwhile
	if runtime.GOOS != "linux" {
		var err error
		if executable, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	p := &Process{cmd: exec.Command(executable, name), limits: limits, said: head{room: words}}
	p.cmd.Args[0] = "tabrelay"
	p.cmd.Env = []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} // Windows starts nothing without it
	p.cmd.Dir = filepath.VolumeName(os.TempDir()) + string(filepath.Separator)
	p.cmd.Stderr = &p.said
	p.cmd.WaitDelay = time.Second
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

// Write hands over a part of the question. A process that ended says why with its answer.
func (p *Process) Write(part []byte) (int, error) { return p.in.Write(part) }

// Answer ends the question, and returns what the process answers.
func (p *Process) Answer(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.limits.Time, ErrTime)
	defer cancel()
	defer context.AfterFunc(ctx, p.kill)()
	_ = p.in.Close() // it ended, then
	answer, readErr := io.ReadAll(io.LimitReader(p.out, p.limits.Answer+1))
	if int64(len(answer)) > p.limits.Answer {
		p.Close()
		return nil, ErrAnswer
	}
	err := p.wait()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err == nil:
		return answer, readErr
	}
	return nil, p.why(err)
}

// why tells what a process died of.
func (p *Process) why(err error) error {
	said := p.said.text.String()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == outOfHeap || slices.ContainsFunc(noMemory, func(words string) bool { return strings.Contains(said, words) }) {
		return ErrMemory
	}
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return fmt.Errorf("its process ended: %s", cmp.Or(line, err.Error()))
}

// Close ends the process. It may be called twice.
func (p *Process) Close() {
	p.kill()
	_ = p.wait()
}

func (p *Process) kill() { _ = p.cmd.Process.Kill() }

func (p *Process) wait() error {
	p.once.Do(func() { p.ended = p.cmd.Wait() })
	return p.ended
}

// head keeps the beginning of what is written to it.
type head struct {
	text bytes.Buffer
	room int
}

func (h *head) Write(p []byte) (int, error) {
	kept := p[:min(len(p), h.room-h.text.Len())]
	h.text.Write(kept)
	return len(p), nil
}
