package agentconfig

import (
	"fmt"

	"tabrelay/relay/state/config"
)

// Name is what settings call delegation.
const Name = "delegation"

// Section is what delegation adds to the configuration.
var Section = &config.Section[Settings]{
	Capability: Name, About: "Whether clients can delegate errands to agents.",
	Settings: rows, Check: check, Environment: keyVariablesSet, Live: true,
	Programs: func(s Settings) bool { return len(s.Workers) > 0 },
	Named: []config.Example{
		{One: "provider of models", Key: "providers", More: more,
			Example: `{"openai": {}, "local": {"baseUrl": "http://127.0.0.1:11434/v1", "models": ["qwen3"]}}`},
		{One: "agent on a model", Key: "agents", More: more,
			Example: `{"reader": {"providers": ["local"], "readOnly": true}}`},
		{One: "worker", Key: "workers", More: more, Example: `{"claude": {"command": "claude-code-acp"}}`},
	},
	Rights: []config.Right[Settings]{
		config.Others("modelProviders", "providers",
			[]string{"providers.<name>.kind", "providers.<name>.baseUrl", "providers.<name>.apiKey"},
			func(s *Settings) *map[string]Provider { return &s.Providers }, Provider.words, asWritten),
		config.Others("workers", "workers", nil, func(s *Settings) *map[string]Worker { return &s.Workers },
			Worker.words, asWritten),
		config.NewRight("costPerDay", "delegation.costPerDayUsd",
			func(s Settings) float64 { return s.Limits.CostPerDayUSD }, func(before, after float64) (was, is string) {
				if !dearer(before, after) {
					return "", ""
				}
				return fmt.Sprint(before), fmt.Sprint(after)
			}, func(s *Settings, before float64) {
				if dearer(before, s.Limits.CostPerDayUSD) {
					s.Limits.CostPerDayUSD = before
				}
			}),
	},
}

const more = "See [delegation](delegation.md)."

func asWritten(words string) string { return words }

// dearer reports whether a day may cost more than before. A database that knows nothing of it says 0, which is no
// bound.
func dearer(before, after float64) bool { return before != 0 && (after == 0 || after > before) }
