package delegation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// scripted is an agent whose answers a test decides, and what it heard.
type scripted struct {
	id           string
	capabilities []string
	providers    []ProviderInfo
	status       Status
	open         func(ctx context.Context, s *Session) *fault.Error
	prompt       func(ctx context.Context, s *Session, p Prompt) (Answer, *fault.Error)

	mu     sync.Mutex
	closed []string // session and reason
}

func (a *scripted) Info() Info {
	i := Info{ID: a.id, Capabilities: append([]string{}, a.capabilities...), Status: a.status, Providers: a.providers}
	if i.Status == "" {
		i.Status = Ready
	}
	return i
}

func (a *scripted) Open(ctx context.Context, s *Session) *fault.Error {
	s.State = 0
	if a.open != nil {
		return a.open(ctx, s)
	}
	return nil
}

func (a *scripted) Prompt(ctx context.Context, s *Session, p Prompt) (Answer, *fault.Error) {
	if a.prompt != nil {
		return a.prompt(ctx, s, p)
	}
	n := s.State.(int) + 1
	s.State = n
	return Answer{Text: fmt.Sprintf("Echo[%d]: %s", n, p.Text), StopReason: provider.EndTurn,
		Usage: &provider.Usage{InputTokens: len(p.Text), OutputTokens: 1}}, nil
}

func (a *scripted) Close(s *Session, why Reason) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = append(a.closed, string(why))
}

func (a *scripted) reasons() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.closed)
}

// takes makes an agent that works for a while, and stops when it is told to, or does not.
func takes(work time.Duration, listens bool) func(context.Context, *Session, Prompt) (Answer, *fault.Error) {
	return func(ctx context.Context, _ *Session, _ Prompt) (Answer, *fault.Error) {
		timer := time.NewTimer(work)
		defer timer.Stop()
		ended := ctx.Done()
		if !listens {
			ended = nil
		}
		select {
		case <-timer.C:
			return Answer{Text: "done", StopReason: provider.EndTurn}, nil
		case <-ended:
			return Answer{Text: "half", StopReason: StopCancelled}, nil
		}
	}
}

var client = call.Session{ID: "stdio:1", Client: "claude-code", Via: call.ViaStdio}

// newSessions makes sessions with agents, as they are by default but for what change does.
func newSessions(t *testing.T, change func(*agentconfig.Limits), agents ...Agent) *Sessions {
	t.Helper()
	limits := agentconfig.Section.Of(config.Default()).Limits
	if change != nil {
		change(&limits)
	}
	s := NewSessions(Options{MaxTimeout: 5 * time.Minute, Tools: &fakeTools{}})
	var members []*Member
	for _, a := range agents {
		members = append(members, &Member{Agent: a})
	}
	s.Configure(members, limits)
	t.Cleanup(s.Shutdown)
	return s
}

func created(t *testing.T, s *Sessions, agent string) View {
	t.Helper()
	v, failure := s.Create(t.Context(), Asked{Asker: client, AgentID: agent})
	if failure != nil {
		t.Fatal(failure)
	}
	return v
}

func state(t *testing.T, s *Sessions, id string) State {
	t.Helper()
	v, failure := s.Status(client, id)
	if failure != nil {
		return State(failure.Code)
	}
	return v.State
}

func TestLifecycleOfASessionFromCreationToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		echo := &scripted{id: "echo"}
		s := newSessions(t, nil, echo)
		v := created(t, s, "echo")
		if len(v.ID) != 32 || v.State != StateActive || v.AgentID != "echo" {
			t.Errorf("%+v", v)
		}
		for n, word := range []string{"hello", "again"} {
			time.Sleep(time.Second)
			reply, failure := s.Prompt(t.Context(), client, v.ID, Errand{Text: word})
			if want := fmt.Sprintf("Echo[%d]: %s", n+1, word); failure != nil || reply.Text != want || !reply.Ended {
				t.Errorf("%+v, %v", reply, failure)
			}
		}
		now, failure := s.Status(client, v.ID)
		if failure != nil || now.State != StateIdle || now.Created != v.Created || now.Doing.Turn != 2 ||
			now.Last.Sub(v.Created) != 2*time.Second {
			t.Errorf("%+v, %v", now, failure)
		}
		for range 2 { // closing is idempotent
			s.Close(client, v.ID, Closed)
		}
		if got := state(t, s, v.ID); got != State(codes.SessionNotFound) {
			t.Error(got)
		}
		if got := echo.reasons(); !slices.Equal(got, []string{"closed"}) {
			t.Error(got)
		}
	})
}

func TestDefaultAgent(t *testing.T) {
	first, second := &scripted{id: "slow"}, &scripted{id: "echo"}
	s := newSessions(t, nil, first, second)
	if v := created(t, s, ""); v.AgentID != "slow" {
		t.Errorf("without a default it is %s", v.AgentID)
	}
	s = newSessions(t, func(d *agentconfig.Limits) { d.DefaultAgent = "echo" }, first, second)
	if v := created(t, s, ""); v.AgentID != "echo" {
		t.Errorf("the default is echo, and it is %s", v.AgentID)
	}
	if _, failure := s.Create(t.Context(), Asked{Asker: client, AgentID: "zzz"}); failure == nil ||
		failure.Code != codes.AgentNotFound || failure.Message != "Agent not found: zzz" || failure.Retryable {
		t.Error(failure)
	}
	none := newSessions(t, nil)
	if _, failure := none.Create(t.Context(), Asked{Asker: client}); failure == nil ||
		failure.Code != fault.ConfigError || failure.Message != "No agents registered" || failure.RPCCode != -32004 {
		t.Error(failure)
	}
}

func TestExpiryCountsFromTheEndOfAPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &scripted{id: "slow", prompt: takes(4*time.Minute, true)}
		s := newSessions(t, nil, slow)
		idle := created(t, s, "slow")
		time.Sleep(10*time.Minute + time.Second)
		if got := state(t, s, idle.ID); got != State(codes.SessionNotFound) {
			t.Error("an idle session is still there: ", got)
		}
		// The clock of idleness begins at the end of a prompt, not at its beginning.
		v := created(t, s, "slow")
		time.Sleep(9 * time.Minute)
		if _, failure := s.Prompt(t.Context(), client, v.ID, Errand{}); failure != nil {
			t.Fatal(failure)
		}
		time.Sleep(9 * time.Minute) // 13 minutes after the prompt began
		if got := state(t, s, v.ID); got != StateIdle {
			t.Error(got)
		}
		s.Close(client, v.ID, Closed)
		if got, want := slow.reasons(), []string{"expired", "closed"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

func TestTTLSparesWhatIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &scripted{id: "slow", prompt: takes(4*time.Minute, true)}
		s := newSessions(t, func(d *agentconfig.Limits) { d.TTL = time.Hour }, slow)
		v := created(t, s, "slow")
		for range 6 { // used all the time
			time.Sleep(5 * time.Minute)
			if _, failure := s.Prompt(t.Context(), client, v.ID, Errand{}); failure != nil {
				t.Fatal(failure)
			}
		}
		time.Sleep(4 * time.Minute) // 58 minutes old
		ended := make(chan *fault.Error)
		go func() {
			_, failure := s.Prompt(t.Context(), client, v.ID, Errand{})
			ended <- failure
		}()
		time.Sleep(3 * time.Minute)
		if got := state(t, s, v.ID); got != StateBusy {
			t.Error("a busy session was ended, or is not busy: ", got)
		}
		if failure := <-ended; failure != nil {
			t.Error(failure)
		}
		synctest.Wait()
		if got := slow.reasons(); !slices.Equal(got, []string{"expired"}) {
			t.Error(got)
		}
	})
}

func TestOnePromptAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessions(t, nil, &scripted{id: "slow", prompt: takes(time.Minute, true)})
		v := created(t, s, "slow")
		go s.Prompt(t.Context(), client, v.ID, Errand{})
		synctest.Wait()
		_, failure := s.Prompt(t.Context(), client, v.ID, Errand{})
		if failure == nil || failure.Code != codes.SessionBusy || !failure.Retryable || failure.SessionID != v.ID ||
			!*failure.SessionValid {
			t.Errorf("%+v", failure)
		}
	})
}

func TestTimeoutIsEnforced(t *testing.T) {
	for _, listens := range []bool{true, false} {
		t.Run(fmt.Sprintf("listens %t", listens), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSessions(t, nil, &scripted{id: "slow", prompt: takes(400*time.Millisecond, listens)})
				v := created(t, s, "slow")
				_, failure := s.Prompt(t.Context(), client, v.ID, Errand{Timeout: 50 * time.Millisecond})
				if failure == nil || failure.Code != fault.TimeoutCode || failure.Source != fault.SourceTimeout ||
					!*failure.SessionValid || !strings.Contains(failure.Message, "50ms") {
					t.Fatalf("%+v", failure)
				}
				if got := state(t, s, v.ID); got != StateFailed {
					t.Error(got)
				}
				if _, failure := s.Prompt(t.Context(), client, v.ID, Errand{}); failure != nil {
					t.Error("a session that failed takes no prompt: ", failure)
				}
			})
		})
	}
}

// An agent that does not stop holds up its own session only.
func TestAnAgentThatDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := &scripted{id: "deaf", prompt: takes(time.Minute, false)}
		s := newSessions(t, nil, deaf)
		v := created(t, s, "deaf")
		began := time.Now()
		_, failure := s.Prompt(t.Context(), client, v.ID, Errand{Timeout: time.Second})
		if took := time.Since(began); failure == nil || took > 2100*time.Millisecond {
			t.Errorf("%v after %s", failure, took)
		}
		if _, failure := s.Prompt(t.Context(), client, v.ID, Errand{}); failure == nil ||
			failure.Code != codes.SessionBusy {
			t.Error(failure)
		}
		s.Close(client, v.ID, Closed)
		if len(deaf.reasons()) != 0 {
			t.Error("the agent was told of the end while it worked")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := deaf.reasons(); !slices.Equal(got, []string{"closed"}) {
			t.Error(got)
		}
		if active, _ := s.Load(); active != 0 {
			t.Error(active, "sessions are open")
		}
	})
}

func TestCancelStopsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessions(t, nil, &scripted{id: "slow", prompt: takes(time.Minute, true)})
		v := created(t, s, "slow")
		if stopped, failure := s.Cancel(client, v.ID); stopped || failure != nil {
			t.Error("nothing ran, and was cancelled: ", stopped, failure)
		}
		replies := make(chan Reply, 1)
		go func() {
			reply, failure := s.Prompt(t.Context(), client, v.ID, Errand{})
			if failure != nil {
				t.Error(failure)
			}
			replies <- reply
		}()
		synctest.Wait()
		began := time.Now()
		if stopped, failure := s.Cancel(client, v.ID); !stopped || failure != nil {
			t.Error(stopped, failure)
		}
		reply := <-replies
		if took := time.Since(began); took > 500*time.Millisecond {
			t.Error("cancelling took ", took)
		}
		if reply.StopReason != StopCancelled || reply.Text != "half" || reply.Ended {
			t.Errorf("%+v", reply)
		}
		if got := state(t, s, v.ID); got != StateIdle {
			t.Error(got)
		}
	})
}

func TestClosingStopsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &scripted{id: "slow", prompt: takes(time.Minute, true)}
		s := newSessions(t, nil, slow)
		type ending struct {
			reply   Reply
			failure *fault.Error
		}
		for name, end := range map[string]func(id string){
			"closed":      func(id string) { s.Close(client, id, Closed) },
			"cancelled":   func(id string) { s.Stop(id) },
			"client-left": func(string) { s.SessionEnded(client.ID) },
		} {
			asker := client
			if name == "client-left" {
				asker.Client = call.Unnamed // those with a name come back
			}
			v, failure := s.Create(t.Context(), Asked{Asker: asker})
			if failure != nil {
				t.Fatal(failure)
			}
			ended := make(chan ending, 1)
			go func() {
				reply, failure := s.Prompt(t.Context(), asker, v.ID, Errand{})
				ended <- ending{reply, failure}
			}()
			synctest.Wait()
			end(v.ID)
			got := <-ended
			synctest.Wait()
			if name == "cancelled" {
				if got.failure == nil || got.failure.Code != fault.Cancelled || *got.failure.SessionValid {
					t.Errorf("%s: %+v", name, got.failure)
				}
			} else if got.failure != nil || got.reply.StopReason != StopCancelled {
				t.Errorf("%s: %+v", name, got)
			}
			if reasons := slow.reasons(); reasons[len(reasons)-1] != name {
				t.Errorf("%s: the agent heard of %q", name, reasons)
			}
			if got := state(t, s, v.ID); got != State(codes.SessionNotFound) {
				t.Error(name, got)
			}
		}
	})
}

func TestSessionsBelongToTheirClient(t *testing.T) {
	s := newSessions(t, nil, &scripted{id: "echo"})
	v := created(t, s, "echo")
	other := call.Session{ID: "stdio:2", Client: "cursor"}
	if _, failure := s.Status(other, v.ID); failure == nil || failure.Code != codes.SessionNotFound {
		t.Error("another client sees it: ", failure)
	}
	if _, failure := s.Prompt(t.Context(), other, v.ID, Errand{}); failure == nil ||
		failure.Code != codes.SessionNotFound {
		t.Error(failure)
	}
	s.Close(other, v.ID, Closed)
	if got := state(t, s, v.ID); got != StateActive {
		t.Error("another client closed it: ", got)
	}
	if _, failure := s.Status(call.Session{ID: "stdio:9", Client: "claude-code"}, v.ID); failure != nil {
		t.Error("another window of the client does not see it: ", failure)
	}
	anonymous := call.Session{ID: "stdio:3/session:a", Client: call.Unnamed}
	mine, failure := s.Create(t.Context(), Asked{Asker: anonymous})
	if failure != nil {
		t.Fatal(failure)
	}
	if _, failure := s.Status(call.Session{ID: "stdio:4", Client: call.Unnamed}, mine.ID); failure == nil {
		t.Error("another client without a name sees it")
	}
	if _, failure := s.Status(call.Session{ID: "stdio:3", Client: call.Unnamed}, mine.ID); failure != nil {
		t.Error(failure)
	}
	endsWith(t, s, "stdio:3", mine.ID)
}

// endsWith checks that the end of an attachment ends a session.
func endsWith(t *testing.T, s *Sessions, attachment, id string) {
	t.Helper()
	s.SessionEnded(attachment)
	s.ending.Wait()
	if slices.ContainsFunc(s.List(), func(v View) bool { return v.ID == id }) {
		t.Error("the session outlives its client")
	}
}

func TestLimitsOfSessionsPromptsAndMetadataHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &scripted{id: "slow", prompt: takes(time.Minute, true)}
		s := newSessions(t, func(d *agentconfig.Limits) {
			d.MaxSessions, d.MaxConcurrent, d.MaxPromptBytes, d.MaxMetadataBytes = 3, 2, 10, 20
		}, slow)
		var ids []string
		for range 3 {
			ids = append(ids, created(t, s, "").ID)
		}
		if _, failure := s.Create(t.Context(), Asked{Asker: client}); failure == nil ||
			failure.Code != codes.SessionCapacity || failure.Retryable {
			t.Error(failure)
		}
		if got := s.Agents()[0].Status; got != Busy {
			t.Error("with no session left the agent is ", got)
		}
		for _, id := range ids[:2] {
			go s.Prompt(t.Context(), client, id, Errand{})
		}
		synctest.Wait()
		if _, failure := s.Prompt(t.Context(), client, ids[2], Errand{}); failure == nil ||
			failure.Code != fault.Overloaded || failure.Message != "Server overloaded" || failure.RPCCode != -32000 ||
			!failure.Retryable || !*failure.SessionValid {
			t.Errorf("%+v", failure)
		}
		s.Cancel(client, ids[0])
		synctest.Wait()
		if _, failure := s.Prompt(t.Context(), client, ids[2], Errand{Timeout: time.Second}); failure == nil ||
			failure.Code != fault.TimeoutCode {
			t.Error("the place of a prompt that ended is not free: ", failure)
		}
		if _, failure := s.Prompt(t.Context(), client, ids[2], Errand{Text: "12345678901"}); failure == nil ||
			failure.Code != fault.InputTooLarge || failure.Message != "Prompt exceeds maximum size" {
			t.Error(failure)
		}
		if failure := s.checkMetadata(make([]byte, 21)); failure == nil || failure.Code != fault.InputTooLarge ||
			failure.Message != "Metadata exceeds maximum size" {
			t.Error(failure)
		}
	})
}

func TestDelegateAnswersAndClosesTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := fault.New(fault.RateLimited, "Rate limit exceeded at /home/ann/.secret/x",
			fault.WithSource(fault.SourceUpstream), fault.WithProvider("openai"), fault.WithRetryAfter(2*time.Second))
		echo := &scripted{id: "echo"}
		failing := &scripted{id: "failing", prompt: func(context.Context, *Session, Prompt) (Answer, *fault.Error) {
			return Answer{}, broken
		}}
		panics := &scripted{id: "panics", prompt: func(context.Context, *Session, Prompt) (Answer, *fault.Error) {
			panic("/root/secret")
		}}
		s := newSessions(t, nil, echo, failing, panics)
		reply, failure := s.Delegate(t.Context(), Asked{Asker: client}, Errand{Text: "x"})
		if failure != nil || reply.Text != "Echo[1]: x" || reply.AgentID != "echo" || len(reply.SessionID) != 32 {
			t.Errorf("%+v %v", reply, failure)
		}
		_, failure = s.Delegate(t.Context(), Asked{Asker: client, AgentID: "failing"}, Errand{Text: "x"})
		if failure == nil || failure.ProviderID != "openai" || *failure.RetryAfterMs != 2000 || *failure.SessionValid ||
			failure.SessionID == "" || failure.Message != "Rate limit exceeded at …/x" {
			t.Errorf("%+v", failure)
		}
		if broken.SessionID != "" {
			t.Error("the agent's own failure was changed")
		}
		_, failure = s.Delegate(t.Context(), Asked{Asker: client, AgentID: "panics"}, Errand{Text: "x"})
		if failure == nil || failure.Code != codes.AgentFailed || strings.Contains(failure.Error(), "secret") {
			t.Errorf("%+v", failure)
		}
		got := append(echo.reasons(), failing.reasons()...)
		if !slices.Equal(got, []string{"task-complete", "task-failed"}) {
			t.Error(got)
		}
		if active, _ := s.Load(); active != 0 {
			t.Error(active, "sessions are left")
		}
	})
}

// What is delegated as a whole goes on for as long as its call does, whoever leaves.
func TestDelegateOutlivesItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessions(t, nil, &scripted{id: "slow", prompt: takes(time.Minute, true)})
		delegate := func(ctx context.Context) (ended chan string) {
			ended = make(chan string, 1)
			go func() {
				reply, failure := s.Delegate(ctx, Asked{Asker: client}, Errand{Text: "x"})
				ended <- fmt.Sprint(reply.Text, failure)
			}()
			synctest.Wait()
			s.SessionEnded(client.ID)
			return ended
		}
		if got := <-delegate(t.Context()); got != "done<nil>" {
			t.Error(got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := delegate(ctx)
		cancel()
		if got := <-ended; !strings.Contains(got, "cancelled") {
			t.Error(got)
		}
	})
}

func TestOpeningFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := &scripted{id: "late", open: func(ctx context.Context, _ *Session) *fault.Error {
			time.Sleep(time.Minute)
			return nil
		}}
		refuses := &scripted{id: "refuses", open: func(context.Context, *Session) *fault.Error {
			return fault.New(codes.WorkerStartFailed, "Failed to start")
		}}
		s := newSessions(t, nil, late, refuses)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, failure := s.Create(ctx, Asked{Asker: client}); failure == nil || failure.Outcome != fault.NotExecuted {
			t.Error(failure)
		}
		if _, failure := s.Create(t.Context(), Asked{Asker: client, AgentID: "refuses"}); failure == nil ||
			failure.Code != codes.WorkerStartFailed || failure.Retryable {
			t.Error(failure)
		}
		if active, _ := s.Load(); active != 0 {
			t.Error(active, "sessions are left")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := late.reasons(); !slices.Equal(got, []string{"task-failed"}) {
			t.Error("what was ready too late was not closed: ", got)
		}
	})
}

func TestUnknownProviderOfASession(t *testing.T) {
	s := newSessions(t, nil, &scripted{id: "a", providers: []ProviderInfo{{ID: "openai", Models: []string{"m"}}}})
	asked := Asked{Asker: client, Metadata: Metadata{Provider: "unknown"}}
	if _, failure := s.Create(t.Context(), asked); failure == nil ||
		failure.Code != fault.ConfigError || failure.RPCCode != -32004 || failure.ProviderID != "unknown" {
		t.Error(failure)
	}
	asked.Metadata.Provider = "openai"
	if _, failure := s.Create(t.Context(), asked); failure != nil {
		t.Error(failure)
	}
}

func TestActsStayWithinTheAskersScope(t *testing.T) {
	var acted call.Session
	a := &scripted{id: "a", open: func(_ context.Context, s *Session) *fault.Error {
		acted = s.Acts
		return nil
	}}
	s := NewSessions(Options{MaxTimeout: time.Minute, Tools: &fakeTools{tools: []*registry.Tool{
		aTool("wiki__edit", false), aTool("shop__list", true), aTool("bank__pay", false)}}})
	bounded := &Member{Agent: a, Tools: []string{"wiki", "shop__list"}, ReadOnly: true}
	s.Configure([]*Member{bounded}, agentconfig.Section.Of(config.Default()).Limits)
	t.Cleanup(s.Shutdown)
	asker := call.Session{ID: "stdio:1/session:two", Client: "c", Scope: call.Scope{Plugins: "wiki"}}
	for want, tools := range map[string][]string{
		"wiki shop__list":       nil,
		"wiki__edit shop__list": {"wiki__edit", "shop"},
		"none":                  {"bank"},
	} {
		v, failure := s.Create(t.Context(), Asked{Asker: asker, Metadata: Metadata{Tools: tools, Tabs: []string{"7"}}})
		if failure != nil {
			t.Fatal(failure)
		}
		d := acted.Bounds
		got := strings.Join(d.Tools, " ")
		if acted.ID != "stdio:1/session:agent-"+v.ID[:8] || acted.Client != "c" || acted.Scope != asker.Scope ||
			d.Agent != "a" || d.Session != v.ID || d.Asker != asker.ID || !d.ReadOnly ||
			!slices.Equal(d.Tabs, []string{"7"}) || got != want {
			t.Errorf("%+v %+v, want %s", acted, d, want)
		}
	}
}

// Each open session has a colour of its own, as far as there are colours.
func TestColorsDifferWhileThereAreEnough(t *testing.T) {
	s := NewSessions(Options{MaxTimeout: time.Minute})
	s.Configure([]*Member{{Agent: &scripted{id: "a"}}}, agentconfig.Section.Of(config.Default()).Limits)
	t.Cleanup(s.Shutdown)
	used := map[string]string{} // by colour
	for range call.Colors {
		v := created(t, s, "a")
		used[v.Color] = v.ID
	}
	if len(used) != len(call.Colors) {
		t.Errorf("%d colours of %d: %v", len(used), len(call.Colors), used)
	}
	s.Close(client, used["pink"], Completed)
	if v := created(t, s, "a"); v.Color != "pink" {
		t.Errorf("%s, although pink is free", v.Color)
	}
}

func TestConfigureEndsSessionsOfAgentsThatAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stays, goes := &scripted{id: "stays"}, &scripted{id: "goes", prompt: takes(time.Minute, true)}
		limits := agentconfig.Section.Of(config.Default()).Limits
		s := NewSessions(Options{MaxTimeout: time.Minute, Tools: &fakeTools{}})
		defer s.Shutdown()
		kept := &Member{Agent: stays}
		s.Configure([]*Member{kept, {Agent: goes}}, limits)
		a, b := created(t, s, "stays"), created(t, s, "goes")
		failures := make(chan *fault.Error, 1)
		go func() {
			_, failure := s.Prompt(t.Context(), client, b.ID, Errand{})
			failures <- failure
		}()
		synctest.Wait()
		s.Configure([]*Member{kept}, limits)
		if failure := <-failures; failure == nil || failure.Code != fault.Cancelled {
			t.Error(failure)
		}
		if state(t, s, a.ID) != StateActive || state(t, s, b.ID) != State(codes.SessionNotFound) {
			t.Error(state(t, s, a.ID), state(t, s, b.ID))
		}
	})
}

func TestEventsOfSessions(t *testing.T) {
	var told []string
	s := NewSessions(Options{MaxTimeout: time.Minute, Tools: &fakeTools{},
		Events: func(_ event.Owner, kind event.Kind, message string, data map[string]any) {
			raw, _ := json.Marshal(data["reason"])
			told = append(told, string(kind)+": "+message+" "+string(raw))
		}})
	s.Configure([]*Member{{Agent: &scripted{id: "echo"}}}, agentconfig.Section.Of(config.Default()).Limits)
	v := created(t, s, "")
	s.Close(client, v.ID, Closed)
	if want := []string{`session: claude-code opened a session with the agent echo null`,
		`session: claude-code closed a session with the agent echo "closed"`}; !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
}
