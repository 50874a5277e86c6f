package fault_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
)

// hostile are texts that errors really have, each with something no client may see.
var hostile = map[string]string{
	"unix":            "open /home/ann/.tabrelay/secrets.json: permission denied",
	"home alone":      "cannot enter /home/ann: it is gone",
	"mac":             `stat "/Users/Ann Lee/x": no such file; and '/Users/ann/Library/x.db'`,
	"root and tmp":    "(/root/.ssh/id_rsa) and =/tmp/build-1/x.log",
	"windows":         `open C:\Users\Ann Lee\AppData\config.json: Access is denied.`,
	"windows escaped": `{"path":"C:\\Users\\ann\\x.json"}`,
	"windows slashes": "D:/Users/ann/projects/x.ts is missing",
	"unc":             `cannot read \\server\share\ann\x.txt now`,
	"file url":        "not allowed: file:///home/ann/notes/todo.txt",
	"go stack": "panic: boom\n\ngoroutine 7 [running]:\nmain.run(0xc000010000)\n\t/build/cmd/main.go:31 " +
		"+0x1d\ncreated by main.main in goroutine 1\n\t/build/cmd/main.go:12 +0x2f\n",
	"real go stack": "panic: " + string(debug.Stack()),
	"js stack": "TypeError: x\n    at f " +
		"(chrome-extension://abcdefghijklmnopabcdefghijklmnop/adapters/wiki-1.js:1:2)\n    at async g " +
		"(https://a.example/app.js:10:20)",
	"js stack joined": "TypeError: x at f (chrome-extension://abcdefghijklmnopabcdefghijklmnop/a.js:1:2) at " +
		"https://a.example/app.js:10:20",
	"firefox stack":  "x is undefined f@https://a.example/app.js:10:20",
	"bearer":         "sent Authorization: Bearer abc123def456ghi789",
	"jwt":            "got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl back",
	"cookie":         "Cookie: session=abc123; theme=dark",
	"query":          "GET https://a.example/x?user=ann&access_token=abc123&page=2 failed",
	"user in url":    "dial https://ann:hunter22@a.example/x",
	"key":            "the key sk-abcdefghijklmnop1234 was refused",
	"aws":            "with AKIAIOSFODNN7EXAMPLE",
	"short password": "password: hunter2, passphrase=hunter2!",
	"named":          `{"password":"hunter2hunter2","api_key": "0123456789abcdef"}`,
	"split":          "Bea\x00rer abc123def456ghi789 and /ho\x00me/ann/x",
	"temp":           filepath.Join(os.TempDir(), "x", "y.db") + " is locked",
}

// TestNothingLeaks says every code of the table, and every hostile text, with hostile words in every place they can
// come in.
func TestNothingLeaks(t *testing.T) {
	names := slices.Sorted(maps.Keys(hostile))
	for i, row := range fault.Table() {
		name := names[i%len(names)]
		unharmed(t, name, spoilt(t, row.Code, hostile[name]))
	}
	for _, name := range names {
		text := hostile[name]
		unharmed(t, name, spoilt(t, fault.TimeoutCode, text))
		thrown, err := json.Marshal(map[string]any{"code": "X", "category": "internal", "retryable": false,
			"message": text})
		if err != nil {
			t.Fatal(err)
		}
		e, repairs := fault.FromPage(thrown)
		unharmed(t, name+", thrown by a page", e)
		for _, repair := range repairs {
			for _, leak := range faulttest.Leaks(repair) {
				t.Errorf("%s: what was repaired shows %s: %s", name, leak, repair)
			}
		}
	}
}

// spoilt is a failure that has a text everywhere.
func spoilt(t *testing.T, code fault.Code, text string) *fault.Error {
	t.Helper()
	data, err := json.Marshal(map[string]any{"reason": text, "list": []string{text}})
	if err != nil {
		t.Fatal(err)
	}
	return fault.New(code, text, fault.WithCause(errors.New(text)), fault.WithHint("Try again.\n"+text),
		fault.WithConsoleTail(text),
		fault.WithData(data), fault.WithSuggestion(text))
}

func unharmed(t *testing.T, name string, e *fault.Error) {
	t.Helper()
	object, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(e.Text(), string(object), e.Error(), e.Message, e.Hint, e.ConsoleTail) {
		for _, leak := range faulttest.Leaks(text) {
			t.Errorf("%s, %s: shows %s:\n%s", name, e.Code, leak, text)
			return
		}
		if strings.Contains(text, "ann/") || strings.Contains(text, "hunter2") {
			t.Errorf("%s, %s: shows a name or a password:\n%s", name, e.Code, text)
			return
		}
	}
}

// What a sentence needs stays.
func TestWhatIsNoSecretStays(t *testing.T) {
	for _, text := range []string{
		"The token is invalid", "Invalid arguments: password: expected string, but got number", "token: is required",
		"a basic understanding",
		"Open https://wiki.example/home/about and /wiki/Main_Page", "The API answered 404 at /api/v1/users/7",
		"see chrome://extensions",
		"The ratio is 3:4, at 10:30", "look at line 3", "key=value is not allowed here", "code=RATE_LIMITED",
		"a/b and c\\d",
		"Run: tabrelay plugin add ./tea-shop", "It is in ~/.tabrelay/config.json",
		"Pass an https URL, for example https://example.com/?page=2",
		"session sessions_create", "Bearer tokens are not supported",
	} {
		if got := fault.New(fault.InternalError, text).Message; got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"open /home/ann/.tabrelay/config.json: denied":      "open …/config.json: denied",
		`open C:\Users\Ann Lee\config.json: denied`:         `open …\config.json: denied`,
		"GET https://a.example/x?page=2&token=abc12 failed": "GET https://a.example/x?page=2&token=[redacted] failed",
		"file:///home/ann/a.txt is outside":                 "file://…/a.txt is outside",
		"dial https://ann:pw12@a.example/x":                 "dial https://[redacted]@a.example/x",
	} {
		if got := fault.New(fault.InternalError, text).Message; got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	// The URI that a failure is about is what the client sent.
	e := fault.New(fault.ResourceNotFound, "No such file",
		fault.WithData(json.RawMessage(`{"uri":"file:///home/ann/x", "n":12345678901234567890}`)))
	if string(e.Data) != `{"uri":"file:///home/ann/x", "n":12345678901234567890}` {
		t.Errorf("data became %s", e.Data)
	}
}

// FuzzScrub mixes hostile texts with anything: what comes out shows none of them, and is scrubbed already.
func FuzzScrub(f *testing.F) {
	for _, name := range []string{"unix", "windows", "js stack joined", "query", "split"} {
		f.Add(hostile[name], " ")
	}
	f.Add("/home/", "ann/x")
	f.Fuzz(func(t *testing.T, text, glue string) {
		e := fault.New(fault.InternalError, glue+" "+text+" "+glue)
		if again := fault.New(fault.InternalError, e.Message); again.Message != e.Message {
			t.Errorf("%q became %q, and that %q", text, e.Message, again.Message)
		}
		for _, known := range []string{`open /home/ann/secret.txt in C:\Users\ann\x of https://x.example/?token=abc1 ` +
			`with Bearer ` +
			`abc123def456`} {
			got := fault.New(fault.InternalError, glue+"\n"+known+"\n"+glue).Message
			if strings.Contains(got, "/home/ann/secret") || strings.Contains(got, `Users\ann`) ||
				strings.Contains(got, "abc123def456") || strings.Contains(got, "token=abc1") {
				t.Errorf("%q shows in %q", known, got)
			}
		}
	})
}
