package agentconfig

import (
	"time"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/state/config"
)

// AssistantAgent is the agent there is when providers are configured, and no agents.
const AssistantAgent = "assistant"

var agentName = lazyregexp.New(`^[a-z0-9][a-z0-9._-]{0,63}$`)

var kinds = []string{"openai", "anthropic", "gemini"}

var providerSection = config.Named("providers of models", providerSettings, agentName, nil)

var workerSection = config.Named("programs", workerSettings, agentName, nil)

var agentSection = config.Named("agents", agentSettings, agentName, nil)

// providerSettings is the table of one provider: providers.<name>.<key>.
var providerSettings = []config.Setting[Provider]{
	config.Row("kind", config.Choice(append([]string{""}, kinds...)...), "", func(p *Provider) any { return &p.Kind },
		"How it is spoken to. Empty: what its name says (openai, anthropic, gemini, google-gemini), else \"openai\" "+
			"where a baseUrl is set: Ollama, vLLM, OpenRouter and many others understand that."),
	config.Row("baseUrl", config.Optional(httpURL), "", func(p *Provider) any { return &p.BaseURL },
		"Its address, for example http://127.0.0.1:11434/v1. Empty: the provider's own. One on this machine needs "+
			"no key."),
	config.Row("models", config.List(config.Text{}), []string{}, func(p *Provider) any { return &p.Models },
		"Names of models that may be asked for; the first one is used where nobody names another."),
	config.Row("apiKey", config.KeySourceKind, map[string]any{}, func(p *Provider) any { return &p.APIKey },
		"Where its key is, never the key itself: {\"env\": \"NAME\"}, {\"file\": \"/absolute/path\"} or "+
			"{\"keyring\": \"service/user\"}. Without it: OPENAI_API_KEY, ANTHROPIC_API_KEY, or GOOGLE_AI_API_KEY, "+
			"GEMINI_API_KEY, GOOGLE_API_KEY, by its kind."),
	config.Row("defaults", runtimeParams, map[string]any{}, func(p *Provider) any { return &p.Defaults },
		"Parameters of every request, under those of the agent, the session and the prompt."),
	config.Row("images", config.Boolean, false, func(p *Provider) any { return &p.Images },
		"All of its models see pictures. false: those do that are known to: Anthropic's, Gemini's, and gpt-4o, "+
			"gpt-4.1, gpt-5, o3 and o4-mini. Others get no pictures of tools, and refuse those of a client."),
	config.Row("pricing", prices, map[string]any{}, func(p *Provider) any { return &p.Pricing },
		"What its models cost, by model, in US dollars for a million tokens: {\"inputPerMillion\": 2.5, "+
			"\"outputPerMillion\": 10, \"cachedPerMillion\": 1.25}. Without it costs are not counted."),
}

// workerSettings is the table of one program: workers.<name>.<key>.
var workerSettings = []config.Setting[Worker]{
	config.Row("command", config.String(config.Text{}), "", func(w *Worker) any { return &w.Command },
		"The program: a path, or a name that is found in PATH."),
	config.Row("args", config.List(config.Text{}), []string{},
		func(w *Worker) any { return &w.Args }, "Its arguments."),
	config.Row("env", config.Variables, map[string]any{}, func(w *Worker) any { return &w.Env },
		"Variables of its environment, besides a minimal one. Their values are never shown."),
	config.Row("secrets", config.SecretVariables, map[string]any{}, func(w *Worker) any { return &w.Secrets },
		"Variables of its environment that are not written here: each is read from a file that only you may read, "+
			"from the keyring, or from the relay's environment."),
	config.Row("cwd", config.Optional(config.AbsolutePath), "", func(w *Worker) any { return &w.Dir },
		"The folder it runs in. Empty: a folder of its own in the home folder."),
	config.Row("protocol", config.Choice("acp", "stdiobus", "auto"), "auto", func(w *Worker) any { return &w.Protocol },
		"What it speaks on stdin and stdout: \"acp\" (Agent Client Protocol), \"stdiobus\" (session/new, "+
			"session/prompt, session/close, session/cancel as JSON-RPC lines) or \"auto\": acp, and stdiobus where "+
			"the program does not know initialize."),
	config.Row("capabilities", config.List(config.Text{}), []string{}, func(w *Worker) any { return &w.Capabilities },
		"What it can do, as agents_discover filters by it."),
	config.Row("timeoutMs", config.Millis(0, 10*time.Minute), 0, func(w *Worker) any { return &w.Timeout },
		"How long one prompt may take where its caller does not say. 0: delegation.timeoutMs."),
}

// agentSettings is the table of one agent: agents.<name>.<key>.
var agentSettings = append([]config.Setting[Agent]{
	config.Row("providers", config.List(config.Text{}), []string{}, func(a *Agent) any { return &a.Providers },
		"Providers it may use; the first one is used where a session names none. Empty: all of them."),
	config.Row("capabilities", config.List(config.Text{}), []string{}, func(a *Agent) any { return &a.Capabilities },
		"What it can do, as agents_discover filters by it."),
	config.Row("systemPrompt", config.String(config.Text{}), "", func(a *Agent) any { return &a.SystemPrompt },
		"What it is told before every conversation. Empty: what tabrelay says by itself."),
	config.Row("defaults", runtimeParams, map[string]any{}, func(a *Agent) any { return &a.Defaults },
		"Parameters of its requests, over those of the provider."),
	config.Row("tools", config.List(config.Text{}), []string{}, func(a *Agent) any { return &a.Tools },
		"Names of tools and plugins that it may use at the most. Empty: those that its caller may."),
	config.Row("readOnly", config.Boolean, false, func(a *Agent) any { return &a.ReadOnly },
		"Whether it may only use tools that read."),
}, budgetSettings("budget.", func(a *Agent) *Budget { return &a.Budget }, Budget{})...)

// budgetSettings are the keys of a budget. Where nothing is set, an agent has that of delegation.
func budgetSettings[T any](group string, of func(*T) *Budget, standard Budget) []config.Setting[T] {
	least, empty, unbound := int64(1), "", " 0: as maxTimeoutMs says."
	if standard == (Budget{}) {
		least, empty, unbound = 0, " 0: as delegation.budget says.", " 0: as delegation.budget says."
	}
	return []config.Setting[T]{
		config.Row(group+"maxTurns", config.Count(least, 1_000), standard.MaxTurns,
			func(t *T) any { return &of(t).MaxTurns },
			"How often a model is asked in one prompt."+empty),
		config.Row(group+"maxToolCalls", config.Count(least, 10_000), standard.MaxToolCalls,
			func(t *T) any { return &of(t).MaxToolCalls }, "How many tools it calls in one prompt."+empty),
		config.Row(group+"maxTokens", config.Count(least, 100_000_000), standard.MaxTokens,
			func(t *T) any { return &of(t).MaxTokens },
			"How many tokens one prompt takes, those it reads and those it writes."+empty),
		config.Row(group+"maxMs", config.Millis(0, 10*time.Minute), standard.MaxTime.Milliseconds(),
			func(t *T) any { return &of(t).MaxTime },
			"How long one prompt may take, whatever its caller says."+unbound),
	}
}

// rows are the settings.
var rows = append([]config.Setting[Settings]{
	config.Row("providers", providerSection, map[string]any{}, func(c *Settings) any { return &c.Providers },
		"Providers of AI models that delegated agents think with, by name. See docs/delegation.md."),
	config.Row("workers", workerSection, map[string]any{}, func(c *Settings) any { return &c.Workers },
		"Programs that are delegated agents themselves, by name: Claude Code and others that speak the Agent Client "+
			"Protocol. See docs/delegation.md."),
	config.Row("agents", agentSection, map[string]any{}, func(c *Settings) any { return &c.Agents },
		"Delegated agents on models, by name. With providers and without agents there is one, "+AssistantAgent+
			", which may use all of them."),
	config.Row("delegation.defaultAgent", config.String(config.Text{}), "",
		func(c *Settings) any { return &c.Limits.DefaultAgent },
		"The agent for errands that name none. Empty: the first one as they stand in config.json, agents before "+
			"workers."),
	config.Row("delegation.maxSessions", config.Count(1, 10_000), 100,
		func(c *Settings) any { return &c.Limits.MaxSessions },
		"How many agent sessions are open at once."),
	config.Row("delegation.idleMs", config.Millis(1_000, 24*time.Hour), 600_000,
		func(c *Settings) any { return &c.Limits.Idle },
		"How long a session stays open after its last prompt has ended."),
	config.Row("delegation.ttlMs", config.Millis(1_000, 7*24*time.Hour), 3_600_000,
		func(c *Settings) any { return &c.Limits.TTL },
		"How long a session stays open in all, however much it is used. One at work is not closed."),
	config.Row("delegation.maxConcurrent", config.Count(1, 1_000), 50,
		func(c *Settings) any { return &c.Limits.MaxConcurrent },
		"How many errands run at once. Beyond it a call is answered with OVERLOADED."),
	config.Row("delegation.maxPromptBytes", config.Size(1, 16*config.MiB), 1*config.MiB,
		func(c *Settings) any { return &c.Limits.MaxPromptBytes },
		"Size of the largest prompt."),
	config.Row("delegation.maxMetadataBytes", config.Size(1, 16*config.MiB), 64*config.KiB,
		func(c *Settings) any { return &c.Limits.MaxMetadataBytes }, "Size of the largest metadata of a session."),
	config.Row("delegation.timeoutMs", config.Millis(100, 10*time.Minute), 300_000,
		func(c *Settings) any { return &c.Limits.Timeout },
		"How long one prompt may take where its caller does not say. maxTimeoutMs bounds it."),
	config.Row("delegation.costPerDayUsd", config.Decimal(0, 1_000_000), 5,
		func(c *Settings) any { return &c.Limits.CostPerDayUSD },
		"What all agents together may cost in a day, by the pricing of their providers. A model without pricing "+
			"counts as 0 USD. 0: no bound."),
	config.Row("delegation.historyTokens", config.Count(1_000, 10_000_000), 100_000,
		func(c *Settings) any { return &c.Limits.HistoryTokens },
		"How much of a conversation a model is sent. Beyond it what tools answered goes first, the oldest first."),
	config.Row("delegation.keepTranscripts", config.Boolean, false,
		func(c *Settings) any { return &c.Limits.KeepTranscripts },
		"Whether prompts, answers, calls of tools and what they returned are kept in the database, without what "+
			"looks like a credential, for as long as the audit log: tabrelay agents transcript shows them. A session "+
			"that ends while this is off takes its transcript with it."),
	config.Row("delegation.fallback", config.Boolean, false, func(c *Settings) any { return &c.Limits.Fallback },
		"An errand whose provider cannot be used goes to the next one of its agent, and the answer says so. Without "+
			"it "+
			"such an errand fails and names the provider."),
	config.Row("delegation.streamText", config.Boolean, false, func(c *Settings) any { return &c.Limits.StreamText },
		"Whether the caller is told the pieces of an answer as progress."),
}, budgetSettings("delegation.budget.", func(c *Settings) *Budget { return &c.Limits.Budget },
	Budget{MaxTurns: 25, MaxToolCalls: 50, MaxTokens: 200_000})...)
