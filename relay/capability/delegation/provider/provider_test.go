package provider_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/capability/delegation/provider/providertest"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// proxied is what came to the proxy of the environment.
var proxied = make(chan string, 16)

// TestMain sets what other programs configure providers with. No test may notice: neither the keys and addresses, nor
// the proxy, because every provider but one is on this machine.
func TestMain(m *testing.M) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxied <- r.URL.String()
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	for name, value := range map[string]string{
		"HTTP_PROXY": proxy.URL, "http_proxy": proxy.URL, "HTTPS_PROXY": proxy.URL, "NO_PROXY": "", "no_proxy": "",
		"OPENAI_API_KEY": "sk-of-the-environment", "OPENAI_BASE_URL": "http://elsewhere.test/v1",
		"OPENAI_ORG_ID":     "org-e",
		"ANTHROPIC_API_KEY": "sk-of-the-environment", "ANTHROPIC_AUTH_TOKEN": "of-the-environment",
		"ANTHROPIC_BASE_URL": "http://elsewhere.test", "ANTHROPIC_PROFILE": "work",
		"GOOGLE_API_KEY": "of-the-environment", "GEMINI_API_KEY": "of-the-environment",
		"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_GEMINI_BASE_URL": "http://elsewhere.test",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	fault.Attach(codes.Group)
	code := m.Run()
	proxy.Close()
	os.Exit(code)
}

// each runs a test against every wire.
func each(t *testing.T, run func(t *testing.T, kind provider.Kind)) {
	t.Helper()
	for _, kind := range providertest.Kinds() {
		t.Run(string(kind), func(t *testing.T) { run(t, kind) })
	}
}

func ask(text string) provider.Request {
	return provider.Request{Messages: []provider.Message{{Role: provider.User, Text: text}}}
}

func complete(t *testing.T, p provider.Provider, r provider.Request) provider.Completion {
	t.Helper()
	done, failed := p.Complete(t.Context(), r)
	if failed != nil {
		t.Fatal(failed)
	}
	return done
}

func TestTextComesInPieces(t *testing.T) {
	each(t, func(t *testing.T, kind provider.Kind) {
		const text = "Grüße: three invoices are overdue, 7 € in all."
		s := providertest.New(t, kind, providertest.Step{Text: text,
			Usage:  provider.Usage{InputTokens: 100, OutputTokens: 20, CachedTokens: 60},
			Header: http.Header{"X-Request-Id": {"req-1"}}})
		var heard []string
		r := ask("find them")
		r.System, r.Text = "Be brief.", func(piece string) { heard = append(heard, piece) }
		done := complete(t, s.Provider(), r)
		want := provider.Completion{
			Message:    provider.Message{Role: provider.Assistant, Text: text},
			StopReason: provider.EndTurn, RequestID: "req-1", Model: providertest.Model + "-2026",
			Usage: provider.Usage{InputTokens: 100, OutputTokens: 20, CachedTokens: 60},
		}
		if diff := cmp.Diff(want, done); diff != "" {
			t.Error(diff)
		}
		if strings.Join(heard, "") != text || len(heard) < 5 {
			t.Errorf("heard %q", heard)
		}
		seen := s.Requests()
		if len(seen) != 1 || seen[0].System != "Be brief." || seen[0].Last().Text != "find them" ||
			seen[0].Model != providertest.Model {
			t.Errorf("asked %+v", seen)
		}
		if all := headers(seen[0]); !strings.Contains(all, providertest.Key) || strings.Contains(all, "environment") {
			t.Errorf("the key of the configuration is not the only one: %s", all)
		}
	})
}

// A provider is told the trace of the call that asks it, and nothing where there is none.
func TestTraceReachesTheProvider(t *testing.T) {
	each(t, func(t *testing.T, kind provider.Kind) {
		s := providertest.New(t, kind, providertest.Step{Text: "a"}, providertest.Step{Text: "b"})
		const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		ctx := call.WithTrace(t.Context(), call.ReadTrace(parent, "a=1"))
		if _, failed := s.Provider().Complete(ctx, ask("a")); failed != nil {
			t.Fatal(failed)
		}
		complete(t, s.Provider(), ask("b"))
		for i, want := range []string{parent + " a=1", " "} {
			h := s.Requests()[i].Header
			if got := h.Get("traceparent") + " " + h.Get("tracestate"); got != want {
				t.Errorf("request %d was in the trace %q", i, got)
			}
		}
	})
}

func headers(r providertest.Request) string {
	var b strings.Builder
	_ = r.Header.Write(&b) // a builder takes everything
	return b.String()
}

// TestToolsAreCalledAndAnswered: several calls at once, their arguments from pieces, and what they answered.
func TestToolsAreCalledAndAnswered(t *testing.T) {
	calls := []provider.ToolCall{
		{ID: "c1", Name: "mediawiki__read",
			Arguments: json.RawMessage(`{"title":"Überfällig","deep":{"a":[1,2,{"b":null}]}}`)},
		{ID: "c2", Name: "demo__hello", Arguments: json.RawMessage(`{}`)},
		{ID: "c3", Name: "demo__hello", Arguments: json.RawMessage(`{"name":"Ada"}`)},
	}
	tools := []provider.Tool{
		{Name: "mediawiki__read", Description: "Reads.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"}}}`)},
		{Name: "demo__hello", Description: "Greets.", InputSchema: json.RawMessage(`{"type":"object"}`)},
	}
	each(t, func(t *testing.T, kind provider.Kind) {
		s := providertest.New(t, kind,
			providertest.Step{Text: "I look.", Calls: calls}, providertest.Step{Text: "Done."})
		p := s.Provider()
		r := ask("read it")
		r.Tools = tools
		done := complete(t, p, r)
		if done.StopReason != provider.ToolUse || done.Message.Text != "I look." {
			t.Errorf("%+v", done)
		}
		if diff := cmp.Diff(calls, done.Message.Calls); diff != "" {
			t.Fatal(diff)
		}
		results := provider.Message{Role: provider.User, Text: "and now?", Results: []provider.ToolResult{
			{ID: "c1", Name: "mediawiki__read", Text: "the page"},
			{ID: "c2", Name: "demo__hello", Text: "[ERROR code=TAB_NOT_FOUND] gone", Failed: true},
			{ID: "c3", Name: "demo__hello", Text: "hello Ada"},
		}}
		r.Messages = append(r.Messages, done.Message, results)
		if done = complete(t, p, r); done.StopReason != provider.EndTurn || done.Message.Text != "Done." {
			t.Errorf("%+v", done)
		}
		seen := s.Requests()[1]
		if kind == provider.OpenAI { // which has no mark for a result that failed
			results.Results[1].Failed = false
		}
		want := []provider.Message{{Role: provider.User, Text: "read it"},
			{Role: provider.Assistant, Text: "I look.", Calls: calls}, results}
		if diff := cmp.Diff(want, seen.Messages); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(tools, seen.Tools); diff != "" {
			t.Error(diff)
		}
	})
}

// TestWhatAModelWroteWrongGoesBackAsAnObject: a server would refuse the whole conversation for it from then on.
func TestWhatAModelWroteWrongGoesBackAsAnObject(t *testing.T) {
	each(t, func(t *testing.T, kind provider.Kind) {
		s := providertest.New(t, kind, providertest.Step{Text: "ok"})
		r := ask("go")
		r.Messages = append(r.Messages, provider.Message{Role: provider.Assistant, Calls: []provider.ToolCall{
			{ID: "a", Name: "x", Arguments: json.RawMessage(`{"title": "cut o`)},
			{ID: "b", Name: "x", Arguments: json.RawMessage(`[1]`)}, {ID: "c", Name: "x"},
		}}, provider.Message{Role: provider.User,
			Results: []provider.ToolResult{{ID: "a", Name: "x"}, {ID: "b", Name: "x"}, {ID: "c", Name: "x"}}})
		complete(t, s.Provider(), r)
		var got []string
		for _, c := range s.Requests()[0].Messages[1].Calls {
			got = append(got, string(c.Arguments))
		}
		want := []string{`{"unreadable":"{\"title\": \"cut o"}`, `{"unreadable":"[1]"}`, `{}`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAModelIsNamedSomewhere(t *testing.T) {
	each(t, func(t *testing.T, kind provider.Kind) {
		s := providertest.NewFunc(t, kind, func(providertest.Request) providertest.Step {
			return providertest.Step{Text: "ok"}
		})
		c := s.Config()
		c.Models = []string{"first", "second"}
		model := func(c provider.Config, params string) string {
			p, err := provider.New(c)
			if err != nil {
				t.Fatal(err)
			}
			r := ask("x")
			r.Params = read(t, params)
			complete(t, p, r)
			seen := s.Requests()
			return seen[len(seen)-1].Model
		}
		if got := model(c, `{}`); got != "first" {
			t.Errorf("without any: %s", got)
		}
		c.Defaults = read(t, `{"model": "usual"}`)
		if got := model(c, `{}`); got != "usual" {
			t.Errorf("with a default: %s", got)
		}
		if got := model(c, `{"model": "asked"}`); got != "asked" {
			t.Errorf("with one in the request: %s", got)
		}
		if got := model(c, `{"model": "asked", "providerSpecific": {"model": "specific"}}`); got != "specific" {
			t.Errorf("with one in providerSpecific: %s", got)
		}
		c.Models, c.Defaults = nil, provider.Params{}
		p, err := provider.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, failed := p.Complete(t.Context(), ask("x")); failed == nil || failed.Code != fault.ConfigError {
			t.Errorf("with none: %v", failed)
		}
		if s.HTTPCalls() != 4 {
			t.Errorf("%d calls", s.HTTPCalls())
		}
	})
}

func TestProvidersAreChecked(t *testing.T) {
	for _, test := range []struct {
		config provider.Config
		err    string
	}{
		{provider.Config{ID: "x", Kind: provider.OpenAI}, `OpenAI provider requires "apiKey" credential`},
		{provider.Config{ID: "x", Kind: provider.OpenAI, Key: "${OPENAI_API_KEY}"},
			`OpenAI provider requires "apiKey" credential`},
		{provider.Config{ID: "x", Kind: provider.OpenAI, BaseURL: "https://api.example/v1"},
			`OpenAI provider requires "apiKey" credential`},
		{provider.Config{ID: "x", Kind: provider.OpenAI, BaseURL: "http://localhost:11434/v1"}, ""},
		{provider.Config{ID: "x", Kind: provider.OpenAI, BaseURL: "http://[::1]:8000/v1"}, ""},
		{provider.Config{ID: "x", Kind: provider.OpenAI, Key: "k"}, ""},
		{provider.Config{ID: "x", Kind: provider.OpenAI, Key: "k", BaseURL: "http://127.0.0.1:8000/v1"}, ""},
		{provider.Config{ID: "x", Kind: provider.OpenAI, Key: "k", BaseURL: "http://llm.example:8000/v1"},
			`the baseUrl of provider "x" begins with http://, so whoever is on the way to llm.example could read its ` +
				`key; use https://, or a tunnel that ends on this machine`},
		{provider.Config{ID: "x", Kind: "bard", Key: "k"},
			`there is no kind of provider "bard"; use openai, anthropic or gemini`},
		{provider.Config{ID: "x", Kind: provider.OpenAI, Key: "k", BaseURL: "ftp://h/"},
			`the baseUrl of provider "x" must be an http or https address without a password`},
		{provider.Config{ID: "x", Kind: provider.OpenAI, Key: "k", BaseURL: "https://me:pw@h/"},
			`the baseUrl of provider "x" must be an http or https address without a password`},
	} {
		_, err := provider.New(test.config)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.err {
			t.Errorf("%+v: %q, want %q", test.config, got, test.err)
		}
	}
}

// TestAProxyIsForOtherMachines: every other test runs with it set, and none comes to it.
func TestAProxyIsForOtherMachines(t *testing.T) {
	c := provider.Config{ID: "far", Kind: provider.OpenAI, BaseURL: "https://provider.test/v1", Key: "k",
		Models: []string{"m"}}
	p, err := provider.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, failed := p.Complete(context.Background(), ask("x")); failed == nil ||
		failed.Code != codes.ProviderUnreachable { // the proxy makes no tunnel
		t.Errorf("%v", failed)
	}
	if got := <-proxied; got != "//provider.test:443" || len(proxied) > 0 {
		t.Errorf("the proxy was asked for %s, and %d more", got, len(proxied))
	}
}
