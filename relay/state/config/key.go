package config

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

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

// KeyVariables are the environment variables that keys of providers are read from now, sorted.
func (c Config) KeyVariables() []string {
	names := map[string]bool{}
	for _, p := range c.Providers {
		at := p.APIKey
		switch {
		case at.File != "" || at.Keyring != "":
		case at.Env != "":
			names[at.Env] = variable(at.Env) != ""
		default:
			for _, name := range keyVariables[p.Kind] {
				names[name] = names[name] || variable(name) != ""
			}
		}
	}
	maps.DeleteFunc(names, func(_ string, set bool) bool { return !set })
	return slices.Sorted(maps.Keys(names))
}

// mostKey is how long a file with a key is at the most.
const mostKey = 16 * kib

// Key reads the key of a provider of an id from where it is.
func (p Provider) Key(id string) Key {
	if p.APIKey != (KeySource{}) {
		value, err := p.APIKey.read()
		if err != nil {
			return Key{Trouble: fmt.Sprintf("No key for the provider %s: %v.", id, err)}
		}
		return Key{Value: value}
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

// Variables are those of a worker's environment, those that are elsewhere read from there. trouble says which of them
// cannot be read; secrets names them.
func (w Worker) Variables(id string) (env map[string]string, secrets []string, trouble string) {
	env = maps.Clone(w.Env)
	if env == nil {
		env = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Secrets)) {
		value, err := w.Secrets[name].read()
		if err != nil {
			trouble = fmt.Sprintf("The variable %s of the worker %s is missing: %v.", name, id, err)
			continue
		}
		env[name] = value
		secrets = append(secrets, name)
	}
	return env, secrets, trouble
}

// place says where a key is.
func (s KeySource) place() string {
	switch {
	case s.File != "":
		return "the file " + s.File
	case s.Keyring != "":
		return "the keyring entry " + s.Keyring
	}
	return "the variable " + s.Env
}

// read reads a key from where it is. Nothing else in the relay looks for keys.
func (s KeySource) read() (value string, err error) {
	switch {
	case s.File != "":
		value, err = readKeyFile(s.File)
	case s.Keyring != "":
		service, user, _ := strings.Cut(s.Keyring, "/")
		value, err = readKeyring(service, user)
	default:
		if value = variable(s.Env); value == "" {
			return "", errors.New("set " + s.Env)
		}
		return value, nil
	}
	if err == nil && set(value) == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %w", s.place(), err)
	}
	return set(value), nil
}

// keyringWait is how long a keyring may take. One that is locked asks the person, and the relay does not wait for that.
const keyringWait = 5 * time.Second

// readKeyring reads an entry of the keyring of the system: of Secret Service, Keychain or Credential Manager.
func readKeyring(service, user string) (string, error) {
	type entry struct {
		value string
		err   error
	}
	read := make(chan entry, 1)
	go func() {
		value, err := keyring.Get(service, user)
		read <- entry{value, err}
	}()
	select {
	case got := <-read:
		switch {
		case errors.Is(got.err, keyring.ErrNotFound):
			return "", fmt.Errorf("there is no such entry; %s", storeKey(service, user))
		case got.err != nil && strings.Contains(got.err.Error(), "unlock"):
			return "", errors.New("the keyring is locked; unlock it")
		}
		return got.value, got.err
	case <-time.After(keyringWait):
		return "", fmt.Errorf("the keyring did not answer within %v; unlock it", keyringWait)
	}
}

// storeKey is how an entry gets into the keyring, where it can be read again.
func storeKey(service, user string) string {
	switch runtime.GOOS {
	case "darwin":
		return fmt.Sprintf("store it: security add-generic-password -s '%s' -a '%s' -w", service, user)
	case "windows":
		return fmt.Sprintf("store it in the Credential Manager, as the generic credential %s:%s", service, user)
	}
	return fmt.Sprintf("store it: secret-tool store --label tabrelay service '%s' username '%s'", service, user)
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
		return "", errors.New("it is not a file with a key")
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
