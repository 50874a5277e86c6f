package config

import (
	"errors"
	"strings"
	"testing"

	"tabrelay/relay/road/call"
)

// A client without a token is called as names are written, or not at all.
func TestNameWithoutToken(t *testing.T) {
	for written, want := range map[string]string{
		"": call.Unnamed, " \n": call.Unnamed, "stdio": call.Unnamed, "codex": "codex",
		" Claude Desktop\n": "claude-desktop", "my_agent.2": "my_agent.2", "tabrelay-tests": "tabrelay-tests",
		strings.Repeat("a", 64): strings.Repeat("a", 64),
	} {
		if name, err := NameWithoutToken(written); err != nil || name != want {
			t.Errorf("%q: %q, %v", written, name, err)
		}
	}
	for _, written := range []string{
		"Tabrelay ", "tabre1ay", "pane1", "pers0n", "CLI", "RELAY", "terrninal", "tаbrelay", "tab\u200brelay",
		"\u202eyalerbat", "claude\x00code", "claude’s", "-x", strings.Repeat("a", 65), strings.Repeat("a", 1<<20),
		"\x1b[2Jx", "a/b", "ünal", "x\x00",
	} {
		_, err := NameWithoutToken(written)
		if !errors.Is(err, ErrClientName) || len(err.Error()) > 500 {
			t.Errorf("%.40q: %.600v", written, err)
		}
	}
}

// No two clients with tokens have names that read alike.
func TestNamesThatReadAlike(t *testing.T) {
	secrets, err := OpenSecrets(Home(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := secrets.Add("claude-code"); err != nil {
		t.Fatal(err)
	}
	for name, refused := range map[string]string{"claude_code": "reads like", "c1aude-c0de": "reads like",
		"claude.code": "reads like", "claude-code": "exists already", "claudecode": "", "claude-code-2": "",
		"stdio": "without a name"} {
		_, err := secrets.Add(name)
		if refused == "" && err != nil || refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
