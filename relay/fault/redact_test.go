package fault

import (
	"strings"
	"testing"
)

func TestConsoleTail(t *testing.T) {
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

func TestStackTraces(t *testing.T) {
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
