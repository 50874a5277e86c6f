package plugin

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/grafana/sobek"

	"tabrelay/relay/apart"
)

// A plugin's code runs once at a build, to say what its tools are. It comes from whoever wrote the plugin, and the engine
// that runs it has no limit of memory: one statement can take all there is, or go on within a step that nothing
// interrupts. So it runs in a process of its own.

const (
	readerName    = "read-plugin"
	readingMemory = 512 << 20       // bytes; 29 tools with Zod need 176 MB at the most
	readingGrace  = 5 * time.Second // for a slow machine to start and end such a process
	maxAnswer     = 16 << 20        // bytes of what a plugin says about itself
	maxPart       = 256 << 20       // bytes of one part of the question: nothing makes a larger one
)

func init() { apart.Serve(readerName, readingMemory, serveReading) }

// question is what a reader is asked: a module, the packages it imports, and the places in its outline of the tools that
// need not be read.
type question struct {
	name     string // the plugin's
	module   engineSource
	packages string
	known    map[int]bool
}

// verdict is what the process answers.
type verdict struct {
	Answers []string    `json:"answers"` // of each engine
	Fault   *Diagnostic `json:"fault"`
}

// reader lists the tools of a module. It belongs to one build at a time.
type reader struct {
	limit time.Duration
	goOn  bool   // more is asked of it later, so that a process for that is kept ready
	ready *ahead // nil: none is
}

// ahead is a process that was started before it was known what to ask, and what it was told already.
type ahead struct {
	process  *apart.Process
	err      error
	packages string        // that it has, when told is true
	told     bool          // the packages
	done     chan struct{} // closed when it has all that
}

func newReader(limit time.Duration) *reader {
	r := &reader{limit: limit}
	r.ready = r.start(func(*ahead) {})
	return r
}

// start starts a process and gives it the SDK, and what else is known by now, while the caller goes on.
func (r *reader) start(tell func(*ahead)) *ahead {
	a := &ahead{done: make(chan struct{})}
	limits := apart.Limits{Time: r.limit + readingGrace, Answer: maxAnswer}
	go func() {
		defer close(a.done)
		a.process, a.err = apart.Start(readerName, limits)
		if a.err != nil {
			return
		}
		var sdk string
		if sdk, a.err = sdkScript(); a.err == nil {
			writePart(a.process, []byte(sdk))
			tell(a)
		}
	}()
	return a
}

func (a *ahead) tellPackages(packages string) {
	a.packages, a.told = packages, true
	writePart(a.process, []byte(packages))
}

func (a *ahead) close() {
	if <-a.done; a.process != nil {
		a.process.Close()
	}
}

func (r *reader) close() {
	if r.ready != nil {
		r.ready.close()
		r.ready = nil
	}
}

// read asks a module what it is.
func (r *reader) read(ctx context.Context, q question) (*described, []Diagnostic) {
	a := r.ready
	if r.ready = nil; a != nil {
		if <-a.done; a.told && a.packages != q.packages {
			a.close()
			a = nil
		}
	}
	if a == nil {
		a = r.start(func(*ahead) {})
	}
	defer a.close()
	<-a.done
	if a.err != nil {
		return nil, []Diagnostic{{Text: fmt.Sprintf("the process that reads the plugin does not start: %v", a.err)}}
	}
	answer, err := r.ask(ctx, a, q)
	if r.goOn {
		r.ready = r.start(func(a *ahead) { a.tellPackages(q.packages) })
	}
	if err != nil {
		return nil, []Diagnostic{{File: entryFile, Text: r.why(ctx, q.name, err)}}
	}
	var v verdict
	if err := json.Unmarshal(answer, &v); err != nil {
		return nil, []Diagnostic{{File: entryFile, Text: fmt.Sprintf("describes tools that cannot be read: %v", err)}}
	}
	if v.Fault != nil {
		return nil, []Diagnostic{*v.Fault}
	}
	return mergeTools(v.Answers)
}

// why says why a process gave no answer.
func (r *reader) why(ctx context.Context, name string, err error) string {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx).Error()
	case errors.Is(err, apart.ErrMemory):
		return fmt.Sprintf("loading the plugin %s needs more than %d MB of memory; move work into handlers", name, readingMemory>>20)
	case errors.Is(err, apart.ErrTime):
		return takesTooLong(name, r.limit)
	case errors.Is(err, apart.ErrAnswer):
		return fmt.Sprintf("what the plugin %s says about its tools has more than %d MB; shorten descriptions and schemas", name, maxAnswer>>20)
	}
	return fmt.Sprintf("the plugin %s cannot be loaded: %v", name, err)
}

func takesTooLong(name string, limit time.Duration) string {
	return fmt.Sprintf("loading the plugin %s takes longer than %v; move work into handlers", name, limit)
}

func (r *reader) ask(ctx context.Context, a *ahead, q question) ([]byte, error) {
	known, err := json.Marshal(q.known)
	if err != nil {
		return nil, err
	}
	if !a.told {
		a.tellPackages(q.packages)
	}
	limit := binary.BigEndian.AppendUint64(nil, uint64(r.limit))
	for _, part := range [][]byte{q.module.code, q.module.sources, known, limit, []byte(q.name)} {
		writePart(a.process, part)
	}
	return a.process.Answer(ctx)
}

// writePart hands over a part of a question, after its length. Where that fails, the process has ended, and its answer
// says why.
func writePart(to io.Writer, part []byte) {
	if _, err := to.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part)))); err == nil {
		_, _ = to.Write(part)
	}
}

func readPart(from io.Reader) ([]byte, error) {
	var length uint32
	if err := binary.Read(from, binary.BigEndian, &length); err != nil {
		return nil, err
	}
	if length > maxPart {
		return nil, fmt.Errorf("a part of %d bytes", length)
	}
	part := make([]byte, length)
	_, err := io.ReadFull(from, part)
	return part, err
}

// serveReading is the process: it answers one question. What comes first is compiled while the rest is awaited.
func serveReading(in io.Reader, out io.Writer) error {
	from := bufio.NewReaderSize(in, 64<<10)
	sdk, err := readPart(from)
	if err != nil {
		return nil // nothing is asked: the build ended before
	}
	of := reading{}
	if of.sdk, err = sobek.Compile("tabrelay:sdk.js", string(sdk), true); err != nil {
		return err
	}
	pageProgram()
	toolsProgram()
	packages, err := readPart(from)
	if err != nil {
		return nil
	}
	if len(packages) > 0 {
		if of.packages, err = sobek.Compile("tabrelay:packages.js", string(packages), true); err != nil {
			return reply(out, verdict{Fault: &Diagnostic{Text: fmt.Sprintf("a package cannot be read: %v", err)}})
		}
	}
	var parts [5][]byte
	for i := range parts {
		if parts[i], err = readPart(from); err != nil {
			return nil
		}
	}
	if err := json.Unmarshal(parts[2], &of.known); err != nil {
		return err
	}
	limit := time.Duration(binary.BigEndian.Uint64(parts[3]))
	if of.script, err = (engineSource{parts[0], parts[1]}).compile(); err != nil {
		return reply(out, verdict{Fault: &Diagnostic{File: entryFile, Text: fmt.Sprintf("cannot be read: %v", err)}})
	}
	of.name = string(parts[4])
	answers, err := readHere(of, limit)
	if err != nil {
		fault := readingFault(err)
		return reply(out, verdict{Fault: &fault})
	}
	return reply(out, verdict{Answers: answers})
}

func reply(out io.Writer, v verdict) error { return json.NewEncoder(out).Encode(v) }
