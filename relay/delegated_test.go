package relay

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/capability/delegation"
	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/capability/delegation/provider/providertest"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// hearsUntil reads lines until one has the word, and returns it and those before it.
func (a *mcpClient) hearsUntil(word string) (line, before string) {
	a.t.Helper()
	for a.out.Scan() {
		if line = a.out.Text(); strings.Contains(line, word) {
			return line, before
		}
		before += line + "\n"
	}
	a.t.Fatalf("the agent never heard %s, but\n%s", word, before)
	return "", ""
}

func (a *mcpClient) expects(line string, words ...string) {
	a.t.Helper()
	for _, word := range words {
		if !strings.Contains(line, word) {
			a.t.Errorf("the agent heard\n%s\nwithout %s", line, word)
		}
	}
}

const delegatedCall = `{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{"name":"tasks_delegate",` +
	`"arguments":{"prompt":"Pay."},"_meta":{"progressToken":"p"}}}`

// Each action of an agent on a provider reaches its client as progress, and a failure names the provider.
func TestProgressOfADelegatedAgent(t *testing.T) {
	e := newErrands(t)
	e.start()
	close(e.letGo)
	a := e.agent(nobodyStarts)
	a.say(delegatedCall)
	answer, before := a.hearsUntil(`"id":50`)
	a.expects(before, `"method":"notifications/progress"`, `"progressToken":"p"`, "shop__pay: started",
		"shop__pay in tab 7: done")
	a.expects(answer, "It is paid.", "shop__pay")
}

func TestAFailureNamesItsProvider(t *testing.T) {
	e := newErrands(t)
	e.start()
	e.model.Close()
	a := e.agent(nobodyStarts)
	a.call(51, "tasks_delegate", `{"prompt":"Pay."}`)
	answer, _ := a.hearsUntil(`"id":51`)
	a.expects(answer, `"isError":true`, `\"providerId\": \"local\"`)
}

// A cancelled prompt answers with what was done, and the request to the model ends. The person sees the session, and
// stops it.
func TestAPromptIsCancelledOverMCP(t *testing.T) {
	e := newErrands(t)
	e.start()
	a := e.agent(nobodyStarts)
	id := a.opens()
	a.say(`{"jsonrpc":"2.0","id":60,"method":"tools/call","params":{"name":"sessions_prompt","arguments":` +
		`{"sessionId":"` + id + `","prompt":"Pay."},"_meta":{"progressToken":"q"}}}`)
	a.hearsUntil("shop__pay in tab 7: done")
	a.call(61, "sessions_cancel", `{"sessionId":"`+id+`"}`)
	answer, _ := a.hearsUntil(`"id":60`)
	a.expects(answer, `"stopReason":"cancelled"`, `"toolCalls":[{`, `"outcome":{"executed":[{`)

	status, text := e.person(t, http.MethodGet, "/api/v1/agents/sessions", "")
	var list delegation.OpenSessions
	if err := json.Unmarshal([]byte(text), &list); err != nil || status != http.StatusOK || len(list.Sessions) != 1 ||
		list.Sessions[0].ID != id || list.Sessions[0].Agent != "assistant" || list.Sessions[0].Client != "ann" {
		t.Errorf("%d %s %v", status, text, err)
	}
	stop := "/api/v1/agents/sessions/" + id + "/stop"
	if status, text := e.person(t, http.MethodPost, stop, ""); status != http.StatusOK || !strings.Contains(text, id) {
		t.Errorf("stop answered %d %s", status, text)
	}
	if status, _ := e.person(t, http.MethodPost, stop, ""); status != http.StatusNotFound {
		t.Errorf("a second stop answered %d", status)
	}
}

// stopOnly stops the only session there is, as the person.
func (e *errands) stopOnly(t *testing.T) {
	t.Helper()
	_, text := e.person(t, http.MethodGet, "/api/v1/agents/sessions", "")
	var list delegation.OpenSessions
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Sessions) != 1 {
		t.Fatal(text, err)
	}
	stop := "/api/v1/agents/sessions/" + list.Sessions[0].ID + "/stop"
	if status, text := e.person(t, http.MethodPost, stop, ""); status != http.StatusOK {
		t.Errorf("stop answered %d %s", status, text)
	}
}

// opens opens a session with the agent.
func (a *mcpClient) opens() (id string) {
	a.t.Helper()
	a.call(40, "sessions_create", `{}`)
	answer, _ := a.hearsUntil(`"id":40`)
	_, rest, found := strings.Cut(answer, `"structuredContent":{"sessionId":"`)
	if !found {
		a.t.Fatalf("sessions_create answered %s", answer)
	}
	return rest[:32]
}

// A new provider waits for the person; what is taken away ends its sessions, and takes the tools with it.
func TestAgentsChangeWhileSessionsAreOpen(t *testing.T) {
	t.Setenv("TABRELAY_REVIEW_REQUIRED", "false")
	e := newErrands(t)
	local := `"local":{"baseUrl":"` + e.model.URL + `","models":["` + providertest.Model + `"]}`
	write := func(r *Relay, text string) {
		t.Helper()
		if err := os.WriteFile(e.home.Config(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, failure := r.catalog.Reload(); failure != nil {
			t.Fatal(failure)
		}
	}
	r, _ := e.start()
	write(r, `{"providers":{`+local+`}}`)
	a := e.agent(nobodyStarts)
	a.opens()
	write(r, `{"providers":{`+local+`,"other":{"baseUrl":"http://127.0.0.1:9/v1","models":["m"]}}}`)
	if s := r.api.Status(t.Context()); !strings.Contains(s.Unapplied, "providers.other") {
		t.Errorf("a new provider does not wait: %q", s.Unapplied)
	}
	if _, listed := r.tools.Snapshot().Find("tasks_delegate"); !listed || len(delegationOf(r).List()) != 1 {
		t.Errorf("what waits has changed something: listed %v, sessions %v", listed, delegationOf(r).List())
	}
	kept := `"delegation":{"idleMs":60000}`
	write(r, `{"providers":{`+local+`},`+kept+`}`)
	if len(delegationOf(r).List()) != 1 {
		t.Errorf("a setting that is not the agent's closed its session: %v", delegationOf(r).List())
	}
	write(r, `{"providers":{`+local+`},"agents":{"assistant":{"providers":["local"],"readOnly":true}},`+kept+`}`)
	if len(delegationOf(r).List()) != 0 || len(delegationOf(r).Members()) != 1 {
		t.Errorf("the session of a changed agent stays: %v, %v", delegationOf(r).List(), delegationOf(r).Members())
	}
	id := a.opens()
	write(r, `{}`)
	a.call(70, "sessions_prompt", `{"sessionId":"`+id+`","prompt":"x"}`)
	answer, _ := a.hearsUntil(`"id":70`)
	a.expects(answer, `"error"`)
	if len(delegationOf(r).List()) != 0 || len(delegationOf(r).Members()) != 0 {
		t.Errorf("sessions %d, agents %d", len(delegationOf(r).List()), len(delegationOf(r).Members()))
	}
}

// However an errand in its asker's tab ends, the tab is the asker's again, and the agent's only until then.
func TestAnErrandInTheTabOfItsAsker(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		arguments string
		meanwhile func(e *errands, a *mcpClient)
		want      string
	}{
		"answered": {`{"prompt":"Pay.","metadata":{"tabs":[7]}}`, func(e *errands, _ *mcpClient) { close(e.letGo) },
			"It is paid."},
		"late": {`{"prompt":"Pay.","timeout":1500,"metadata":{"tabs":[7]}}`, func(*errands, *mcpClient) {},
			"TIMEOUT"},
		"stopped": {`{"prompt":"Pay.","metadata":{"tabs":[7]}}`, func(e *errands, _ *mcpClient) { e.stopOnly(t) },
			`"id":71`},
		"its program dies": {`{"prompt":"die","agentId":"tester","metadata":{"tabs":[7]}}`, nil, `"isError":true`},
	} {
		t.Run(name, func(t *testing.T) {
			e := newErrands(t)
			e.alsoHas = map[string]agentconfig.Worker{"tester": {Command: binary, Protocol: "acp",
				Env: map[string]string{"RELAY_TEST_WORKER": "http"}}}
			r, _ := e.start()
			a := e.agent(nobodyStarts)
			owner := func() string {
				for _, tab := range r.hub.Tabs() {
					if tab.ID == 7 && tab.Owner != nil {
						return tab.Owner.Name
					}
				}
				return ""
			}
			a.call(70, "shop__pay", `{"tabId":7}`)
			a.hearsUntil(`"id":70`)
			if got := owner(); got != "ann" {
				t.Fatalf("the tab is %q's", got)
			}
			a.say(`{"jsonrpc":"2.0","id":71,"method":"tools/call","params":{"name":"tasks_delegate","arguments":` +
				c.arguments + `,"_meta":{"progressToken":"p"}}}`)
			if c.meanwhile != nil {
				a.hearsUntil("shop__pay in tab 7: done")
				if got := owner(); got != "assistant for ann" {
					t.Errorf("during the errand the tab is %q's", got)
				}
				a.call(72, "shop__pay", `{"tabId":7}`)
				refused, _ := a.hearsUntil(`"id":72`)
				a.expects(refused, "TAB_OWNED")
				c.meanwhile(e, a)
			}
			answer, _ := a.hearsUntil(`"id":71`)
			a.expects(answer, c.want)
			a.call(73, "shop__pay", `{"tabId":7}`)
			paid, _ := a.hearsUntil(`"id":73`)
			a.expects(paid, `{\"paid\":true}`)
			if got := owner(); got != "ann" {
				t.Errorf("afterwards the tab is %q's", got)
			}
		})
	}
}

// A model with a context of 8k does an errand over many long pages: no request of it is longer, and the first is short.
// The wire counts, and refuses what is too long, as such a model's server does.
func TestAModelWithASmallContext(t *testing.T) {
	const window, pages = 8_000, 12
	e := newErrands(t)
	var mu sync.Mutex
	var sizes []int
	e.model = providertest.NewFunc(t, provider.OpenAI, func(r providertest.Request) providertest.Step {
		mu.Lock()
		defer mu.Unlock()
		size := registry.Tokens(string(r.Body))
		if sizes = append(sizes, size); size > window {
			return providertest.Step{Status: http.StatusBadRequest}
		}
		if r.Number == pages {
			return providertest.Step{Text: "I read them."}
		}
		return providertest.Step{Calls: []provider.ToolCall{{ID: strconv.Itoa(r.Number), Name: "shop__read",
			Arguments: json.RawMessage(`{}`)}}}
	})
	e.relayAs(func(c *config.Config) {
		agentconfig.Section.Change(c, func(s *agentconfig.Settings) {
			s.Providers = map[string]agentconfig.Provider{
				"local": {Kind: string(provider.OpenAI), BaseURL: e.model.URL, Models: []string{providertest.Model}}}
			s.Limits.HistoryTokens = 6_000
		})
	})
	e.browser(func(c *hubtest.Call) {
		c.Started()
		c.Return(json.RawMessage(`"` + strings.Repeat("The shop sells tea and bread. ", 1_000) + `"`))
	})
	a := e.agent(nobodyStarts)
	a.call(80, "tasks_delegate", `{"prompt":"Read what the shop sells, page by page."}`)
	answer, _ := a.hearsUntil(`"id":80`)
	a.expects(answer, "I read them.", `"success":true`)
	mu.Lock()
	defer mu.Unlock()
	if len(sizes) != pages+1 || sizes[0] > 4_000 || slices.Max(sizes) > window {
		t.Errorf("the requests have %d tokens", sizes)
	}
}

// An agent asks whoever delegated: on models or a program, through a client that has forms or one that has none and
// answers with the next prompt.
func TestAnAgentAsksItsCaller(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := newErrands(t)
	e.model = providertest.NewFunc(t, provider.OpenAI, func(r providertest.Request) providertest.Step {
		switch last := r.Last(); {
		case len(last.Results) > 0:
			return providertest.Step{Text: "answered " + last.Results[0].Text}
		case last.Text == "blue":
			return providertest.Step{Text: "It is painted blue."}
		}
		return providertest.Step{Calls: []provider.ToolCall{{ID: "1", Name: "ask_caller",
			Arguments: json.RawMessage(`{"message":"Which colour?"}`)}}}
	})
	e.alsoHas = map[string]agentconfig.Worker{"tester": {Command: binary, Protocol: "acp",
		Env: map[string]string{"RELAY_TEST_WORKER": "http"}}}
	e.start()
	for i, agent := range []string{"assistant", "tester"} {
		t.Run(agent, func(t *testing.T) {
			a := e.agent(nobodyStarts)
			a.call(60, "tasks_delegate", `{"prompt":"ask","agentId":"`+agent+`"}`)
			answer, _ := a.hearsUntil(`"id":60`)
			a.expects(answer, `"success":false`, `"stopReason":"needs_input"`,
				`"needsInput":{"message":"Which colour?"`)
			_, rest, found := strings.Cut(answer, `"structuredContent":{"success":false,"sessionId":"`)
			if !found {
				t.Fatal(answer)
			}
			a.call(61, "sessions_prompt", `{"sessionId":"`+rest[:32]+`","prompt":"blue"}`)
			answer, _ = a.hearsUntil(`"id":61`)
			a.expects(answer, "It is painted blue.", `"stopReason":"end_turn"`)
			a.call(63, "sessions_close", `{"sessionId":"`+rest[:32]+`"}`)
			answer, _ = a.hearsUntil(`"id":63`)
			a.expects(answer, `"closed":true`)
		})
		t.Run(agent+" by a form", func(t *testing.T) {
			a := e.agentThatCan(nobodyStarts, &join.Proxy{Client: "ann"}, `{"elicitation":{}}`)
			a.call(62, "tasks_delegate", `{"prompt":"ask","agentId":"`+agent+`"}`)
			question, _ := a.hearsUntil("elicitation/create")
			a.expects(question, "The delegated agent "+agent+" asks: Which colour?")
			var asked struct{ ID json.RawMessage }
			if err := json.Unmarshal([]byte(question), &asked); err != nil {
				t.Fatal(err)
			}
			a.say(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":{"action":"accept","content":{"` +
				[]string{"answer", "colour"}[i] + `":"blue"}}}`)
			answer, _ := a.hearsUntil(`"id":62`)
			a.expects(answer, `"success":true`, "answered ", "accept", "blue")
		})
	}
}

// TestPicturesOfAnErrand: over MCP, a picture that a client passes reaches the model or the program behind the errand,
// and a picture of the program is image content of the answer.
func TestPicturesOfAnErrand(t *testing.T) {
	const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
	const block = `{"type":"image","mimeType":"image/png","data":"` + dot + `"}`
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := newErrands(t)
	e.model = providertest.NewFunc(t, provider.Gemini, func(r providertest.Request) providertest.Step {
		return providertest.Step{Text: "drawn: ", Images: r.Last().Images}
	})
	e.alsoHas = map[string]agentconfig.Worker{"tester": {Command: binary, Protocol: "acp",
		Env: map[string]string{"RELAY_TEST_WORKER": "http"}}}
	e.start()
	a := e.agent(nobodyStarts)
	a.call(70, "tasks_delegate", `{"prompt":"draw","agentId":"assistant","images":[`+block+`]}`)
	answer, _ := a.hearsUntil(`"id":70`)
	a.expects(answer, `"success":true`, `"text":"drawn: [picture 1]"`,
		`{"data":"`+dot+`","mimeType":"image/png","type":"image"}`)
	a.call(71, "tasks_delegate", `{"prompt":"draw","agentId":"tester","images":[`+block+`]}`)
	answer, _ = a.hearsUntil(`"id":71`)
	a.expects(answer, `"isError":true`, "The worker tester takes no pictures", "Leave images out")
	a.call(72, "tasks_delegate", `{"prompt":"draw","images":[{"mimeType":"image/png","data":"PHN2Zy8+"}]}`)
	answer, _ = a.hearsUntil(`"id":72`)
	a.expects(answer, `"isError":true`, "images[0] cannot be passed on: its data is no picture of the type image/png")
}
