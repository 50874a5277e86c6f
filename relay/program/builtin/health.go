package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/lib/called"
	"tabrelay/relay/lib/match"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/road/schedule"
)

// The states of a relay that runs. In the third one, minimal, there is none: `tabrelay mcp` answers alone: see
// relay/agent/join.
const (
	stateFull     = "full"
	stateDegraded = "degraded" // no browser: tools are listed, and those of pages fail at once
)

func (s *Sources) healthTool() registry.Tool {
	return registry.Tool{
		Name: "bridge_health", Unqueued: true, AgenticText: (*fault.Error).AgenticText, Compact: true,
		Spec: plugin.Tool{
			Name: "bridge_health", DisplayName: "Bridge health",
			Description: "Whether the relay and its link to the browser work, and if not, what to do. details adds " +
				"browsers, tabs, queues.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"details":{"type":"boolean"}},` +
				`"additionalProperties":false}`),
			OutputSchema: json.RawMessage(healthSchema),
			Annotations:  plugin.Annotations{ReadOnlyHint: &yes, IdempotentHint: &yes, OpenWorldHint: &no},
		},
		Run: answering(s.health),
	}
}

// AgentHealth is how the agents are that act for clients.
type AgentHealth struct {
	Total, Ready     int    // agents, and those of them that can take an errand
	Active, Capacity int    // sessions with them, and how many there may be
	Trouble, Next    string // what some of them lack, and what to do; empty: nothing
}

// With adds other agents.
func (a AgentHealth) With(b AgentHealth) AgentHealth {
	return AgentHealth{a.Total + b.Total, a.Ready + b.Ready, a.Active + b.Active, a.Capacity + b.Capacity,
		strings.TrimSpace(a.Trouble + " " + b.Trouble), cmp.Or(a.Next, b.Next)}
}

func (a AgentHealth) agentCount() agentCount { return agentCount{a.Total, a.Ready, a.Trouble, a.Next} }

// summary is what bridge_health always answers, and all that it answers when all is well: agents ask often. healthy,
// agents, sessions and uptime are what clients of mcp-agentic read.
type summary struct {
	Healthy  bool         `json:"healthy"`
	State    string       `json:"state"`
	Agents   agentCount   `json:"agents"`
	Sessions sessionCount `json:"sessions"`
	Uptime   int64        `json:"uptime"` // milliseconds
}

// symptoms is the summary with whatever is not well now.
type symptoms struct {
	summary
	Trouble   string                  `json:"trouble,omitempty"` // why no browser is connected
	Next      string                  `json:"next,omitempty"`
	LastFatal *event.Notice           `json:"lastFatal,omitempty"`
	Refused   *catalog.Refusal        `json:"refused,omitempty"`
	Problems  []registry.Problem      `json:"problems,omitempty"`
	Breakers  []dispatch.BreakerState `json:"breakers,omitempty"`
	Queue     *schedule.Load          `json:"queue,omitempty"`
}

// health is what bridge_health answers when it is asked for details.
type health struct {
	summary
	Version   string          `json:"version"`
	Extension extensionHealth `json:"extension"`
	Browsers  []browserHealth `json:"browsers"`
	Tabs      tabCount        `json:"tabs"`
	Owners    []tabOwner      `json:"owners"` // of tabs that an agent works in

	Queue      schedule.Load           `json:"queue"`
	Breakers   []dispatch.BreakerState `json:"breakers"`
	Corruption map[string]int          `json:"corruption"` // messages that could not be used, by peer

	LastFatal *event.Notice      `json:"lastFatal"`
	Trouble   string             `json:"trouble,omitempty"` // why no browser is connected
	Next      string             `json:"next,omitempty"`
	Refused   *catalog.Refusal   `json:"refused,omitempty"`
	Problems  []registry.Problem `json:"problems"`
}

type (
	agentCount struct {
		Total   int    `json:"total"`
		Ready   int    `json:"ready"`
		Trouble string `json:"trouble,omitempty"` // what is missing for some of them
		Next    string `json:"next,omitempty"`
	}
	sessionCount struct {
		Active   int `json:"active"`
		Capacity int `json:"capacity"`
	}
	extensionHealth struct {
		Connected bool     `json:"connected"`
		Version   string   `json:"version,omitempty"`
		Browsers  []string `json:"browsers"` // labels of the profiles
	}
	browserHealth struct {
		Label     string    `json:"label"`
		Connected bool      `json:"connected"`
		Since     time.Time `json:"since"` // of the connection, or of its end
		Tabs      int       `json:"tabs"`
		Calls     int       `json:"calls"` // in flight
	}
	tabCount struct {
		Total int `json:"total"`
		Ready int `json:"ready"` // those of a page that some plugin works on, and that is loaded
	}
	tabOwner struct {
		TabID   int       `json:"tabId"`
		Profile string    `json:"profile"`
		Owner   string    `json:"owner"`
		Since   time.Time `json:"since"`
	}
)

// healthSchema is the output schema of bridge_health. Members may be added, so it does not close its objects. It
// requires none: failures of it are JSON, too, which Gemini CLI holds against the schema.
const healthSchema = `{"type":"object","properties":{` +
	`"healthy":{"type":"boolean"},"state":{"enum":["full","degraded"]},"agents":{"type":"object"},` +
	`"sessions":{"type":"object"},"uptime":{"type":"integer"}}}`

// healthWish is the arguments of bridge_health.
type healthWish struct {
	Details bool `json:"details"`
}

func (s *Sources) health(_ context.Context, _ call.Call, wish healthWish) (any, *fault.Error) {
	h := s.diagnosis()
	if wish.Details {
		return h, nil
	}
	return h.symptoms(), nil
}

// symptoms leaves out what is well, and what was wrong and is over.
func (h *health) symptoms() symptoms {
	s := symptoms{summary: h.summary, Trouble: h.Trouble, Next: h.Next, Refused: h.Refused, Problems: h.Problems}
	if h.State != stateFull {
		s.LastFatal = h.LastFatal
	}
	for _, b := range h.Breakers {
		if b.State != "closed" {
			s.Breakers = append(s.Breakers, b)
		}
	}
	if h.Queue.Waiting > 0 {
		s.Queue = &h.Queue
	}
	return s
}

// diagnosis is everything that is known.
func (s *Sources) diagnosis() health {
	h := health{
		summary: summary{State: State(s.Hub), Uptime: time.Since(s.Began).Milliseconds()}, Version: s.Version,
		Extension: extensionHealth{Browsers: []string{}}, Browsers: []browserHealth{}, Tabs: s.countTabs(),
		Queue: s.Calls.Load(), Breakers: s.Calls.Breakers(), Corruption: s.Meter.Corruptions(),
		Refused: s.Catalog.Refused(),
	}
	h.Queue.Tabs = append(h.Queue.Tabs[:0:0], h.Queue.Tabs...)
	for _, b := range s.Hub.Browsers() {
		h.Browsers = append(h.Browsers, browserHealth{Label: b.Label, Connected: b.Connected, Since: b.Since,
			Tabs: b.Tabs, Calls: b.Calls})
		if b.Connected {
			h.Extension.Connected, h.Extension.Version = true, b.Extension
			h.Extension.Browsers = append(h.Extension.Browsers, b.Label)
		}
	}
	a := s.Agents()
	h.Agents, h.Sessions = a.agentCount(), sessionCount{a.Active, a.Capacity}
	h.Healthy = h.Extension.Connected || h.Agents.Ready > 0
	if trouble := s.Hub.Trouble(); trouble != nil {
		h.Trouble, h.Next = trouble.Message, trouble.Hint
	}
	h.Owners = []tabOwner{}
	for _, t := range s.Hub.Tabs() {
		if t.Owner != nil {
			h.Owners = append(h.Owners, tabOwner{TabID: t.ID, Profile: t.Profile, Owner: t.Owner.Name,
				Since: t.Owner.Since})
		}
	}
	for _, n := range s.Notices.All() {
		if n.Kind == string(hub.Refused) {
			h.LastFatal = &n
		}
	}
	h.Problems = s.Catalog.PublicProblems() // whoever asks reads the same
	if s.Unwritable() {
		h.Problems = append(h.Problems, registry.Problem{Reason: called.In("The relay cannot write its database, so " +
			"calls that may change something are refused; ask the person to look at `tabrelay doctor`")})
	}
	return h
}

// State is full, or degraded while no browser is connected.
func State(h *hub.Hub) string {
	if len(connected(h)) > 0 {
		return stateFull
	}
	return stateDegraded
}

// countTabs counts the open tabs, and those in which a tool could run now.
func (s *Sources) countTabs() (n tabCount) {
	sites := s.Tools.Snapshot().Sites
	for _, t := range s.Hub.Tabs() {
		n.Total++
		u, err := url.Parse(t.URL)
		if err == nil && !t.Discarded && slices.ContainsFunc(sites, func(site *registry.Site) bool {
			return covers(site.Matches, u) && !covers(site.Excludes, u)
		}) {
			n.Ready++
		}
	}
	return n
}

// covers reports whether one of the match patterns matches a page.
func covers(patterns []string, u *url.URL) bool {
	return slices.ContainsFunc(patterns, func(text string) bool {
		p, err := match.Parse(text)
		return err == nil && p.Matches(u)
	})
}

func (s *Sources) doctorTool() registry.Tool {
	return registry.Tool{
		Name: "relay__doctor", Unqueued: true,
		Spec: plugin.Tool{
			Name: "doctor", DisplayName: "Doctor",
			Description: "Looks for what is wrong with the relay, its browsers, plugins and clients. Each finding " +
				"has a cause and a next step, most of them for the person.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
			OutputSchema: json.RawMessage(
				`{"type":"object","required":["sound","findings"],"properties":{
				"sound":{"type":"boolean","description":"Nothing is a problem."},
				"findings":{"type":"array","items":{"type":"object","required":["id","severity","what"],
				"properties":{"id":{"type":"string"},"severity":{"enum":["ok","warning","problem"]},
				"what":{"type":"string"},"why":{"type":"string"},"next":{"type":"string"}}}}}}`),
			Annotations: plugin.Annotations{ReadOnlyHint: &yes, OpenWorldHint: &no},
		},
		Run: answering(s.examine),
	}
}

// Diagnosis is what the doctor found.
type Diagnosis struct {
	Sound    bool             `json:"sound"`
	Findings []doctor.Finding `json:"findings"`
}

func (s *Sources) examine(ctx context.Context, _ call.Call, _ struct{}) (Diagnosis, *fault.Error) {
	found := s.Findings(ctx)
	d := Diagnosis{Sound: doctor.Sound(found), Findings: []doctor.Finding{}}
	for _, f := range found {
		for _, text := range []*string{&f.What, &f.Why, &f.Next} {
			*text = fault.Plain(s.Catalog.Public(*text))
		}
		d.Findings = append(d.Findings, f)
	}
	return d, nil
}
