package agentconfig

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"tabrelay/relay/state/config"
)

// Key is the key of a provider, or why there is none.
type Key struct {
	Value   string
	Trouble string // what is missing, and what to do; empty: nothing is
}

// String keeps the key out of logs.
func (Key) String() string { return "[key]" }

// keyVariables are where the keys of each kind are looked for when nobody says.
var keyVariables = map[string][]string{
	"openai":    {"OPENAI_API_KEY"},
	"anthropic": {"ANTHROPIC_API_KEY"},
	"gemini":    {"GOOGLE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"},
}

// KeyVariables are the environment variables that keys of providers are read from now, sorted.
func keyVariablesSet(c Settings) []string {
	names := map[string]bool{}
	for _, p := range c.Providers {
		at := p.APIKey
		switch {
		case at.File != "" || at.Keyring != "":
		case at.Env != "":
			names[at.Env] = config.Variable(at.Env) != ""
		default:
			for _, name := range keyVariables[p.Kind] {
				names[name] = names[name] || config.Variable(name) != ""
			}
		}
	}
	maps.DeleteFunc(names, func(_ string, set bool) bool { return !set })
	return slices.Sorted(maps.Keys(names))
}

// Key reads the key of a provider of an id from where it is.
func (p Provider) Key(id string) Key {
	if p.APIKey != (config.KeySource{}) {
		value, err := p.APIKey.Read()
		if err != nil {
			return Key{Trouble: fmt.Sprintf("No key for the provider %s: %v.", id, err)}
		}
		return Key{Value: value}
	}
	for _, name := range keyVariables[p.Kind] {
		if value := config.Variable(name); value != "" {
			return Key{Value: value}
		}
	}
	if p.Local() {
		return Key{}
	}
	return Key{Trouble: fmt.Sprintf("No key for the provider %s: set %s, or name a file or keyring entry with apiKey "+
		"in config.json.", id, strings.Join(keyVariables[p.Kind], " or "))}
}

// Variables are those of a worker's environment, those that are elsewhere read from there. trouble says which of them
// cannot be read; secrets names them.
func (w Worker) Variables(id string) (env map[string]string, secrets []string, trouble string) {
	env = maps.Clone(w.Env)
	if env == nil {
		env = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Secrets)) {
		value, err := w.Secrets[name].Read()
		if err != nil {
			trouble = fmt.Sprintf("The variable %s of the worker %s is missing: %v.", name, id, err)
			continue
		}
		env[name] = value
		secrets = append(secrets, name)
	}
	return env, secrets, trouble
}

// Local reports whether a provider is on this machine, where it needs no key.
func (p Provider) Local() bool {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}
