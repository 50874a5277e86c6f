package resources

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
)

var session = call.Session{Client: "tester"}

// set is everything that needs no browser.
func set(t *testing.T, o Options) *Set {
	t.Helper()
	if o.Events == nil {
		o.Events = new(event.Bus)
	}
	return New(o)
}

func read(t *testing.T, s *Set, uri string) ([]call.ResourceContents, *fault.Error) {
	t.Helper()
	contents, failure := s.Read(t.Context(), session, uri, nil)
	if failure != nil && (failure.Message == "" || failure.Hint == "") {
		t.Errorf("%s: the failure says too little: %+v", uri, failure)
	}
	return contents, failure
}

func wantFault(t *testing.T, s *Set, uri string, code fault.Code, kind fault.Type) *fault.Error {
	t.Helper()
	_, failure := read(t, s, uri)
	switch {
	case failure == nil:
		t.Fatalf("%q was read", uri)
	case failure.Code != code || kind != "" && failure.Type != kind:
		t.Errorf("%q: got %s, type %s (%s), want %s, type %s", uri, failure.Code, failure.Type, failure.Message, code,
			kind)
	}
	return failure
}

func TestWrongURIs(t *testing.T) {
	s := set(t, Options{Roots: []string{t.TempDir()}, Web: Outside{Hosts: []string{"example.org"}},
		Git: Outside{Hosts: []string{"example.org"}}})
	for name, uri := range map[string]string{
		"empty":                  "",
		"no scheme":              "//host/path",
		"relative":               "a/b",
		"opaque":                 "tab:12",
		"control character":      "file:///a\x00b",
		"line feed":              "https://example.org/a\nb",
		"encoded NUL":            "file:///tmp/a%00b",
		"encoded line feed":      "https://example.org/%0d%0aHost:%20x",
		"backslash":              `file:///tmp\..\etc`,
		"not UTF-8":              "file:///\xff",
		"encoded not UTF-8":      "file:///%ff",
		"bad escape":             "file:///%zz",
		"space":                  "file:///a\u00a0b",
		"user":                   "https://user@example.org/",
		"user and password":      "https://example.org:x@169.254.169.254/",
		"empty user":             "https://@example.org/",
		"zone":                   "https://[fe80::1%25eth0]/",
		"unicode host":           "https://exämple.org/",
		"full-width host":        "https://ｅxample.org/",
		"encoded host":           "https://ex%61mple.org%2f/",
		"no host":                "https:///path",
		"empty port":             "https://example.org:/",
		"machine":                "file://server/share/file",
		"too long":               "file:///" + strings.Repeat("a", maxURI),
		"file with fragment":     "file:///tmp/a#b",
		"file with query":        "file:///tmp/a?b=c",
		"repository without":     "git+https://example.org/#file",
		"repository climbs":      "git+https://example.org/a/../b#file",
		"no file":                "git+https://example.org/a/b",
		"file climbs":            "git+https://example.org/a/b#../c",
		"file absolute":          "git+https://example.org/a/b#/c",
		"ref is an option":       "git+https://example.org/a/b?ref=--upload-pack=x#c",
		"ref is a range":         "git+https://example.org/a/b?ref=a..b#c",
		"ref has a space":        "git+https://example.org/a/b?ref=a%20b#c",
		"ref twice":              "git+https://example.org/a/b?ref=a&ref=b#c",
		"unknown query":          "git+https://example.org/a/b?reff=a#c",
		"events with query":      "events://recent?n=5",
		"semicolon in the query": "events://recent?a;b",
	} {
		t.Run(name, func(t *testing.T) { wantFault(t, s, uri, fault.InvalidParams, "") })
	}
}

func TestUnknownResources(t *testing.T) {
	s := set(t, Options{Roots: []string{t.TempDir()}})
	for _, uri := range []string{"gopher://host/x", "events://yesterday", "events://recent/more", "http://example.org/",
		"javascript://x", "data://x"} {
		wantFault(t, s, uri, fault.ResourceNotFound, fault.TypeNotFound)
	}
}

func FuzzParse(f *testing.F) {
	for _, uri := range []string{"tab://12/text?profile=a", "file:///tmp/%2e%2e/etc", "https://[::ffff:127.0.0.1]/",
		"git+https://h/o/r?ref=x#a:b", "a:b", "https://a@b/"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		u, failure := parse(uri)
		if failure != nil {
			if failure.Code != fault.InvalidParams || failure.Hint == "" {
				t.Fatalf("%q: %+v", uri, failure)
			}
			return
		}
		if u.User != nil || u.Scheme == "" || len(uri) > maxURI || !utf8.ValidString(u.Path) ||
			strings.ContainsAny(u.Path+u.Host+u.Fragment, "\x00\n\r") {
			t.Fatalf("%q passed as %#v", uri, u)
		}
		again, err := url.Parse(u.String())
		if err != nil || again.Host != u.Host || again.Scheme != u.Scheme || again.Path != u.Path {
			t.Fatalf("%q means %q and %v (%v)", uri, u, again, err)
		}
		// Whatever passes is refused or read by a provider without a panic, and files stay inside of the root.
		root, names, failure := (&files{roots: []string{"/srv/shared"}}).locate(u)
		if failure == nil && (root != "/srv/shared" || slices.Contains(names, "..")) {
			t.Fatalf("%q leads to %q %q", uri, root, names)
		}
		_, _ = (&git{outside: outside{Outside{Hosts: []string{"h"}}}}).parse(u)
		_, _, _ = (&outside{Outside{Hosts: []string{"h"}}}).admit(u, "key")
	})
}
