package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strings"

	"github.com/zalando/go-keyring"
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

// mostKey is how long a file with a key is at the most.
const mostKey = 16 * kib

// Key reads the key of a provider of an id from where it is. Nothing else in the relay looks for keys.
func (p Provider) Key(id string) Key {
	switch at := p.APIKey; {
	case at.File != "":
		return keyOf(id, "the file "+at.File, func() (string, error) { return readKeyFile(at.File) })
	case at.Keyring != "":
		service, user, _ := strings.Cut(at.Keyring, "/")
		return keyOf(id, "the keyring entry "+at.Keyring, func() (string, error) { return keyring.Get(service, user) })
	case at.Env != "":
		if value := variable(at.Env); value != "" {
			return Key{Value: value}
		}
		return Key{Trouble: fmt.Sprintf("No key for the provider %s: set %s.", id, at.Env)}
	}
	for _, name := range keyVariables[p.Kind] {
		if value := variable(name); value != "" {
			return Key{Value: value}
		}
	}
	if p.Local() {
		return Key{}
	}
	return Key{Trouble: fmt.Sprintf("No key for the provider %s: set %s, or name a file or keyring entry with apiKey "+
		"in config.json.", id, strings.Join(keyVariables[p.Kind], " or "))}
}

func keyOf(id, place string, read func() (string, error)) Key {
	value, err := read()
	if err == nil && set(value) == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return Key{Trouble: fmt.Sprintf("No key for the provider %s: %s cannot be read: %v.", id, place, err)}
	}
	return Key{Value: set(value)}
}

// variable is the value of an environment variable, empty where that is a reference that nothing replaced.
func variable(name string) string { return set(os.Getenv(name)) }

func set(value string) string {
	value = strings.TrimSpace(value)
	if strings.HasPrefix(value, "${") && strings.HasSuffix(value, "}") {
		return ""
	}
	return value
}

// readKeyFile reads a file that nobody else may.
func readKeyFile(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > mostKey:
		return "", errors.New("it is no file with a key")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("others may read it (mode %04o); run: chmod 600 on it", info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	return string(text), err
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
