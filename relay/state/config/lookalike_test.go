package config

import "testing"

func TestDoubtsNameLookalikesOfKnownClients(t *testing.T) {
	clients := []Client{{Name: "claude-code"}, {Name: "zed"}, {Name: "xerox"}}
	const notClaude = "it is not the client claude-code, which has a token"
	for called, want := range map[string]string{
		"Claude Code":                notClaude,
		"ClaudeCode":                 notClaude,
		"Claude C\u043ede":           notClaude, // a Cyrillic letter
		"\u0421laude \u0421\u03bfde": notClaude, // and a Greek one
		"C1aude_C0de":                notClaude,
		"Claud\u00e9 Code":           notClaude,
		"\uff23laude Code":           notClaude, // a wide letter
		"\U0001d402laude Code":       notClaude, // a mathematical one
		"Claude\u200b Code":          notClaude,
		"Curs\u043er":                "with letters of Cyrillic and Latin in one word",
		"t\u0430brelay \u03b1gent":   "with letters of Cyrillic and Latin in one word",

		"\u0445\u0435\u0433\u043e\u0445": "it is not the client xerox, which has a token",

		"Cursor": "", "Claude Desktop": "", "Zed Agent": "", "": "", "r\u00e9sum\u00e9": "",
		"\u041f\u043e\u043c\u043e\u0449\u043d\u0438\u043a":        "", // words of other languages
		"\u0410\u0433\u0435\u043d\u0442 \u0416":                   "",
		"Codex \u0410\u0433\u0435\u043d\u0442":                    "",
		"\u30c6\u30b9\u30c8AI\u52a9\u624b":                        "",
		"AI\ube44\uc11c":                                          "",
		"\u0392\u03bf\u03b7\u03b8\u03cc\u03c2 \u03b3\u03b9\u03b1": "",
	} {
		if got := Doubt(called, clients); got != want {
			t.Errorf("%q: %q; want %q", called, got, want)
		}
	}
}
