package fault

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"tabrelay/relay/lib/lazyregexp"
)

func TestConsoleTailIsRedacted(t *testing.T) {
	tests := []struct{ tail, want string }{
		{"error: it broke\nwarning: twice", "error: it broke\nwarning: twice"},
		{"error: token=abc123&x=1", "error: token=[redacted]&x=1"},
		{`error: {"access_token":"abc.def","user":"ada"}`, `error: {"access_token":"[redacted]","user":"ada"}`},
		{"error: Authorization: Bearer abcdefghijkl", "error: Authorization: Bearer [redacted]"},
		{"sent Bearer abcdefghijkl", "sent Bearer [redacted]"},
		{"Cookie: a=1; b=2\nnext", "Cookie: [redacted]\nnext"},
		{"got eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "got [redacted]"},
		{"key sk-abcdefghijklmnop1234 used", "key [redacted] used"},
		{"the token is invalid", "the token is invalid"},
		{"uncaught: TypeError: x\n    at f (https://a.example/app.js:1:2)\nnext\u0007", "uncaught: TypeError: x\nnext"},
	}
	for _, tt := range tests {
		if got := New(InternalError, "m", WithConsoleTail(tt.tail)).ConsoleTail; got != tt.want {
			t.Errorf("%q became %q, want %q", tt.tail, got, tt.want)
		}
	}
}

// What both redactors make of a text: this one and that of the extension, whose test reads the same file.
func TestRedactAgreesWithTheExtension(t *testing.T) {
	raw, err := os.ReadFile("testdata/redact.json")
	if err != nil {
		t.Fatal(err)
	}
	var table [][2]string
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	for _, row := range table {
		if got := Redact(row[0]); got != row[1] {
			t.Errorf("%s\nbecame %s\nwant   %s", row[0], got, row[1])
		}
		if got := Redact(row[1]); got != row[1] {
			t.Errorf("%s\nwas redacted again: %s", row[1], got)
		}
	}
}

// A match always has one of the signs for which its expression is tried.
func TestEveryMatchHasASign(t *testing.T) {
	texts := []string{
		"x\n    at f (a.js:1:2)\n", "x\r    at Promise.all (index 0)", "x\u2028 at <anonymous>", "x\u2029 at a:1:2",
		"goroutine 7 [running]:", "[signal SIGSEGV: x]", "created by main.main in goroutine 1",
		"main.run(0x1)\n\t/a/main.go:31 +0x1d", "main.go:3",
		"x at f (a:1:2)", "at https://a.example/a.js:1:2", "f@https://a.example/a.js:1:2",
		"(chrome-extension://abc/a.js)",
		"moz-extension://abc/a.js",
		"FILE:/a/b", "file:///a/b/", `C:\a\b`, "D:/a/b", `\\server\share\x`, `"\\server\`, "/home/ann/x", "/Users/ann",
		"(/Users/ann/a/b", "=/tmp/x", "/root/", "/a/.tabrelay/x", "/.tabrelay/",
		"eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "sk-abcdefghijklmnop1234", "ghp_abcdefghijklmnop1234", "AKIAIOSFODNN7EXAMPLE",
		"ASIAIOSFODNN7EXAMPLE",
		"AIza" + strings.Repeat("x", 30), "?token=a", "&KEY=b", "Set-Cookie: a=b", "cookie=a=b",
		"-----BEGIN RSA PRIVATE KEY-----x",
	}
	check := func(expression *lazyregexp.Regexp, signs []string) {
		found := false
		for _, text := range texts {
			if expression.MatchString(text) {
				if found = true; !hasOne(text, signs) {
					t.Errorf("%q is found by %s, and has none of %q", text, expression, signs)
				}
			}
		}
		if !found {
			t.Errorf("nothing here is found by %s", expression)
		}
	}
	check(frames, signsOfFrames)
	check(goFrames, signsOfGoFrames)
	check(framesInLine, signsOfFramesInLine)
	for _, f := range folders {
		check(f.path, f.signs)
	}
}

func TestStackTracesAreRemoved(t *testing.T) {
	const stack = "Error: failed\n    at Object.run [as handle] (chrome-extension://abc/adapters/x-1.js:1:7218)\r\n" +
		"    at async Promise.all (index 0)\n    at new Promise (<anonymous>)\n    at https://a.example/app.js:10:5"
	if got := withoutStack(stack); got != "Error: failed" {
		t.Errorf("%q is left", got)
	}
	for _, plain := range []string{"look at line 3", "no\nstack\nat all", "meet at 10:30:00", "a\nlook at b:1:2"} {
		if got := withoutStack(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
	if got := withoutStack(strings.Repeat("\n    at f (x:1:1)", 2000)); got != "" {
		t.Errorf("%d bytes are left of a long stack", len(got))
	}
}

// Looking first whether it is worth it changes nothing.
func FuzzRedactIsTheSame(f *testing.F) {
	for _, s := range []string{
		"tea", "password", "api_key", "apikey", "PIN", "ping", "token=x", "\u017fecret", "to\u212aen",
		"AKIAABCDEFGHIJKLMNOP",
		"eyJabcdefgh.x.", "sk-abcdefghijklmnop1",
		"AIzaabcdefghijklmnopqrstuvwxyz12345", "https://a:b@c", "Bearer abcdefghijkl", "csrf=x", "a\u00a0b",
		"-----BEGIN PRIVATE KEY-----abc",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := Redact(text), redact(text); got != want {
			t.Errorf("%q becomes %q, and %q without the first look", text, got, want)
		}
		if got := redact(redact(text)); got != redact(text) {
			t.Errorf("%q becomes %q, and that %q", text, redact(text), got)
		}
	})
}
