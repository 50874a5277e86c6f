package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/suggest"
)

// Provider is one provider of AI models.
type Provider struct {
	Kind     string   // openai, anthropic or gemini: how it is spoken to; never empty once it was read
	BaseURL  string   // empty: the provider's own
	Models   []string // the first one is used where nobody says another
	APIKey   KeySource
	Defaults RuntimeParams    // under those of agent, session and prompt
	Pricing  map[string]Price // by model
	Images   bool             // all of its models see
}

// KeySource says where a provider's key is. At most one of them is set; none: the variables of its kind.
type KeySource struct {
	Env     string `json:"env,omitempty"`
	File    string `json:"file,omitempty"`
	Keyring string `json:"keyring,omitempty"` // service/user
}

// RuntimeParams are the parameters of requests to a model. Nil means not given. They are provider.Params, which this
// package does not know.
type RuntimeParams struct {
	Model            *string         `json:"model,omitempty"`
	Temperature      *float64        `json:"temperature,omitempty"`
	MaxTokens        *int            `json:"maxTokens,omitempty"`
	TopP             *float64        `json:"topP,omitempty"`
	TopK             *int            `json:"topK,omitempty"`
	StopSequences    []string        `json:"stopSequences,omitempty"`
	SystemPrompt     *string         `json:"systemPrompt,omitempty"`
	ProviderSpecific json.RawMessage `json:"providerSpecific,omitempty"`
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
	Env          map[string]string    // besides a minimal environment
	Secrets      map[string]KeySource // variables that are read from where they are
	Dir          string               // empty: the home folder of the relay
	Protocol     string               // acp, stdiobus or auto
	Capabilities []string
	Timeout      time.Duration // of one prompt; 0: delegation.timeoutMs
}

// Agent is an agent on a model.
type Agent struct {
	Providers    []string // ids; empty: all
	Capabilities []string
	SystemPrompt string
	Defaults     RuntimeParams
	Tools        []string // names of tools and plugins that it may use at the most; empty: those of its caller
	ReadOnly     bool
	Budget       Budget // 0: that of Delegation
}

// Budget is what one prompt may take.
type Budget struct {
	MaxTurns     int
	MaxToolCalls int
	MaxTokens    int
	MaxTime      time.Duration
}

// Delegation is what holds for all agents.
type Delegation struct {
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

// delegationRelations checks what no single setting of delegation can, and completes the kinds of providers.
func (r *reader) delegationRelations(c *Config) {
	broken := func(key, message string) {
		f, set := r.places[key]
		if !set {
			f = Fault{File: r.file, Key: key}
		}
		f.Key, f.Message = key, message
		r.faults = append(r.faults, f)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[name]
		if p.Kind = p.kindOf(name); p.Kind == "" {
			broken("providers."+name, `has no kind; add "kind": "openai", "anthropic" or "gemini", or a "baseUrl"`)
		}
		c.Providers[name] = p
	}
	for _, name := range slices.Sorted(maps.Keys(c.Workers)) {
		if c.Workers[name].Command == "" {
			broken("workers."+name, `has no "command"`)
		}
		if _, both := c.Agents[name]; both {
			broken("workers."+name, "is also the name of an agent; rename one")
		}
	}
	c.order = r.order
	known := c.ProviderIDs()
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		for _, id := range c.Agents[name].Providers {
			if !slices.Contains(known, id) {
				broken("agents."+name+".providers", fmt.Sprintf("there is no provider %q%s", id,
					suggest.DidYouMean(id, known)))
			}
		}
	}
	if ids := c.AgentIDs(); c.Delegation.DefaultAgent != "" && !slices.Contains(ids, c.Delegation.DefaultAgent) {
		broken("delegation.defaultAgent", fmt.Sprintf("there is no agent or worker %q%s", c.Delegation.DefaultAgent,
			suggest.DidYouMean(c.Delegation.DefaultAgent, ids)))
	}
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
		said += " with " + name + " from " + w.Secrets[name].place()
	}
	return said
}

// inOrder are the names of a section as they stand in config.json, then others by name.
func inOrder[T any](c *Config, section string, all map[string]T) (ids []string) {
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
func (c *Config) ProviderIDs() []string { return inOrder(c, "providers", c.Providers) }

// AgentIDs are the ids of all agents, in the order in which the first one is the default: agents, then workers.
func (c *Config) AgentIDs() []string {
	ids := inOrder(c, "agents", c.Agents)
	if _, taken := c.Workers[AssistantAgent]; len(ids) == 0 && len(c.Providers) > 0 && !taken {
		ids = append(ids, AssistantAgent)
	}
	return append(ids, inOrder(c, "workers", c.Workers)...)
}
