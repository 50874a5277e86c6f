// Package sandbox runs untrusted code in a process of its own: the same program, started once more with an empty
// environment, two pipes, and limits of memory and time that end it.
package sandbox

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
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits of one process.
type Limits struct {
	Memory uint64        // bytes by which its memory may grow; 0: what Serve says
	Time   time.Duration // of Reply: from the last byte of the request to the last of the reply
	Reply  int64         // of Reply: bytes
}

// The limits that end a process.
var (
	ErrMemory = errors.New("it needs too much memory")
	ErrTime   = errors.New("it takes too long")
	ErrReply  = errors.New("its answer is too large")
)

const (
	memoryPoll    = 5 * time.Millisecond // between two measurements of the memory in use
	maxStderr     = 64 << 10             // bytes
	exitOutOfHeap = 3                    // exit code of a process that ended itself because of its memory
)

// outOfMemory are Go's messages when the system gives no more memory, for the heap or a new thread.
var outOfMemory = []string{
	"out of memory", "cannot allocate memory", "pthread_create failed", "failed to create new OS thread",
}

// Process is one process that has not replied yet.
type Process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Reader
	stderr prefix
	limits Limits
	wait   func() error
}

// Serve runs do and exits if this program was started as the process of that name. It is called from an init function,
// so that every program that can start the process, a test's own too, can be it.
func Serve(name string, memory uint64, do func(in io.Reader, out io.Writer) error) {
	if len(os.Args) < 2 || len(os.Args) > 3 || os.Args[1] != name {
		return
	}
	if len(os.Args) == 3 {
		var err error
		if memory, err = strconv.ParseUint(os.Args[2], 10, 64); err != nil {
			return
		}
	}
	restrict(memory)
	// The process ends soon: garbage is collected only when there is much of it.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(int64(memory / 4 * 3))
	limit := heapInUse() + memory
	go func() {
		for range time.Tick(memoryPoll) {
			if heapInUse() > limit {
				os.Exit(exitOutOfHeap)
			}
		}
	}()
	if err := do(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func heapInUse() uint64 {
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
	p := &Process{cmd: exec.Command(executable, name), limits: limits}
	if limits.Memory > 0 {
		p.cmd.Args = append(p.cmd.Args, strconv.FormatUint(limits.Memory, 10))
	}
	p.wait = sync.OnceValue(p.cmd.Wait)
	p.cmd.Args[0] = "tabrelay"
	p.cmd.Env = []string{
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), // Windows starts nothing without it
		"GORACE=" + os.Getenv("GORACE"),         // settings of Go's race detector, which only tests are built with
	}
	p.cmd.Dir = filepath.VolumeName(os.TempDir()) + string(filepath.Separator)
	p.cmd.Stderr = &p.stderr
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

// Write sends a part of the request. For a process that has ended, Reply returns the reason.
func (p *Process) Write(part []byte) (int, error) { return p.in.Write(part) }

// Read reads what the process says while it still hears, in place of one reply. Its end is the end of the process:
// [Process.Ended] has the reason.
func (p *Process) Read(part []byte) (int, error) { return p.out.Read(part) }

// Ended waits until a process has ended of which everything was read, and returns why; nil: it was done.
func (p *Process) Ended() error {
	if err := p.wait(); err != nil {
		return p.exitError(err)
	}
	return nil
}

// Reply ends the request, and returns what the process replies.
func (p *Process) Reply(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.limits.Time, ErrTime)
	defer cancel()
	defer context.AfterFunc(ctx, p.kill)()
	_ = p.in.Close() // fails if the process has ended
	reply, readErr := io.ReadAll(io.LimitReader(p.out, p.limits.Reply+1))
	if int64(len(reply)) > p.limits.Reply {
		p.Close()
		return nil, ErrReply
	}
	err := p.wait()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err == nil:
		return reply, readErr
	}
	return nil, p.exitError(err)
}

// exitError says why the process ended.
func (p *Process) exitError(err error) error {
	stderr := p.stderr.String()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitOutOfHeap ||
		strings.HasPrefix(stderr, "SIGSEGV:") || // outside of Go code: a thread's stack could not grow
		slices.ContainsFunc(outOfMemory, func(words string) bool { return strings.Contains(stderr, words) }) {
		return ErrMemory
	}
	line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	return fmt.Errorf("its process ended: %s", cmp.Or(line, err.Error()))
}

// Close ends the process. It may be called twice.
func (p *Process) Close() {
	p.kill()
	_ = p.wait()
}

func (p *Process) kill() { _ = p.cmd.Process.Kill() }

// prefix keeps the first maxStderr bytes of what is written to it.
type prefix struct{ bytes.Buffer }

func (b *prefix) Write(p []byte) (int, error) {
	_, _ = b.Buffer.Write(p[:min(len(p), maxStderr-b.Len())]) // a buffer does not fail
	return len(p), nil
}
