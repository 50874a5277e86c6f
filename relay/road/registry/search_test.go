package registry

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/road/plugin"
)

func signed(name, schema string) *Tool {
	return &Tool{Name: name, Spec: plugin.Tool{InputSchema: json.RawMessage(schema), Description: "Does it. And more."}}
}

func TestASignatureIsShort(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, c := range []struct{ schema, want string }{
		{`{"type":"object"}`, "a__b()"},
		{`{"type":"object","properties":{"limit":{},"query":{}},"required":["query"]}`, "a__b(query, limit?)"},
		{`{"type":"object","properties":{"` + long + `":{},"b` + long + `":{}}}`, "a__b(" + long + "?, …)"},
		{`{"type":"object","properties":{"` + long + long + `":{}}}`, "a__b(…)"},
		{`{"type":"object","properties":7,"required":"x"}`, "a__b()"},
	} {
		if got := signed("a__b", c.schema).Signature(); got != c.want {
			t.Errorf("%s: %s, want %s", c.schema, got, c.want)
		}
	}
	if got := signed("a__b", `{}`).hit(); got != "a__b() Does it" {
		t.Errorf("got %q", got)
	}
}

// Arguments may come as an object or as a string of JSON, and as nothing else.
func TestArgumentsOf(t *testing.T) {
	for given, want := range map[string]string{
		``: "", `""`: "", `{}`: "{}", ` {"a":1}`: `{"a":1}`, `"{\"a\":1}"`: `{"a":1}`, `" {} "`: "{}",
		`[]`: "no", `"[]"`: "no", `"{"`: "no", `7`: "no", `null`: "", `"x"`: "no",
	} {
		arguments, ok := ArgumentsOf(json.RawMessage(given))
		if got := string(arguments); ok && got != want || ok == (want == "no") {
			t.Errorf("%s: %s, %t, want %s", given, got, ok, want)
		}
	}
}

// However much a plugin says of itself, what a search answers is short.
func TestAnswersAreShort(t *testing.T) {
	long := signed(strings.Repeat("n", 64), `{"type":"object","properties":{"`+strings.Repeat("p", 300)+`":{}}}`)
	long.Spec.Description = strings.Repeat("word ", 1000)
	for _, tools := range [][]*Tool{{long, long, long, long, long}, NewIndex(shippedTools(t)).Rank("list page", nil)} {
		if answer := Search(tools, SearchLimit, ""); len(answer) > 5*(hitRunes+len(" ……"))+60 {
			t.Errorf("%d bytes: %s", len(answer), answer)
		}
	}
}

func TestStemJoinsTheFormsOfAWord(t *testing.T) {
	for _, same := range [][]string{{"page", "pages"}, {"category", "categories"}, {"stop", "stopped", "stopping"},
		{"change", "changed", "changes", "changing"}, {"search", "searches"}, {"status"}, {"is"}, {"use", "uses"}} {
		for _, word := range same {
			if stem(word) != stem(same[0]) {
				t.Errorf("%s is %s, %s is %s", word, stem(word), same[0], stem(same[0]))
			}
		}
	}
	for _, word := range []string{"", "s", "ed", "ing", "e", "ss", "sing", "red", "naïve", "日本"} {
		if stem(stem(word)) == "" && word != "" {
			t.Errorf("nothing is left of %q", word)
		}
	}
}

// Tools of open sites come first among those that answer as well, and nothing that is not asked for is an answer.
func TestRankPutsToolsOfOpenSitesFirst(t *testing.T) {
	tool := func(name, title, description string) *Tool {
		return &Tool{Name: name, Group: groupOf(name), Spec: plugin.Tool{DisplayName: title, Description: description}}
	}
	here, there := tool("here__send_note", "Send", "Sends a note."), tool("there__send_note", "Send", "Sends a note.")
	tools := []*Tool{here, there, tool("x__wash", "Wash", "Cleans dishes."), tool("mediaboats__sail", "Sail", "Goes.")}
	x := NewIndex(tools)
	names := func(query string, open *Tool) string {
		var list []string
		for _, found := range x.Rank(query, func(t *Tool) bool { return t == open }) {
			list = append(list, found.Name)
		}
		return strings.Join(list, " ")
	}
	for _, c := range []struct {
		query string
		open  *Tool
		want  string
	}{
		{"please send a NOTE", here, "here__send_note there__send_note"},
		{"please send a note", there, "there__send_note here__send_note"},
		{"cleaning", nil, "x__wash"},
		{"boats", nil, "mediaboats__sail"}, // a part of a word
		{"zebra", nil, ""},
	} {
		if got := names(c.query, c.open); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
	if all := x.Rank("what is the", nil); len(all) != len(tools) {
		t.Errorf("without a word that says something: %v", all)
	}
}

// phrasings are queries as people and models write them, with the tools that answer each: written before the ranking
// was made. It was tuned on the first forty; the last twenty were kept apart, and only counted.
type phrasings struct{ Tuned, Apart []phrasing }

type phrasing struct {
	Query string
	Tools []string
}

// TestPhrasingsFindTheirToolAmongThree wants the right tool among the first three, over all tools that come with the
// product.
func TestPhrasingsFindTheirToolAmongThree(t *testing.T) {
	raw, err := os.ReadFile("testdata/phrasings.json")
	if err != nil {
		t.Fatal(err)
	}
	var all phrasings
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	tools := shippedTools(t)
	x := NewIndex(tools)
	count := func(name string, list []phrasing) (found int) {
		for _, p := range list {
			for _, tool := range p.Tools {
				if !slices.ContainsFunc(tools, func(t *Tool) bool { return t.Name == tool }) {
					t.Errorf("%q is answered by %s, which is not there", p.Query, tool)
				}
			}
			first := x.Rank(p.Query, nil)
			first = first[:min(3, len(first))]
			if slices.ContainsFunc(first, func(t *Tool) bool { return slices.Contains(p.Tools, t.Name) }) {
				found++
				continue
			}
			var names []string
			for _, tool := range first {
				names = append(names, tool.Name)
			}
			t.Logf("%s: %q found %s, not %s", name, p.Query, strings.Join(names, " "), strings.Join(p.Tools, " or "))
		}
		t.Logf("%s: %d of %d", name, found, len(list))
		return found
	}
	if tuned, apart := count("tuned", all.Tuned), count("apart", all.Apart); len(all.Tuned)+len(all.Apart) != 60 ||
		tuned+apart < 55 {
		t.Errorf("%d and %d of %d and %d, want 55 of 60", tuned, apart, len(all.Tuned), len(all.Apart))
	}
}

// TestPurposesFindTheirToolAmongFive wants the right tool among the five that a search answers with, over the tools
// that come with the product and those of 67 sites: requests written from what a person wants, not from what a tool is
// called. The first 150 were written before the ranking was tuned on them, the last 30 afterwards, and only counted.
func TestPurposesFindTheirToolAmongFive(t *testing.T) {
	tools := append(shippedTools(t), siteTools(t)...)
	x := NewIndex(tools)
	const tuned, after = 150, 30
	requests := lines(t, "testdata/purposes.txt")
	if len(requests) != tuned+after {
		t.Fatalf("%d requests, want %d", len(requests), tuned+after)
	}
	var found [2]int
	for i, line := range requests {
		query, list, _ := strings.Cut(line, " | ")
		right := strings.Fields(list)
		for _, name := range right {
			if !slices.ContainsFunc(tools, func(t *Tool) bool { return t.Name == name }) {
				t.Errorf("%q is answered by %s, which is not there", query, name)
			}
		}
		first := x.Rank(query, nil)
		first = first[:min(SearchLimit, len(first))]
		if slices.ContainsFunc(first, func(t *Tool) bool { return slices.Contains(right, t.Name) }) {
			found[min(1, i/tuned)]++
			continue
		}
		var names []string
		for _, tool := range first {
			names = append(names, tool.Name)
		}
		t.Logf("%q found %s, not %s", query, strings.Join(names, " "), list)
	}
	t.Logf("%d of %d and %d of %d, among %d tools", found[0], tuned, found[1], after, len(tools))
	if found[0] < 0.9*tuned || found[1] < 26 {
		t.Errorf("found %d of %d and %d of %d, want 135 and 26", found[0], tuned, found[1], after)
	}
}

// “Like” is what a tool does, and in “would like to” it is nothing.
func TestRankReadsLike(t *testing.T) {
	tools := append(shippedTools(t), siteTools(t)...)
	x := NewIndex(tools)
	for query, want := range map[string]string{
		"like a tweet":                      "x__like_tweet",
		"I'd like to retweet something":     "x__retweet",
		"play a song on spotify":            "spotify__start_playback",
		"I would like to upload an image":   "dokuwiki__upload_media",
		"to-do":                             "todoist__list_tasks",
		"like the video on youtube, please": "youtube__like_video",
	} {
		found := x.Rank(query, nil)
		if len(found) == len(tools) || !slices.ContainsFunc(found[:min(3, len(found))], func(t *Tool) bool {
			return t.Name == want
		}) {
			t.Errorf("%q found %d, the first %s, want %s", query, len(found), found[0].Name, want)
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	tools := append(shippedTools(b), siteTools(b)...)
	for b.Loop() {
		NewIndex(tools)
	}
}

func BenchmarkRank(b *testing.B) {
	x := NewIndex(append(shippedTools(b), siteTools(b)...))
	for b.Loop() {
		x.Rank("schedule a meeting with Tom on Friday", nil)
	}
}

// siteTools are those of testdata/sites.txt, written for this test: the services that people ask for most.
func siteTools(t testing.TB) (tools []*Tool) {
	t.Helper()
	var p *plugin.Plugin
	for _, line := range lines(t, "testdata/sites.txt") {
		head, description, _ := strings.Cut(line, ": ")
		if site, ok := strings.CutPrefix(head, "# "); ok {
			name, title, _ := strings.Cut(site, " ")
			p = &plugin.Plugin{Hash: name, Manifest: plugin.Manifest{Name: name, DisplayName: title,
				Description: description}}
			continue
		}
		tools = append(tools, &Tool{Name: p.Manifest.Name + "__" + head, Group: p.Manifest.Name, Plugin: p,
			Spec: plugin.Tool{Name: head, Description: description}})
	}
	return tools
}

func lines(t testing.TB, file string) []string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// shippedTools are those of the plugins that come with the product, whether or not their site is configured.
func shippedTools(t testing.TB) (tools []*Tool) {
	t.Helper()
	folders, err := os.ReadDir("../../../adapters/dist")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		raw, err := os.ReadFile("../../../adapters/dist/" + folder.Name() + "/manifest.json")
		if err != nil {
			t.Fatal(err)
		}
		p := &plugin.Plugin{Hash: folder.Name()}
		if err := json.Unmarshal(raw, &p.Manifest); err != nil {
			t.Fatal(err)
		}
		for _, spec := range p.Manifest.Tools {
			tools = append(tools, &Tool{Name: p.Manifest.Name + "__" + spec.Name, Group: p.Manifest.Name, Plugin: p,
				Spec: spec})
		}
	}
	return tools
}
