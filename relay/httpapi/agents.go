package httpapi

import (
	"net/http"
	"time"

	"tabrelay/relay/agent"
	"tabrelay/relay/fault"
)

// Agents is the answer of GET /api/v1/agents.
type Agents struct {
	Agents   []AgentView            `json:"agents"`
	Sessions int                    `json:"sessions"` // that are open
	Capacity int                    `json:"capacity"`
	SpentUSD float64                `json:"spentUsd"` // today, by all of them
	MostUSD  float64                `json:"mostUsd"`  // 0: no bound
	Spent    map[string]agent.Spent `json:"spent"`    // by each of them, since the relay started
}

// AgentView is one delegated agent as a person sees it.
type AgentView struct {
	agent.Info
	Default bool   `json:"default"`
	Program string `json:"program,omitempty"` // what runs, of one that is a program
}

func (a *API) showAgents(_ http.ResponseWriter, _ *http.Request) (any, *refusal) {
	answer := Agents{Agents: []AgentView{}, Spent: map[string]agent.Spent{}}
	answer.Sessions, answer.Capacity = a.Delegation.Load()
	standard := a.Delegation.Default()
	programs := map[string]string{}
	for _, m := range a.Delegation.Members() {
		programs[m.Agent.Info().ID] = m.Program
	}
	for _, one := range a.Delegation.Agents() {
		answer.Agents = append(answer.Agents, AgentView{one, one.ID == standard, programs[one.ID]})
	}
	if costs := a.Delegation.Costs(); costs != nil {
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
func (a *API) testAgent(_ http.ResponseWriter, req *http.Request) (any, *refusal) {
	id, began := req.PathValue("id"), time.Now()
	asked := agent.Asked{Asker: Sender(req.Context()), AgentID: id,
		Metadata: agent.Metadata{ReadOnly: true, Tools: []string{"bridge_health"}}}
	reply, failure := a.Delegation.Delegate(req.Context(), asked, agent.Errand{Text: testPrompt})
	if failure != nil {
		return nil, refuse(statusOfAgent(failure), failure)
	}
	answer := AgentTest{Text: reply.Text, StopReason: reply.StopReason, Ms: time.Since(began).Milliseconds()}
	if u := reply.Usage; u != nil {
		answer.InputTokens, answer.OutputTokens = u.InputTokens, u.OutputTokens
	}
	for _, one := range a.Delegation.Agents() {
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
	if f.Code == fault.AgentNotFound {
		return http.StatusNotFound
	}
	return http.StatusConflict
}

// AgentSessions is the answer of GET /api/v1/agents/sessions.
type AgentSessions struct {
	Sessions []AgentSession `json:"sessions"`
}

// AgentSession is one session with a delegated agent as a person sees it.
type AgentSession struct {
	ID      string      `json:"id"`
	Agent   string      `json:"agent"`
	Client  string      `json:"client"`
	Color   string      `json:"color"` // of the groups of its tabs
	State   agent.State `json:"state"`
	Created time.Time   `json:"created"`
	Last    time.Time   `json:"last"`
	Doing   agent.Doing `json:"doing"`
	Spent   agent.Spent `json:"spent"`
}

func (a *API) showAgentSessions(_ http.ResponseWriter, _ *http.Request) (any, *refusal) {
	answer := AgentSessions{Sessions: []AgentSession{}}
	for _, v := range a.Delegation.List() {
		answer.Sessions = append(answer.Sessions, AgentSession{
			ID: v.ID, Agent: v.AgentID, Client: v.Asker.Client, Color: v.Color, State: v.State,
			Created: v.Created.UTC(), Last: v.Last.UTC(), Doing: v.Doing, Spent: v.Spent,
		})
	}
	return answer, nil
}

// stopAgentSession ends a session for the person, and what its agent does.
func (a *API) stopAgentSession(_ http.ResponseWriter, req *http.Request) (any, *refusal) {
	id := req.PathValue("id")
	if !a.Delegation.Stop(id) {
		return nil, refuse(http.StatusNotFound, fault.New(fault.SessionNotFound,
			"Session not found: "+fault.Excerpt(id),
			fault.WithHint("GET /api/v1/agents/sessions lists the sessions.")))
	}
	return map[string]string{"stopped": id}, nil
}
