package handover

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/capability"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// browser is one with the tab 7, which is the session's.
type browser struct {
	capability.Tools
	capability.Browsers
	shows   atomic.Bool  // what is awaited
	knows   string       // what a plugin of the bank answers once somebody is signed in; empty: there is no plugin
	address atomic.Value // of the tab; nil: the page to sign in on
	onTabs  func(hub.TabNews)
	refuses atomic.Value // fault.Code of every look; empty: none

	mu    sync.Mutex // held by calls, of which several may run; a test reads this once they have ended
	calls []call.Call
}

func (b *browser) Tabs() []hub.Tab {
	address, elsewhere := b.address.Load().(string)
	if !elsewhere {
		address = "https://bank.example/login?a=1"
	}
	return []hub.Tab{{ProfileID: "p1", Profile: "Work", ID: 7, URL: address, Title: "Sign in"}}
}

func (b *browser) OnTabs(listener func(hub.TabNews)) func() {
	b.onTabs = listener
	return func() {}
}

// List has the tools of a plugin for the bank.
func (b *browser) List(call.Session) []*registry.Tool {
	if b.knows == "" {
		return nil
	}
	p := &plugin.Plugin{Manifest: plugin.Manifest{Name: "bank", DisplayName: "The Bank"}}
	site := &registry.Site{Plugin: p, Matches: []string{"https://bank.example/*"},
		SignIn: &registry.Tool{Name: bankCheck}}
	return []*registry.Tool{{Name: "bank__pay", Group: "bank", Site: site}}
}

const bankCheck = "bank__signIn"

func (b *browser) Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	b.mu.Lock()
	b.calls = append(b.calls, c)
	b.mu.Unlock()
	var args struct {
		TabID int
		Gone  string
	}
	_ = json.Unmarshal(c.Arguments, &args)
	switch {
	case args.TabID != 0 && args.TabID != 7:
		return nil, fault.New(fault.TabNotFound, "There is no such tab", fault.WithOutcome(fault.NotExecuted))
	case args.Gone != "":
		return &call.Result{Meta: call.Meta{TabID: 7, ProfileID: "p1"}}, nil
	case c.Tool == "browser__snapshot":
		return &call.Result{Output: json.RawMessage(`"heading \"Your account\""`)}, nil
	}
	if c.Tool == bankCheck && b.knows != "true" {
		return &call.Result{Output: json.RawMessage(b.knows)}, nil
	}
	if code, _ := b.refuses.Load().(fault.Code); code != "" {
		return nil, fault.New(code, "no")
	}
	for range cmp.Or(int(c.Timeout/time.Second/2), 60) {
		if b.shows.Load() {
			return &call.Result{Output: json.RawMessage(cmp.Or(b.knows, `{}`))}, nil
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, fault.New(fault.Cancelled, "cancelled")
		}
	}
	if c.Tool == bankCheck {
		return nil, fault.New(fault.AuthError, "Nobody is signed in")
	}
	return nil, fault.New(waitTimedOut, "not seen")
}

// fixture is a desk and what it asks of the relay.
type fixture struct {
	*desk
	browser *browser
	running capability.Attachment

	mu      sync.Mutex // held by calls, of which several may run; a test reads these once they have ended
	audit   []call.Entry
	changed int
}

func newFixture() *fixture {
	f := &fixture{browser: &browser{}}
	core := capability.Core{
		Config: config.Default(), Tools: f.browser, Browsers: f.browser,
		Audit: func(e call.Entry) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.audit = append(f.audit, e)
		},
		Changed: func(...string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.changed++
		},
	}
	f.desk = &desk{Core: core}
	f.configure(core.Config)
	f.running = f.desk.running()
	return f
}

// ask makes a call of the tool; its answer comes over the channel.
func (f *fixture) ask(ctx context.Context, session, arguments string,
	change ...func(*call.Call)) <-chan string {
	answer := make(chan string, 1)
	c := call.Call{ID: "c1", Session: call.Session{ID: session, Client: "claude"}, Tool: toolName}
	for _, one := range change {
		one(&c)
	}
	go func() {
		result, failure := f.call(ctx, c, json.RawMessage(arguments))
		if failure != nil {
			answer <- fmt.Sprintf("%s %s %s", failure.Code, failure.Outcome, failure.Message)
			return
		}
		var b strings.Builder
		for _, one := range result.Content {
			var block struct{ Text string }
			if json.Unmarshal(one, &block) == nil {
				b.WriteString(block.Text + "|")
			}
		}
		answer <- b.String() + string(result.Output)
	}()
	synctest.Wait()
	return answer
}

const signIn = `{"why":"Sign in, please","tabId":7}`

// Each way in which a request ends, and what its agent is told.
func TestEndsAreToldToTheAgent(t *testing.T) {
	const page = `|heading "Your account"|`
	for name, one := range map[string]struct {
		arguments string
		end       func(f *fixture)
		want      string
	}{
		"the person has done it": {signIn, func(f *fixture) { f.decide(f.only(), done, call.Session{}, "panel") },
			"The person says that it is done." + page + `{"ended":"done"}`},
		"the person cannot": {signIn, func(f *fixture) { f.decide(f.only(), cannot, call.Session{}, "panel") },
			"The person says that they cannot, or will not, do it. Do not ask for the same again." + page +
				`{"ended":"cannot"}`},
		"no tab": {`{"why":"Decide"}`, func(f *fixture) { f.decide(f.only(), done, call.Session{}, "panel") },
			"The person says that it is done." + page + `{"ended":"done"}`}, // the session's own is meant
		"nobody comes": {signIn, func(*fixture) { time.Sleep(5 * time.Minute) },
			"APPROVAL_TIMEOUT not_executed Nobody did what the person was asked for in time"},
		"less time": {`{"why":"Sign in","timeoutMs":2000}`, func(*fixture) { time.Sleep(2 * time.Second) },
			"APPROVAL_TIMEOUT not_executed Nobody did what the person was asked for in time"},
		"more time than there can be": {`{"why":"Sign in","timeoutMs":9223372036855}`, func(f *fixture) {
			time.Sleep(time.Minute)
			f.decide(f.only(), done, call.Session{}, "panel")
		}, "The person says that it is done." + page + `{"ended":"done"}`},
		"the tab is closed": {signIn, func(f *fixture) { f.running.TabGone("p1", 7) },
			`The tab was closed.|{"ended":"tab closed"}`},
		"the browser is gone": {signIn, func(f *fixture) { f.running.TabGone("p1", 0) },
			`The tab was closed.|{"ended":"tab closed"}`},
		"everything is stopped": {signIn, func(f *fixture) { f.running.Paused() },
			"PERMISSION_DENIED not_executed Every agent was stopped"},
		"the relay stops": {signIn, func(f *fixture) { f.running.Close() },
			"SHUTTING_DOWN not_executed The relay stopped while the person was asked"},
		"the session ends": {signIn, func(f *fixture) { f.running.SessionEnded("s1") },
			"CANCELLED not_executed The session has ended"},
		"a tab that is not there": {`{"why":"Look","tabId":8}`, func(*fixture) {},
			"TAB_NOT_FOUND not_executed There is no such tab"},
		"what is awaited comes": {`{"why":"Sign in","tabId":7,"until":{"text":"Account"}}`, func(f *fixture) {
			time.Sleep(90 * time.Second)
			f.browser.shows.Store(true)
			time.Sleep(time.Second)
		}, "What was awaited came." + page + `{"ended":"seen"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				answer := f.ask(t.Context(), "s1", one.arguments)
				one.end(f)
				if got := <-answer; got != one.want {
					t.Errorf("got  %s\nwant %s", got, one.want)
				}
				if left := f.open.views(); len(left) > 0 || f.running.Waiting("") > 0 {
					t.Errorf("%+v is still open", left)
				}
			})
		})
	}
}

// only is the id of the request that is open.
func (f *fixture) only() string {
	list := f.open.views()
	if len(list) != 1 {
		panic(fmt.Sprintf("%d requests are open", len(list)))
	}
	return list[0].ID
}

const untilSignedIn = `{"why":"Sign in","tabId":7,"until":{"signedIn":true}}`

// The plugin of the page says when somebody is signed in. While the tab is elsewhere to sign in, it is not asked.
func TestSignedInEndsTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.browser.knows = "true"
		answer := f.ask(t.Context(), "s1", untilSignedIn)
		time.Sleep(checkAtFirst)
		if until := f.open.views()[0].Until; until != "you are signed in to “The Bank”" {
			t.Error(until)
		}
		f.browser.address.Store("https://accounts.example/in")
		time.Sleep(waitAtOnce)
		synctest.Wait()
		before := len(f.browser.calls)
		time.Sleep(waitAtOnce)
		synctest.Wait()
		if asked := len(f.browser.calls) - before; asked != 0 {
			t.Errorf("asked %d times while the tab shows another site", asked)
		}
		f.browser.shows.Store(true)
		f.browser.address.Store("https://bank.example/account")
		f.browser.onTabs(hub.TabNews{ProfileID: "p1", TabID: 7, Page: true})
		if got := <-answer; got != `What was awaited came.|heading "Your account"|{"ended":"seen"}` {
			t.Error(got)
		}
	})
}

// A plugin that fails at once, as its site answers that nobody is signed in, asks that site every two seconds at most.
func TestSignedInDoesNotHammerASite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.browser.knows = "true"
		f.browser.refuses.Store(fault.AuthError)
		answer := f.ask(t.Context(), "s1", untilSignedIn)
		time.Sleep(time.Minute)
		f.browser.refuses.Store(fault.Code(""))
		f.browser.shows.Store(true)
		if got := <-answer; !strings.HasPrefix(got, "What was awaited came.") {
			t.Error(got)
		}
		if asked := len(f.browser.calls); asked > 36 || asked < 25 {
			t.Errorf("asked %d times in a minute", asked)
		}
	})
}

// Where no plugin can know it, the agent is told what to use instead, and nobody is asked anything.
func TestNobodyKnowsWhoIsSignedIn(t *testing.T) {
	const none = "VALIDATION_ERROR not_executed No plugin is for the page of tab 7, which until.signedIn needs"
	for name, one := range map[string]struct{ knows, address, want string }{
		"no plugin":                {"", "", none},
		"a plugin of another site": {"true", "https://other.example/", none},
		"a plugin that cannot know": {"false", "", "VALIDATION_ERROR not_executed The plugin bank does not say " +
			"how to know that a person is signed in, which until.signedIn needs"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				if f.browser.knows = one.knows; one.address != "" {
					f.browser.address.Store(one.address)
				}
				if got := <-f.ask(t.Context(), "s1", untilSignedIn); got != one.want || f.changed > 0 {
					t.Errorf("%s; panels were told %d times", got, f.changed)
				}
			})
		})
	}
}

// A rule that keeps the plugin from looking leaves the end to the person.
func TestMayNotAskWhoIsSignedIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.browser.knows = "true"
		f.browser.refuses.Store(fault.PermissionDenied)
		answer := f.ask(t.Context(), "s1", untilSignedIn)
		time.Sleep(time.Minute)
		f.decide(f.only(), done, call.Session{}, "panel")
		if got := <-answer; !strings.HasPrefix(got, "The person says that it is done.") {
			t.Error(got)
		}
	})
}

// What the person is shown: the agent's words on one line, the tab, and what ends it.
func TestShownToThePersonOnOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		answer := f.ask(t.Context(), "s1", `{"why":"Sign\nin \u202eplease","tabId":7,"until":{"url":"/account"}}`)
		list := f.open.views()
		if len(list) != 1 {
			t.Fatal(list)
		}
		v := list[0]
		if strings.ContainsAny(v.Why, "\n\u202e") || v.Client != "claude" || v.Origin != "https://bank.example" ||
			v.ProfileID != "p1" || v.TabID != 7 || v.Title != "Sign in" ||
			v.Until != "its address has “/account”" ||
			v.Deadline.Sub(v.Asked) != 5*time.Minute {
			t.Errorf("%+v", v)
		}
		if n, other := f.running.Waiting("p1"), f.running.Waiting("p2"); n != 1 || other != 0 {
			t.Errorf("%d wait at its profile, %d at another", n, other)
		}
		w := httptest.NewRecorder()
		for _, route := range f.running.Routes {
			if route.Pattern == "GET /api/v1/handovers" {
				route.Handler(w, httptest.NewRequest(http.MethodGet, "/api/v1/handovers", nil))
			}
		}
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"id":"`+v.ID+`"`) {
			t.Error(w.Code, w.Body)
		}
		f.decide(v.ID, done, call.Session{ID: "panel"}, "panel")
		<-answer
		if f.decide(v.ID, done, call.Session{}, "panel") {
			t.Error("it was ended twice")
		}
		if len(f.audit) != 1 || f.audit[0].Decision != "done" || f.audit[0].DecidedBy != "panel" ||
			f.audit[0].Origin != "https://bank.example" || !strings.Contains(f.audit[0].Detail, "please") {
			t.Errorf("%+v", f.audit)
		}
	})
}

// An agent that asks a thousand times: one request at a time, and so many in an hour.
func TestLimitsAllowOneRequestAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		first := f.ask(t.Context(), "s1", signIn)
		if got := <-f.ask(t.Context(), "s1", signIn); !strings.HasPrefix(got, "OVERLOADED not_executed") {
			t.Error(got)
		}
		f.decide(f.only(), cannot, call.Session{}, "panel")
		<-first
		most := f.settings.Load().PerHour
		for i := 1; i < most; i++ {
			answer := f.ask(t.Context(), fmt.Sprintf("s%d", i), signIn)
			f.decide(f.only(), cannot, call.Session{}, "panel")
			<-answer
		}
		got := <-f.ask(t.Context(), "another", signIn)
		want := fmt.Sprintf(`RATE_LIMITED not_executed "claude" has asked the person %d times`, most)
		if !strings.HasPrefix(got, want) {
			t.Errorf("after %d requests: %s", most, got)
		}
		time.Sleep(time.Hour)
		answer := f.ask(t.Context(), "another", signIn)
		f.decide(f.only(), done, call.Session{}, "panel")
		if got := <-answer; !strings.HasPrefix(got, "The person says that it is done.") {
			t.Error("an hour later:", got)
		}
	})
}

// A thousand requests at once, of as many sessions of one client: as many as may be open are, the others are told why
// and when to come back, and the person sees none of these.
func TestAThousandRequestsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		answers := make([]<-chan string, 1000)
		for i := range answers {
			answers[i] = f.ask(t.Context(), fmt.Sprintf("s%d", i), signIn)
		}
		most := f.settings.Load().PerHour
		if open := f.open.views(); len(open) != most || most > mostOpen {
			t.Errorf("%d requests are open", len(open))
		}
		f.open.end(cannot, every)
		refused := 0
		for _, answer := range answers {
			got := <-answer
			switch {
			case strings.HasPrefix(got, "RATE_LIMITED not_executed"),
				strings.HasPrefix(got, "OVERLOADED not_executed"):
				refused++
			case !strings.HasPrefix(got, "The person says that they cannot"):
				t.Error(got)
			}
		}
		if refused != len(answers)-most {
			t.Errorf("%d were refused", refused)
		}
	})
}

// An address is awaited where it means something, not where a link may have put it, nor with another site's name.
func TestPartsOfAddresses(t *testing.T) {
	for _, one := range []struct {
		part string
		yes  []string
		no   []string
	}{
		{"/account", []string{"https://bank.example/account", "https://bank.example/my/account?a#b"},
			[]string{"https://bank.example/login?next=/account", "https://bank.example/login#/account",
				"https://bank.example/", "about:blank", "data:text/html,/account"}},
		{"#/account", []string{"https://bank.example/#/account"}, []string{"https://bank.example/account"}},
		{"?id=7", []string{"https://bank.example/a?id=7&b"}, []string{"https://bank.example/a"}},
		{"bank.example", []string{"https://bank.example", "https://my.bank.example/x", "https://BANK.example:8443/"},
			[]string{"https://bank.example.evil.test/", "https://evil-bank.example/", "https://evil.test/?bank.example",
				"https://evil.test/#bank.example", "https://bank.example@evil.test/"}},
		{"bank.example/account", []string{"https://bank.example/account/1"},
			[]string{"https://bank.example/", "https://bank.example.evil.test/account", "https://evil.test/account"}},
		{"https://bank.example/account", []string{"https://bank.example/account?x"},
			[]string{"http://bank.example/account", "https://bank.example/login?to=https://bank.example/account",
				"https://bank.example.evil.test/account", "https://evil.test/#https://bank.example/account"}},
		{"https://bank.example", []string{"https://bank.example/a"}, []string{"https://bank.example.evil.test/"}},
		{"127.0.0.1:8080/in", []string{"http://127.0.0.1:8080/in"}, []string{"http://127.0.0.1:80801/in"}},
	} {
		for _, address := range one.yes {
			if !hasPart(address, one.part) {
				t.Errorf("%s does not have %s", address, one.part)
			}
		}
		for _, address := range one.no {
			if hasPart(address, one.part) {
				t.Errorf("%s has %s", address, one.part)
			}
		}
	}
}

// A page that says it has the awaited address, in a query, ends nothing; once the tab is there, it ends.
func TestAnAddressThatOnlyThePageSees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.browser.address.Store("https://bank.example/login?next=/account")
		f.browser.shows.Store(true)
		answer := f.ask(t.Context(), "s1", `{"why":"Sign in","tabId":7,"until":{"url":"/account"}}`)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(f.open.views()) != 1 || len(f.browser.calls) > 3 {
			t.Fatalf("%d are open after %d calls", len(f.open.views()), len(f.browser.calls))
		}
		f.browser.address.Store("https://bank.example/account")
		f.browser.onTabs(hub.TabNews{ProfileID: "p1", TabID: 7})
		if got := <-answer; !strings.HasPrefix(got, "What was awaited came.") {
			t.Error(got)
		}
	})
}

// The client's own program asks, too, where it can, and hears when nobody waits for its answer any more.
func TestClientAsks(t *testing.T) {
	for action, want := range map[string]string{
		"accept": `{"ended":"done"}`, "decline": `{"ended":"cannot"}`, "cancel": `{"ended":"seen"}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture()
			var asked call.Question
			answer := f.ask(t.Context(), "s1", `{"why":"Sign in","tabId":7,"until":{"text":"Account"}}`,
				func(c *call.Call) {
					c.Ask = func(_ context.Context, q call.Question) (call.Answer, error) {
						asked = q
						return call.Answer{Action: action}, nil
					}
				})
			f.browser.shows.Store(action == "cancel")
			if got := <-answer; !strings.HasSuffix(got, want) {
				t.Errorf("%s: %s", action, got)
			}
			if asked.Message != "claude needs your hand: “Sign in” At https://bank.example in your "+
				"browser. Accept "+
				"once it is done, decline if you cannot." {
				t.Error(asked.Message)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		var ended error
		answer := f.ask(t.Context(), "s1", signIn, func(c *call.Call) {
			c.Ask = func(ctx context.Context, _ call.Question) (call.Answer, error) {
				<-ctx.Done()
				ended = context.Cause(ctx)
				return call.Answer{}, ctx.Err()
			}
		})
		f.decide(f.only(), done, call.Session{}, "panel")
		if <-answer; ended != call.ErrAnswered {
			t.Errorf("the client hears %v", ended)
		}
	})
}

// What may not be looked at ends nothing: the person still does.
func TestMayNotLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.browser.refuses.Store(fault.PermissionDenied)
		answer := f.ask(t.Context(), "s1", `{"why":"Sign in","tabId":7,"until":{"text":"Account"}}`)
		time.Sleep(time.Minute)
		waits := slices.Collect(func(yield func(json.RawMessage) bool) {
			for _, c := range f.browser.calls {
				if c.Tool == waitTool && !strings.Contains(string(c.Arguments), "gone") && !yield(c.Arguments) {
					return
				}
			}
		})
		if want := string(rawjson.MustEncode(map[string]any{"tabId": 7, "text": "Account",
			"timeoutMs": 60_000})); len(waits) != 1 || string(waits[0]) != want {
			t.Errorf("looked with %s", waits)
		}
		f.decide(f.only(), done, call.Session{}, "panel")
		if got := <-answer; !strings.HasPrefix(got, "The person says that it is done.") {
			t.Error(got)
		}
	})
}

// A request that asks a plugin beforehand whether somebody is signed in is counted before that, whatever comes of it.
func TestChecksBeforehandAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.browser.knows = "true"
		for range 20 {
			ctx, leave := context.WithCancel(t.Context())
			answer := f.ask(ctx, "s1", untilSignedIn)
			leave()
			<-answer
		}
		made := len(f.browser.calls)
		if got := <-f.ask(t.Context(), "s1", untilSignedIn); !strings.HasPrefix(got, "RATE_LIMITED") {
			t.Error(got)
		}
		if slices.ContainsFunc(f.browser.calls[made:], func(c call.Call) bool { return c.Tool == bankCheck }) {
			t.Error("the plugin was asked for a request that was refused")
		}
	})
}

// The call's own end ends the request.
func TestCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		ctx, cancel := context.WithCancel(t.Context())
		answer := f.ask(ctx, "s1", signIn)
		cancel()
		if got := <-answer; !strings.HasPrefix(got, "CANCELLED") || len(f.open.views()) > 0 || f.changed != 2 {
			t.Errorf("%s; %+v is open, panels were told %d times", got, f.open.views(), f.changed)
		}
	})
}

// The tool is the next step where a person signs in, solves a captcha or has other rights, and not where a rule of
// theirs forbids a call.
func TestAdvice(t *testing.T) {
	page := func(code fault.Code, category fault.Category, tab int) *fault.Error {
		return &fault.Error{Code: code, Category: category, FromPage: true, TabID: tab}
	}
	for _, c := range []struct {
		name    string
		failure *fault.Error
		want    string
	}{
		{"signed out", page(fault.AuthError, fault.Auth, 7), `relay__ask_person {"why":"…","tabId":7}`},
		{"the plugin saw it before the call", &fault.Error{Code: fault.AuthError, Category: fault.Auth, FromPage: true,
			TabID: 7, Outcome: fault.NotExecuted}, `{"why":"…","tabId":7,"until":{"signedIn":true}}`},
		{"by a code of the plugin's own", page("TOKEN_EXPIRED", fault.Auth, 0), `relay__ask_person {"why":"…"}`},
		{"a captcha", page("CAPTCHA_REQUIRED", "", 7), `"tabId":7`},
		{"the account may not", page(fault.PermissionDenied, "", 7), `"tabId":7`},
		{"the page is not ready", fault.New(fault.AdapterNotReady, "not ready"), ""},
		{"a rule forbids it", fault.New(fault.PermissionDenied, "off"), ""},
		{"the person said no", fault.New(fault.ApprovalDenied, "no"), ""},
		{"a page says that the person said no", page(fault.ApprovalDenied, "", 7), ""},
		{"something else", page(fault.NotFoundCode, fault.NotFound, 7), ""},
	} {
		if got := advice(c.failure); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
