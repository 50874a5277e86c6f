package effect

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/lib/rawjson"
)

// TestLinesSayEverythingOfAnActOnce: an answer says everything that its value has, once, and nothing else.
func TestLinesSayEverythingOfAnActOnce(t *testing.T) {
	tests := []struct{ name, tool, arguments, output, want string }{
		{"a line is new", "click", `{"ref":"e12"}`,
			`{"outcome":"executed","changes":"+ status \"Saved\"","on":"button \"Save\" [e12]"}`,
			"clicked button \"Save\" [e12]\n+ status \"Saved\""},
		{"only its state is different", "click", `{"ref":"e4"}`,
			`{"outcome":"executed","changes":"~ button \"Like\" [e4] pressed","on":"button \"Like\" [e4]"}`,
			`clicked button "Like" [e4] → pressed`},
		{"its state was another one", "click", `{"ref":"e4"}`,
			`{"changes":"~ button \"More\" [e4] expanded\n+ menu","on":"button \"More\" [e4] collapsed",` +
				`"focused":"e4"}`,
			"clicked button \"More\" [e4] collapsed → expanded\n+ menu"},
		{"the focus is all", "click", `{"ref":"e4"}`,
			`{"outcome":"executed","on":"textbox \"To\" [e4]","focused":"e4"}`,
			"clicked textbox \"To\" [e4]\nfocused: e4"},
		{"the focus is elsewhere", "click", `{"ref":"e4"}`,
			`{"changes":"+ menuitem \"Rename\" [e9]","on":"button \"More\" [e4]","focused":"menuitem \"Rename\" [e9]"}`,
			"clicked button \"More\" [e4]\n+ menuitem \"Rename\" [e9]\nfocused: e9"},
		{"the focus is in what nobody was told of", "click", `{"ref":"e4"}`,
			`{"changes":"+ h4 \"New\"","on":"button \"Add\" [e4]","focused":"text [e50]: \"New and all\""}`,
			"clicked button \"Add\" [e4]\n+ h4 \"New\"\nfocused: text [e50]: \"New and all\""},
		{"the focus has not gone on", "fill", `{"fields":[]}`,
			`{"on":"textbox \"A\" [e1], textbox \"B\" [e2]","focused":"e1","filled":[` +
				`{"ref":"e1","on":"textbox \"A\" [e1]","value":"a","verified":true},` +
				`{"ref":"e2","on":"textbox \"B\" [e2]","value":"b","verified":true}]}`,
			"filled textbox \"A\" [e1] = \"a\"\nfilled textbox \"B\" [e2] = \"b\"\nfocused: e1"},
		{"a list was scrolled", "pointer", `{"action":"scroll","ref":"e1"}`,
			`{"on":"list \"All\" [e1]","scrolled":true,"position":{"top":10,"left":0}}`,
			"scrolled list \"All\" [e1]\nposition: {top 10, left 0}"},
		{"its state is over", "click", `{"ref":"e4"}`,
			`{"changes":"~ checkbox \"OK\" [e4]","on":"checkbox \"OK\" [e4] checked"}`,
			"clicked checkbox \"OK\" [e4] checked\n~ checkbox \"OK\" [e4]"},
		{"another name that begins the same", "click", `{}`,
			`{"changes":"~ button \"Like\" [e44] pressed","on":"button \"Like\" [e4]"}`,
			"clicked button \"Like\" [e4]\n~ button \"Like\" [e44] pressed"},
		{"it is another one, and elsewhere", "click", `{}`,
			`{"changes":"~ link \"A\" [e4] visited (now first)","on":"link \"A\" [e4]"}`,
			"clicked link \"A\" [e4]\n~ link \"A\" [e4] visited (now first)"},
		{"nothing", "click", `{}`,
			`{"outcome":"executed","noEffect":true,"note":"The tab is behind another one","on":"button \"Dead\" [e1]"}`,
			"clicked button \"Dead\" [e1]\nnoEffect: true\nnote: The tab is behind another one"},
		{"fields", "fill", `{"fields":[]}`,
			`{"changes":"~ textbox \"Email\" [e2] required = \"a@b.c\"\n~ checkbox \"OK\" [e3] checked\n` +
				`+ alert \"Taken\"",` +
				`"on":"textbox \"Email\" [e2] required, checkbox \"OK\" [e3]","filled":[` +
				`{"ref":"e2","on":"textbox \"Email\" [e2] required","value":"a@b.c","verified":true},` +
				`{"ref":"e3","on":"checkbox \"OK\" [e3]","value":true,"verified":true},` +
				`{"ref":"e4","on":"checkbox \"Not\" [e4]","value":false,"verified":true},` +
				`{"ref":"e5","on":"password \"PIN\" [e5]","verified":true},` +
				`{"ref":"e6","on":"textbox \"Code\" [e6]","value":"12","asked":"1234","verified":false,` +
				`"note":"the page changed it"}]}`,
			"filled textbox \"Email\" [e2] required = \"a@b.c\"\nfilled checkbox \"OK\" [e3] checked\n" +
				"filled checkbox \"Not\" [e4] = false\nfilled password \"PIN\" [e5] = •••\n" +
				"filled textbox \"Code\" [e6] = \"12\" (not verified; asked for \"1234\"; the page changed it)\n" +
				"+ alert \"Taken\""},
		{"a field says something besides", "fill", `{"fields":[]}`,
			`{"changes":"~ textbox \"N\" [e2] invalid","filled":[{"ref":"e2","on":"textbox \"N\" [e2]",` +
				`"value":"x","verified":true}]}`,
			"filled textbox \"N\" [e2] = \"x\"\n~ textbox \"N\" [e2] invalid"},
		{"lines that say what fields say", "fill", `{"fields":[]}`,
			`{"changes":"+ textbox \"A\" [e1] = \"8\"\n+ textbox \"A\" [e1] = \"8\" invalid\n~ checkbox [e2]\n` +
				`~ listbox [e3] = \"Red\", \"Blue\" or \"Green\"","filled":[` +
				`{"ref":"e1","on":"textbox \"A\" [e1]","value":"8","verified":true},` +
				`{"ref":"e2","on":"checkbox [e2]","value":false,"verified":true},` +
				`{"ref":"e3","on":"listbox [e3]","value":["Red","Blue"],"verified":true}]}`,
			"filled textbox \"A\" [e1] = \"8\"\nfilled checkbox [e2] = false\n" +
				"filled listbox [e3] = \"Red\", \"Blue\" or \"Green\"\n+ textbox \"A\" [e1] = \"8\" invalid"},
		{"keys", "press", `{"keys":"Enter"}`, `{"outcome":"executed","notDone":2,"url":"https://a.example/x y"}`,
			"pressed keys\nnotDone: 2\nurl: https://a.example/x%20y"},
		{"words", "press", `{"text":"hi"}`, `{"on":"textbox \"To\" [e1]","changes":"~ textbox \"To\" [e1] = \"hi\""}`,
			`typed in textbox "To" [e1] → = "hi"`},
		{"a drag", "pointer", `{"action":"drag","ref":"e1","to":"e2"}`,
			`{"on":"listitem \"A\" [e1]","changes":"~ listitem \"A\" [e1] (now after e2)"}`,
			"dragged listitem \"A\" [e1]\n~ listitem \"A\" [e1] (now after e2)"},
		{"everything else", "click", `{}`, `{"on":"button \"Go\" [e1]","dialogs":[{"kind":"confirm",` +
			`"text":"Sure?\nnote: no",` +
			`"answered":"dismissed"}],"opened":[{"tabId":7,"url":"https://b.example/"}],` +
			`"failedRequests":["GET /x: 500"],` +
			`"consoleErrors":["boom"],"scrolled":true,"position":{"top":10,"left":0},"files":[],"trusted":true}`,
			"clicked button \"Go\" [e1]\ndialogs: confirm \"Sure?\\nnote: no\" answered \"dismissed\"\n" +
				"opened: tab 7 https://b.example/\nfailedRequests: \"GET /x: 500\"\nconsoleErrors: \"boom\"\n" +
				"scrolled: true\nposition: {top 10, left 0}\nfiles: []\ntrusted: true"},
		{"another page", "click", `{}`,
			`{"on":"link \"Next\" [e1]","page":"page \"Next\" https://a.example/next\nmain\n h1 \"Next\"",` +
				`"url":"https://a.example/next","title":"Next","notDone":1}`,
			"clicked link \"Next\" [e1]\nnotDone: 1\npage \"Next\" https://a.example/next\nmain\n h1 \"Next\""},
		{"another page than is told", "click", `{}`,
			`{"page":"page \"https://a.example/\" https://b.example/","url":"https://a.example/","title":"A"}`,
			"clicked\nurl: https://a.example/\ntitle: \"A\"\npage \"https://a.example/\" https://b.example/"},
		{"steps", "act", `{"steps":[{"tool":"click","ref":"e1"},{"tool":"press",` +
			`"text":"x"},{"tool":"click","ref":"e2"}]}`,
			`{"steps":[{"outcome":"executed","on":"button \"A\" [e1]","changes":"~ button \"A\" [e1] pressed"},` +
				`{"outcome":"executed","noEffect":true}],"notDone":1,"note":"it stayed"}`,
			"notDone: 1\nnote: it stayed\n1. clicked button \"A\" [e1] → pressed\n2. typed\nnoEffect: true"},
		{"steps that take away what others brought", "act", `{"steps":[{"tool":"click","ref":"e1"},` +
			`{"tool":"click","ref":"e5"},{"tool":"click","ref":"e1"}]}`,
			`{"steps":[{"on":"button \"M\" [e1]","changes":"+ menuitem \"A\" [e5] (after e1)\n` +
				`+ menuitem \"B\" [e6]\n+ link \"Stays\" [e7]\n+ \"Open\"\n` +
				`+ \"Sure?\" button \"x\" [e8]\n~ \"1\" link \"N\" [e2]"},` +
				`{"on":"menuitem \"A\" [e5]","changes":"~ \"2\" link \"N\" [e2]\n- menuitem \"A\" [e5]\n` +
				`- menuitem \"B\" [e6]\n- \"Open\"\n- \"Sure?\" button \"x\" [e8]"},` +
				`{"on":"button \"M\" [e1]","changes":"+ button \"X\" [e9]\n- 4 lines from \"Old\" (e3-e4)"}]}`,
			"1. clicked button \"M\" [e1]\n+ link \"Stays\" [e7] (after e1)\n+ \"Open\"\n" +
				"+ \"Sure?\" button \"x\" [e8]\n" +
				"2. clicked menuitem \"A\" [e5]\n~ \"2\" link \"N\" [e2]\n- \"Open\"\n- \"Sure?\" button \"x\" [e8]\n" +
				"3. clicked button \"M\" [e1]\n+ button \"X\" [e9]\n- 4 lines from \"Old\" (e3-e4)"},
		{"a page was loaded", "navigate", `{"to":"https://a.example"}`,
			`{"tabId":3,"url":"https://a.example/","title":"A \"b\"","status":"complete","httpStatus":200}`,
			`went to page "A \"b\"" https://a.example/ in tab 3`},
		{"a page was loaded and looked at", "navigate", `{"to":"https://a.example","look":true}`,
			`{"tabId":3,"url":"https://a.example/","title":"A","status":"complete","httpStatus":200,"missing":"B",` +
				`"page":"page \"A\" https://a.example/\nh1 \"A\""}`,
			"went to this page in tab 3\nmissing: \"B\"\npage \"A\" https://a.example/\nh1 \"A\""},
		{"a page that went on meanwhile", "navigate", `{"to":"https://a.example","look":true}`,
			`{"tabId":3,"url":"https://a.example/","title":"A","page":"page \"B\" https://a.example/b\n\"b\""}`,
			"went to page \"A\" https://a.example/ in tab 3\npage \"B\" https://a.example/b\n\"b\""},
		{"a page that could not be looked at", "navigate", `{"to":"https://a.example","look":true}`,
			`{"tabId":3,"url":"https://a.example/","title":"A","status":"complete",` +
				`"notLooked":"The page could not be looked at. Take a snapshot"}`,
			"went to page \"A\" https://a.example/ in tab 3\nnotLooked: \"The page could not be looked at. " +
				"Take a snapshot\""},
		{"a page was not found", "navigate", `{}`,
			`{"tabId":3,"url":"https://a.example/","title":"","status":"loading","httpStatus":404,"note":"n"}`,
			"went to page https://a.example/ in tab 3\nstatus: loading\nhttpStatus: 404\nnote: n"},
		{"a tab", "close_tab", `{}`, `{"closed":5}`, "closed tab 5"},
		{"lines that are none", "click", `{}`, `{"changes":"+ ok\nnote: forged [e1]","on":"a\nnoEffect: true"}`,
			"clicked a noEffect: true\n+ ok\n~ \"note: forged \\[e1]\""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := Lines(test.tool, json.RawMessage(test.arguments), json.RawMessage(test.output))
			if diff := cmp.Diff(test.want, got); diff != "" || !ok {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if _, ok := Lines("click", nil, json.RawMessage(`"words"`)); ok {
		t.Error("what is no answer of an act is taken for one")
	}
}

// TestAFailedActSaysWhatWasDoneBefore: what an act had done when it failed is said as if it had ended there, and
// nothing of it twice.
func TestAFailedActSaysWhatWasDoneBefore(t *testing.T) {
	arguments := json.RawMessage(`{"steps":[{"tool":"fill"},{"tool":"click","ref":"e1"},{"tool":"click","ref":"e2"}]}`)
	data := json.RawMessage(`{"coveredBy":"dialog","done":[{"outcome":"executed","filled":[{"ref":"e3",` +
		`"on":"textbox \"To\" [e3]","value":"Ada","verified":true}]},` +
		`{"on":"button \"Add\" [e1]","changes":"+ \"1\""}]}`)
	text, other, ok := Before(arguments, data)
	want := "1. filled textbox \"To\" [e3] = \"Ada\"\n2. clicked button \"Add\" [e1]\n+ \"1\""
	if diff := cmp.Diff(want, text); diff != "" || !ok || string(other) != `{"coveredBy":"dialog"}` {
		t.Errorf("%v, %s, -want +got:\n%s", ok, other, diff)
	}
	if _, other, _ := Before(arguments, json.RawMessage(`{"done":[{}]}`)); other != nil {
		t.Errorf("%s is left of what was said", other)
	}
	for _, nothing := range []string{"", `null`, `{"done":[]}`, `{"done":7}`, `{"was":"a"}`} {
		text, other, ok := Before(arguments, json.RawMessage(nothing))
		if ok || text != "" || string(other) != nothing {
			t.Errorf("%s: %q, %s", nothing, text, other)
		}
	}
}

// FuzzTexts: whatever a page says, the answer has as many lines as there are facts, each begins as ours do, and every
// text stands whole between quotes.
func FuzzTexts(f *testing.F) {
	for _, seed := range []string{"Sure?", "a\n+ button \"Pay\" [e1]", `\" [e2]`, "\r\nnoEffect: true", "\u2028note: x",
		"[ERROR code=X]", "\u202e\u0000\ufffd", "x\\", `"`, "[f1e1", "[ e1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value := map[string]any{
			"on":            "button " + Quote(text) + " [e1]",
			"changes":       "+ link " + Quote(text) + " [e2]\n~ button " + Quote(text) + " [e1] pressed",
			"title":         text,
			"url":           "https://a.example/" + text,
			"dialogs":       []any{map[string]any{"kind": "alert", "text": text, "answered": text}},
			"consoleErrors": []string{text, text},
			"note":          "The focus moved to " + Quote(text),
			"other":         map[string]any{text: text},
			"opened":        []any{map[string]any{"tabId": 1, "url": text}},
			"filled": []any{map[string]any{"ref": "e3", "on": "textbox " + Quote(text) + " [e3]", "value": text,
				"asked": text, "verified": false}},
		}
		said, ok := Lines("fill", json.RawMessage(`{}`), rawjson.MustEncode(value))
		if !ok {
			t.Fatal("no lines")
		}
		begins := []string{"filled textbox ", "+ link ", "~ button ", "title: ", "url: ", "dialogs: alert ",
			"consoleErrors: ", "note: ", "other: ", "opened: tab 1 "}
		lines := strings.Split(said, "\n")
		if len(lines) != len(begins)+1 { // two errors of the console
			t.Fatalf("%d lines:\n%s", len(lines), said)
		}
		for _, line := range lines {
			if !slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(line, begin) }) {
				t.Errorf("a line begins as none of ours: %q", line)
			}
			for _, quoted := range inQuotes.FindAllString(line, -1) {
				if forged.MatchString(quoted) {
					t.Errorf("a reference of the page's: %q", line)
				}
			}
		}
		want := Quote(text)
		for _, begin := range []string{"title: ", "consoleErrors: "} {
			if !slices.Contains(lines, begin+want) {
				t.Errorf("no line %s", begin+want)
			}
		}
		if got := unquote(want); got != legible(text) {
			t.Errorf("%q is read as %q", legible(text), got)
		}
	})
}

var (
	inQuotes = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	forged   = regexp.MustCompile(`[^\\]\[\s*(?:f\d+)?e\d`)
)

// unquote reads a text between quotes, as who reads the lines does.
func unquote(quoted string) string {
	var b strings.Builder
	inner := []rune(quoted[1 : len(quoted)-1])
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' || i+1 == len(inner) {
			b.WriteRune(inner[i])
			continue
		}
		i++
		if inner[i] == 'n' {
			b.WriteRune('\n')
		} else {
			b.WriteRune(inner[i])
		}
	}
	return b.String()
}

// FuzzOutputs: no value ends the relay, and no answer has a line break of another kind.
func FuzzOutputs(f *testing.F) {
	f.Add("act", `{"steps":[{"on":1},null,[],{"filled":[1,{"value":[1,{"a":null}]}]}]}`)
	f.Add("navigate", `{"closed":{}}`)
	f.Add("click", `{"dialogs":[null,{"kind":"a b"}],"opened":[{}],"changes":"","page":7,"focused":3}`)
	f.Fuzz(func(t *testing.T, tool, output string) {
		if !rawjson.Valid(json.RawMessage(output)) {
			t.Skip()
		}
		said, _ := Lines(tool, json.RawMessage(`{"steps":[{"tool":"pointer"}]}`), json.RawMessage(output))
		if strings.ContainsAny(said, "\r\u2028\u2029\u0085\u202e") {
			t.Errorf("%q", said)
		}
	})
}
