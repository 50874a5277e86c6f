package resources

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/lib/procgroup"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// program serves a scheme with a person's own executable. It gets the URI as its last argument, writes the content to
// stdout, says what is wrong on stderr, and ends with one of the codes below.
type program struct {
	scheme   string
	command  []string
	timeout  time.Duration
	maxBytes int64
	log      zerolog.Logger
}

// What a provider's exit code means.
const (
	exitOutside  = 2 // outside of what it may read
	exitMissing  = 3 // there is no such resource
	exitInvalid  = 4 // the URI is wrong
	exitFetch    = 5 // what holds the resource failed
	exitTooLarge = 6
	exitRedirect = 7 // it is at the address on stderr
)

const (
	maxComplaint = 4 << 10                // bytes of stderr that are kept, for the log
	killTime     = 500 * time.Millisecond // for its children to let go of its streams
)

func newProgram(scheme string, of Program, log zerolog.Logger) *program {
	p := &program{scheme: scheme, command: of.Command, timeout: fetchTime, maxBytes: defaultBytes, log: log}
	if of.TimeoutMs != nil {
		p.timeout = time.Duration(*of.TimeoutMs) * time.Millisecond
	}
	if of.MaxBytes != nil {
		p.maxBytes = *of.MaxBytes
	}
	return p
}

func (p *program) templates() []call.ResourceTemplate {
	return []call.ResourceTemplate{{URITemplate: p.scheme + "://{+rest}", Name: p.scheme, Title: "Resources of " +
		p.scheme,
		Description: "Provided by a program of the person's own."}}
}

func (*program) list(context.Context, call.Session) ([]call.Resource, *fault.Error) { return nil, nil }

func (p *program) watch(call.Session, *url.URL, func()) (func(), *fault.Error) {
	return nil, unwatchable(p.scheme)
}

// problem is what keeps the program from being started.
func (p *program) problem() string {
	if len(p.command) == 0 {
		return "The resource provider of " + p.scheme + " has no command"
	}
	if _, err := exec.LookPath(p.command[0]); err != nil {
		return "The resource provider of " + p.scheme + " cannot be started: " + err.Error()
	}
	return ""
}

// environment is what a provider sees of ours: enough to find programs and a place for files, and no secret.
func environment(more ...string) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "SYSTEMROOT", "TEMP", "TMP",
		"USERPROFILE", "PATHEXT"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, more...)
}

// capped keeps the first bytes that are written, and cancels when there are more. It must have no ReadFrom, which
// would be used in place of Write.
type capped struct {
	kept   bytes.Buffer
	left   int64
	over   bool
	cancel context.CancelFunc
}

func (c *capped) Write(b []byte) (int, error) {
	if int64(len(b)) > c.left {
		c.over = true
		c.cancel()
		return 0, errors.New("too much output")
	}
	c.left -= int64(len(b))
	return c.kept.Write(b)
}

// tail keeps the last bytes that are written.
type tail struct{ data []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.data = append(t.data, b...)
	t.data = t.data[max(0, len(t.data)-maxComplaint):]
	return len(b), nil
}

func (p *program) read(ctx context.Context, _ reading, u *url.URL) ([]call.ResourceContents, *fault.Error) {
	if len(p.command) == 0 {
		return nil, p.broken(errors.New("no command"))
	}
	bounded, cancelTime := context.WithTimeout(ctx, p.timeout)
	defer cancelTime()
	running, cancel := context.WithCancel(bounded)
	defer cancel()
	command := exec.CommandContext(running, p.command[0], append(append([]string{}, p.command[1:]...), u.String())...)
	out, complaint := &capped{left: p.maxBytes, cancel: cancel}, &tail{}
	command.Stdout, command.Stderr = out, complaint
	command.Env = environment(fmt.Sprintf("TABRELAY_MAX_BYTES=%d", p.maxBytes), "TABRELAY_SCHEME="+p.scheme)
	command.Dir = os.TempDir()
	command.WaitDelay = killTime
	procgroup.Join(command)
	err := command.Run()
	if len(complaint.data) > 0 || err != nil {
		p.log.Info().Str("scheme", p.scheme).Err(err).Bytes("stderr", complaint.data).Msg("a resource provider said")
	}
	switch {
	case out.over:
		return nil, tooLarge(p.maxBytes, "resources.providers."+p.scheme+".maxBytes")
	case bounded.Err() != nil:
		return nil, gaveUp(bounded, "The provider of "+p.scheme, p.timeout)
	}
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		return nil, p.ended(ended.ExitCode(), string(complaint.data))
	case err != nil:
		return nil, p.broken(err)
	}
	data := out.kept.Bytes()
	name := path.Base(filepath.ToSlash(u.Path))
	return []call.ResourceContents{contentOf(typeOf(name, data), data, map[string]any{"tabrelay/untrusted": true})}, nil
}

func (p *program) broken(err error) *fault.Error {
	return unreadable(fault.TypeCLI, "The provider of "+p.scheme+" could not be started",
		"Ask the person to check resources.providers and `tabrelay logs`.", fault.WithCause(err))
}

// ended says what an exit code means. What the program wrote to stderr is for the log, but for an address.
func (p *program) ended(code int, complaint string) *fault.Error {
	switch code {
	case exitOutside:
		return unreadable(fault.TypePermissionDenied, "The provider of "+p.scheme+" may not read that",
			"Use another URI.")
	case exitMissing:
		return notFound("The provider of "+p.scheme+" has no such resource", "Use another URI.")
	case exitInvalid:
		return invalid("The provider of "+p.scheme+" does not understand the URI",
			"Ask the person which URIs it takes.")
	case exitFetch:
		return unreadable(fault.TypeNetwork, "The provider of "+p.scheme+" could not fetch it",
			"Repeat the request later.", fault.WithRetryable(true))
	case exitTooLarge:
		return unreadable(fault.TypeOutputTooLarge, "The provider of "+p.scheme+" found it too large",
			"Read a smaller part.")
	case exitRedirect:
		if location := lastAddress(complaint); location != "" {
			return moved(location)
		}
		return unreadable(fault.TypeRedirect, "The resource is at another address, and the provider of "+p.scheme+
			" does not say which", "Ask the person to look at `tabrelay logs`.")
	}
	return unreadable(fault.TypeCLI, fmt.Sprintf("The provider of %s failed with exit code %d", p.scheme, code),
		"Ask the person to look at `tabrelay logs`.")
}

// lastAddress is the last line of text that is an absolute URI, with or without "redirect:" in front.
func lastAddress(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines[i]), "redirect:"))
		if u, failure := parse(line); failure == nil && u.Host != "" {
			return u.String()
		}
	}
	return ""
}
