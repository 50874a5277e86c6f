package plugin

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Where an import leads is decided here and not by the bundler, whose own resolver reads package.json, tsconfig.json and
// what they name wherever they lead, up to the root of the file system. The rules are those of Node
// (https://nodejs.org/api/esm.html#resolution-algorithm-specification) as bundlers for browsers extend them: extensions
// may be left out, and package.json may have "browser" and "module".

var (
	sourceExtensions  = []string{".tsx", ".ts", ".jsx", ".js", ".css", ".json"}
	packageExtensions = []string{".jsx", ".js", ".tsx", ".ts", ".css", ".json"}

	// writtenAs are the extensions that an import may name in place of the file's own, as TypeScript has it.
	writtenAs = map[string][]string{".js": {".ts", ".tsx"}, ".jsx": {".ts", ".tsx"}, ".mjs": {".mts"}, ".cjs": {".cts"}}
)

// packageJSON is what a package.json says about imports.
type packageJSON struct {
	dir              string
	name             string
	main, module     string
	exports, imports *hujson.Value
	browser          map[string]string // "" stands for an empty module
	effects          func(file string) bool
}

// resolved is where an import leads.
type resolved struct {
	name  string // of the file; empty when there is none
	empty bool   // an empty module, as "browser" asks for
	pure  bool   // it may go when nothing of it is used
}

// resolve answers where a specifier leads that stands in a file, empty for the folder itself. No name and no error:
// there is no such module.
func (f *folder) resolve(importer, specifier string, require bool) (resolved, error) {
	dir := path.Dir(importer)
	at, err := f.locate(dir, specifier, require)
	if err != nil || at.name == "" {
		return at, err
	}
	if other, mapped, err := f.browserFile(at.name); err != nil || mapped {
		return other, err
	}
	if p := f.packageOf(path.Dir(at.name)); p != nil && p.effects != nil {
		at.pure = !p.effects(strings.TrimPrefix(at.name, strings.TrimPrefix(p.dir+"/", "./")))
	}
	return at, nil
}

func (f *folder) locate(dir, specifier string, require bool) (resolved, error) {
	switch {
	case specifier == "." || specifier == ".." || strings.HasPrefix(specifier, "./") || strings.HasPrefix(specifier, "../"):
		return f.near(path.Join(dir, specifier), strings.HasSuffix(specifier, "/"))
	case filepath.IsAbs(specifier) || strings.HasPrefix(specifier, "/") || strings.HasPrefix(specifier, `\`):
		name, err := f.inside(filepath.FromSlash(specifier))
		if err != nil {
			return resolved{}, err
		}
		return f.near(name, false)
	}
	if !inModules(dir) {
		for _, name := range f.configOf(dir).candidates(specifier) {
			if at, err := f.near(name, false); err != nil || at.name != "" {
				return at, err
			}
		}
	}
	if p := f.packageOf(dir); p != nil {
		if other, mapped := p.browser[specifier]; mapped {
			if other == "" {
				return resolved{empty: true}, nil
			}
			if specifier = other; strings.HasPrefix(other, "./") {
				return f.near(path.Join(p.dir, other), false)
			}
		}
		if strings.HasPrefix(specifier, "#") {
			return f.imported(p, specifier, require)
		}
		if rest, ok := strings.CutPrefix(specifier, p.name); ok && p.name != "" && p.exports != nil && (rest == "" || rest[0] == '/') {
			return f.exported(p, "."+rest, require)
		}
	}
	return f.installed(dir, specifier, require)
}

// leadsOut reports whether a clean relative path leaves the folder, or is no relative one.
func leadsOut(name string) bool {
	return !filepath.IsLocal(filepath.FromSlash(name)) || strings.HasPrefix(name, "/")
}

func inModules(name string) bool {
	return slices.Contains(strings.Split(name, "/"), modulesFolder)
}

// near is the file that a path means which may leave its extension out, or be a folder.
func (f *folder) near(name string, onlyFolder bool) (resolved, error) {
	if leadsOut(name) {
		return resolved{}, errLeadsOut
	}
	if !onlyFolder {
		if at, err := f.withExtension(name); err != nil || at != "" {
			return resolved{name: at}, err
		}
	}
	at, mode, err := f.follow(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !mode.IsDir() {
		return resolved{}, nil
	}
	if err != nil {
		return resolved{}, err
	}
	return f.ofFolder(at)
}

func (f *folder) withExtension(name string) (string, error) {
	names, extensions := []string{name}, sourceExtensions
	if inModules(name) {
		extensions = packageExtensions
	}
	for _, extension := range extensions {
		names = append(names, name+extension)
	}
	if extension := path.Ext(name); !inModules(name) {
		for _, other := range writtenAs[extension] {
			names = append(names, strings.TrimSuffix(name, extension)+other)
		}
	}
	for _, one := range names {
		if at, err := f.file(one); err != nil || at != "" {
			return at, err
		}
	}
	return "", nil
}

// ofFolder is the file that a folder stands for.
func (f *folder) ofFolder(dir string) (resolved, error) {
	if p := f.packageIn(dir); p != nil {
		for _, main := range []string{p.browser["."], p.module, p.main} {
			if main == "" {
				continue
			}
			name := path.Join(dir, main)
			if leadsOut(name) {
				return resolved{}, errLeadsOut
			}
			for _, one := range []string{name, path.Join(name, "index")} {
				if at, err := f.withExtension(one); err != nil || at != "" {
					return resolved{name: at}, err
				}
			}
		}
	}
	at, err := f.withExtension(path.Join(dir, "index"))
	return resolved{name: at}, err
}

// installed looks in node_modules of a folder and of those above it, up to the plugin's.
func (f *folder) installed(dir, specifier string, require bool) (resolved, error) {
	parts := strings.SplitN(specifier, "/", 3)
	name := parts[0]
	if strings.HasPrefix(name, "@") && len(parts) > 1 {
		name += "/" + parts[1]
	}
	subpath := "." + strings.TrimPrefix(specifier, name)
	for ; ; dir = path.Dir(dir) {
		if path.Base(dir) != modulesFolder {
			at, mode, err := f.follow(path.Join(dir, modulesFolder, name))
			switch {
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				return resolved{}, err
			case err == nil && !mode.IsDir() && subpath == ".":
				return resolved{name: at}, nil
			case err == nil && mode.IsDir():
				return f.ofPackage(at, subpath, require)
			case err == nil || subpath == ".":
				if at, err := f.withExtension(path.Join(dir, modulesFolder, name)); err != nil || at != "" {
					return resolved{name: at}, err
				}
			}
		}
		if dir == "." {
			return resolved{}, nil
		}
	}
}

func (f *folder) ofPackage(dir, subpath string, require bool) (resolved, error) {
	if p := f.packageIn(dir); p != nil && p.exports != nil {
		return f.exported(p, subpath, require)
	}
	if subpath == "." {
		return f.ofFolder(dir)
	}
	return f.near(path.Join(dir, subpath), strings.HasSuffix(subpath, "/"))
}

// exported is what a package offers under a subpath, "." or "./…".
func (f *folder) exported(p *packageJSON, subpath string, require bool) (resolved, error) {
	target := p.exports
	if object, ok := target.Value.(*hujson.Object); ok && len(object.Members) > 0 && strings.HasPrefix(nameOf(object.Members[0]), ".") {
		return f.matched(p, object, subpath, require)
	}
	if subpath != "." {
		return resolved{}, nil
	}
	return f.targeted(p, *target, "", require)
}

// imported is what a package calls #….
func (f *folder) imported(p *packageJSON, specifier string, require bool) (resolved, error) {
	if p.imports == nil {
		return resolved{}, nil
	}
	object, ok := p.imports.Value.(*hujson.Object)
	if !ok {
		return resolved{}, nil
	}
	return f.matched(p, object, specifier, require)
}

// matched takes the entry of "exports" or "imports" that a key is about: the same one, or the most special pattern.
func (f *folder) matched(p *packageJSON, object *hujson.Object, key string, require bool) (resolved, error) {
	best, star := -1, ""
	for i, member := range object.Members {
		pattern := nameOf(member)
		if pattern == key && !strings.Contains(key, "*") {
			best, star = i, ""
			break
		}
		head, tail, isPattern := strings.Cut(pattern, "*")
		if !isPattern && strings.HasSuffix(pattern, "/") { // as packages of 2020 have it
			head, isPattern = pattern, true
		}
		if !isPattern || len(key) < len(head)+len(tail) || !strings.HasPrefix(key, head) || !strings.HasSuffix(key, tail) {
			continue
		}
		if best < 0 || len(head) > len(strings.SplitN(nameOf(object.Members[best]), "*", 2)[0]) {
			best, star = i, key[len(head):len(key)-len(tail)]
		}
	}
	if best < 0 {
		return resolved{}, nil
	}
	return f.targeted(p, object.Members[best].Value, star, require)
}

// targeted follows the value of an entry: a path, conditions, or a list of either.
func (f *folder) targeted(p *packageJSON, target hujson.Value, star string, require bool) (resolved, error) {
	switch v := target.Value.(type) {
	case hujson.Literal:
		if v.Kind() != '"' {
			return resolved{}, nil
		}
		text := v.String()
		if strings.HasSuffix(text, "/") && !strings.Contains(text, "*") {
			text += "*"
		}
		text = strings.ReplaceAll(text, "*", star)
		if !strings.HasPrefix(text, "./") {
			if leadsOut(text) {
				return resolved{}, errLeadsOut
			}
			return f.installed(p.dir, text, require) // "imports" may name another package
		}
		name := path.Join(p.dir, text)
		if leadsOut(name) {
			return resolved{}, errLeadsOut
		}
		at, err := f.file(name)
		if at == "" && err == nil && !inModules(name) {
			at, err = f.withExtension(name)
		}
		return resolved{name: at}, err
	case *hujson.Object:
		for _, member := range v.Members {
			if !condition(nameOf(member), require) {
				continue
			}
			if at, err := f.targeted(p, member.Value, star, require); err != nil || at.name != "" {
				return at, err
			}
		}
	case *hujson.Array:
		for _, element := range v.Elements {
			if at, err := f.targeted(p, element, star, require); err != nil || at.name != "" {
				return at, err
			}
		}
	}
	return resolved{}, nil
}

func condition(name string, require bool) bool {
	switch name {
	case "browser", "module", "default":
		return true
	case "import":
		return !require
	case "require":
		return require
	}
	return false
}

func nameOf(member hujson.ObjectMember) string {
	name, _ := member.Name.Value.(hujson.Literal)
	return name.String()
}

// browserFile is what a package has for browsers in place of one of its files.
func (f *folder) browserFile(name string) (other resolved, mapped bool, err error) {
	p := f.packageOf(path.Dir(name))
	if p == nil || len(p.browser) == 0 {
		return resolved{}, false, nil
	}
	inside := "./" + strings.TrimPrefix(strings.TrimPrefix(name, p.dir), "/")
	keys := []string{inside, strings.TrimSuffix(inside, path.Ext(inside))}
	keys = append(keys, strings.TrimSuffix(keys[1], "/index"))
	for _, key := range keys {
		to, ok := p.browser[key]
		switch {
		case !ok || key == ".":
			continue
		case to == "":
			return resolved{empty: true}, true, nil
		case strings.HasPrefix(to, "./"):
			other, err = f.near(path.Join(p.dir, to), false)
		default:
			other, err = f.installed(p.dir, to, false)
		}
		return other, other.name != name, err
	}
	return resolved{}, false, nil
}

// packageOf is the package that a folder belongs to.
func (f *folder) packageOf(dir string) *packageJSON {
	for ; ; dir = path.Dir(dir) {
		if p := f.packageIn(dir); p != nil {
			return p
		}
		if dir == "." || path.Base(dir) == modulesFolder {
			return nil
		}
	}
}

// packageIn is the package.json of one folder. One that cannot be read, or is no JSON, says nothing.
func (f *folder) packageIn(dir string) *packageJSON {
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
	tree, err := hujson.Parse(raw)
	if err != nil {
		return nil
	}
	p := &packageJSON{dir: dir, browser: map[string]string{}}
	text := func(name string) (text string) {
		if v := tree.Find("/" + name); v != nil {
			_ = json.Unmarshal(v.Pack(), &text) // a field of another type says nothing
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
			p.browser[nameOf(member)] = literal.String()
		case ok && literal.Kind() == 'f':
			p.browser[nameOf(member)] = ""
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
