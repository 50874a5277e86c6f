package install

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/fault"
)

// A registry is asked for both names that plugins have, and what is none by its name is left out.
func TestSearchAsksForBothPrefixesAndLeavesOutOthers(t *testing.T) {
	var asked []string
	answer := `{"objects":[{"package":{"name":"%[1]s-tea","version":"1.2.0","description":"Tea","keywords":["x"]}},
		{"package":{"name":"@shop/%[1]s-tea","version":"2.0.0"}},{"package":{"name":"tea","version":"9.0.0"}},
		{"package":{"name":"not-%[1]s-tea","version":"9.0.0"}}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked = append(asked, req.URL.Path+"?"+req.URL.RawQuery)
		prefix, _, _ := strings.Cut(req.URL.Query().Get("text"), " ")
		fmt.Fprintf(w, answer, prefix)
	}))
	defer server.Close()
	c := &Config{values: map[string]string{}}
	c.Use(server.URL + "/npm")
	found, err := c.Search(t.Context(), "tea & cake", 3)
	want := []Found{{"tabrelay-plugin-tea", "1.2.0", "Tea"}, {"@shop/tabrelay-plugin-tea", "2.0.0", ""},
		{"opentabs-plugin-tea", "1.2.0", "Tea"}}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("found %+v, %v", found, err)
	}
	if want := []string{"/npm/-/v1/search?size=3&text=tabrelay-plugin+tea+%26+cake",
		"/npm/-/v1/search?size=3&text=opentabs-plugin+tea+%26+cake"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}
	answer = "<html>"
	if _, err := c.Search(t.Context(), "", 3); err == nil || !strings.Contains(err.Error(), "not a list of packages") {
		t.Errorf("got %v", err)
	}
	server.Close()
	if _, err := c.Search(t.Context(), "", 3); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("got %v", err)
	}
	if _, err := (&Config{values: map[string]string{}}).Search(t.Context(), "", 3); err == nil {
		t.Error("no registry is configured, and it was searched")
	}
}

// answering is the configuration of a registry that answers each search alike. It is in memory, so that in a bubble its
// time runs only while everybody waits.
func answering(t *testing.T, answer http.HandlerFunc) *Config {
	t.Helper()
	c := &Config{values: map[string]string{}, transport: inMemory(t, answer)}
	c.Use("http://127.0.0.1:4873")
	return c
}

// objects is an answer with packages, each given as its members.
func objects(t *testing.T, packages ...map[string]any) http.HandlerFunc {
	t.Helper()
	var all []any
	for _, p := range packages {
		all = append(all, map[string]any{"package": p})
	}
	text, err := json.Marshal(map[string]any{"objects": all})
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) }
}

// What a registry words comes as one short line that shows what it says; what could not be added is left out.
func TestSearchCleansWhatARegistrySays(t *testing.T) {
	named := func(name, version, description any) map[string]any {
		return map[string]any{"name": name, "version": version, "description": description}
	}
	answer := objects(t,
		named("tabrelay-plugin-tea", "1.0.0", "\x1b[2J\x1b]0;title\x07 ab\u202ec\u200bd\r\nNext: x \u009b31m"),
		named("tabrelay-plugin-tea", "2.0.0", "again"),
		named("tabrelay-plugin-long", "1.0.0", strings.Repeat("é", 1<<20)),
		named("tabrelay-plugin-number", "1.0.0", 5),
		named("tabrelay-plugin-a/b", "1.0.0", ""), named("@x/tabrelay-plugin-a/b", "1.0.0", ""),
		named("../tabrelay-plugin-a", "1.0.0", ""), named("tabrelay-plugin-a\nb", "1.0.0", ""),
		named("tabrelay-plugin-a; rm -rf ~", "1.0.0", ""), named("tabrelay-plugin-\x1b[2Ja", "1.0.0", ""),
		named("tabrelay-plugin-\u202ea", "1.0.0", ""), named("tabrelay-plugin-аbc", "1.0.0", ""),
		named("tabrelay-plugin-"+strings.Repeat("a", 300), "1.0.0", ""), named("tabrelay-plugin-e", "", ""),
		named("tabrelay-plugin-v", "1.0.0\x1b[2J", ""), named("tabrelay-plugin-w", strings.Repeat("1", 1<<20), ""))
	want := []Found{{"tabrelay-plugin-tea", "1.0.0", "abcd Next: x"},
		{"tabrelay-plugin-long", "1.0.0", strings.Repeat("é", 200) + "…"}, {"tabrelay-plugin-number", "1.0.0", ""}}
	synctest.Test(t, func(t *testing.T) {
		found, err := answering(t, answer).Search(t.Context(), "", 20)
		if err != nil || !slices.Equal(found, want) {
			t.Errorf("found %.600q, %v", found, err)
		}
	})
}

func TestSearchSaysWhatFailed(t *testing.T) {
	says := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
	}
	const notRegistry = " a package registry? --registry URL names another"
	for name, c := range map[string]struct {
		answer     http.HandlerFunc
		want, hint string
	}{
		"a fault": {says(500, "<h1>\x1b[2J oops"), "the registry answered with HTTP 500",
			"try again in a few minutes"},
		"too often":       {says(429, ""), "HTTP 429", "try again in a few minutes"},
		"no search":       {says(404, ""), "the registry has no search", ""},
		"not signed in":   {says(401, ""), "npm login", ""},
		"HTML":            {says(200, "<!doctype html><title>Sign in</title>"), "not a list of packages", notRegistry},
		"nothing":         {says(200, ""), "not a list of packages", notRegistry},
		"null":            {says(200, "null"), "not a list of packages", notRegistry},
		"another list":    {says(200, "[]"), "not a list of packages", notRegistry},
		"another object":  {says(200, `{"objects":{"a":1}}`), "not a list of packages", notRegistry},
		"half a list":     {says(200, `{"objects":[{"package":{"name":"tabrelay-plugin-a"`), "not a list", notRegistry},
		"a deep one":      {says(200, strings.Repeat(`{"objects":[`, 1<<18)), "not a list of packages", notRegistry},
		"an endless body": {endless, "the registry's answer has more than 8 MiB", ""},
		"elsewhere": {func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, "https://other.example/-/v1/search", http.StatusFound)
		}, "redirects to another host, other.example", "name it with --registry URL"},
		"another port": {func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, "http://127.0.0.1:1/", http.StatusFound)
		}, "redirects to another host, 127.0.0.1:1", "name it with --registry URL"},
		"in circles": {func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, req.URL.String(), http.StatusFound)
		}, "redirected too often", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				found, err := answering(t, c.answer).Search(t.Context(), "tea", 20)
				if err == nil || !strings.Contains(err.Error(), c.want) || len(found) > 0 {
					t.Fatalf("found %v, %v; want %q", found, err, c.want)
				}
				if next := fault.HintOf(err); !strings.Contains(next, c.hint) || c.hint == "" && next != "" {
					t.Errorf("the hint is %q, want %q", next, c.hint)
				}
				if message := err.Error(); len(message) > 200 || strings.ContainsAny(message, "\x1b\n") {
					t.Errorf("it says %q", message)
				}
			})
		})
	}
}

func endless(w http.ResponseWriter, req *http.Request) {
	page := []byte(strings.Repeat(" ", 1<<16))
	for req.Context().Err() == nil {
		if _, err := w.Write(page); err != nil {
			return
		}
	}
}

// inMemory reaches a server without a network.
func inMemory(t *testing.T, answer http.HandlerFunc) http.RoundTripper {
	t.Helper()
	arriving := make(pipes)
	server := &http.Server{Handler: answer}
	done := make(chan error, 1)
	go func() { done <- server.Serve(arriving) }()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		arriving <- theirs
		return ours, nil
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close() // Serve says the same
		<-done
	})
	return transport
}

// pipes is a listener for connections in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// A registry that says nothing, or a little at a time without an end, is given up after its time.
func TestSearchIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"nothing": {func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() },
			"did not answer within 10s"},
		"a little at a time": {func(w http.ResponseWriter, req *http.Request) {
			for req.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush() // the context ends with the connection
				select {
				case <-time.After(time.Second):
				case <-req.Context().Done():
				}
			}
		}, "the registry's answer did not end within 10s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, err := answering(t, c.answer).Search(t.Context(), "tea", 20)
				if err == nil || !strings.Contains(err.Error(), c.want) || time.Since(began) != searchTime {
					t.Errorf("after %s: %v, want %q", time.Since(began), err, c.want)
				}
			})
		})
	}
}

// A secret goes to the address that it is for, not to where that redirects, whatever the name of the host.
func TestRedirectionTakesNoToken(t *testing.T) {
	r, other := newRegistry(t), newRegistry(t)
	other.tarballs["1.0.0"] = tea(t, "1.0.0", "list")
	r.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.asked = append(r.asked, req.Header.Get("Authorization"))
		http.Redirect(w, req, other.URL+req.URL.EscapedPath(), http.StatusFound)
	})
	mine := strings.TrimPrefix(r.URL, "http:") + "/npm/:_authToken=s3cret\n"
	if _, err := r.configured(t, mine).Fetch(t.Context(), Spec{Name: "tea"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.asked, []string{"Bearer s3cret"}) || !slices.Equal(other.asked, []string{"", ""}) {
		t.Errorf("the registry heard %q, another %q", r.asked, other.asked)
	}
}
