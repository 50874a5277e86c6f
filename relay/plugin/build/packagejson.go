package build

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"tabrelay/relay/lib/rawjson"
)

// packageJSON is the part of a package.json about imports.
type packageJSON struct {
	dir              string
	name             string
	main, module     string
	exports, imports *hujson.Value
	browser          map[string]string // to an empty module if the value is empty
	effects          func(file string) bool
}

// nearestPackage is the package that contains a folder.
func (f *folder) nearestPackage(dir string) *packageJSON {
	for ; ; dir = path.Dir(dir) {
		if p := f.packageAt(dir); p != nil {
			return p
		}
		if dir == "." || path.Base(dir) == modulesFolder {
			return nil
		}
	}
}

// packageAt is the package.json of one folder; nil if there is none, or it cannot be read.
func (f *folder) packageAt(dir string) *packageJSON {
	f.mu.Lock()
	known, ok := f.packages[dir]
	f.mu.Unlock()
	if ok {
		return known
	}
	var p *packageJSON
	if entries, err := f.list(dir); err == nil {
		if _, there := entries[packageFile]; there {
			if raw, err := f.read(path.Join(dir, packageFile)); err == nil {
				p = readPackageJSON(dir, raw)
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.packages[dir] = p
	return p
}

func readPackageJSON(dir string, raw []byte) *packageJSON {
	tree, err := rawjson.ParseCommented(raw)
	if err != nil {
		return nil
	}
	p := &packageJSON{dir: dir, browser: map[string]string{}}
	text := func(name string) (text string) {
		if v := tree.Find("/" + name); v != nil {
			_ = json.Unmarshal(v.Pack(), &text) // a field of another type is ignored
		}
		return text
	}
	p.name, p.main, p.module = text("name"), text("main"), text("module")
	if v := tree.Find("/exports"); v != nil && string(v.Pack()) != "null" {
		p.exports = v
	}
	p.imports = tree.Find("/imports")
	if main := text("browser"); main != "" {
		p.browser["."] = main
	} else if v := tree.Find("/browser"); v != nil {
		p.readBrowser(v)
	}
	if v := tree.Find("/sideEffects"); v != nil {
		p.readEffects(v)
	}
	return p
}

func (p *packageJSON) readBrowser(v *hujson.Value) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return
	}
	for _, member := range object.Members {
		literal, ok := member.Value.Value.(hujson.Literal)
		switch {
		case ok && literal.Kind() == '"' && literal.String() != "":
			p.browser[memberName(member)] = literal.String()
		case ok && literal.Kind() == 'f':
			p.browser[memberName(member)] = ""
		}
	}
}

func (p *packageJSON) readEffects(v *hujson.Value) {
	var none bool
	if json.Unmarshal(v.Pack(), &none) == nil {
		p.effects = func(string) bool { return none }
		return
	}
	var patterns []string
	if json.Unmarshal(v.Pack(), &patterns) != nil {
		return
	}
	var forms []*regexp.Regexp
	for _, pattern := range patterns {
		pattern = strings.TrimPrefix(pattern, "./")
		if !strings.Contains(pattern, "/") {
			pattern = "**/" + pattern
		}
		form := regexp.QuoteMeta(pattern)
		form = strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`).Replace(form)
		if compiled, err := regexp.Compile("^" + form + "$"); err == nil {
			forms = append(forms, compiled)
		}
	}
	p.effects = func(file string) bool {
		return slices.ContainsFunc(forms, func(form *regexp.Regexp) bool { return form.MatchString(file) })
	}
}
