package script

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/capability"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/situation"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// TestMain attaches what a program has of scripts.
func TestMain(m *testing.M) {
	config.Attach(section)
	fault.Attach(codes)
	situation.Attach(situations)
	os.Exit(m.Run())
}

// stage is scripts with tools of a test.
type stage struct {
	*Scripts
	t     testing.TB
	tools []*registry.Tool
	does  map[string]func(context.Context, call.Call) (*call.Result, *fault.Error)

	mu    sync.Mutex
	calls []call.Call   // as they were carried out
	asked []call.Access // what the person was asked
	said  *fault.Error  // their answer
	audit []call.Entry
	tells bool   // the person is asked, whatever the script says of it
	asks  func() // while they are asked; may be nil
}

// newStage is a stage with wiki__get_page and wiki__list_pages, which read, wiki__edit_page, which writes, and
// browser__click.
func newStage(t testing.TB, change func(*settings)) *stage {
	t.Helper()
	s := &stage{t: t, does: map[string]func(context.Context, call.Call) (*call.Result, *fault.Error){}}
	yes := true
	wiki := &plugin.Plugin{Manifest: plugin.Manifest{Name: "wiki", World: plugin.Isolated,
		URLPatterns: []string{"https://wiki.example/*"}, Tools: []plugin.Tool{
			{Name: "get_page", Description: "Reads a page. And more.",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},` +
					`"title":{"type":"string"}},"required":["title"]}`),
				OutputSchema: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"},` +
					`"lines":{"type":"array","items":{"type":"string"}}},"required":["title"]}`),
				Annotations: plugin.Annotations{ReadOnlyHint: &yes}},
			{Name: "list_pages", Description: "Lists pages.", InputSchema: json.RawMessage(`{"type":"object"}`),
				OutputSchema: json.RawMessage(`{"type":"array","items":{"type":"string"}}`),
				Annotations:  plugin.Annotations{ReadOnlyHint: &yes}},
			{Name: "edit_page", Description: "Edits a page.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		}}}
	tools := registry.New(nil)
	if err := tools.Replace([]plugin.Plugin{*wiki}, nil); err != nil {
		t.Fatal(err)
	}
	s.tools = tools.Snapshot().Tools
	db := openStore(t, config.Home(t.TempDir()))
	s.Scripts = New(s.core(db))
	t.Cleanup(s.Close)
	c := *s.settings.Load()
	if change != nil {
		change(&c)
	}
	s.configure(c)
	return s
}

func openStore(t testing.TB, home config.Home) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), home.Database(), store.LimitsOf(config.Default()), zerolog.Nop(), tables)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test may have closed it
	return db
}

func (s *stage) core(db *store.Store) capability.Core {
	return capability.Core{
		Config: config.Default(), Tools: s, Store: db,
		Audit: func(e call.Entry) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.audit = append(s.audit, e)
		},
		Changed: func(...string) {},
		Permit: func(_ context.Context, a call.Access, _ func(context.Context, call.Question) (call.Answer, error),
			tell func(string)) *fault.Error {
			if s.tells {
				tell("the person is asked")
			}
			s.mu.Lock()
			s.asked = append(s.asked, a)
			asks, said := s.asks, s.said
			s.mu.Unlock()
			if asks != nil {
				asks()
			}
			return said
		},
	}
}

func (s *stage) List(call.Session) []*registry.Tool { return s.tools }
func (s *stage) Offer() *registry.Offer             { return nil }
func (s *stage) Reserve(string) call.Position       { return 0 }

func (s *stage) Find(name string) (*registry.Tool, bool) {
	i := slices.IndexFunc(s.tools, func(t *registry.Tool) bool { return t.Name == name })
	if i < 0 {
		return nil, false
	}
	return s.tools[i], true
}

func (s *stage) Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	s.mu.Lock()
	s.calls = append(s.calls, c)
	do := s.does[c.Tool]
	s.mu.Unlock()
	if do != nil {
		return do(ctx, c)
	}
	return returns(`{"title":"Tea"}`), nil
}

func returns(value string) *call.Result {
	return &call.Result{Output: json.RawMessage(value), Meta: call.Meta{Untrusted: true}}
}

// carriedOut are the names of the tools that were called.
func (s *stage) carriedOut() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		names = append(names, c.Tool)
	}
	return names
}

// scriptID is that of the calls of tests.
const scriptID = "00112233445566778899aabbccddeeff"

func (s *stage) run(script string) (answer, *fault.Error) {
	s.t.Helper()
	return s.runWith(s.t.Context(), map[string]any{"script": script})
}

func (s *stage) runWith(ctx context.Context, arguments map[string]any) (a answer, f *fault.Error) {
	s.t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		s.t.Fatal(err)
	}
	result, f := s.call(ctx, call.Call{ID: scriptID, Session: call.Session{ID: "s1", Client: "ann"}}, raw)
	if result != nil {
		if err := json.Unmarshal(result.Output, &a); err != nil {
			s.t.Fatal(err)
		}
		a.warnings, a.untrusted = result.Warnings, result.Meta.Untrusted
	}
	return a, f
}

// ready is a script that has not begun, for a test that looks at its insides.
func (s *stage) ready(script string) *run {
	return &run{Scripts: s.Scripts, limits: *s.settings.Load(), asked: call.Call{ID: scriptID},
		args: arguments{Script: script, Args: json.RawMessage("null")}}
}

// answer is what relay__run answers.
type answer struct {
	Value     json.RawMessage
	Log       []string
	Calls     []row
	warnings  []string
	untrusted bool
}

// value runs a script that returns something.
func (s *stage) value(script string) answer {
	s.t.Helper()
	a, f := s.run(script)
	if f != nil {
		s.t.Fatalf("%s\nfailed with %v\n%s", script, f, f.Before)
	}
	return a
}

// fails runs a script that fails with these words.
func (s *stage) fails(script string, code fault.Code, words ...string) *fault.Error {
	s.t.Helper()
	a, f := s.run(script)
	if f == nil {
		s.t.Fatalf("%s\nreturned %s", script, a.Value)
	}
	text := strings.Join(f.Text(), "\n")
	if f.Code != code {
		s.t.Errorf("%s\nfailed with %s, not %s: %s", script, f.Code, code, text)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			s.t.Errorf("%s\nfailed without %q:\n%s", script, word, text)
		}
	}
	return f
}

// What a script returns, and what it finds.
func TestValuesOfScriptsAreReturned(t *testing.T) {
	s := newStage(t, nil)
	s.does["wiki__list_pages"] = func(context.Context, call.Call) (*call.Result, *fault.Error) {
		return returns(`{"result":["tea","milk"]}`), nil
	}
	s.does["wiki__edit_page"] = func(context.Context, call.Call) (*call.Result, *fault.Error) {
		return &call.Result{Content: []call.Content{[]byte(`{"type":"text","text":"Saved."}`)}}, nil
	}
	for script, want := range map[string]string{
		"1 + 1":                         "2",
		"return {a: [1, 'x'], b: null}": `{"a":[1,"x"],"b":null}`,
		"const x: number = 3; interface P { a: string }\nx as number": "3",
		"": "null", "let x = 1;": "null", "// nothing": "null",
		"await tools.wiki.getPage({title: 'Tea'})":                                         `{"title":"Tea"}`,
		"(await tools.wiki['get_page']({title: 'Tea'})).title":                             `"Tea"`,
		"(await tools['wiki'].getPage('Tea')).title":                                       `"Tea"`,
		"await tools.wiki.listPages()":                                                     `["tea","milk"]`,
		"await tools.wiki.editPage({})":                                                    `"Saved."`,
		"(await Promise.all([1, 2].map(n => tools.wiki.getPage({title: `${n}`})))).length": "2",
		"const {listPages} = tools.wiki; (await listPages()).map(p => p.toUpperCase())":    `["TEA","MILK"]`,
		"Object.keys(tools)":                                                               `["wiki"]`,
		"'editPage' in tools.wiki":                                                         "true",
		"await sleep(1); 'slept'":                                                          `"slept"`,
		"async function main() { return 7 }\nmain()":                                       "7",
		"await (async () => [...'ab'].entries().next().value)()":                           `[0,"a"]`,
		"class A { x = 1 }; new A()":                                                       `{"x":1}`,
		"typeof args":                                                                      `"object"`,
	} {
		if a := s.value(script); string(a.Value) != want {
			t.Errorf("%s\nreturned %s, not %s", script, a.Value, want)
		}
	}
	a, f := s.runWith(t.Context(), map[string]any{"script": "args.rows.length",
		"args": map[string]any{"rows": []int{1, 2}}})
	if f != nil || string(a.Value) != "2" {
		t.Error(a, f)
	}
}

// The ledger is short, and says what each call came to.
func TestLedgerAndLog(t *testing.T) {
	s := newStage(t, nil)
	s.does["wiki__edit_page"] = func(context.Context, call.Call) (*call.Result, *fault.Error) {
		return nil, fault.New(fault.RateLimited, "Slow down", fault.WithRetryAfter(2*time.Second))
	}
	a := s.value(`
		log('begins', {n: 1})
		for (const title of ['a', 'b', 'c']) await tools.wiki.getPage({title})
		try {
			await tools.wiki.editPage({})
		} catch (e) {
			log(e instanceof ToolError, e.name, e.code, e.category, e.retryable, e.retryAfterMs, e.outcome, e.message)
		}
		await tools.wiki.getPage({title: 'd'})
		'done'`)
	said := []string{`begins {"n":1}`, "true ToolError RATE_LIMITED rate_limit true 2000 not_executed Slow down"}
	if !slices.Equal(a.Log, said) {
		t.Errorf("the log is %q", a.Log)
	}
	for i := range a.Calls {
		a.Calls[i].Ms = 0
	}
	want := []row{{Tool: "wiki__get_page", Count: 4}, {Tool: "wiki__edit_page", Outcome: fault.NotExecuted,
		Code: fault.RateLimited, Line: 5}}
	if !slices.Equal(a.Calls, want) {
		t.Errorf("the ledger is %+v", a.Calls)
	}
	if !a.untrusted {
		t.Error("words of a page are in the answer, and it does not say so")
	}
	for _, c := range s.calls {
		if c.Script != scriptID || c.Session.ID != "s1" || c.Paused == nil || len(c.ID) != 32 {
			t.Errorf("a call was made as %+v", c)
		}
	}
}

// A script that ends badly says where, and what it has done.
func TestFailuresSayWhereAndWhatWasDone(t *testing.T) {
	s := newStage(t, nil)
	s.does["wiki__get_page"] = func(_ context.Context, c call.Call) (*call.Result, *fault.Error) {
		if strings.Contains(string(c.Arguments), "gone") {
			return nil, fault.New(fault.NotFoundCode, "There is no such page")
		}
		return returns(`{"title":"Tea"}`), nil
	}
	f := s.fails("await tools.wiki.getPage({title: 'Tea'})\n  null.x", scriptFailed, "Line 2, column",
		"Calls executed: wiki__get_page")
	if f.Outcome != fault.NotExecuted || f.Retryable {
		t.Errorf("a script that only read is %+v", f)
	}
	f = s.fails("await tools.wiki.editPage({})\nawait tools.wiki.editPage({})\nawait tools.wiki.getPage('gone')",
		scriptFailed, "Line 3, column", "wiki__get_page failed with NOT_FOUND", "executed: wiki__edit_page ×2",
		"retryable=false", "outcome=executed", "Do not run it again")
	var data struct{ Script string }
	if err := json.Unmarshal(f.Data, &data); err != nil || data.Script != scriptID {
		t.Errorf("the facts are %s", f.Data)
	}
	s.does["wiki__edit_page"] = func(context.Context, call.Call) (*call.Result, *fault.Error) {
		return nil, fault.New(fault.ExtensionLost, "The link was lost", fault.WithOutcome(fault.Unknown))
	}
	f = s.fails("await tools.wiki.editPage({})", scriptFailed, "outcome=unknown",
		"Calls unknown: wiki__edit_page (line 1", "EXTENSION_LOST")
	if f.Retryable {
		t.Error("a script whose write may have happened is called retryable")
	}
	s.does["wiki__get_page"] = func(context.Context, call.Call) (*call.Result, *fault.Error) {
		return nil, fault.New(fault.RateLimited, "Slow down", fault.WithRetryAfter(time.Second))
	}
	if f = s.fails("await tools.wiki.getPage('x')", scriptFailed, "RATE_LIMITED", "retryAfterMs=1000"); !f.Retryable {
		t.Error("what only read and may be repeated is not called retryable")
	}
	for script, words := range map[string]string{
		"const a = ;":                              "Line 1, column 11",
		"1\n\nimport fs from 'fs'":                 "no modules",
		"export default 1":                         "no modules",
		"await import('fs')":                       "mport",
		"require('fs')":                            "require is not defined",
		"tools.wiki.getPge({})":                    "There is no tools.wiki.getPge. There are: editPage",
		"tools.shop.pay({})":                       "There is no tools.shop. There are: wiki",
		"browser.click('x')":                       "There is no browser.click",
		"}); tools; (async () => {":                "a brace that it has not opened",
		"throw 'a text'":                           "a text",
		"throw null":                               "null",
		"throw undefined":                          "undefined",
		"throw Symbol('x')":                        "Symbol(x)",
		"throw {get message() { throw 1 }}":        "{",
		"throw new Proxy({}, {get() { throw 1 }})": "",
		"throw new ToolError('Mine', 'MY_CODE')":   "Mine",
		"const a = {}; a.a = a; a":                 "no JSON form",
		"10n":                                      "no JSON form",
		"await new Promise(() => {})":              "waits for something that never comes",
	} {
		if f := s.fails(script, scriptFailed, words); f.Outcome != fault.NotExecuted {
			t.Errorf("%s: the outcome is %s", script, f.Outcome)
		}
	}
}
