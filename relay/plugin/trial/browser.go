package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/plugin"
)

// pageTime is how long a browser may take for one fixture.
const pageTime = 30 * time.Second

// InBrowser runs fixtures in a Chromium of its own, without a window, each in a page of the fixture's HTML at the path
// that the fixture's address has. The host is this machine's: nothing else is asked, and what the handler fetches comes
// from the fixture. root tells that this process runs as root, with which the browser's sandbox does not start.
func InBrowser(ctx context.Context, chromium string, root bool, p *plugin.Plugin,
	fixtures []Fixture) (results []Result, err error) {
	profile, err := os.MkdirTemp("", "tabrelay-test-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(profile)) }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &stage{plugin: p, fixtures: fixtures, home: "http://" + listener.Addr().String(), outcomes: make(chan outcome)}
	server := &http.Server{Handler: s, ReadHeaderTimeout: pageTime}
	go func() { _ = server.Serve(listener) }() // ends with Close
	defer server.Close()

	args := []string{"--headless=new", "--disable-gpu", "--no-first-run", "--no-default-browser-check",
		"--disable-extensions", "--disable-background-networking", "--user-data-dir=" + profile}
	if root {
		args = append(args, "--no-sandbox")
	}
	ctx, cancel := context.WithCancel(ctx)
	browser := exec.CommandContext(ctx, chromium, append(args, s.address(0))...)
	var words bytes.Buffer
	browser.Stderr = &words
	if err := browser.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("the browser does not start: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- browser.Wait() }()
	defer func() {
		cancel()
		<-ended
	}()
	for i := range fixtures {
		select {
		case o := <-s.outcomes:
			results = append(results, Result{Name: fixtures[i].Name, Problems: fixtures[i].judge(o, p)})
		case why := <-ended:
			ended <- why
			return results, fmt.Errorf("the browser ended (%v): %.500s", why, words.String())
		case <-time.After(pageTime):
			return results, fmt.Errorf("%s: the handler did not end within %v", fixtures[i].Name, pageTime)
		case <-ctx.Done():
			return results, ctx.Err()
		}
	}
	return results, nil
}

// stage serves the pages of fixtures, one after the other.
type stage struct {
	plugin   *plugin.Plugin
	fixtures []Fixture
	home     string
	outcomes chan outcome

	mu  lock.Mutex
	now int // which fixture runs
}

// address is where the page of a fixture is: at its own path.
func (s *stage) address(i int) string {
	u, err := url.Parse(s.fixtures[i].Page.URL)
	if err != nil {
		u = &url.URL{}
	}
	return s.home + "/" + strings.TrimPrefix(u.RequestURI(), "/")
}

// order is what a page asks for: the fixture to run, and how the outcome is sent.
type order struct {
	N       int     `json:"n"`
	Fixture Fixture `json:"fixture"`
}

// next takes the outcome of fixture n, and returns where the one after it is; nothing when n does not run now.
func (s *stage) next(n int) (address string, taken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n != s.now {
		return "", false
	}
	if s.now++; s.now < len(s.fixtures) {
		address = s.address(s.now)
	}
	return address, true
}

const (
	scriptPath  = "/.tabrelay/run.js"
	outcomePath = "/.tabrelay/outcome"
	orderPath   = "/.tabrelay/order"
)

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case scriptPath:
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		fmt.Fprintf(w, "%s\n;(%s)(tabrelayPlugin,%s,%q,%q,%q);\n", s.plugin.Adapter, performScript,
			expression(driveScript),
			s.home, outcomePath, orderPath)
	case orderPath:
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.now < len(s.fixtures) {
			reply(w, order{s.now, s.fixtures[s.now]})
		}
	case outcomePath:
		s.hear(w, r)
	case "/favicon.ico":
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><script src=%q></script>", scriptPath)
	}
}

// hear passes the outcome of a fixture on, and tells the page where to go.
func (s *stage) hear(w http.ResponseWriter, r *http.Request) {
	var o outcome
	text, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		o.Problems = append(o.Problems, "the answer cannot be read: "+err.Error())
	}
	n, err := strconv.Atoi(r.URL.Query().Get("n"))
	if err != nil {
		n = -1
	}
	address, taken := s.next(n)
	if !taken {
		return
	}
	select {
	case s.outcomes <- o:
		reply(w, map[string]string{"url": address})
	case <-r.Context().Done():
	}
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // who asked has gone otherwise
}

// performScript makes the page, runs the fixture in it, and goes on to the next.
const performScript = `async (plugin, drive, home, outcomePath, orderPath) => {
  const request = globalThis.fetch.bind(globalThis);
  const { n, fixture } = await (await request(orderPath)).json();
  const page = new DOMParser().parseFromString(fixture.page.html ?? '', 'text/html');
  document.replaceChild(document.adoptNode(page.documentElement), document.documentElement);
  localStorage.clear();
  sessionStorage.clear();
  drive(fixture, plugin, home, async (text) => {
    const { url } = await (await request(outcomePath + '?n=' + n, { method: 'POST', body: text })).json();
    if (url === location.href) location.reload();
    else if (url) location.replace(url);
  });
}`
