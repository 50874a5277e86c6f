package resources

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rs/zerolog"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/procgroup"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// git serves git+https://host/owner/repository?ref=REF#path of allowed hosts. It runs the git program, whose only way
// out is a tunnel through the guard. Nothing is checked out: a file is taken from the repository's objects, so that
// links and hooks in it mean nothing.
type git struct {
	guard *guard
	outside
	log zerolog.Logger
}

const gitHosts = "resources.git.hosts"

func (g *git) templates() []call.ResourceTemplate {
	var list []call.ResourceTemplate
	for _, h := range g.Hosts {
		list = append(list, call.ResourceTemplate{URITemplate: "git+https://" + h + "/{+repository}?ref={ref}#{+path}",
			Name: "git " + h, Title: "Files in repositories of " + h,
			Description: "A file as it is at a branch, tag or commit; without ref, at the default branch."})
	}
	return list
}

func (*git) list(context.Context, call.Session) ([]call.Resource, *fault.Error) { return nil, nil }

func (*git) watch(call.Session, *url.URL, func()) (func(), *fault.Error) {
	return nil, unwatchable("git+https")
}

func (g *git) problem() string {
	if len(g.Hosts) == 0 {
		return ""
	}
	if _, err := exec.LookPath("git"); err != nil {
		return gitHosts + " allows hosts, but the program git is not installed"
	}
	return ""
}

// wanted is one file of one repository.
type wanted struct {
	repository string // https URL
	target     string // host:port
	ref, path  string
}

var isRef = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}$`).MatchString

func (g *git) parse(u *url.URL) (w wanted, failure *fault.Error) {
	host, port, failure := g.admit(u, gitHosts)
	if failure != nil {
		return w, failure
	}
	if failure := only(u, "ref"); failure != nil {
		return w, failure
	}
	const form = "Write git+https://host/owner/repository?ref=branch#path/of/the/file."
	w.ref, w.path = u.Query().Get("ref"), u.Fragment
	if ref, rest, ok := strings.Cut(u.Fragment, ":"); ok && !u.Query().Has("ref") {
		w.ref, w.path = ref, rest
	}
	w.ref = cmp.Or(w.ref, "HEAD")
	switch {
	case !isRef(w.ref) || strings.Contains(w.ref, "..") || strings.HasSuffix(w.ref, ".lock"):
		return w, invalid("That is not the name of a branch, tag or commit", form)
	case strings.Trim(u.Path, "/") == "" || path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/"):
		return w, invalid("The URI names no repository", form)
	case w.path == "" || path.Clean("/"+w.path) != "/"+w.path || strings.HasPrefix(w.path, "/"):
		return w, invalid("The URI names no file of the repository", form)
	}
	w.target = net.JoinHostPort(host, port)
	at := url.URL{Scheme: "https", Host: host, Path: u.Path}
	if port != "443" {
		at.Host = w.target
	}
	w.repository = at.String()
	return w, nil
}

func (g *git) read(ctx context.Context, _ reading, u *url.URL) ([]call.ResourceContents, *fault.Error) {
	w, failure := g.parse(u)
	if failure != nil {
		return nil, failure
	}
	ctx, cancel := context.WithTimeout(ctx, g.Timeout)
	defer cancel()
	if failure := g.probe(ctx, u, w); failure != nil {
		return nil, failure
	}
	folder, err := os.MkdirTemp("", "tabrelay-git-")
	if err != nil {
		return nil, unreadable(fault.TypeFile, "No folder for the repository could be created",
			"Ask the person to look at `tabrelay logs`.", fault.WithCause(err))
	}
	defer func() { _ = os.RemoveAll(folder) }()
	way, err := openTunnel(ctx, g.guard, w.target, int64(g.MaxBytes))
	if err != nil {
		return nil, unreadable(fault.TypeInternal, "The connection to the repository could not be opened",
			"Repeat the request.", fault.WithCause(err))
	}
	defer func() {
		cancel()
		way.close()
	}()
	run := &gitRun{git: g, folder: folder, way: way, wanted: w}
	data, failure := run.file(ctx)
	if failure != nil {
		return nil, failure
	}
	meta := map[string]any{"tabrelay/origin": w.repository, "tabrelay/ref": w.ref, "tabrelay/commit": run.commit,
		"tabrelay/untrusted": true}
	return []call.ResourceContents{contentOf(typeOf(w.path, data), data, meta)}, nil
}

// refsPath is where a repository says what it has (git's http-protocol document, "smart" clients).
const refsPath = "/info/refs"

// probe asks the repository whether it is there: git itself says in no dependable form that it has moved, or why it
// may not be read.
func (g *git) probe(ctx context.Context, u *url.URL, w wanted) *fault.Error {
	via := &web{guard: g.guard, outside: g.outside}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.repository+refsPath+"?service=git-upload-pack",
		nil)
	if err != nil {
		return invalid("The URI cannot be requested",
			"Write git+https://host/owner/repository?ref=branch#path/of/the/file.")
	}
	answer, err := via.client().Do(request)
	if err != nil {
		return via.failed(ctx, err)
	}
	_ = answer.Body.Close()
	switch status := answer.StatusCode; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound,
		status == http.StatusGone:
		return notFound("There is no such repository, or it is not public", "Check the address.")
	case status >= 300 && status < 400:
		location, err := answer.Location()
		if err != nil || !strings.HasSuffix(location.Path, refsPath) {
			return via.status(status)
		}
		to := url.URL{Scheme: "git+" + location.Scheme, Host: location.Host, Path: strings.TrimSuffix(location.Path,
			refsPath), RawQuery: u.RawQuery, Fragment: u.Fragment}
		return moved(to.String())
	case status != http.StatusOK:
		return via.status(status)
	}
	return nil
}

// gitRun is what one read does with the git program.
type gitRun struct {
	*git
	folder string
	way    *tunnel
	wanted
	commit string
}

// settings keep git from asking, from reading anybody's configuration, and from going anywhere but through the tunnel.
func (r *gitRun) settings() []string {
	options := [][2]string{
		{"http.proxy", r.way.url()}, {"http.proxyAuthMethod", "basic"}, {"http.followRedirects", "false"},
		{"protocol.allow", "never"}, {"protocol.https.allow", "always"},
		{"core.hooksPath", os.DevNull}, {"core.askPass", ""}, {"credential.helper", ""}, {"submodule.recurse", "false"},
		{"fetch.fsckObjects", "true"}, {"gc.auto", "0"}, {"maintenance.auto", "false"}, {"transfer.unpackLimit", "1"},
		{"core.bigFileThreshold", "1m"}, {"pack.threads", "1"}, {"remote.origin.url", r.repository},
		{"remote.origin.promisor", "true"},
		{"remote.origin.partialclonefilter", "blob:none"},
	}
	if r.guard.authorities != nil {
		options = append(options, [2]string{"http.sslCAInfo", filepath.Join(r.folder, authoritiesFile)})
	}
	env := environment("GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", "GIT_DIR="+r.folder,
		"GIT_CONFIG_COUNT="+strconv.Itoa(len(options)), "NO_PROXY=", "no_proxy=", "LC_ALL=C")
	for i, o := range options {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, o[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, o[1]))
	}
	return env
}

// file fetches the commit without its files, finds the file in its trees, and then asks for that one.
func (r *gitRun) file(ctx context.Context) ([]byte, *fault.Error) {
	if r.guard.authorities != nil {
		if err := os.WriteFile(filepath.Join(r.folder, authoritiesFile), r.guard.authoritiesPEM, 0o600); err != nil {
			return nil, unreadable(fault.TypeFile, "No folder for the repository could be created", "Repeat the "+
				"request.",
				fault.WithCause(err))
		}
	}
	if _, failure := r.run(ctx, "init", "--quiet", "--bare"); failure != nil {
		return nil, failure
	}
	if _, failure := r.run(ctx, "fetch", "--quiet", "--depth=1", "--no-tags", "--filter=blob:none", "origin",
		r.ref); failure != nil {
		return nil, failure
	}
	commit, failure := r.run(ctx, "rev-parse", "--verify", "FETCH_HEAD^{commit}")
	if failure != nil {
		return nil, failure
	}
	r.commit = strings.TrimSpace(string(commit))
	entry, failure := r.run(ctx, "ls-tree", "-z", "--full-tree", r.commit, "--", ":(literal)"+r.path)
	if failure != nil {
		return nil, failure
	}
	about, _, _ := strings.Cut(strings.TrimSuffix(string(entry), "\x00"), "\t")
	fields := strings.Fields(about) // mode, type, object
	switch {
	case len(fields) != 3:
		return nil, notFound("The repository has no such file at that commit", "Check path and ref.")
	case fields[0] != "100644" && fields[0] != "100755":
		return nil, unreadable(fault.TypePermissionDenied, "The path is a folder, a link or another repository, not "+
			"a file", "Use the path of a file.")
	}
	return r.run(ctx, "cat-file", "blob", fields[2])
}

// run runs git once.
func (r *gitRun) run(ctx context.Context, args ...string) ([]byte, *fault.Error) {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	command := exec.CommandContext(running, "git", args...)
	out, complaint := &capped{left: int64(r.MaxBytes), cancel: cancel}, &tail{}
	command.Stdout, command.Stderr, command.Env, command.Dir = out, complaint, r.settings(), r.folder
	command.WaitDelay = killTime
	procgroup.Join(command)
	err := command.Run()
	if err == nil {
		return out.kept.Bytes(), nil
	}
	said := bytes.ReplaceAll(complaint.data, []byte(r.way.password), []byte("[password]"))
	r.log.Info().Err(err).Bytes("stderr", said).Str("step", args[0]).Msg("git could not read a resource")
	return nil, r.failed(ctx, err, string(said), out.over)
}

func (r *gitRun) failed(ctx context.Context, err error, said string, over bool) *fault.Error {
	switch {
	case over, r.way.over.Load():
		return tooLarge(r.MaxBytes, "resources.git.maxBytes")
	case r.way.forbidden.Load():
		return forbidden(err)
	case ctx.Err() != nil:
		return gaveUp(ctx, "Reading the repository", r.Timeout)
	case errors.Is(err, exec.ErrNotFound):
		return unreadable(fault.TypeCLI, "The program git is not installed", "Ask the person to install git.",
			fault.WithCause(err))
	case strings.Contains(said, "couldn't find remote ref"), strings.Contains(said, "not our ref"):
		return notFound("The repository has no such branch, tag or commit", "Check ref.")
	}
	return unreadable(fault.TypeNetwork, "The repository could not be read", "Repeat the request later.",
		fault.WithCause(err), fault.WithRetryable(true))
}

const authoritiesFile = "authorities.pem"
