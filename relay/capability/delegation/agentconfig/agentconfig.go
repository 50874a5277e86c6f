// Package agentconfig is what a person configures of delegation: providers of models, agents on them, programs that are
// agents, and what holds for all.
package agentconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/state/config"
)

// Provider is one provider of AI models.
type Provider struct {
	Kind     string   // openai, anthropic or gemini: how it is spoken to; never empty once it was read
	BaseURL  string   // empty: the provider's own
	Models   []string // the first one is used where nobody says another
	APIKey   config.KeySource
	Defaults provider.Params  // under those of agent, session and prompt
	Pricing  map[string]Price // by model
	Images   bool             // all of its models see
}

// Price is what a model costs, in US dollars for a million tokens.
type Price struct {
	InputPerMillion  float64  `json:"inputPerMillion"`
	OutputPerMillion float64  `json:"outputPerMillion"`
	CachedPerMillion *float64 `json:"cachedPerMillion,omitempty"` // nil: as input
}

// Worker is a program that is an agent of its own.
type Worker struct {
	Command      string
	Args         []string
	Env          map[string]string           // besides a minimal environment
	Secrets      map[string]config.KeySource // variables that are read from where they are
	Dir          string                      // empty: the home folder of the relay
	Protocol     string                      // acp, stdiobus or auto
	Capabilities []string
	Timeout      time.Duration // of one prompt; 0: delegation.timeoutMs
}

// Agent is an agent on a model.
type Agent struct {
	Providers    []string // ids; empty: all
	Capabilities []string
	SystemPrompt string
	Defaults     provider.Params
	Tools        []string // names of tools and plugins that it may use at the most; empty: those of its caller
	ReadOnly     bool
	Budget       Budget // 0: that of Limits
}

// Budget is what one prompt may take.
type Budget struct {
	MaxTurns     int
	MaxToolCalls int
	MaxTokens    int
	MaxTime      time.Duration
}

// Limits are what holds for all agents.
type Limits struct {
	DefaultAgent     string // empty: the first one
	MaxSessions      int
	Idle             time.Duration // a session without a prompt ends after that
	TTL              time.Duration // and however it is used after that, unless it is busy
	MaxConcurrent    int           // prompts at once
	MaxPromptBytes   int
	MaxMetadataBytes int
	Timeout          time.Duration // of one prompt, where its caller does not say
	Budget           Budget
	CostPerDayUSD    float64 // 0: no bound
	HistoryTokens    int     // of the conversation that a model is sent
	KeepTranscripts  bool
	StreamText       bool // pieces of an answer are told as progress
	Fallback         bool // an errand whose provider cannot be used goes to the next one
}

// Settings are all that is configured.
type Settings struct {
	Providers map[string]Provider // of AI models, by id
	Workers   map[string]Worker   // programs that are agents, by id of the agent
	Agents    map[string]Agent    // on models, by id
	Limits    Limits
	order     map[string][]string // names as they stand in config.json, by what they are of
}

// check finds what no single setting can, and completes the kinds of providers.
func check(c *Settings, r config.Checker) {
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[name]
		if p.Kind = p.kindOf(name); p.Kind == "" {
			r.Broken("providers."+name, `has no kind; add "kind": "openai", "anthropic" or "gemini", or a "baseUrl"`)
		}
		c.Providers[name] = p
	}
	for _, name := range slices.Sorted(maps.Keys(c.Workers)) {
		if c.Workers[name].Command == "" {
			r.Broken("workers."+name, `has no "command"`)
		}
		if _, both := c.Agents[name]; both {
			r.Broken("workers."+name, "is also the name of an agent; rename one")
		}
	}
	c.order = map[string][]string{}
	for _, key := range []string{"providers", "agents", "workers"} {
		c.order[key] = r.Order(key)
	}
	known := c.ProviderIDs()
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		for _, id := range c.Agents[name].Providers {
			if !slices.Contains(known, id) {
				r.Broken("agents."+name+".providers", fmt.Sprintf("there is no provider %q%s", id,
					suggest.DidYouMean(id, known)))
			}
		}
	}
	if ids := c.AgentIDs(); c.Limits.DefaultAgent != "" && !slices.Contains(ids, c.Limits.DefaultAgent) {
		r.Broken("delegation.defaultAgent", fmt.Sprintf("there is no agent or worker %q%s", c.Limits.DefaultAgent,
			suggest.DidYouMean(c.Limits.DefaultAgent, ids)))
	}
}

// kindOf is how the provider of a name is spoken to; empty: that cannot be told.
func (p Provider) kindOf(name string) string {
	switch {
	case p.Kind != "":
		return p.Kind
	case slices.Contains(kinds, name):
		return name
	case name == "google-gemini":
		return "gemini"
	case p.BaseURL != "":
		return "openai"
	}
	return ""
}

// words say where a provider gets pages sent to, and with which key. They are compared, and a person reads them.
func (p Provider) words() string {
	said := p.Kind
	if p.BaseURL != "" {
		said += " at " + p.BaseURL
	}
	switch k := p.APIKey; {
	case k.Env != "":
		said += ", key from the variable " + k.Env
	case k.File != "":
		said += ", key from the file " + k.File
	case k.Keyring != "":
		said += ", key from the keyring " + k.Keyring
	}
	return said
}

// words say what runs. The values of variables are not for reading: a digest of them is there to be compared.
func (w Worker) words() string {
	said := strings.Join(append([]string{w.Command}, w.Args...), " ")
	if w.Dir != "" {
		said += " in " + w.Dir
	}
	for _, name := range slices.Sorted(maps.Keys(w.Env)) {
		digest := sha256.Sum256([]byte(w.Env[name]))
		said += " with " + name + "=#" + hex.EncodeToString(digest[:4])
	}
	for _, name := range slices.Sorted(maps.Keys(w.Secrets)) {
		said += " with " + name + " from " + w.Secrets[name].Place()
	}
	return said
}

// inOrder are the names of a section as they stand in config.json, then others by name.
func inOrder[T any](c *Settings, section string, all map[string]T) (ids []string) {
	for _, id := range c.order[section] {
		if _, there := all[id]; there && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// ProviderIDs are the ids of all providers, as they stand in config.json: the first one is used where nobody names one.
func (c *Settings) ProviderIDs() []string { return inOrder(c, "providers", c.Providers) }

// AgentIDs are the ids of all agents, in the order in which the first one is the default: agents, then workers.
func (c *Settings) AgentIDs() []string {
	ids := inOrder(c, "agents", c.Agents)
	if _, taken := c.Workers[AssistantAgent]; len(ids) == 0 && len(c.Providers) > 0 && !taken {
		ids = append(ids, AssistantAgent)
	}
	return append(ids, inOrder(c, "workers", c.Workers)...)
}
