package draft

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"tabrelay/relay/plugin/build"
)

//go:embed parts
var parts embed.FS

// Draft is what a recording became.
type Draft struct {
	Tools []*tool
	Left  []Left
	files map[string][]byte
}

// Left is what did not become a tool, and why.
type Left struct {
	Why      string   `json:"why"`
	Requests int      `json:"requests"`
	Of       []string `json:"of"` // addresses, the first few
}

const shownLeft = 5

// ErrNothing is returned for a recording from which nothing can be made.
var ErrNothing = errors.New("no request was recorded that a tool could be made of")

// Make makes a draft of a plugin with this name for the pages of an origin.
func Make(r *Recording, name, origin string) (*Draft, error) {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not an origin", origin)
	}
	d := &Draft{files: map[string][]byte{}}
	t := &tokens{recording: r}
	m := &maker{tokens: t, names: map[string]bool{}, variables: map[string]bool{},
		origin: origin, longestName: max(min(40, 58-len(name)), 8),
		secrets: r.collectSecrets()}
	chosen := endpoints(r.requests)
	passwords := r.passwordFields()
	slices.SortStableFunc(chosen, func(a, b *endpoint) int { return b.worth() - a.worth() })
	for _, e := range chosen {
		why := e.noise(passwords)
		if why == "" && len(d.Tools) == MaxTools {
			why = fmt.Sprintf("what is beyond %d tools", MaxTools)
		}
		if why != "" {
			d.leave(why, m.secrets.strip(e.address()), len(e.samples))
			continue
		}
		d.Tools = append(d.Tools, m.tool(e))
	}
	if r.skipped > 0 {
		d.leave(fmt.Sprintf("what came after %d requests", MaxRequests), "", r.skipped)
	}
	if len(d.Tools) == 0 {
		return d, ErrNothing
	}
	return d, d.compose(m, name, u)
}

// worth orders endpoints, so that those a person caused stay where there are too many.
func (e *endpoint) worth() int {
	if slices.ContainsFunc(e.samples, func(q *request) bool { return q.afterClick != "" || q.submit != nil }) {
		return 1
	}
	return 0
}

func (d *Draft) leave(why, address string, requests int) {
	i := slices.IndexFunc(d.Left, func(l Left) bool { return l.Why == why })
	if i < 0 {
		i = len(d.Left)
		d.Left = append(d.Left, Left{Why: why})
	}
	d.Left[i].Requests += requests
	if address = plainText(address); address != "" && len(d.Left[i].Of) < shownLeft {
		d.Left[i].Of = append(d.Left[i].Of, address)
	}
}

// compose writes the files, in memory. Nothing leaves it with a secret inside.
func (d *Draft) compose(m *maker, name string, origin *url.URL) error {
	index, err := d.index(m)
	if err != nil {
		return err
	}
	site, err := parts.ReadFile("parts/site.ts")
	if err != nil {
		return err
	}
	d.files["src/index.ts"], d.files["src/site.ts"] = index, site
	if len(m.tokens.list) > 0 {
		if d.files["src/tokens.ts"], err = m.tokens.file(); err != nil {
			return err
		}
	}
	for _, t := range d.Tools {
		if d.files["fixtures/"+strings.ReplaceAll(t.Name, "_", "-")+".json"], err = pretty(t.fixture); err != nil {
			return err
		}
	}
	world := "isolated"
	if m.tokens.main() {
		world = "main"
	}
	if d.files["package.json"], err = pretty(describePackage(name, origin, world)); err != nil {
		return err
	}
	for file, text := range d.files {
		d.files[file] = []byte(m.secrets.stripFile(string(text)))
	}
	return nil
}

func (d *Draft) index(m *maker) ([]byte, error) {
	t, err := template.New("index.ts.tmpl").Funcs(template.FuncMap{"quote": quote}).ParseFS(parts,
		"parts/index.ts.tmpl")
	if err != nil {
		return nil, err
	}
	var code strings.Builder
	for _, one := range d.Tools {
		code.WriteString(strings.Join(one.Code, "\n"))
	}
	var helpers, read []string
	for _, helper := range []string{"askJSON", "askText", "pageText", "segment", "submitForm"} {
		if strings.Contains(code.String(), helper+"(") {
			helpers = append(helpers, helper)
		}
	}
	for _, one := range m.tokens.list {
		read = append(read, one.name)
	}
	slices.Sort(read)
	var out bytes.Buffer
	err = t.Execute(&out, map[string]any{"Origin": plainText(m.origin), "Tools": d.Tools,
		"Helpers": strings.Join(helpers, ", "), "Tokens": strings.Join(read, ", ")})
	return out.Bytes(), err
}

// MaxBytes tells whether a tool answers in parts.
func (t *tool) MaxBytes() bool { return strings.Contains(strings.Join(t.Code, ""), "maxBytes") }

// file is the module that reads the tokens.
func (t *tokens) file() ([]byte, error) {
	helpers, err := parts.ReadFile("parts/tokens.ts")
	if err != nil {
		return nil, err
	}
	var b, body strings.Builder
	var imports []string
	for _, one := range t.list {
		fmt.Fprintf(&body, "\n/** From %s. */\nexport async function %s(%s: AbortSignal): Promise<string> {\n"+
			"  return %s;\n}\n", one.about, one.name, signalName(one.code), one.code)
		for _, function := range []string{"getCookie", "getLocalStorage", "getPageGlobal", "getSessionStorage"} {
			if strings.Contains(one.code, function+"(") && !slices.Contains(imports, function) {
				imports = append(imports, function)
			}
		}
	}
	b.WriteString("// Values that prove to the site that a request comes from its own page. None of them is " +
		"kept: each is read\n" +
		"// afresh where the page had it.\n")
	imports = append(imports, "fetchText", "ToolError")
	slices.Sort(imports)
	b.WriteString(strings.Replace(string(helpers), "fetchText, ToolError", strings.Join(imports, ", "), 1))
	b.WriteString(body.String())
	return []byte(b.String()), nil
}

func signalName(code string) string {
	if strings.HasSuffix(code, ", signal)") {
		return "signal"
	}
	return "_signal"
}

func describePackage(name string, origin *url.URL, world string) map[string]any {
	pattern := origin.Scheme + "://" + origin.Host + "/*"
	if origin.Scheme == "http" {
		pattern = "*://" + origin.Host + "/*"
	}
	title := title(strings.ReplaceAll(name, "-", "_"))
	return map[string]any{
		"name": "tabrelay-plugin-" + name, "version": "0.1.0", "type": "module", "files": []string{"dist"},
		"description": "A tabrelay plugin for " + title + ".", "keywords": []string{"tabrelay-plugin"},
		"scripts": map[string]any{"build": "tabrelay plugin build", "test": "tabrelay plugin test --browser",
			"prepack": "tabrelay plugin build"},
		"tabrelay": map[string]any{"displayName": title,
			"description": "What an agent can do on " + title + ", in one sentence.",
			"urlPatterns": []string{pattern}, "homepage": origin.Scheme + "://" + origin.Host + "/", "world": world},
	}
}

func pretty(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return out.Bytes(), err
}

// Write writes the draft into a new folder, with what an editor needs.
func (d *Draft) Write(dir, name string) error {
	if err := build.Scaffold(dir, name); err != nil {
		return err
	}
	for _, example := range []string{"src", "fixtures"} { // what build.Scaffold has to start from
		if err := os.RemoveAll(filepath.Join(dir, example)); err != nil {
			return err
		}
	}
	for file, text := range d.files {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return fmt.Errorf("the draft cannot be written: %w", err)
		}
	}
	return nil
}

// Folder tells whether a draft can be written into a folder: there is none, or it is empty.
func Folder(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("the folder cannot be used: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("the folder %s is not empty; choose a new one", dir)
	}
	return nil
}
