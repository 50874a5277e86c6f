package resources

import (
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tabrelay/relay/road/fault"
)

// repository makes a repository that a server can serve, and returns the folder it is in and its first commit.
func repository(t *testing.T) (folder, first string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	folder = t.TempDir()
	work := filepath.Join(t.TempDir(), "work")
	run := func(dir string, args ...string) string {
		t.Helper()
		command := exec.Command("git", args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
			// or git works on behind the test
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(folder, "init", "-q", "-b", "main", work)
	write("README.md", "first")
	write("docs/deep/page.txt", "deep")
	write("*.txt", "star")
	write("bytes.bin", "\x00\xff")
	write("big.bin", strings.Repeat("0123456789abcdef", 1000))
	if err := os.Symlink("/etc/passwd", filepath.Join(work, "link")); err != nil {
		t.Skip(err)
	}
	run(work, "add", ".")
	run(work, "commit", "-qm", "first")
	first = run(work, "rev-parse", "HEAD")
	run(work, "tag", "v1")
	run(work, "branch", "feature/x")
	write("README.md", "second")
	run(work, "commit", "-qam", "second")
	run(folder, "clone", "-q", "--bare", work, filepath.Join(folder, "owner", "project.git"))
	bare := filepath.Join(folder, "owner", "project.git")
	run(bare, "config", "uploadpack.allowFilter", "true")
	run(bare, "config", "uploadpack.allowAnySHA1InWant", "true")
	return folder, first
}

// forge serves repositories over TLS, and a set that may read them.
func forge(t *testing.T, folder string, change func(*Options)) (*httptest.Server, *Set, *atomic.Int32) {
	t.Helper()
	core, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Skip(err)
	}
	var requests atomic.Int32
	backend := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(core)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
		Stderr: new(tail), InheritEnv: []string{"PATH"}}
	server, s := secure(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		switch {
		case strings.HasPrefix(r.URL.Path, "/moved/"):
			http.Redirect(w, r, strings.Replace(r.URL.Path, "/moved/", "/owner/", 1)+"?"+r.URL.RawQuery,
				http.StatusMovedPermanently)
		case strings.HasPrefix(r.URL.Path, "/private/"):
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/slow/"):
			<-r.Context().Done()
		default:
			backend.ServeHTTP(w, r)
		}
	}, func(o *Options) {
		o.Git, o.Web = o.Web, Outside{}
		o.Git.MaxBytes, o.Git.Timeout = 1<<20, 5*time.Minute // a busy machine takes its time
		if change != nil {
			change(o)
		}
	})
	return server, s, &requests
}

func gitURI(server *httptest.Server, rest string) string {
	return "git+https://" + server.Listener.Addr().String() + rest
}

func TestRepositoriesAreReadAtARef(t *testing.T) {
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	t.Setenv("NO_PROXY", "127.0.0.1") // must not lead past the tunnel
	t.Setenv("TMPDIR", t.TempDir())   // where nobody else reads repositories meanwhile
	folder, first := repository(t)
	server, s, _ := forge(t, folder, nil)
	for rest, want := range map[string]string{
		"/owner/project.git#README.md":                   "second",
		"/owner/project#README.md":                       "second", // as this server has it
		"/owner/project.git?ref=v1#README.md":            "first",
		"/owner/project.git?ref=feature/x#README.md":     "first",
		"/owner/project.git?ref=main#README.md":          "second",
		"/owner/project.git?ref=" + first + "#README.md": "first",
		"/owner/project.git#v1:README.md":                "first",
		"/owner/project.git#docs/deep/page.txt":          "deep",
		"/owner/project.git#*.txt":                       "star",
	} {
		contents, failure := read(t, s, gitURI(server, rest))
		if failure != nil || contents[0].Text != want {
			t.Errorf("%s: %v, %v", rest, contents, failure)
		}
	}
	contents, failure := read(t, s, gitURI(server, "/owner/project.git?ref=v1#bytes.bin"))
	if failure != nil || string(contents[0].Blob) != "\x00\xff" || !strings.Contains(string(contents[0].Meta),
		`"tabrelay/commit":"`+first+`"`) {
		t.Errorf("bytes: %+v, %v", contents, failure)
	}
	if list, err := filepath.Glob(filepath.Join(os.TempDir(), "tabrelay-git-*")); err != nil || len(list) > 0 {
		t.Errorf("left behind: %v %v", list, err)
	}
}

func TestRepositoriesThatAreNotRead(t *testing.T) {
	folder, _ := repository(t)
	server, s, _ := forge(t, folder, nil)
	for rest, kind := range map[string]fault.Type{
		"/owner/project.git#link":             fault.TypePermissionDenied,
		"/owner/project.git#docs":             fault.TypePermissionDenied,
		"/owner/project.git#none":             fault.TypeNotFound,
		"/owner/project.git#docs/*":           fault.TypeNotFound,
		"/owner/project.git?ref=nowhere#link": fault.TypeNotFound,
		"/owner/none.git#README.md":           fault.TypeNotFound,
		"/private/project.git#README.md":      fault.TypeNotFound,
		"/moved/project.git#README.md":        fault.TypeRedirect,
	} {
		code := fault.ResourceUnreadable
		if kind == fault.TypeNotFound {
			code = fault.ResourceNotFound
		}
		failure := wantFault(t, s, gitURI(server, rest), code, kind)
		if kind == fault.TypeRedirect && failure.Location != gitURI(server, "/owner/project.git#README.md") {
			t.Errorf("moved to %s", failure.Location)
		}
	}
}

func TestRepositoriesAreGuarded(t *testing.T) {
	folder, _ := repository(t)
	server, s, requests := forge(t, folder, func(o *Options) { o.Addresses = nil })
	wantFault(t, s, gitURI(server, "/owner/project.git#README.md"), fault.ResourceUnreadable,
		fault.TypePermissionDenied)
	if n := requests.Load(); n > 0 {
		t.Errorf("%d requests came through", n)
	}
	server, s, _ = forge(t, folder, func(o *Options) { o.Git.MaxBytes = 3000 })
	wantFault(t, s, gitURI(server, "/owner/project.git#README.md"), fault.ResourceUnreadable, fault.TypeOutputTooLarge)
	// git's own connections go through the tunnel, and there the address is checked again.
	var asked atomic.Int32
	server, s, requests = forge(t, folder, func(o *Options) {
		o.Addresses = func(netip.Addr) bool { return asked.Add(1) == 1 }
	})
	wantFault(t, s, gitURI(server, "/owner/project.git#README.md"), fault.ResourceUnreadable,
		fault.TypePermissionDenied)
	if n := requests.Load(); n != 1 {
		t.Errorf("%d requests came through", n)
	}
	server, s, _ = forge(t, folder, func(o *Options) { o.Git.Timeout = 700 * time.Millisecond })
	wantFault(t, s, gitURI(server, "/slow/project.git#README.md"), fault.ResourceUnreadable, fault.TypeTimeout)
}

// The tunnel serves the one host, and only those who know its password.
func TestTunnelServesOneHostAndItsPassword(t *testing.T) {
	way, err := openTunnel(t.Context(), &guard{addresses: loopback}, "127.0.0.1:9", 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer way.close()
	for request, want := range map[string]string{
		"CONNECT 127.0.0.1:9 HTTP/1.1\r\nHost: 127.0.0.1:9\r\n" +
			"\r\n": "407",
		"CONNECT 127.0.0.1:9 HTTP/1.1\r\nHost: 127.0.0.1:9\r\nProxy-Authorization: Basic dGFicmVsYXk6eA==\r\n" +
			"\r\n": "407",
		"GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n": "407",
	} {
		if got := ask(t, way, request); !strings.Contains(got, " "+want+" ") {
			t.Errorf("%q is answered with %q", request, got)
		}
	}
	if way.forbidden.Load() {
		t.Error("strangers decide about a read")
	}
}

func ask(t *testing.T, way *tunnel, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", way.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 200)
	n, _ := c.Read(answer)
	return string(answer[:n])
}
