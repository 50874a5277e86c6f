package agentconfig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/state/config"

	"github.com/zalando/go-keyring"
)

// The key of a provider comes from where the configuration says, else from the variables of its kind. Where there is
// none, what is missing is said, and never what was found.
func TestKeyOfAProvider(t *testing.T) {
	for _, names := range keyVariables {
		for _, name := range names {
			t.Setenv(name, "")
		}
	}
	folder := t.TempDir()
	file := func(text string, mode os.FileMode) string {
		path := filepath.Join(folder, fmt.Sprintf("key-%d-%o", len(text), mode))
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	inFile := func(path string) Provider { return Provider{APIKey: config.KeySource{File: path}} }
	keyring.MockInit()
	if err := keyring.Set("tabrelay", "ann", "ring"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		provider    Provider
		env         map[string]string
		want, lacks string
	}{
		"named variable": {provider: Provider{APIKey: config.KeySource{Env: "MY_KEY"}},
			env: map[string]string{"MY_KEY": " variable\n"}, want: "variable"},
		"named variable, unset": {provider: Provider{Kind: "openai", APIKey: config.KeySource{Env: "MY_KEY"}},
			env: map[string]string{"OPENAI_API_KEY": "other"}, lacks: "set MY_KEY."},
		"a reference that nothing replaced": {provider: Provider{Kind: "openai"},
			env: map[string]string{"OPENAI_API_KEY": "${OPENAI_API_KEY}"}, lacks: "set OPENAI_API_KEY"},
		"second variable of a kind": {provider: Provider{Kind: "gemini"},
			env: map[string]string{"GEMINI_API_KEY": "g"}, want: "g"},
		"none":                  {provider: Provider{Kind: "anthropic"}, lacks: "set ANTHROPIC_API_KEY"},
		"none, on this machine": {provider: Provider{Kind: "openai", BaseURL: "http://127.0.0.1:1/v1"}},
		"file":                  {provider: inFile(file("in a file\n", 0o600)), want: "in a file"},
		"file, empty":           {provider: inFile(file("", 0o600)), lacks: "it is empty"},
		"file with a reference": {provider: inFile(file("${KEY}", 0o600)), lacks: "it is empty"},
		"file, missing":         {provider: inFile(folder + "/no"), lacks: "no such file"},
		"a folder":              {provider: inFile(folder), lacks: "it is not a file with a key"},
		"file, too long": {provider: inFile(file(strings.Repeat("x", 16<<10+1), 0o600)),
			lacks: "it is not a file with a key"},
		"file that others may read": {provider: inFile(file("open-to-all", 0o644)),
			lacks: "chmod 600"},
		"keyring": {provider: Provider{APIKey: config.KeySource{Keyring: "tabrelay/ann"}}, want: "ring"},
		"keyring, no entry": {provider: Provider{APIKey: config.KeySource{Keyring: "tabrelay/bob"}},
			lacks: "there is no such entry; store it"},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range c.env {
				t.Setenv(variable, value)
			}
			key := c.provider.Key("mine")
			if key.Value != c.want || (key.Trouble == "") != (c.lacks == "") ||
				!strings.Contains(key.Trouble, c.lacks) {
				t.Errorf("the key is %q, the trouble %q; want %q, %q", key.Value, key.Trouble, c.want, c.lacks)
			}
			if c.lacks != "" && !strings.HasPrefix(key.Trouble, "No key for the provider mine: ") {
				t.Errorf("the trouble is %q", key.Trouble)
			}
			if s := fmt.Sprintf("%v %+v", key, key); c.want != "" && strings.Contains(s, c.want) {
				t.Errorf("printed as %s", s)
			}
		})
	}
	keyring.MockInitWithError(errors.New("the keyring is locked"))
	if key := (Provider{APIKey: config.KeySource{Keyring: "tabrelay/ann"}}).Key("mine"); key.Value != "" ||
		!strings.Contains(key.Trouble, "the keyring is locked") {
		t.Errorf("a locked keyring gave %+v", key.Trouble)
	}
}

// Variables of a worker are read from where they are; what cannot be read is named, with the next step.
func TestVariablesOfAWorker(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("in a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := Worker{Command: "w", Env: map[string]string{"A": "b"},
		Secrets: map[string]config.KeySource{"KEY": {File: path}}}
	env, secrets, trouble := w.Variables("w")
	if len(env) != 2 || env["A"] != "b" || env["KEY"] != "in a file" || len(secrets) != 1 || trouble != "" {
		t.Errorf("%v, %v, %q", env, secrets, trouble)
	}
	w.Secrets["NONE"] = config.KeySource{File: path + "x"}
	if _, _, trouble = w.Variables("w"); !strings.Contains(trouble, "NONE of the worker w is missing") {
		t.Error(trouble)
	}
	if words := w.words(); !strings.Contains(words, "KEY from the file "+path) || strings.Contains(words, "in a file") {
		t.Error(words)
	}
}
