package review_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/plugin/review"
	"tabrelay/relay/road/plugin"
)

var update = flag.Bool("update", false, "rewrite the expected sheets")

var yes, no = true, false

// shop asks for everything there is.
func shop(t testing.TB, change func(files map[string][]byte, m *plugin.Manifest)) review.Content {
	t.Helper()
	m := plugin.Manifest{
		Name: "shop", Version: "1.0.0", DisplayName: "Shop \u202epohS", Description: "Buys tea.", World: plugin.Main,
		PreScript:       "pre-script.js",
		URLPatterns:     []string{"https://shop.example/*", "https://shop.example/cart/*", "*://*.tea.example:8080/*"},
		ExcludePatterns: []string{"https://shop.example/admin/*"},
		ConfigSchema: json.RawMessage(`{"address":{"type":"url"},"token":{"type":"string","required":true,` +
			`"label":"API token"},"limit":{"type":"number"},"name":{"type":"string","secret":false}}`),
		Tools: []plugin.Tool{
			{Name: "read", DisplayName: "Read", Description: "Reads.\x1b[2K",
				InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: plugin.Annotations{ReadOnlyHint: &yes},
				Frames: "all"},
			{Name: "put", DisplayName: "Put", Description: "Puts.", InputSchema: json.RawMessage(`{"type":"object"}`),
				Annotations: plugin.Annotations{DestructiveHint: &no}},
			{Name: "burn", DisplayName: "Burn", Description: "Burns.",
				InputSchema: json.RawMessage(`{"type":"object"}`)},
		},
		Prompts: []plugin.Prompt{{Name: "order", Description: "Orders.", Template: "Order\n{{what}}",
			Arguments: []plugin.PromptArgument{{Name: "what"}}}},
	}
	files := map[string][]byte{
		"adapter.js": []byte(`var tabrelayPlugin=(()=>{var a=1;function b(){return ` +
			`a}return{default:{tools:[b]}}})();` + "\n"),
		"pre-script.js": []byte("watch();\n"),
	}
	if change != nil {
		change(files, &m)
	}
	var err error
	if files["manifest.json"], err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	p, err := plugin.FromFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	return review.Content{Plugin: p, Sources: map[string][]byte{"src/index.ts": []byte("export default 1;\n"),
		"package.json": []byte("{}\n")}}
}

func TestSheetsShowWhatAChangeAddsAndTakesAway(t *testing.T) {
	first := shop(t, nil)
	code := shop(t, func(files map[string][]byte, _ *plugin.Manifest) {
		files["adapter.js"] = []byte(strings.Replace(string(files["adapter.js"]), "a=1", "a=2", 1))
	})
	code.Sources["src/index.ts"] = []byte("export default 2; // \u2066\n")
	spelling := shop(t, func(files map[string][]byte, _ *plugin.Manifest) {
		files["adapter.js"] = append(files["adapter.js"], "// hello\n"...)
	})
	wider := shop(t, func(files map[string][]byte, m *plugin.Manifest) {
		delete(files, "pre-script.js")
		m.PreScript, m.World, m.Version, m.Prompts = "", plugin.Isolated, "1.1.0", nil
		m.URLPatterns = append(m.URLPatterns, "https://bank.example/*")
		m.Tools = append(m.Tools[1:], plugin.Tool{Name: "steal", DisplayName: "Steal",
			InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: plugin.Annotations{ReadOnlyHint: &yes}})
		m.Tools[0].Description = "Puts more."
	})
	delete(wider.Sources, "package.json")
	endings := shop(t, nil)
	endings.Sources["src/index.ts"] = []byte("export default 1;\r\n")
	for name, c := range map[string]struct {
		now    review.Content
		before *review.Content
	}{
		"new": {first, nil}, "same": {first, &first}, "code": {code, &first}, "spelling": {spelling, &first},
		"wider": {wider, &first}, "endings": {endings, &first},
	} {
		t.Run(name, func(t *testing.T) {
			sheet := review.New(c.now, c.before)
			if name != "new" { // which shows all files
				for i := range sheet.Files {
					sheet.Files[i].Text = ""
				}
			}
			got, err := json.MarshalIndent(sheet, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if diff := cmp.Diff(string(want), string(got)); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestPackedContentIsTheSame(t *testing.T) {
	c := shop(t, nil)
	c.Partly = true
	packed, err := c.Pack()
	if err != nil {
		t.Fatal(err)
	}
	again, err := review.Unpack(packed)
	if err != nil || again.Plugin.Hash != c.Plugin.Hash || !again.Partly {
		t.Fatalf("unpacked %+v, %v", again, err)
	}
	if diff := cmp.Diff(c.Sources, again.Sources); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for what, broken := range map[string][]byte{"nothing": nil, "no archive": []byte("shop"),
		"cut off": packed[:len(packed)/2]} {
		if _, err := review.Unpack(broken); err == nil {
			t.Errorf("%s: was unpacked", what)
		}
	}
}

// Sources are read from the folder, what runs is not read again.
func TestReadTakesSourcesFromTheFolderAndNotWhatRuns(t *testing.T) {
	c := shop(t, nil)
	dir := t.TempDir()
	for name, text := range map[string]string{"src/index.ts": "shown", "dist/adapter.js": "other()"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.Plugin.Dir = dir
	got := review.Read(c.Plugin)
	if diff := cmp.Diff(map[string][]byte{"src/index.ts": []byte("shown")}, got.Sources); diff != "" ||
		got.Plugin != c.Plugin || got.Partly {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
