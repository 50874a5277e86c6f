package config

import (
	"regexp"
	"time"
)

// AssistantAgent is the agent there is when providers are configured, and no agents.
const AssistantAgent = "assistant"

var agentName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

var kinds = []string{"openai", "anthropic", "gemini"}

var providerSection = section("providers of models", providerSettings, agentName, nil)

var workerSection = section("programs", workerSettings, agentName, nil)

var agentSection = section("agents", agentSettings, agentName, nil)

// providerSettings is the table of one provider: providers.<name>.<key>.
var providerSettings = []setting[Provider]{
	{"kind", choice(append([]string{""}, kinds...)...), "", func(p *Provider) any { return &p.Kind },
		"How it is spoken to. Empty: what its name says (openai, anthropic, gemini, google-gemini), else \"openai\" " +
			"where a baseUrl is set: Ollama, vLLM, OpenRouter and many others understand that."},
	{"baseUrl", optional(httpURL), "", func(p *Provider) any { return &p.BaseURL },
		"Its address, for example http://127.0.0.1:11434/v1. Empty: the provider's own. One on this machine needs " +
			"no key."},
	{"models", list(text{}), []string{}, func(p *Provider) any { return &p.Models },
		"Names of models that may be asked for; the first one is used where nobody names another."},
	{"apiKey", keySource, map[string]any{}, func(p *Provider) any { return &p.APIKey },
		"Where its key is, never the key itself: {\"env\": \"NAME\"}, {\"file\": \"/absolute/path\"} or " +
			"{\"keyring\": \"service/user\"}. Without it: OPENAI_API_KEY, ANTHROPIC_API_KEY, or GOOGLE_AI_API_KEY, " +
			"GEMINI_API_KEY, GOOGLE_API_KEY, by its kind."},
	{"defaults", runtimeParams, map[string]any{}, func(p *Provider) any { return &p.Defaults },
		"Parameters of every request, under those of the agent, the session and the prompt."},
	{"images", boolean, false, func(p *Provider) any { return &p.Images },
		"All of its models see pictures. false: those do that are known to: Anthropic's, Gemini's, and gpt-4o, " +
			"gpt-4.1, gpt-5, o3 and o4-mini. Others get no pictures of tools, and refuse those of a client."},
	{"pricing", prices, map[string]any{}, func(p *Provider) any { return &p.Pricing },
		"What its models cost, by model, in US dollars for a million tokens: {\"inputPerMillion\": 2.5, " +
			"\"outputPerMillion\": 10, \"cachedPerMillion\": 1.25}. Without it costs are not counted."},
}

// workerSettings is the table of one program: workers.<name>.<key>.
var workerSettings = []setting[Worker]{
	{"command", one(text{}), "", func(w *Worker) any { return &w.Command },
		"The program: a path, or a name that is found in PATH."},
	{"args", list(text{}), []string{}, func(w *Worker) any { return &w.Args }, "Its arguments."},
	{"env", variables, map[string]any{}, func(w *Worker) any { return &w.Env },
		"Variables of its environment, besides a minimal one. Their values are never shown."},
	{"secrets", secretVariables, map[string]any{}, func(w *Worker) any { return &w.Secrets },
		"Variables of its environment that are not written here: each is read from a file that only you may read, " +
			"from the keyring, or from the relay's environment."},
	{"cwd", optional(absolute), "", func(w *Worker) any { return &w.Dir },
		"The folder it runs in. Empty: a folder of its own in the home folder."},
	{"protocol", choice("acp", "stdiobus", "auto"), "auto", func(w *Worker) any { return &w.Protocol },
		"What it speaks on stdin and stdout: \"acp\" (Agent Client Protocol), \"stdiobus\" (session/new, " +
			"session/prompt, session/close, session/cancel as JSON-RPC lines) or \"auto\": acp, and stdiobus where " +
			"the program does not know initialize."},
	{"capabilities", list(text{}), []string{}, func(w *Worker) any { return &w.Capabilities },
		"What it can do, as agents_discover filters by it."},
	{"timeoutMs", millis(0, 10*time.Minute), 0, func(w *Worker) any { return &w.Timeout },
		"How long one prompt may take where its caller does not say. 0: delegation.timeoutMs."},
}

// agentSettings is the table of one agent: agents.<name>.<key>.
var agentSettings = append([]setting[Agent]{
	{"providers", list(text{}), []string{}, func(a *Agent) any { return &a.Providers },
		"Providers it may use; the first one is used where a session names none. Empty: all of them."},
	{"capabilities", list(text{}), []string{}, func(a *Agent) any { return &a.Capabilities },
		"What it can do, as agents_discover filters by it."},
	{"systemPrompt", one(text{}), "", func(a *Agent) any { return &a.SystemPrompt },
		"What it is told before every conversation. Empty: what tabrelay says by itself."},
	{"defaults", runtimeParams, map[string]any{}, func(a *Agent) any { return &a.Defaults },
		"Parameters of its requests, over those of the provider."},
	{"tools", list(text{}), []string{}, func(a *Agent) any { return &a.Tools },
		"Names of tools and plugins that it may use at the most. Empty: those that its caller may."},
	{"readOnly", boolean, false, func(a *Agent) any { return &a.ReadOnly },
		"Whether it may only use tools that read."},
}, budgetSettings("budget.", func(a *Agent) *Budget { return &a.Budget }, Budget{})...)

// budgetSettings are the keys of a budget. Where nothing is set, an agent has that of delegation.
func budgetSettings[T any](group string, of func(*T) *Budget, standard Budget) []setting[T] {
	least, empty, unbound := int64(1), "", " 0: as maxTimeoutMs says."
	if standard == (Budget{}) {
		least, empty, unbound = 0, " 0: as delegation.budget says.", " 0: as delegation.budget says."
	}
	return []setting[T]{
		{group + "maxTurns", count(least, 1_000), standard.MaxTurns, func(t *T) any { return &of(t).MaxTurns },
			"How often a model is asked in one prompt." + empty},
		{group + "maxToolCalls", count(least, 10_000), standard.MaxToolCalls,
			func(t *T) any { return &of(t).MaxToolCalls }, "How many tools it calls in one prompt." + empty},
		{group + "maxTokens", count(least, 100_000_000), standard.MaxTokens,
			func(t *T) any { return &of(t).MaxTokens },
			"How many tokens one prompt takes, those it reads and those it writes." + empty},
		{group + "maxMs", millis(0, 10*time.Minute), standard.MaxTime.Milliseconds(),
			func(t *T) any { return &of(t).MaxTime },
			"How long one prompt may take, whatever its caller says." + unbound},
	}
}

// delegationSettings are the rows of the main table about delegation.
var delegationSettings = append([]setting[Config]{
	{"providers", providerSection, map[string]any{}, func(c *Config) any { return &c.Providers },
		"Providers of AI models that delegated agents think with, by name. See docs/delegation.md."},
	{"workers", workerSection, map[string]any{}, func(c *Config) any { return &c.Workers },
		"Programs that are delegated agents themselves, by name: Claude Code and others that speak the Agent Client " +
			"Protocol. See docs/delegation.md."},
	{"agents", agentSection, map[string]any{}, func(c *Config) any { return &c.Agents },
		"Delegated agents on models, by name. With providers and without agents there is one, " + AssistantAgent +
			", which may use all of them."},
	{"delegation.defaultAgent", one(text{}), "", func(c *Config) any { return &c.Delegation.DefaultAgent },
		"The agent for errands that name none. Empty: the first one as they stand in config.json, agents before " +
			"workers."},
	{"delegation.maxSessions", count(1, 10_000), 100, func(c *Config) any { return &c.Delegation.MaxSessions },
		"How many agent sessions are open at once."},
	{"delegation.idleMs", millis(1_000, 24*time.Hour), 600_000, func(c *Config) any { return &c.Delegation.Idle },
		"How long a session stays open after its last prompt has ended."},
	{"delegation.ttlMs", millis(1_000, 7*24*time.Hour), 3_600_000, func(c *Config) any { return &c.Delegation.TTL },
		"How long a session stays open in all, however much it is used. One at work is not closed."},
	{"delegation.maxConcurrent", count(1, 1_000), 50, func(c *Config) any { return &c.Delegation.MaxConcurrent },
		"How many errands run at once. Beyond it a call is answered with OVERLOADED."},
	{"delegation.maxPromptBytes", size(1, 16*mib), 1 * mib, func(c *Config) any { return &c.Delegation.MaxPromptBytes },
		"Size of the largest prompt."},
	{"delegation.maxMetadataBytes", size(1, 16*mib), 64 * kib,
		func(c *Config) any { return &c.Delegation.MaxMetadataBytes }, "Size of the largest metadata of a session."},
	{"delegation.timeoutMs", millis(100, 10*time.Minute), 300_000, func(c *Config) any { return &c.Delegation.Timeout },
		"How long one prompt may take where its caller does not say. maxTimeoutMs bounds it."},
	{"delegation.costPerDayUsd", decimal(0, 1_000_000), 5, func(c *Config) any { return &c.Delegation.CostPerDayUSD },
		"What all agents together may cost in a day, by the pricing of their providers. A model without pricing " +
			"counts as 0 USD. 0: no bound."},
	{"delegation.historyTokens", count(1_000, 10_000_000), 100_000,
		func(c *Config) any { return &c.Delegation.HistoryTokens },
		"How much of a conversation a model is sent. Beyond it what tools answered goes first, the oldest first."},
	{"delegation.keepTranscripts", boolean, false, func(c *Config) any { return &c.Delegation.KeepTranscripts },
		"Whether prompts, answers, calls of tools and what they returned are kept in the database, without what " +
			"looks like a credential, for as long as the audit log: tabrelay agents transcript shows them. A session " +
			"that ends while this is off takes its transcript with it."},
	{"delegation.fallback", boolean, false, func(c *Config) any { return &c.Delegation.Fallback },
		"An errand whose provider cannot be used goes to the next one of its agent, and the answer says so. Without " +
			"it " +
			"such an errand fails and names the provider."},
	{"delegation.streamText", boolean, false, func(c *Config) any { return &c.Delegation.StreamText },
		"Whether the caller is told the pieces of an answer as progress."},
}, budgetSettings("delegation.budget.", func(c *Config) *Budget { return &c.Delegation.Budget },
	Budget{MaxTurns: 25, MaxToolCalls: 50, MaxTokens: 200_000})...)
