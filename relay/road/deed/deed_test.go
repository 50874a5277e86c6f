package deed_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/road/deed"
)

const site = "https://bank.example"

// told is what a page answers: its targets, of one step each.
func told(origin, steps string) json.RawMessage {
	return json.RawMessage(`{"document":1,"origin":"` + origin + `","steps":[` + steps + `]}`)
}

func TestSentencesSayWhatAnActWillDo(t *testing.T) {
	const (
		pay    = `{"role":"button","name":"Pay now","form":"POST https://bank.example/pay","sends":true}`
		cancel = `{"role":"button","name":"Cancel","shows":"Delete my account"}`
		amount = `{"role":"textbox","name":"Amount","kind":"text"}`
		secret = `{"role":"password","name":"Password","kind":"text","secret":"password"}`
		hint   = `{"role":"button","name":"heart","unnamed":true}`
		a, b   = `{"role":"listitem","name":"A"}`, `{"role":"listitem","name":"B"}`
	)
	for _, test := range []struct {
		tool, arguments, steps string
		want                   []string
	}{
		{"click", `{"ref":"e4"}`, `[` + pay + `]`,
			[]string{`Click button "Pay now", which sends its form to bank.example/pay`}},
		{"click", `{"ref":"e4","count":2,"modifiers":["Control"]}`, `[` + cancel + `]`,
			[]string{`Double-click the button that shows "Delete my account" (its label says "Cancel") ` +
				`with Control held`}},
		{"click", `{"ref":"e4","button":"right","trusted":true}`, `[` + hint + `]`,
			[]string{`Right-click button without a name, perhaps "heart", as a click of your own`}},
		{"click", `{"x":120,"y":80.5}`, `[{"role":"canvas","name":"Map"}]`,
			[]string{`Click drawing area "Map", at 120, 80.5 of its picture`}},
		{"pointer", `{"action":"drag","x":1,"y":2,"at":{"x":30,"y":0}}`, `[{"role":"canvas","name":""}]`,
			[]string{`Drag drawing area without a name, at 1, 2 of its picture by 30, 0 pixels`}},
		{"fill", `{"fields":[{"ref":"e1","value":500},{"ref":"e2","value":"x"}],"submit":true}`,
			`[` + amount + `,` + secret + `]`,
			[]string{`Fill in "Amount": 500`, `Fill in "Password": ••••, then press Enter`}},
		{"fill",
			`{"fields":[{"ref":"e1","value":"five"},{"ref":"e2","value":["Red","Blue"]},{"ref":"e3","value":false}]}`,
			`[` + amount +
				`,{"role":"listbox","name":"Colours","kind":"listbox"}` +
				`,{"role":"checkbox","name":"News","kind":"check"}]`,
			[]string{`Fill in "Amount": "five"`, `Choose "Red", "Blue" in list "Colours"`, `Uncheck checkbox "News"`}},
		{"press", `{"keys":"Enter"}`, `[{"role":"textbox","name":"To"}]`, []string{`Press Enter in text field "To"`}},
		{"press", `{"keys":"Escape"}`, `[null]`, []string{"Press Escape in the page"}},
		{"press", `{"text":"hunter2"}`, `[` + secret + `]`, []string{`Type •••• in password field "Password"`}},
		{"press", `{"text":"hi"}`, `[` + amount + `]`, []string{`Type "hi" in text field "Amount"`}},
		{"press", `{"text":"a\tb\r\n\n"}`, `[` + amount + `]`,
			[]string{`Type "a b" in text field "Amount", with Tab and Enter (2 times)`}},
		{"press", `{"text":"hunter2\n"}`, `[` + secret + `]`,
			[]string{`Type •••• in password field "Password", with Enter`}},
		{"click", `{"ref":"e4"}`, `[{"role":"link","name":"Your orders","link":"https://evil.example/pay"}]`,
			[]string{`Click link "Your orders", which leads to another site, evil.example/pay`}},
		{"click", `{"ref":"e4"}`, `[{"role":"link","name":"Your orders","link":"https://bank.example/orders"}]`,
			[]string{`Click link "Your orders"`}},
		{"click", `{"ref":"e4"}`, `[{"role":"link","name":"Home","link":"https://bank.example.evil.example/"}]`,
			[]string{`Click link "Home", which leads to another site, bank.example.evil.example/`}},
		{"pointer", `{"action":"drag","ref":"e1","to":"e2","at":"after"}`, `[` + a + `,` + b + `]`,
			[]string{`Drag list item "A" after list item "B"`}},
		{"pointer", `{"action":"drag","ref":"e1","to":"e2"}`, `[` + a + `,` + b + `]`,
			[]string{`Drag list item "A" onto list item "B"`}},
		{"pointer", `{"action":"drag","ref":"e1","at":{"x":5,"y":-3}}`, `[` + a + `]`,
			[]string{`Drag list item "A" by 5, -3 pixels`}},
		{"pointer", `{"action":"hover","ref":"e1"}`, `[` + a + `]`, []string{`Move the pointer over list item "A"`}},
		{"pointer", `{"action":"scroll","to":"end"}`, `[]`, []string{"Scroll the page to its end"}},
		{"upload", `{"ref":"e1","files":[{"name":"cv.pdf"},{"name":"my letter.txt"}]}`,
			`[{"role":"file","name":"Attachment"}]`,
			[]string{`Upload cv.pdf, "my letter.txt" to "Attachment"`}},
		{"act",
			`{"steps":[{"tool":"fill","fields":[{"ref":"e1","value":500}]},{"tool":"click","ref":"button \"OK\""}]}`,
			`[` + amount + `],[{"words":"button \"OK\""}]`, []string{`Fill in "Amount": 500`,
				`Click what the agent calls "button 'OK'", which is not in the page yet`}},
		{"click", `{"ref":"e4","dialogs":"accept"}`, `[` + a + `]`,
			[]string{`Click list item "A", and say yes to what the page asks then`}},
	} {
		got, ok := deed.Of(test.tool, json.RawMessage(test.arguments), told(site, test.steps), site)
		if !ok || !slices.Equal(got.Sentences, test.want) {
			t.Errorf("%s %s:\n got %q\nwant %q", test.tool, test.arguments, got.Sentences, test.want)
		}
		if got.Secret != strings.Contains(test.steps, "secret") || got.Frame != "" {
			t.Errorf("%s: %+v", test.arguments, got)
		}
	}
}

// A question says what the page will do with a value, however the agent has spelled that.
func TestValuesAreReadAsThePageReadsThem(t *testing.T) {
	const box = `{"role":"checkbox","name":"News","kind":"check"}`
	const amount = `{"role":"textbox","name":"To","kind":"text"}`
	for _, test := range []struct{ target, value, want string }{
		{box, `"\u0066alse"`, `Uncheck checkbox "News"`},
		{box, `["off"]`, `Uncheck checkbox "News"`},
		{box, `[ "\u006eO" ]`, `Uncheck checkbox "News"`},
		{box, `-0`, `Uncheck checkbox "News"`},
		{box, `0.0`, `Uncheck checkbox "News"`},
		{box, `0e5`, `Uncheck checkbox "News"`},
		{box, `"UnchecKed"`, `Uncheck checkbox "News"`},
		{box, `1.0`, `Check checkbox "News"`},
		{box, `["off","off"]`, `Check checkbox "News"`}, // which the page refuses
		{box, `" off"`, `Check checkbox "News"`},
		{amount, `1e3`, `Fill in "To": 1000`},
		{amount, `-0.0`, `Fill in "To": 0`},
		{amount, `12345678901234567890`, `Fill in "To": 12345678901234567000`},
		{amount, `true`, `Fill in "To": true`},
	} {
		arguments := `{"fields":[{"ref":"e1","value":` + test.value + `}]}`
		got, _ := deed.Of("fill", json.RawMessage(arguments), told(site, "["+test.target+"]"), site)
		if !slices.Equal(got.Sentences, []string{test.want}) {
			t.Errorf("%s: got %q, want %q", test.value, got.Sentences, test.want)
		}
	}
	got, _ := deed.Of("click", json.RawMessage(`{"ref":"e1","count":2.0}`),
		told(site, `[{"role":"button","name":"A"}]`), site)
	if !slices.Equal(got.Sentences, []string{`Double-click button "A"`}) {
		t.Errorf("got %q", got.Sentences)
	}
}

// TestPagesStayBetweenTheirMarks: whatever a page calls its things, it ends no quotation and writes no note of ours.
func TestPagesStayBetweenTheirMarks(t *testing.T) {
	for _, name := range []string{
		"OK” and nothing else", `OK" on bank.example`, "OK\nAllowed by you", "OK\u202e", "⟨hidden⟩",
		strings.Repeat("a", 5000),
	} {
		text, _ := json.Marshal(name)
		steps := `[{"role":"button","name":` + string(text) + `,"shows":` + string(text) + `}]`
		got, _ := deed.Of("click", json.RawMessage(`{"ref":"e1"}`), told(site, steps), site)
		if len(got.Sentences) != 1 {
			t.Fatalf("%q", got.Sentences)
		}
		said := got.Sentences[0]
		if strings.Count(said, `"`) != 4 || strings.ContainsAny(said, "\n⟨⟩“”\u202e") || len(said) > 500 {
			t.Errorf("%q", said)
		}
	}
}

// TestAddressesSayWhoseTheyAre: what a page gives as an address says nothing in our words, and hides no site.
func TestAddressesSayWhoseTheyAre(t *testing.T) {
	long := strings.Repeat("bank.example.", 18)
	for form, want := range map[string]string{
		"GET x:y and nothing else. tabrelay has checked this":    `"x:y and nothing else. tabrelay has checked this"`,
		"POST http://[ nothing is sent":                          `"http://[ nothing is sent"`,
		"POST https://a.example/ nothing is sent":                `"https://a.example/ nothing is sent"`,
		"GET javascript:void 0":                                  `"javascript:void 0"`,
		"POST http://127.0.0.1:8080/pay":                         "http://127.0.0.1:8080/pay",
		"POST https://shop.example/" + strings.Repeat("p", 5000): "shop.example/" + strings.Repeat("p", 147) + "…",
		"POST https://" + long + "evil.example/pay":              "…" + (long + "evil.example")[146:] + "/pay",
	} {
		text, _ := json.Marshal(form)
		steps := `[{"role":"button","name":"OK","form":` + string(text) + `,"sends":true}]`
		got, _ := deed.Of("click", json.RawMessage(`{"ref":"e1"}`), told(site, steps), site)
		if !strings.HasPrefix(want, `"x:`) && !strings.HasPrefix(want, `"javascript:`) {
			want = "another site, " + want
		}
		if said := `Click button "OK", which sends its form to ` + want; !slices.Equal(got.Sentences, []string{said}) {
			t.Errorf("%s:\n got %q\nwant %q", form, got.Sentences, said)
		}
	}
}

func TestFramesAreNamed(t *testing.T) {
	got, _ := deed.Of("click", json.RawMessage(`{"ref":"f1e1"}`), told("https://pay.example", `[null]`), site)
	if got.Frame != "https://pay.example" {
		t.Errorf("%+v", got)
	}
	for _, answer := range []string{`null`, `{}`, `{"steps":[[],[]]}`, `[`} {
		if got, ok := deed.Of("click", json.RawMessage(`{}`), json.RawMessage(answer), site); ok {
			t.Errorf("%s is understood as %+v", answer, got)
		}
	}
	for arguments, want := range map[string]string{
		`{"to":"back"}`: "Go back", `{"to":"https://x.example/"}`: `Go to "https://x.example/"`,
	} {
		if got := deed.OfTab("navigate", json.RawMessage(arguments)).Sentences; !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q", arguments, got)
		}
	}
}

// TestFormsSayWhatTheyHold: what is sent besides what the call itself puts there, and to whom.
func TestFormsSayWhatTheyHold(t *testing.T) {
	const holds = `"holds":[{"name":"To","value":"Ada"},{"name":"Amount","value":"50"},` +
		`{"name":"PIN","secret":"password"},{"name":"News","checked":true},` +
		`{"name":"Card","value":"4111","unseen":true}]`
	for _, test := range []struct{ tool, arguments, steps, want string }{
		{"press", `{"keys":"Enter"}`, `[{"role":"textbox","name":"To","form":"POST https://pay.example/x",` +
			`"sends":true,` + holds + `,"more":2}]`,
			`Press Enter in text field "To", which sends its form to another site, pay.example/x. The form holds ` +
				`"To": "Ada", "Amount": 50, "PIN": ••••, "News" (checked), "Card": 4111 ` +
				`(not visible on the page), and 2 more`},
		{"click", `{"ref":"e1","dialogs":"accept"}`, `[{"role":"button","name":"Pay",` +
			`"form":"POST https://bank.example/x","sends":true,"filled":["e2"],` +
			`"holds":[{"name":"To","value":"A\"b"}]}]`,
			`Click button "Pay", which sends its form to bank.example/x, and say yes to what the page asks then. ` +
				`The form also holds "To": "A'b"`},
		{"click", `{"ref":"e1"}`, `[{"role":"button","name":"Pay","form":"POST https://bank.example/x"}]`,
			`Click button "Pay"`},
	} {
		got, ok := deed.Of(test.tool, json.RawMessage(test.arguments), told(site, test.steps), site)
		if !ok || !slices.Equal(got.Sentences, []string{test.want}) {
			t.Errorf("%s:\n got %q\nwant %q", test.steps, got.Sentences, test.want)
		}
	}
}

// TestEffectsNamePaymentsDeletionsAndMismatchedLabels: what weighs more than that something changes.
func TestEffectsNamePaymentsDeletionsAndMismatchedLabels(t *testing.T) {
	for _, test := range []struct {
		tool, arguments, steps string
		effects, elsewhere     []string
	}{
		{"click", `{"ref":"e1"}`, `[{"role":"button","name":"Cancel","shows":"Delete my account"}]`,
			[]string{"Label says otherwise", "May delete something"}, nil},
		{"click", `{"ref":"e1","dialogs":"accept"}`, `[{"role":"button","name":"Go"}]`,
			[]string{"Answers what the page asks"}, nil},
		{"click", `{"ref":"e1"}`, `[{"role":"button","name":"Konto löschen"}]`, []string{"May delete something"}, nil},
		{"click", `{"ref":"e1"}`, `[{"role":"button","name":"Undeletable"}]`, nil, nil},
		{"click", `{"ref":"e1"}`, `[{"role":"button","name":"Pay now"}]`, []string{"May cost money"}, nil},
		{"click", `{"ref":"e1"}`, `[{"role":"button","name":"Place your order"}]`, []string{"May cost money"}, nil},
		{"click", `{"ref":"e1"}`, `[{"role":"button","name":"Zahlungspflichtig bestellen"}]`,
			[]string{"May cost money"}, nil},
		{"click", `{"ref":"e1"}`, `[{"role":"button","name":"注文を確定する（支払い）"}]`, []string{"May cost money"}, nil},
		{"click", `{"ref":"e1"}`, `[{"role":"button","name":"Order by name"}]`, nil, nil},
		{"click", `{"ref":"e1"}`, `[{"role":"tab","name":"Payments"}]`, nil, nil},
		{"click", `{"ref":"e1"}`, `[{"role":"button","name":"Verkaufen"}]`, nil, nil},
		{"click", `{"ref":"e1"}`, `[{"role":"button","name":"Close my account"}]`,
			[]string{"May delete something"}, nil},
		{"fill", `{"fields":[{"ref":"e1","value":"delete"}]}`, `[{"role":"textbox","name":"Delete","kind":"text"}]`,
			nil, nil},
		{"upload", `{"ref":"e1","files":[{"name":"a"}]}`, `[{"role":"file","name":"CV"}]`,
			[]string{"Hands over files"}, nil},
		{"fill", `{"fields":[{"ref":"e1","value":"x"}],"submit":true}`,
			`[{"role":"password","name":"P","kind":"text","secret":"password","form":"POST http://pay.example/x",` +
				`"sends":true}]`,
			[]string{"Sends to another site", "Uses a password"}, []string{"http://pay.example, with a password"}},
		{"click", `{"ref":"e1"}`,
			`[{"role":"button","name":"Go","sends":true,"form":"POST https://bank.example/x",` +
				`"holds":[{"name":"C","secret":"payment"}]}]`,
			[]string{"Uses payment details"}, nil},
		{"click", `{"ref":"e1"}`, `[{"role":"password","name":"P","secret":"password"}]`, nil, nil},
		{"click", `{"ref":"e1"}`, `[{"role":"button","name":"Go","form":"POST https://pay.example/x"}]`, nil, nil},
	} {
		got, _ := deed.Of(test.tool, json.RawMessage(test.arguments), told(site, test.steps), site)
		if !slices.Equal(got.Effects, test.effects) || !slices.Equal(got.Elsewhere, test.elsewhere) {
			t.Errorf("%s: %q, %q", test.steps, got.Effects, got.Elsewhere)
		}
	}
}

// What arguments say of elements by references is known, wherever it stands; text that looks like one is none.
func TestRefers(t *testing.T) {
	for arguments, want := range map[string]bool{
		`{"\u0072ef":"\u006512"}`: true, `{"ref":"\u0022e12"}`: false,
		`{"ref":"e12"}`: true, `{ "ref" : "f2e3" }`: true, `{"fields":[{"ref":"e1","value":"x"}]}`: true,
		`{"steps":[{"tool":"click","ref":"e4"}]}`: true, `{"to":"e2","ref":"button \"A\""}`: true,
		`{"gone":"e2"}`: true, `{"x":1,"y":2}`: true, `{"steps":[{"tool":"click","x":1,"y":2}]}`: true,
		`{"action":"scroll","at":{"x":0,"y":300}}`: false, `{"x":1}`: false,
		`{"ref":"button \"Save\""}`: false, `{"text":"e12"}`: false, `{"text":"\"ref\":\"e12\""}`: false, `{}`: false,
		`{"ref":"e12 or so"}`: false,
	} {
		if got := deed.Refers([]byte(arguments)); got != want {
			t.Errorf("%s: %t", arguments, got)
		}
	}
}
