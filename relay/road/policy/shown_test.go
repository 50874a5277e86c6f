package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// What a person is asked to allow is what the agent wrote, also where a screen would show something else.
func TestArgumentsAreShown(t *testing.T) {
	for in, want := range map[string]string{
		`{"q":"cookie: a=b","ms":4321}`: "q: cookie: a=b\nms: 4321",
		`{"a":"Bearer delete-all-1234567890","b":"https://x.example/?token=now-delete-12345","c":"password=hunter22 ` +
			`x"}`: "a: " +
			"Bearer delete-all-1234567890\n" +
			"b: https://x.example/?token=now-delete-12345\nc: password=hunter22 x",
		`{"password":"hunter2hunter","user":{"apiKey":["one","two"],"name":"ada"}}`: "password: " +
			"•••• ⟨13 characters hidden: secret field⟩\nuser: ⟨object⟩\n" +
			"  apiKey: •••• ⟨6 characters hidden: secret field⟩\n  name: ada",
		`{"Authorization":{"scheme":"x","n":[1,22,{"deep":"three"}]}}`: "Authorization: •••• " +
			"⟨20 characters hidden: secret field⟩",
		`{"pass\u0077ord":"x","p\u0061ssword ":"y"}`: "password: •••• ⟨1 character hidden: secret field⟩\n" +
			"\"password \": •••• ⟨1 character hidden: secret field⟩",
		`{"n":1e400,"m":-0.10,"big":12345678901234567890123}`: "n: 1e400\nm: -0.10\nbig: 12345678901234567890123",
		`{"a":1,"a":2}`:                             "a: 1\na ⟨the same name again⟩: 2",
		`{"to":1,"tо":2}`:                           "to: 1\ntо ⟨the name has U+043E⟩: 2",
		"{\"to\":\"a\u202egnp.exe\u200b\"}":         "to: a⟨U+202E⟩gnp.exe⟨U+200B⟩",
		`{"x":"\ud800 \udc41é 😀 \ud83d\ude00"}`:     "x: ⟨U+D800⟩ ⟨U+DC41⟩é 😀 😀",
		"{\"x\":\"\xff\"}":                          "x: ⟨byte FF⟩",
		`{"x":"⟨5 characters hidden⟩"}`:             "x: ⟨U+27E8⟩5 characters hidden⟨U+27E9⟩",
		`{"amount: 5\nRisk":"none"}`:                "\"amount: 5⟨U+000A⟩Risk\": none",
		`{"a\"b":1,"":2}`:                           "\"a\\\"b\": 1\n\"\": 2",
		`{"t":"one\nRisk: It only reads."}`:         "t: one\n| Risk: It only reads.",
		`{"t":"a\n\n\n\n\nb                    c"}`: "t: a⟨U+000A × 5⟩b⟨U+0020 × 20⟩c",
		`{"a":"5","b":"true","c":"","d":" ","e":null,"f":false}`: "a: 5 ⟨text⟩\nb: true ⟨text⟩\n" +
			"c: ⟨empty text⟩\nd:  ⟨blanks⟩\ne: null\nf: false",
		`{"l":[1,[2,"x"],{}],"o":[]}`: "l: ⟨list⟩\n  1: 1\n  2: ⟨list⟩\n    1: 2\n    2: x\n" +
			"  3: ⟨empty object⟩\no: ⟨empty list⟩",
		`{"z":"e` + strings.Repeat("\u0301", 4) + `"}`: "z: e\u0301\u0301⟨U+0301⟩⟨U+0301⟩",
		`{"a":1,`:     "a: 1\n⟨not JSON⟩,",
		`"just text"`: "just text",
		`{}`:          "",
	} {
		s := firstShown(json.RawMessage(in))
		if got := flush(LinesText(s.Lines)); got != want {
			t.Errorf("%s is shown as\n%s\nwant\n%s", in, got, want)
		}
		if s.Hidden != 0 {
			t.Errorf("%s: %d characters are said to be hidden", in, s.Hidden)
		}
	}
}

// flush takes the indent off that every line has.
func flush(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "  "), "\n  ", "\n")
}

// What is long shows how it begins and how it ends, and how much is between.
func TestLongArgumentsShowBothEnds(t *testing.T) {
	long := `{"first":"head` + strings.Repeat("x", 10_000) + `tail","then":"delete everything"}`
	s := firstShown(json.RawMessage(long))
	text := LinesText(s.Lines)
	want := fmt.Sprintf("x⟨… %s of 10,008 characters hidden …⟩x", thousands(s.Hidden))
	for _, part := range []string{"first: headxxx", want, "xxxtail\n", "then: delete everything"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if want := "2 with 10,034 characters; " + counted(s.Hidden, "character") + " not shown here"; s.Summary != want {
		t.Errorf("%q, want %q", s.Summary, want)
	}
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, `,"k%d":%d`, i, i)
	}
	s = firstShown(json.RawMessage("{" + many.String()[1:] + "}"))
	text = LinesText(s.Lines)
	if s.Arguments != 10_000 || !strings.Contains(text, "k0: 0\n") || !strings.HasSuffix(text, "k9999: 9999") ||
		!strings.Contains(text, "⟨… 9,940 lines with "+counted(s.Hidden, "character")+" hidden …⟩") {
		t.Errorf("%s\n%s", s.Summary, text)
	}
	deep := strings.Repeat(`{"a":`, 500) + `"bottom"` + strings.Repeat("}", 500)
	if text := LinesText(firstShown(json.RawMessage(deep)).Lines); !strings.Contains(text, "⟨level 499⟩ a: bottom") {
		t.Errorf("the bottom is not shown:\n%s", text)
	}
}

var hiddenIn = regexp.MustCompile(`^… ([\d,]+) of [\d,]+ characters hidden …$|` +
	`^… [\d,]+ lines? with ([\d,]+) characters? hidden …$|^([\d,]+) characters? hidden: secret field$`)

// accounted is how many characters lines show, and how many they say are hidden.
func accounted(t *testing.T, lines []call.Line) (shown, hidden int) {
	t.Helper()
	for _, line := range lines {
		for _, piece := range line.Pieces {
			if piece.Kind != call.PieceNote {
				shown += utf8.RuneCountInString(unescapedText(piece))
				continue
			}
			_, words, _ := strings.Cut(strings.TrimSuffix(piece.Text, string(closes)), string(opens))
			if found := hiddenIn.FindStringSubmatch(words); found != nil {
				n, err := strconv.Atoi(strings.ReplaceAll(found[1]+found[2]+found[3], ",", ""))
				if err != nil {
					t.Fatal(err)
				}
				hidden += n
			}
		}
	}
	return shown, hidden
}

var escapedIn = regexp.MustCompile(`⟨(?:U\+([0-9A-F]+)|byte [0-9A-F]+)(?: × (\d+))?⟩`)

// unescapedText is a piece with one character for each that was sent.
func unescapedText(piece call.Piece) string {
	text := piece.Text
	if piece.Kind == call.PieceName && strings.HasPrefix(text, `"`) {
		text = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(text[1 : len(text)-1])
	}
	return escapedIn.ReplaceAllStringFunc(text, func(found string) string {
		times := 1
		if n := escapedIn.FindStringSubmatch(found)[2]; n != "" {
			times, _ = strconv.Atoi(n) // the expression has digits
		}
		return strings.Repeat("?", times)
	})
}

// For any arguments: what is shown and what is said to be hidden add up to what is sent, at first and in all parts.
func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 7))
		addsUp(t, []byte(madeUp(random, 0)))
	}
}

func FuzzNothingIsLost(f *testing.F) {
	for _, seed := range []string{`{"a":1,"password":["x"]}`, `{"a":"\ud800⟨⟩\u202e"}`, "{\"\xff\":\"\xff\"", `[]`,
		`{"a":[{}]}x`, `{"":""}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, arguments []byte) { addsUp(t, arguments) })
}

func addsUp(t *testing.T, arguments []byte) {
	t.Helper()
	s := firstShown(arguments)
	shown, hidden := accounted(t, s.Lines)
	if shown+hidden != s.Characters || hidden != s.Hidden+s.Secret {
		t.Errorf("%.300q: %d characters, %d shown, %d said to be hidden; summary %+v", arguments, s.Characters, shown,
			hidden, s.Summary)
	}
	var lines []call.Line
	for from := 0; ; {
		part, next := allLines(arguments, from, false)
		for _, line := range part {
			if line.Continues {
				last := &lines[len(lines)-1]
				last.Pieces = joined(last.Pieces, line.Pieces)
				continue
			}
			lines = append(lines, line)
		}
		if from = next; next == 0 {
			break
		}
	}
	shown, hidden = accounted(t, lines)
	if shown+hidden != s.Characters || hidden != s.Secret {
		t.Errorf("%.300q: %d characters, all parts show %d and say that %d are hidden", arguments, s.Characters, shown,
			hidden)
	}
	for _, line := range append(lines, s.Lines...) {
		for _, piece := range line.Pieces {
			if strings.ContainsFunc(piece.Text, func(r rune) bool {
				return r != '\n' && r != '\t' &&
					fault.Invisible(r)
			}) {
				t.Errorf("%.300q: there are characters nobody sees in %q", arguments, piece.Text)
			}
		}
	}
}

func joined(pieces, more []call.Piece) []call.Piece {
	for i, piece := range more {
		if last := len(pieces) - 1; i == 0 && last >= 0 && pieces[last].Kind == piece.Kind {
			pieces[last].Text += piece.Text
			continue
		}
		pieces = append(pieces, piece)
	}
	return pieces
}

// madeUp is a JSON value of all that agents send: long and short, deep and wide, with characters of every sort.
func madeUp(random *rand.Rand, depth int) string {
	alphabet := []string{"a", "Z", " ", `\n`, `\"`, `\\`, `\ud800`, `\udc00`, "\u202e", "é", "😀", "⟨", "⟩", "\u0301",
		"0", ":", "\xff", `\u0061`, "“", "cookie: ", "Bearer "}
	text := func(most int) string {
		var b strings.Builder
		for range random.IntN(most) + 1 {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		return `"` + b.String() + `"`
	}
	if depth == 0 || depth < 5 && random.IntN(4) == 0 {
		n := random.IntN(8)
		if depth < 2 && random.IntN(6) == 0 {
			n = random.IntN(150)
		}
		var members []string
		list := depth > 0 && random.IntN(2) == 0
		for range n {
			name := []string{text(12), `"password"`, `"to"`, `"x_token"`, text(300)}[random.IntN(5)] + ":"
			if list {
				name = ""
			}
			members = append(members, name+madeUp(random, depth+1))
		}
		if list {
			return "[" + strings.Join(members, ",") + "]"
		}
		return "{" + strings.Join(members, " , ") + "}"
	}
	if random.IntN(300) == 0 {
		return text(20_000)
	}
	return []string{"1e400", "-0.0", "true", "null", "false", strings.Repeat("9", random.IntN(500)+1), text(20),
		text(700), `""`}[random.IntN(9)]
}

// Until all of a call's arguments were shown somewhere, it can be allowed there only once.
func TestWhatIsHiddenIsAllowedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		long := pay()
		long.Arguments = json.RawMessage(`{"text":"` + strings.Repeat("word ", 40_000) + `"}`)
		q, end := f.asks(t.Context(), long)
		if len(q.Choices) != 1 || q.Choices[0] != "once" || q.Arguments != nil {
			t.Errorf("before it is opened: %v, %.80s", q.Choices, q.Arguments)
		}
		for _, lasts := range []string{"session", "always", "1h"} {
			if err := f.Answer(t.Context(), q.ID, "p1", yes(lasts)); !errors.Is(err, ErrUnseen) {
				t.Errorf("%s: %v", lasts, err)
			}
		}
		if _, err := f.ShowArguments(q.ID, "p2", 0, false); !errors.Is(err, ErrNotYours) {
			t.Errorf("another profile opens it: %v", err)
		}
		for _, from := range []int{-1, 5, 100 * partBytes} {
			if _, err := f.ShowArguments(q.ID, "p1", from, false); !errors.Is(err, ErrPart) {
				t.Errorf("from %d: %v", from, err)
			}
		}
		last := 3 * partBytes
		if _, err := f.ShowArguments(q.ID, "p1", last, false); err != nil { // the end alone is not all of it
			t.Fatal(err)
		}
		if got := f.Pending("p1")[0].Choices; len(got) != 1 {
			t.Errorf("after the end alone: %v", got)
		}
		var text strings.Builder
		for from := 0; ; {
			part, err := f.ShowArguments(q.ID, "p1", from, false)
			if err != nil {
				t.Fatal(err)
			}
			text.WriteString(LinesText(part.Lines))
			if from = part.Next; from == 0 {
				break
			}
		}
		if strings.Count(text.String(), "word") != 40_000 {
			t.Errorf("all parts hold %d words", strings.Count(text.String(), "word"))
		}
		if got := f.Pending("p1")[0].Choices; len(got) != 3 {
			t.Errorf("after all of it: %v", got)
		}
		if got := f.Pending("")[0].Choices; len(got) != 1 {
			t.Errorf("at the terminal, where it was not opened: %v", got)
		}
		if err := f.Answer(t.Context(), q.ID, "", yes("session")); !errors.Is(err, ErrUnseen) {
			t.Errorf("at the terminal: %v", err)
		}
		if err := f.Answer(t.Context(), q.ID, "p1", yes("session")); err != nil || <-end != nil {
			t.Error(err)
		}
		if got := f.allowed(pay()); got != "runs" {
			t.Errorf("afterwards it is %s", got)
		}
	})
}

// Until the values of secret fields were shown somewhere, in all parts, a call can be allowed there only once. Whatever
// else was shown counts for nothing.
func TestSecretFieldsAreAllowedOnce(t *testing.T) {
	for name, arguments := range map[string]string{
		"short": `{"to":"ada","password":"hunter2"}`,
		"long":  `{"to":"` + strings.Repeat("word ", 40_000) + `","card":{"cvc_token":["hunter2"]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
				a := pay()
				a.Arguments = json.RawMessage(arguments)
				q, end := f.asks(t.Context(), a)
				if strings.Contains(fmt.Sprint(q), "hunter2") {
					t.Errorf("the question shows %v", q)
				}
				all := func(secrets bool) (text string) {
					for from := 0; ; {
						part, err := f.ShowArguments(q.ID, "p1", from, secrets)
						if err != nil {
							t.Fatal(err)
						}
						text += LinesText(part.Lines)
						if from = part.Next; from == 0 {
							return text
						}
					}
				}
				once := func(when string) {
					t.Helper()
					if got := f.Pending("p1")[0].Choices; len(got) != 1 || got[0] != "once" {
						t.Errorf("%s: %v", when, got)
					}
					for _, lasts := range []string{"session", "always", "1h"} {
						if err := f.Answer(t.Context(), q.ID, "p1", yes(lasts)); !errors.Is(err, ErrUnseen) {
							t.Errorf("%s, %s: %v", when, lasts, err)
						}
					}
				}
				once("before anything is opened")
				if text := all(false); strings.Contains(text, "hunter2") ||
					!strings.Contains(text, "7 characters hidden") {
					t.Errorf("without secret fields: %.300s", text)
				}
				once("after all but the secret fields")
				if text := all(true); !strings.Contains(text, "hunter2") || strings.Contains(text, "hidden") {
					t.Errorf("with secret fields: %.300s", text)
				}
				if got := f.Pending("p1")[0].Choices; len(got) != 3 {
					t.Errorf("after all of it: %v", got)
				}
				if got := f.Pending("")[0].Choices; len(got) != 1 {
					t.Errorf("at the terminal, where it was not opened: %v", got)
				}
				if err := f.Answer(t.Context(), q.ID, "p1", yes("session")); err != nil || <-end != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Reading, which is allowed for the session by an answer for once, is not when something was hidden.
func TestReadingWhatIsHiddenIsAllowedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		read := pay()
		read.ReadOnly = true
		for _, arguments := range []string{`{"text":"` + strings.Repeat("word ", 4_000) + `"}`,
			`{"q":"x","apiKey":"y"}`} {
			read.Arguments = json.RawMessage(arguments)
			q, end := f.asks(t.Context(), read)
			if err := f.Answer(t.Context(), q.ID, "p1", yes("once")); err != nil || <-end != nil {
				t.Fatal(err)
			}
			if got := f.allowed(read); got != "ask" {
				t.Errorf("afterwards it is %s", got)
			}
		}
	})
}

// What waits is bounded by its size: at the bound it is asked about, beyond it is refused.
func TestWhatWaitsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		half := pay()
		half.Arguments = json.RawMessage(`{"text":"` + strings.Repeat("x", maxBytes/2-11) + `"}`)
		f.asks(t.Context(), half)
		f.asks(t.Context(), half)
		if failure := f.ask(t.Context(), pay(), nil, nil); failure == nil || failure.Code != fault.Overloaded ||
			failure.Outcome != fault.NotExecuted || !strings.Contains(failure.Hint, "approvals.maxBytes") {
			t.Errorf("one more: %v", failure)
		}
	})
}

// A notification says what an act will do and where, in few characters: no words of a page go on behind their quotation
// mark, and a long site ends as it does.
func TestActsInBrief(t *testing.T) {
	pay, long := `Click button "Pay now"`, `Click button "`+strings.Repeat("Pay ", 60)+`"`
	for _, test := range []struct {
		q     call.Approval
		frame string
		want  string
	}{
		{call.Approval{Origin: "https://shop.example", Deeds: []string{pay}}, "",
			`Click button "Pay now" on shop.example?`},
		{call.Approval{Origin: "http://127.0.0.1:8000", Deeds: []string{`Fill in "Amount": 500`}}, "",
			"Fill in \"Amount\": 500 on http://127.0.0.1:8000?"},
		{call.Approval{Origin: "https://forum.example", Deeds: []string{pay}}, "https://pay.example",
			`Click button "Pay now" in pay.example, a frame of forum.example?`},
		{call.Approval{Origin: "https://pay.example", Within: "https://forum.example", Deeds: []string{pay}}, "",
			`Click button "Pay now" in pay.example, a frame of forum.example?`},
		{call.Approval{Origin: "https://forum.example", Deeds: []string{pay}}, "null",
			`Click button "Pay now" in a frame of forum.example that has no site of its own?`},
		{call.Approval{Origin: "https://shop.example",
			Deeds: []string{`Fill in "To": "Bob"`, `Fill in "Amount": 500`, pay}}, "",
			`3 things on shop.example: 1. Fill in "To": "Bob"; 2. Fill in "Amount": 500; 3. Click button "Pay now"?`},
		{call.Approval{Origin: "https://shop.example", Deeds: []string{pay, pay, pay, pay, pay}}, "",
			`5 things on shop.example: 1. ` + pay + `; 2. ` + pay + `; 3. ` + pay + `; and 2 more?`},
		{call.Approval{Origin: "https://shop.example", Deeds: []string{long}}, "",
			`Click button "` + strings.Repeat("Pay ", 26) + `Pa…" on shop.example?`},
		{call.Approval{Origin: "https://shop.example." + strings.Repeat("a", 90) + ".evil.example",
			Deeds: []string{pay}}, "", pay + " on …" + strings.Repeat("a", 46) + ".evil.example?"},
		{call.Approval{Origin: "https://shop.example", Deeds: []string{pay},
			Elsewhere: sendsTo([]string{"pay.example"})},
			"", "Sends to another site: pay.example. " + pay + " on shop.example?"},
		{call.Approval{Origin: "https://shop.example"}, "", ""},
	} {
		a := call.Access{Deeds: call.Deeds{Frame: test.frame}}
		if got := inBrief(&a, test.q); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
