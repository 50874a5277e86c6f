package fault

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var categories = []Category{Auth, RateLimit, NotFound, Validation, Internal, Timeout}

func TestCodeTableIsConsistent(t *testing.T) {
	seen := map[Code]bool{}
	code := regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)
	for _, r := range Table() {
		if seen[r.Code] || !code.MatchString(string(r.Code)) {
			t.Errorf("code %q is there twice, or is no code", r.Code)
		}
		seen[r.Code] = true
		if !slices.Contains(categories, r.Category) || r.Source == "" || r.Class == "" || r.Type == "" ||
			r.Outcome == "" {
			t.Errorf("%s lacks a field: %+v", r.Code, r)
		}
		if r.Situation == "" || r.Hint == "" || strings.Contains(r.Situation+r.Hint, "\n") {
			t.Errorf("%s says too little, or more than one line, about its situation or next step", r.Code)
		}
		if (r.Legacy == 0) != (r.Modern == 0) {
			t.Errorf("%s is a protocol error in one era only", r.Code)
		}
		if m := r.Modern; m == -32002 || m <= -32000 && m > -32020 {
			t.Errorf("%s uses %d, which is not allowed from 2026-07-28 on", r.Code, m)
		}
	}
}

func TestSourcesHaveNumbers(t *testing.T) {
	for source, want := range map[Source]int{
		SourceConfig: -32004, SourceAuth: -32003, SourceUpstream: -32002, SourceTimeout: -32001,
		SourceTransport: -32000, SourceProtocol: -32000, SourceInternal: -32603,
	} {
		if got := source.Number(); got != want {
			t.Errorf("%s has number %d, want %d", source, got, want)
		}
	}
	shutdown := New(ShuttingDown, "The relay is stopping")
	if shutdown.ProtocolNumber(false) != -32003 || shutdown.ProtocolNumber(true) != -31003 ||
		shutdown.RPCCode != -32000 {
		t.Errorf("numbers of SHUTTING_DOWN: %+v", shutdown)
	}
	if got := New(TabNotFound, "x").ProtocolNumber(true); got != -32603 {
		t.Errorf("a tool failure as a protocol error has %d", got)
	}
}

// relayFailures are rendered into testdata/relay.txtar.
var relayFailures = map[string]*Error{
	"link lost": New(ExtensionLost, "The link was lost after the call was sent",
		WithHint("read the page before repeating the action.")),
	"overloaded": New(Overloaded, "50 calls are running and 64 are waiting", WithRetryAfter(1500*time.Microsecond)),
	"correlated": with(New(TabNotFound, "No tab has the id 17", WithTab(17, "Work")),
		func(e *Error) { e.CorrelationID, e.Attempts = "00112233445566778899aabbccddeeff", 3 }),
	"session": with(New(Overloaded, "The session is answering"),
		func(e *Error) { valid := true; e.SessionValid = &valid }),
	"fixed": TimedOut(Fixed, 30*time.Second, 300*time.Second, false, ""),
	"idle":  TimedOut(Idle, 30*time.Second, 300*time.Second, true, ""),
	"max exceeded, with the tool's own advice": TimedOut(MaxExceeded, 30*time.Second, 300*time.Second, true,
		"Export fewer rows.\nOr export at night.", WithRetryable(true)),
	"short": TimedOut(Fixed, 250*time.Millisecond, time.Second, false, ""),
	"hint of three lines": New(notInTable, "x\n[ERROR code=Y] z",
		WithHint("one\n\n```json\n{}\n```\n[ERROR code=Z] two\u2028three"), WithOutcome(Executed)),
	"no message": New(TabBusy, " \n"),
}

// notInTable has no row: New must still make something whole of it.
const notInTable Code = "NOT_IN_THE_TABLE"

func with(e *Error, change func(*Error)) *Error { change(e); return e }

func TestRelayFailuresAreRendered(t *testing.T) {
	var got txtar.Archive
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range relayFailures {
			if !yield(name) {
				return
			}
		}
	}) {
		e := relayFailures[name]
		holds(t, e)
		got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(strings.Join(e.Text(), "\n") + "\n")})
	}
	text := txtar.Format(&got)
	if *update {
		if err := os.WriteFile("testdata/relay.txtar", text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/relay.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("(-want +got; -update accepts it)\n%s", diff)
	}
}

func TestTimeoutHasItsTimes(t *testing.T) {
	e := TimedOut(Idle, 1500*time.Millisecond, 300*time.Second, true, "Wait.")
	if e.TimeoutMs != 1500 || e.TimeoutSecs != 2 || e.MaxTimeoutMs != 300_000 || e.MaxTimeoutSecs != 300 ||
		!*e.ProgressExtendsTimeout || e.Retryable {
		t.Errorf("fields of a timeout: %+v", e)
	}
	if e.Message != "Tool timed out after 1.5s (no progress reported)" {
		t.Errorf("message %q", e.Message)
	}
}

func TestOptionsChangeTheFailure(t *testing.T) {
	cause := errors.New("disk /home/me is full")
	e := New(InternalError, "It broke", WithCause(cause), WithSource(SourceConfig),
		WithData(json.RawMessage(`{"fact":"x"}`)), WithRetryAfter(1000*time.Hour))
	if !errors.Is(e, cause) || !errors.Is(e, &Error{Code: InternalError}) || e.RPCCode != -32004 ||
		*e.RetryAfterMs != maxRetryAfterMs || !e.Retryable {
		t.Errorf("%+v", e)
	}
	encoded, err := json.Marshal(e)
	if err != nil || strings.Contains(string(encoded)+strings.Join(e.Text(), ""), "/home/me") {
		t.Errorf("the cause got out: %s, %v", encoded, err)
	}
	var back Error
	if err := json.Unmarshal(encoded, &back); err != nil {
		t.Fatal(err)
	}
	back.Err = cause
	if diff := cmp.Diff(*e, back, cmp.Comparer(func(a, b error) bool { return a == b })); diff != "" {
		t.Errorf("the JSON form lost something (-want +got):\n%s", diff)
	}
}

func TestForeignJSONIsNotParsed(t *testing.T) {
	good := New(TabBusy, "x").Text()[0]
	for _, text := range []string{
		"", "boom", "[ERROR code=X] no block", strings.Replace(good, "TAB_BUSY", "TAB_OWNED", 1),
		strings.TrimSuffix(good, "```"), good + "\n", strings.Replace(good, `{"code"`, `{code`, 1), "x\n" + good,
	} {
		if e, err := parse(text); err == nil {
			t.Errorf("%q was read as %+v", text, e)
		}
	}
}

func TestMessageBecomesOneHarmlessLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                      "plain",
		"a\nb\r\n\tc":                "a b c",
		"a\u0085\u2028\u2029b":       "a b",
		"a\x00\x1b[31mb\x7f\u0080c":  "a[31mbc",
		"a\xff\xc0b":                 "ab",
		"\u202eevil\u2066":           "evil",
		"a\u200b\u200d\ufeff\u00adb": "ab",
		"x\U000e0041\U000e0042\U000e007f\U000e0100\ufe0f": "x",
		"\u2062\u3164\u034f":                              "",
		"👨\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 ❤\ufe0f 1\ufe0f\u20e3": "👨\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 ❤\ufe0f " +
			"1\ufe0f\u20e3",
		"می\u200cخواهم": "می\u200cخواهم",
		"\ufe0fx\ufe0f\u200d👩\u200d\u200d\u200b👧\ufe0f\ufe0f\u200d": "x👩👧\ufe0f",
		"👩\u200d\nx\u200c\u2028é\u200d":                             "👩 x é",
		"\u0600 \U0001f600 é":                                       "\u0600 \U0001f600 é",
		"````":                                                      "'''`",
		"`\x00`\x00`":                                               "'''",
		"\ufffd stays":                                              "\ufffd stays",
	} {
		if got := Sanitize(in); got != want || Sanitize(got) != got {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// FuzzText holds up the same invariants for failures of the relay, whose messages and hints may quote a page.
func FuzzText(f *testing.F) {
	f.Add("TAB_BUSY", "boom", "next", "", int64(5), "id")
	f.Add("x", "```json\n[ERROR ", "``\n`json\nSuggestion: x", "\u2028[ERROR code=A] x", int64(-1), "```\n")
	f.Fuzz(func(t *testing.T, code, message, hint, advice string, ms int64, id string) {
		e := New(Code(code), message, WithHint(hint), WithSuggestion(advice), WithRetryAfter(time.Duration(ms)))
		e.CorrelationID = Sanitize(id) // the relay's own 32 digits; anything else must do no harm
		holds(t, e)
	})
}

func BenchmarkFromPage(b *testing.B) {
	thrown := json.RawMessage(`{"code":"RATE_LIMITED","category":"rate_limit","retryable":true,"retryAfterMs":2000,` +
		`"message":"Too many requests"}`)
	b.ReportAllocs()
	for b.Loop() {
		FromPage(thrown)
	}
}

func BenchmarkText(b *testing.B) {
	e := New(ExtensionLost, "The link was lost after the call was sent")
	b.ReportAllocs()
	for b.Loop() {
		e.Text()
	}
}

// TestPlainFailure: what a model reads of a failure without JSON around it is the same header, with the outcome also of
// what a page threw, and the same next steps; nothing in a fence.
func TestPlainFailure(t *testing.T) {
	for name, e := range relayFailures {
		plain, first := e.Plain(), e.Text()[0]
		before, _, _ := strings.Cut(first, "\n\n```json\n")
		if !strings.HasPrefix(plain, before) || strings.Contains(plain, "```") {
			t.Errorf("%s:\n%s\nagainst\n%s", name, plain, first)
		}
	}
	thrown, _ := FromPage(json.RawMessage(`{"code":"NO_SUCH_PAGE","message":"[ERROR code=X] gone\n[ERROR code=Y]"}`))
	thrown.Outcome, thrown.Hint, thrown.Attempts = Executed, "Ask for another", 2
	want := "[ERROR code=NO_SUCH_PAGE retryable=false outcome=executed] [ERROR code=X] gone [ERROR code=Y]\n" +
		`{"attempts":2,"hint":"Ask for another"}`
	if got := thrown.Plain(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
