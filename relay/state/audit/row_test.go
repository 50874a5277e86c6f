package audit

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/call"
)

// decode reads what appendRow wrote. That it can is why no two rows have the same encoding.
func decode(t testing.TB, b []byte) (r Row) {
	number := func() int64 {
		if len(b) < 8 {
			t.Fatal("a number is cut")
		}
		n := binary.BigEndian.Uint64(b)
		b = b[8:]
		return int64(n)
	}
	text := func() string {
		n := number()
		if n < 0 || n > int64(len(b)) {
			t.Fatal("a text is cut")
		}
		s := string(b[:n])
		b = b[n:]
		return s
	}
	r = Row{
		N: number(), At: time.UnixMicro(number()).UTC(), Kind: text(), Client: text(), Via: text(), Session: text(),
		Tool: text(), Plugin: text(),
		ProfileID: text(), Profile: text(), TabID: number(), Origin: text(), ArgumentsHash: text(), Arguments: text(),
		Decision:  text(),
		DecidedBy: text(), Outcome: text(), Code: text(), DurationMs: number(), CallID: text(), Detail: text(),
	}
	if len(b) > 0 {
		r.Agent, r.Asker = text(), text()
	}
	if len(b) > 0 {
		t.Fatalf("%d bytes are left", len(b))
	}
	return r
}

func FuzzEncoding(f *testing.F) {
	f.Add(int64(1), "call", "ab", "", "c", int64(7), "x")
	f.Add(int64(-1), "", "a", "b", "\x00\x00\x00\x00\x00\x00\x00\x01c", int64(1<<62), "\xff")
	f.Fuzz(func(t *testing.T, n int64, kind, client, via, tool string, tab int64, detail string) {
		r := Row{
			N: n, At: time.UnixMicro(n ^ tab).UTC(), Kind: kind, Client: client, Via: via, Session: detail, Tool: tool,
			Plugin: kind, ProfileID: client, Profile: via,
			TabID: tab, Origin: tool, ArgumentsHash: detail, Arguments: kind, Decision: client, DecidedBy: via,
			Outcome: tool, Code: detail, DurationMs: n, CallID: via, Detail: detail,
		}
		for _, r.Agent = range []string{"", kind} {
			if diff := cmp.Diff(r, decode(t, appendRow(nil, &r))); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// The encoding is published: whoever checks the log with another program needs the same.
func TestEncodingIsFixed(t *testing.T) {
	r := Row{
		N: 7, At: time.UnixMicro(1_800_000_000_000_001).UTC(), Kind: "call", Client: "claude-code", Via: "stdio",
		Session: "stdio:1", Tool: "shop__read", Plugin: "shop",
		ProfileID: "p", Profile: "Büro", TabID: 3, Origin: "https://shop.example", ArgumentsHash: "00", Arguments: "{}",
		Decision: "auto", DecidedBy: "rule",
		Outcome: "returned", DurationMs: 12, CallID: "c", Detail: "done",
	}
	const want = "ba1770a7db774cc2e06ef1669ab5174437a31232cc617de01a375b16f03dc1d8"
	if got := Chain(Hash{1, 2, 3}, &r).String(); got != want {
		t.Errorf("%s", got)
	}
}

func TestRowOf(t *testing.T) {
	at := time.UnixMicro(1_800_000_000_000_001)
	e := call.Entry{
		At: at.Add(300), Kind: call.EntryCall, Session: call.Session{Client: "a\nb\x1b[31m", Via: "http",
			ID: strings.Repeat("l", 500)}, Tool: strings.Repeat("é", 100),
		Profile: "\u202eevil", Arguments: json.RawMessage(`{"password":"hunter2"}`), Duration: -time.Second,
		Detail: "sent Bearer abcdefghijkl1", TabID: 3,
	}
	r := RowOf(&e, "d1", false)
	if r.Client != "a b[31m" || len(r.Session) != mostName || len(r.Tool) > mostName || !utf8.ValidString(r.Tool) ||
		r.Profile != "evil" || r.DurationMs != 0 || r.At != at.UTC() ||
		r.Detail != "sent Bearer [redacted]" || r.Arguments != `{"password":"[redacted]"}` || r.ArgumentsHash != "d1" {
		t.Errorf("%+v", r)
	}
}

func TestRowOfAnotherMachine(t *testing.T) {
	for _, c := range []struct {
		detail, machine string
		remote          bool
		want            string
	}{
		{"sent", "devbox (192.0.2.1)", true, "sent; from another machine: devbox (192.0.2.1)"},
		{"", "dev\n\x1b[31mbox", true, "from another machine: dev [31mbox"},
		{"", "", true, "from another machine"},
		{"sent", "devbox", false, "sent"},
	} {
		session := call.Session{Remote: c.remote, Machine: c.machine}
		r := RowOf(&call.Entry{Session: session, Detail: c.detail}, "", false)
		if r.Detail != c.want {
			t.Errorf("%+v: %q", c, r.Detail)
		}
	}
}

func TestPreviewIsShortAndRedacted(t *testing.T) {
	long := strings.Repeat("x", 300)
	for in, want := range map[string]string{
		``:   "",
		`{}`: "{}",
		` { "a" : [ 1 , 2.50, true,null,[]], "b":{} } `: `{"a":[1,2.50,true,null,[]],"b":{}}`,
		`{"n":12345678901234567890}`:                    `{"n":12345678901234567890}`,
		`{"api_key":{"deep":"secret"},"x":1}`:           `{"api_key":"[redacted]","x":1}`,
		`{"q":"token=abc123&x=1"}`:                      `{"q":"token=[redacted]&x=1"}`,
		`{"t":"a\nb\u0000\u202ec<"}`:                    `{"t":"a bc<"}`,
		`{"a":"` + long + `"}`:                          `{"a":"` + long[:mostValue] + `…"}`,
		`{"a":`:                                         `{"a":…`,
		`nonsense`:                                      "…",
		`{"a":1}}`:                                      `{"a":1}`,
	} {
		if got := preview(json.RawMessage(in), false); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
	if got := preview(json.RawMessage(`["`+strings.Repeat(`","`, 1000)+`"]`), false); len(got) > mostPreview+
		len(ellipsis) || !strings.HasSuffix(got, ellipsis) {
		t.Error(got)
	}
	if got := preview(json.RawMessage(`{"a":1,"b":"cu`), true); got != `{"a":1,"b":…` {
		t.Error(got)
	}
}

func FuzzPreview(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"password":"x"}],"b":"\ud800"}`))
	f.Add([]byte("[[[[[[[[\x00"))
	f.Fuzz(func(t *testing.T, arguments []byte) {
		got := preview(arguments, false)
		if len(got) > mostPreview+len(ellipsis) || !utf8.ValidString(got) ||
			strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q", got)
		}
	})
}

func FuzzCSV(f *testing.F) {
	f.Add("=1+1", "\t@SUM(A1)", "a,\"b\"\r\nc")
	f.Add("\u200b=x", " ＝cmd|' /C calc'!A0", "-2")
	f.Fuzz(func(t *testing.T, client, detail, arguments string) {
		var b bytes.Buffer
		w := NewCSV(&b)
		for range 2 {
			if err := w.Write(&Row{N: 1, Client: client, Detail: detail, Arguments: arguments, TabID: -5}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(records) != 3 {
			t.Fatalf("%d records, %v", len(records), err)
		}
		for _, record := range records {
			for _, cell := range record {
				if strings.ContainsFunc(cell, unicode.IsControl) {
					t.Errorf("%q has a control character", cell)
				}
				first := strings.TrimLeftFunc(cell, func(r rune) bool {
					return unicode.IsSpace(r) ||
						unicode.Is(unicode.Cf, r)
				})
				if strings.HasPrefix(first, "=") || strings.HasPrefix(first, "+") || strings.HasPrefix(first, "-") ||
					strings.HasPrefix(first, "@") {
					t.Errorf("%q may be a formula", cell)
				}
			}
		}
	})
}
