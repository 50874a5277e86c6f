package worker

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/fault"
)

const (
	maxComplaint = 4 << 10                // bytes of stderr that are kept
	closeTime    = 500 * time.Millisecond // for a program to end after its input was closed
	termTime     = time.Second            // and after it was asked to
	leaveTime    = 500 * time.Millisecond // for what it left in its streams to be read, once it has ended
	writeTime    = 30 * time.Second       // for it to read what it is sent
)

// inherited are the variables of ours that every program gets. None of them is a secret.
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	"TMP", "TEMP", "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT", "COMSPEC"}

// environment is what a program sees: enough to find programs and its own files, and what was configured.
func environment(configured map[string]string) []string {
	var env []string
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range configured {
		env = append(env, name+"="+value) // of two, the later one counts
	}
	return env
}

// process is one run of a program, with whatever it starts itself.
type process struct {
	command        *exec.Cmd
	stdin          *os.File
	stdout, stderr *os.File

	over   atomic.Bool   // it has ended: its number may be that of another one by now
	exited chan struct{} // closed once nothing of it is left and its streams were read
	how    string        // it ended; set before exited is closed
	once   sync.Once     // of stop
	free   func()        // ends what ends the program with us

	mu     lock.Mutex // guards the rest
	tail   []byte     // the end of what it wrote to stderr
	hidden []string   // texts that nobody may read there, and what stands for them
	cause  string     // for which we ended it; empty: we did not
}

// start starts a program.
func start(o *Options) (*process, error) {
	dir := o.Dir
	if dir == "" {
		dir = o.Folder
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, errors.New("its folder cannot be made")
		}
	}
	p := &process{command: exec.Command(o.Command, o.Args...), exited: make(chan struct{})}
	p.hidden = secretsOf(o)
	p.command.Dir, p.command.Env = dir, environment(o.Env)
	ownGroup(p.command)
	theirs, err := p.pipes()
	if err == nil {
		err = p.command.Start()
	}
	for _, f := range theirs {
		_ = f.Close() // the program has its own
	}
	if err != nil {
		p.closeStreams()
		return nil, plainStart(err)
	}
	p.free = guardGroup(p.command)
	return p, nil
}

// plainStart is why a program could not be started, without the folder it was looked for in.
func plainStart(err error) error {
	var at *os.PathError
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return errors.New("there is no such program, or no such folder to work in")
	case errors.As(err, &at):
		return at.Err
	}
	return err
}

// secretsOf are texts that a program may write about itself and that are nobody's business.
func secretsOf(o *Options) (pairs []string) {
	for name, value := range o.Env {
		if (fault.SecretName(name) || slices.Contains(o.Secrets, name)) && len(value) >= 6 {
			pairs = append(pairs, value, "[redacted]")
		}
	}
	for _, folder := range []string{o.Dir, o.Folder, filepath.Dir(o.Command)} {
		if len(folder) > 4 {
			pairs = append(pairs, folder, "…")
		}
	}
	return pairs
}

// pipes makes the streams of the program, and returns its ends.
func (p *process) pipes() (theirs []*os.File, err error) {
	pipe := func(ours, its **os.File, weWrite bool) {
		if err != nil {
			return
		}
		var r, w *os.File
		if r, w, err = os.Pipe(); err != nil {
			return
		}
		if *ours, *its = r, w; weWrite {
			*ours, *its = w, r
		}
		theirs = append(theirs, *its)
	}
	var in, out, complaints *os.File
	pipe(&p.stdin, &in, true)
	pipe(&p.stdout, &out, false)
	pipe(&p.stderr, &complaints, false)
	if err == nil {
		p.command.Stdin, p.command.Stdout, p.command.Stderr = in, out, complaints
	}
	return theirs, err
}

func (p *process) closeStreams() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if f != nil {
			_ = f.Close() // nothing is to come any more
		}
	}
}

func (p *process) pid() int { return p.command.Process.Pid }

// watch stays with the program until it has ended. read reads its output to the end.
func (p *process) watch(read func(io.Reader)) {
	var streams sync.WaitGroup
	gone := make(chan struct{})
	streams.Go(func() { read(&output{of: p, gone: gone}) })
	streams.Go(func() { _, _ = io.Copy(complaints{p}, p.stderr) }) // it ends with the program
	err := p.command.Wait()
	p.over.Store(true)
	killGroup(p.command) // what it started may hold its streams open
	p.free()
	close(gone)
	late := time.Now().Add(leaveTime)
	_ = p.stdout.SetReadDeadline(late) // where a pipe has no deadline, it ends with its last writer
	_ = p.stderr.SetReadDeadline(late)
	streams.Wait()
	p.closeStreams()
	p.how = p.ending(err)
	close(p.exited)
}

// ending says how the program ended.
func (p *process) ending(err error) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.cause != "":
		return p.cause
	case err == nil:
		return "exit status 0"
	}
	return err.Error()
}

// stop lets the program end by itself for a moment, then asks it to, and then ends it, with all that it started. It
// returns when nothing is left. It may be called more than once.
func (p *process) stop() {
	p.once.Do(func() {
		p.blame("it was ended with its work done")
		_ = p.stdin.Close() // it fails if the program has ended
		if p.endsWithin(closeTime) {
			return
		}
		if !p.over.Load() {
			askGroup(p.command)
		}
		if !p.endsWithin(termTime) {
			p.kill()
		}
	})
	<-p.exited
}

func (p *process) endsWithin(d time.Duration) bool {
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-p.exited:
		return true
	case <-late.C:
		return false
	}
}

// kill ends the program and all that it started.
func (p *process) kill() {
	if !p.over.Load() {
		killGroup(p.command)
	}
}

// Write sends the program one message. A program that does not read for long is ended: nobody is to wait for it.
func (p *process) Write(b []byte) (int, error) {
	_ = p.stdin.SetWriteDeadline(time.Now().Add(writeTime)) // where there is none, whoever waits gives up by itself
	n, err := p.stdin.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p.blame(fmt.Sprintf("it was ended, because it did not read what it was sent within %s", writeTime))
		p.kill()
	}
	return n, err
}

// output is what a program says. One that says nothing more is of no use, so it is ended then.
type output struct {
	of    *process
	gone  <-chan struct{}
	ended bool
}

// Read implements io.Reader.
func (o *output) Read(b []byte) (int, error) {
	n, err := o.of.stdout.Read(b)
	if err != nil && !o.ended {
		o.ended = true
		idle := time.AfterFunc(closeTime, func() {
			o.of.blame("it was ended, because it closed its output")
			o.of.stop()
		})
		go func() {
			<-o.gone
			idle.Stop()
		}()
	}
	return n, err
}

// complaints keeps the end of what a program writes to stderr.
type complaints struct{ of *process }

// Write implements io.Writer.
func (c complaints) Write(b []byte) (int, error) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.tail = append(c.of.tail, b...)
	c.of.tail = c.of.tail[max(0, len(c.of.tail)-maxComplaint):]
	return len(b), nil
}

// hide keeps a text out of what is told of stderr.
func (p *process) hide(secret string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hidden = append(p.hidden, secret, "[redacted]")
}

// blame says why we end the program.
func (p *process) blame(cause string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cause = cmp.Or(p.cause, cause)
}

// complaint is the end of what the program wrote to stderr, without what nobody may read.
func (p *process) complaint() string {
	p.mu.Lock()
	text := string(p.tail)
	p.mu.Unlock()
	return fault.Redact(p.plain(strings.ToValidUTF8(text, "")))
}

// plain is what the program says, without what nobody may read.
func (p *process) plain(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.NewReplacer(p.hidden...).Replace(text)
}
