package delegation

//go:generate go test -run TestPanelKnowsTheAnswers -update .

import (
	"net/http"
	"time"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/fault"
)

// routes are what is served of delegation over HTTP.
func (d *Delegation) routes() []httpapi.Route {
	return []httpapi.Route{
		{Pattern: "GET /api/v1/agents", Access: httpapi.Person, Handler: httpapi.Answers(d.showAgents)},
		{Pattern: "POST /api/v1/agents/{id}/test", Access: httpapi.Person, Handler: httpapi.Answers(d.testAgent)},
		{Pattern: "GET /api/v1/agents/sessions", Access: httpapi.Person, Handler: httpapi.Answers(d.showSessions)},
		{Pattern: "POST /api/v1/agents/sessions/{id}/stop", Access: httpapi.Person,
			Handler: httpapi.Answers(d.stopSession)},
	}
}

// Configured is the answer of GET /api/v1/agents.
type Configured struct {
	Agents   []AgentView      `json:"agents"`
	Sessions int              `json:"sessions"` // that are open
	Capacity int              `json:"capacity"`
	SpentUSD float64          `json:"spentUsd"` // today, by all of them
	MostUSD  float64          `json:"mostUsd"`  // 0: no bound
	Spent    map[string]Spent `json:"spent"`    // by each of them, since the relay started
}

// AgentView is one agent as a person sees it.
type AgentView struct {
	Info
	Default bool   `json:"default"`
	Program string `json:"program,omitempty"` // what runs, of one that is a program
}

func (d *Delegation) showAgents(_ http.ResponseWriter, _ *http.Request) (any, *httpapi.Refusal) {
	answer := Configured{Agents: []AgentView{}, Spent: map[string]Spent{}}
	answer.Sessions, answer.Capacity = d.Load()
	standard := d.Default()
	programs := map[string]string{}
	for _, m := range d.Members() {
		programs[m.Agent.Info().ID] = m.Program
	}
	for _, one := range d.Agents() {
		answer.Agents = append(answer.Agents, AgentView{one, one.ID == standard, programs[one.ID]})
	}
	if costs := d.Costs(); costs != nil {
		answer.SpentUSD, answer.MostUSD = costs.Today()
		answer.Spent = costs.ByAgent()
	}
	return answer, nil
}

// AgentTest is the answer of POST /api/v1/agents/{id}/test.
type AgentTest struct {
	Text         string `json:"text"`
	StopReason   string `json:"stopReason"`
	Provider     string `json:"provider,omitempty"`
	Model        string `json:"model,omitempty"`
	Ms           int64  `json:"ms"`
	InputTokens  int    `json:"inputTokens"`
	OutputTokens int    `json:"outputTokens"`
}

// testPrompt is short, and can be answered without a tool.
const testPrompt = "This is a test of whether you can be reached. Call no tool. Answer with the word: ready"

// testAgent asks an agent something tiny, for the person. Whatever it wants to call, it reads whether the relay works.
func (d *Delegation) testAgent(_ http.ResponseWriter, req *http.Request) (any, *httpapi.Refusal) {
	id, began := req.PathValue("id"), time.Now()
	asked := Asked{Asker: httpapi.Sender(req.Context()), AgentID: id,
		Metadata: Metadata{ReadOnly: true, Tools: []string{"bridge_health"}}}
	reply, failure := d.Delegate(req.Context(), asked, Errand{Text: testPrompt})
	if failure != nil {
		return nil, httpapi.NewRefusal(statusOfAgent(failure), failure)
	}
	if reply.Needs != nil { // nobody will answer
		d.Sessions.Close(asked.Asker, reply.SessionID, Closed)
	}
	answer := AgentTest{Text: reply.Text, StopReason: reply.StopReason, Ms: time.Since(began).Milliseconds()}
	if u := reply.Usage; u != nil {
		answer.InputTokens, answer.OutputTokens = u.InputTokens, u.OutputTokens
	}
	for _, one := range d.Agents() {
		if one.ID != id || len(one.Providers) == 0 {
			continue
		}
		p := one.Providers[0]
		if answer.Provider = p.ID; len(p.Models) > 0 {
			answer.Model = p.Models[0]
		}
	}
	return answer, nil
}

func statusOfAgent(f *fault.Error) int {
	if f.Code == codes.AgentNotFound {
		return http.StatusNotFound
	}
	return http.StatusConflict
}

// OpenSessions is the answer of GET /api/v1/agents/sessions.
type OpenSessions struct {
	Sessions []OpenSession `json:"sessions"`
}

// OpenSession is one session with an agent as a person sees it.
type OpenSession struct {
	ID      string    `json:"id"`
	Agent   string    `json:"agent"`
	Client  string    `json:"client"`
	Color   string    `json:"color"` // of the groups of its tabs
	State   State     `json:"state"`
	Created time.Time `json:"created"`
	Last    time.Time `json:"last"`
	Doing   Doing     `json:"doing"`
	Spent   Spent     `json:"spent"`
}

func (d *Delegation) showSessions(_ http.ResponseWriter, _ *http.Request) (any, *httpapi.Refusal) {
	answer := OpenSessions{Sessions: []OpenSession{}}
	for _, v := range d.List() {
		answer.Sessions = append(answer.Sessions, OpenSession{
			ID: v.ID, Agent: v.AgentID, Client: v.Asker.Client, Color: v.Color, State: v.State,
			Created: v.Created.UTC(), Last: v.Last.UTC(), Doing: v.Doing, Spent: v.Spent,
		})
	}
	return answer, nil
}

// stopSession ends a session for the person, and what its agent does.
func (d *Delegation) stopSession(_ http.ResponseWriter, req *http.Request) (any, *httpapi.Refusal) {
	id := req.PathValue("id")
	if !d.Stop(id) {
		return nil, httpapi.NewRefusal(http.StatusNotFound, fault.New(codes.SessionNotFound,
			"Session not found: "+fault.Excerpt(id),
			fault.WithHint("GET /api/v1/agents/sessions lists the sessions.")))
	}
	return map[string]string{"stopped": id}, nil
}
