package build

import (
	"bufio"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/grafana/sobek"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/sandbox"
)

// A plugin's code runs once at a build, to describe its tools. It is untrusted, and the engine that runs it has no
// memory limit: one statement can take all memory, or run on within a step that nothing interrupts. So it runs in a
// process of its own.

const (
	readerName   = "read-plugin"
	readerMemory = 512 << 20       // bytes; 29 tools with Zod need 176 MB at the most
	processGrace = 5 * time.Second // for a slow machine to start and end such a process
	maxReply     = 16 << 20        // bytes of a plugin's description
)

func init() { sandbox.Serve(readerName, readerMemory, serveReader) }

// readRequest is what the process is sent after the SDK and the packages.
type readRequest struct {
	Name          string // the plugin's
	Code, Sources []byte // the module as a script, and its source map
	Known         map[int]bool
	Limit         time.Duration
}

// readReply is what the process replies.
type readReply struct {
	Parts []string    `json:"parts"` // the description by each engine
	Fault *Diagnostic `json:"fault"`
}

// reader reads the tools of a module. It belongs to one build at a time.
type reader struct {
	limit     time.Duration
	keepReady bool           // more builds follow, so that a process for the next one is kept ready
	next      *readerProcess // nil: none is ready
}

// readerProcess is a process that is started before the module is known. Its fields may be read once ready is closed.
type readerProcess struct {
	process      *sandbox.Process
	encoder      *gob.Encoder
	err          error
	packages     string
	sentPackages bool
	ready        chan struct{} // closed when the process has what is known in advance
}

func newReader(limit time.Duration) *reader {
	r := &reader{limit: limit}
	r.next = r.start(nil)
	return r
}

// start starts a process in the background and sends it the SDK, and the packages if they are known.
func (r *reader) start(packages *string) *readerProcess {
	p := &readerProcess{ready: make(chan struct{})}
	limits := sandbox.Limits{Time: r.limit + processGrace, Reply: maxReply}
	go func() {
		defer close(p.ready)
		if p.process, p.err = sandbox.Start(readerName, limits); p.err != nil {
			return
		}
		p.encoder = gob.NewEncoder(p.process)
		var sdk string
		if sdk, p.err = sdkScript(); p.err != nil {
			return
		}
		p.send(sdk)
		if packages != nil {
			p.sendPackages(*packages)
		}
	}()
	return p
}

// send sends one value. A failure means that the process has ended, and its reply says why.
func (p *readerProcess) send(value any) { _ = p.encoder.Encode(value) }

func (p *readerProcess) sendPackages(packages string) {
	p.packages, p.sentPackages = packages, true
	p.send(packages)
}

func (p *readerProcess) close() {
	if <-p.ready; p.process != nil {
		p.process.Close()
	}
}

func (r *reader) close() {
	if r.next != nil {
		r.next.close()
		r.next = nil
	}
}

// read reads the tools of a module that imports packages, which are a script.
func (r *reader) read(ctx context.Context, request readRequest, packages string) (*pluginInfo, []Diagnostic) {
	p := r.next
	if r.next = nil; p != nil {
		if <-p.ready; p.sentPackages && p.packages != packages {
			p.close()
			p = nil
		}
	}
	if p == nil {
		p = r.start(&packages)
	}
	defer p.close()
	if <-p.ready; p.err != nil {
		return nil, faultf("", "the process that reads the plugin does not start: %v", p.err)
	}
	if !p.sentPackages {
		p.sendPackages(packages)
	}
	request.Limit = r.limit
	p.send(request)
	text, err := p.process.Reply(ctx)
	if r.keepReady {
		r.next = r.start(&packages)
	}
	if err != nil {
		return nil, faultf(entryFile, "%s", r.failureText(ctx, request.Name, err))
	}
	var reply readReply
	if err := json.Unmarshal(text, &reply); err != nil {
		return nil, faultf(entryFile, "describes tools that cannot be read: %v", err)
	}
	if reply.Fault != nil {
		return nil, []Diagnostic{*reply.Fault}
	}
	return mergeTools(reply.Parts)
}

// failureText says why a process gave no reply.
func (r *reader) failureText(ctx context.Context, name string, err error) string {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx).Error()
	case errors.Is(err, sandbox.ErrMemory):
		return fmt.Sprintf("loading the plugin %s needs more than %d MB of memory; move work into handlers",
			name, readerMemory>>20)
	case errors.Is(err, sandbox.ErrTime):
		return tooSlowText(name, r.limit)
	case errors.Is(err, sandbox.ErrReply):
		return fmt.Sprintf("what the plugin %s says about its tools has more than %d MB; shorten descriptions and "+
			"schemas",
			name, maxReply>>20)
	}
	return fmt.Sprintf("the plugin %s cannot be loaded: %v", name, err)
}

func tooSlowText(name string, limit time.Duration) string {
	return fmt.Sprintf("loading the plugin %s takes longer than %v; move work into handlers", name, limit)
}

// serveReader is the process. It compiles what it has while the rest is not known yet. If the request does not arrive,
// the build has ended.
func serveReader(in io.Reader, out io.Writer) error {
	decoder := gob.NewDecoder(bufio.NewReaderSize(in, 64<<10))
	var sdk, packages string
	if decoder.Decode(&sdk) != nil {
		return nil
	}
	var e engine
	var err error
	if e.sdk, err = sobek.Compile("tabrelay:sdk.js", sdk, true); err != nil {
		return err
	}
	pageProgram()
	toolsProgram()
	if decoder.Decode(&packages) != nil {
		return nil
	}
	encoder := json.NewEncoder(out)
	if packages != "" {
		if e.packages, err = sobek.Compile("tabrelay:packages.js", packages, true); err != nil {
			return encoder.Encode(readReply{Fault: &faultf("", "a package cannot be read: %v", err)[0]})
		}
	}
	var request readRequest
	if decoder.Decode(&request) != nil {
		return nil
	}
	if e.script, err = (moduleScript{request.Code, request.Sources}).compile(); err != nil {
		return encoder.Encode(readReply{Fault: &faultf(entryFile, "cannot be read: %v", err)[0]})
	}
	e.name, e.known = request.Name, request.Known
	parts, err := runEngines(e, request.Limit)
	if err != nil {
		fault := loadFault(err)
		return encoder.Encode(readReply{Fault: &fault})
	}
	return encoder.Encode(readReply{Parts: parts})
}

var notDefined = lazyregexp.New(`^ReferenceError: ([\w$]+) is not defined`)

// undefinedName returns the name a script could not find.
func undefinedName(err error) string {
	var thrown *sobek.Exception
	if !errors.As(err, &thrown) {
		return ""
	}
	if found := notDefined.FindStringSubmatch(thrown.Value().String()); found != nil {
		return found[1]
	}
	return ""
}

// loadFault says what went wrong while the plugin loaded, and where.
func loadFault(err error) Diagnostic {
	var stopped *sobek.InterruptedError
	var endless *sobek.StackOverflowError
	var thrown *sobek.Exception
	switch {
	case errors.As(err, &stopped):
		return sourceFault(nil, fmt.Sprint(stopped.Value()))
	case errors.As(err, &endless):
		return sourceFault(endless.Stack(), "recurses endlessly while it loads")
	case errors.As(err, &thrown):
		return sourceFault(thrown.Stack(), fmt.Sprintf("throws while it loads: %v", thrown.Value()))
	}
	return sourceFault(nil, err.Error())
}

// sourceFault is a fault at the innermost place of the plugin's own sources.
func sourceFault(stack []sobek.StackFrame, text string) Diagnostic {
	for _, frame := range stack {
		p := frame.Position()
		if strings.HasSuffix(p.Filename, "s") && !strings.Contains(p.Filename, ":") && p.Line > 0 {
			return Diagnostic{File: p.Filename, Line: p.Line, Column: p.Column, Text: text}
		}
	}
	return Diagnostic{File: entryFile, Text: text}
}
