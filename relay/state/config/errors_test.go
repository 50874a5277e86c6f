package config

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The defaults of the error handling are those of the decision it follows, its patterns to the letter.
func TestDefaultsOfErrors(t *testing.T) {
	c, err := read(t, "{}")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Retry{MaxAttempts: 3, InitialDelay: time.Second, MaxDelay: 30 * time.Second,
		Multiplier: 2}); c.Errors.Transient.Retry != want {
		t.Errorf("retry: %+v", c.Errors.Transient.Retry)
	}
	if !slices.Equal(c.Errors.Transient.Patterns, []string{"ECONNRESET", "ETIMEDOUT", "WebSocket.*close"}) {
		t.Errorf("transient: %q", c.Errors.Transient.Patterns)
	}
	if !slices.Equal(c.Errors.Fatal.Patterns, []string{"Authentication failed", "Topic not found",
		"Invalid protocol version"}) {
		t.Errorf("fatal: %q", c.Errors.Fatal.Patterns)
	}
	if c.Logging.Level != "info" || c.Logging.IncludeStackTraces || c.Errors.Trace {
		t.Errorf("logging: %+v, trace %t", c.Logging, c.Errors.Trace)
	}
}

// Every key can be set in the file and by its twin in the environment, which wins.
func TestErrorsAreSetInBothPlaces(t *testing.T) {
	const text = `{"errors": {
		"transient": {"retry": {"maxAttempts": 10, "initialDelayMs": 0, "maxDelayMs": 300000, "backoffMultiplier": 1.5}, "patterns": ["^EPIPE$"]},
		"fatal": {"patterns": []}},
		"logging": {"level": "debug", "includeStackTraces": true}}`
	c, err := read(t, text)
	if err != nil {
		t.Fatal(err)
	}
	want := Errors{Transient: Transient{Retry: Retry{10, 0, 5 * time.Minute, 1.5}, Patterns: []string{"^EPIPE$"}},
		Fatal: Fatal{Patterns: []string{}}}
	same(t, c, want, Logging{Level: "debug", IncludeStackTraces: true})
	c, err = read(t, text,
		"TABRELAY_ERRORS_TRANSIENT_RETRY_MAX_ATTEMPTS=1", "TABRELAY_ERRORS_TRANSIENT_RETRY_INITIAL_DELAY_MS=250",
		"TABRELAY_ERRORS_TRANSIENT_RETRY_MAX_DELAY_MS=500", "TABRELAY_ERRORS_TRANSIENT_RETRY_BACKOFF_MULTIPLIER=3",
		"TABRELAY_ERRORS_TRANSIENT_PATTERNS=ECONN.*, EAGAIN", `TABRELAY_ERRORS_FATAL_PATTERNS=["no, never"]`,
		"TABRELAY_LOGGING_LEVEL=error", "TABRELAY_LOGGING_INCLUDE_STACK_TRACES=false")
	if err != nil {
		t.Fatal(err)
	}
	want = Errors{
		Transient: Transient{Retry: Retry{1, 250 * time.Millisecond, 500 * time.Millisecond, 3},
			Patterns: []string{"ECONN.*", "EAGAIN"}},
		Fatal: Fatal{Patterns: []string{"no, never"}},
	}
	same(t, c, want, Logging{Level: "error"})
}

func same(t *testing.T, c Config, want Errors, logging Logging) {
	t.Helper()
	if c.Errors.Transient.Retry != want.Transient.Retry || !slices.Equal(c.Errors.Transient.Patterns,
		want.Transient.Patterns) ||
		!slices.Equal(c.Errors.Fatal.Patterns, want.Fatal.Patterns) || c.Logging != logging {
		t.Errorf("got %+v and %+v, want %+v and %+v", c.Errors, c.Logging, want, logging)
	}
}

// What is out of bounds is refused with the key, what is allowed, and what was given.
func TestErrorsAtTheEdges(t *testing.T) {
	long := strings.Repeat("x", 256)
	for text, want := range map[string]string{
		`{"errors":{"transient":{"patterns":["` + long + `"]}}}`: "",
		`{"errors":{"transient":{"patterns":["x` + long +
			`"]}}}`: "errors.transient.patterns: expected a list, each item a regular expression (RE2) of at most " +
			"256 characters, but got",
		`{"errors":{"transient":{"patterns":["("]}}}`: `errors.transient.patterns: expected a list, each item a ` +
			`regular expression (RE2) of at most 256 characters, but got ["("]`,
		`{"errors":{"fatal":{"patterns":["(?=look)"]}}}`: "errors.fatal.patterns: " +
			"expected a list, each item a regular expression (RE2)",
		`{"errors":{"fatal":{"patterns":[""]}}}`: "errors.fatal.patterns: " +
			"expected a list",
		`{"errors":{"fatal":{"patterns":"Topic"}}}`: "errors.fatal.patterns: " +
			"expected a list",
		`{"errors":{"transient":{"retry":{"maxAttempts":0}}}}`: "errors.transient.retry.maxAttempts: expected a " +
			"whole number from 1 to 10, but got 0",
		`{"errors":{"transient":{"retry":{"maxAttempts":11}}}}`:  "from 1 to 10, but got 11",
		`{"errors":{"transient":{"retry":{"maxAttempts":2.5}}}}`: "from 1 to 10, but got 2.5",
		`{"errors":{"transient":{"retry":{"initialDelayMs":-1}}}}`: "errors.transient.retry.initialDelayMs: expected " +
			"a whole number from 0 to 60000 ms, but got -1",
		`{"errors":{"transient":{"retry":{"initialDelayMs":60001}}}}`: "from 0 to 60000 ms, but " +
			"got 60001",
		`{"errors":{"transient":{"retry":{"maxDelayMs":300001}}}}`: "from 0 to 300000 ms, " +
			"but got 300001",
		`{"errors":{"transient":{"retry":{"initialDelayMs":2000,` +
			`"maxDelayMs":1999}}}}`: "errors.transient.retry.initialDelayMs: is longer than maxDelayMs",
		`{"errors":{"transient":{"retry":{"backoffMultiplier":0.9}}}}`: "errors.transient.retry.backoffMultiplier: " +
			"expected a number from 1 to 10, but got 0.9",
		`{"errors":{"transient":{"retry":{"backoffMultiplier":"2"}}}}`: `from 1 to 10, but got "2"`,
		`{"errors":{"transient":{"retries":3}}}`: "errors.transient.retries: no such setting; " +
			"did you mean errors.transient.retry?",
		`{"logging":{"level":"trace"}}`: `logging.level: expected ` +
			`one of "debug", "info", "warn", "error", but got "trace"`,
		`{"logging":{"includeStackTraces":"yes"}}`: `logging.includeStackTraces: ` +
			`expected true or false, but got "yes"`,
		`{"logging":{"includeStacktraces":true}}`: "logging.includeStacktraces: " +
			"no such setting; did you mean logging.includeStackTraces?",
		`{"errors":{"transient":{"retry":{"initialDelayMs":null}}}}`:                       "but got null",
		`{"errors":{"transient":{"retry":{"initialDelayMs":1000,"initialDelayMs":1000}}}}`: "is set twice; keep one",
	} {
		_, err := read(t, text)
		switch {
		case want == "" && err != nil:
			t.Errorf("%.80s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "config.json:1: ")):
			t.Errorf("%.80s: got %v, want %q with its line", text, err, want)
		}
	}
	for _, environ := range []string{
		"TABRELAY_ERRORS_TRANSIENT_PATTERNS=(", "TABRELAY_ERRORS_TRANSIENT_RETRY_MAX_ATTEMPTS=three",
		"TABRELAY_LOGGING_LEVEL=loud",
		"TABRELAY_ERRORS_TRANSIENT_RETRY_INITIAL_DELAY_MS=-5", "TABRELAY_LOGGING_INCLUDE_STACK_TRACES=1",
		"TABRELAY_ERRORS_FATAL_PATTERNS=[",
	} {
		name, _, _ := strings.Cut(environ, "=")
		if _, err := read(t, "{}", environ); err == nil || !strings.Contains(err.Error(), "environment variable "+name+
			": ") {
			t.Errorf("%s: got %v", environ, err)
		}
	}
}

// FuzzLoad reads any file with any value of any twin: there is a configuration that the relay can start with, or an
// error that says where it is wrong.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"errors":{"transient":{"patterns":["a"],"retry":{"maxDelayMs":0}}}}`), "ERRORS_FATAL_PATTERNS",
		"a,b")
	f.Add([]byte(`{"timeoutMs":300000,"maxTimeoutMs":300000}`), "MAX_TIMEOUT_MS", "299999")
	f.Add([]byte("\xff{"), "PLUGINS", `{"a":{"enabled":false}}`)
	f.Add([]byte(`// nothing`), "LISTEN", "127.0.0.1:0\x00")
	f.Fuzz(func(t *testing.T, text []byte, name, value string) {
		c := Default()
		r := newReader("config.json", text)
		if len(text) > 0 {
			r.document(&c)
		}
		r.environment([]string{"TABRELAY_" + name + "=" + value, value}, &c)
		r.relations(&c)
		for _, fault := range r.faults {
			if fault.Message == "" || fault.File == "" || fault.String() == "" {
				t.Errorf("a fault that says nothing: %+v", fault)
			}
		}
		if len(r.faults) > 0 {
			return
		}
		for _, p := range append(slices.Clone(c.Errors.Transient.Patterns), c.Errors.Fatal.Patterns...) {
			if _, err := regexp.Compile(p); err != nil {
				t.Errorf("accepted the pattern %q", p)
			}
		}
		retry := c.Errors.Transient.Retry
		if retry.MaxAttempts < 1 || retry.InitialDelay < 0 || retry.MaxDelay < retry.InitialDelay ||
			!(retry.Multiplier >= 1) || c.Timeout > c.MaxTimeout || c.Timeout <= 0 {
			t.Errorf("accepted %+v", c)
		}
	})
}
