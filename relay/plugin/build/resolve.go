package build

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Imports are resolved here and not by the bundler, whose own resolver reads package.json and tsconfig.json up to the
// root of the file system, and the files they name. The rules are those of Node
// (https://nodejs.org/api/esm.html#resolution-algorithm-specification) with the extensions of bundlers for browsers:
// file extensions may be left out, and package.json may have "browser" and "module".

var (
	sourceExtensions  = []string{".tsx", ".ts", ".jsx", ".js", ".css", ".json"}
	packageExtensions = []string{".jsx", ".js", ".tsx", ".ts", ".css", ".json"}

	// sourceExtensionsOf are the extensions of the sources that TypeScript accepts for an extension in an import.
	sourceExtensionsOf = map[string][]string{".js": {".ts", ".tsx"}, ".jsx": {".ts", ".tsx"}, ".mjs": {".mts"},
		".cjs": {".cts"}}
)

// resolution is the result for an import.
type resolution struct {
	file  string // empty when there is no such module
	empty bool   // an empty module, because of "browser"
	pure  bool   // it may be dropped when nothing of it is used
}

// resolve resolves a specifier in a file; an empty importer is the folder itself.
func (f *folder) resolve(importer, specifier string, require bool) (resolution, error) {
	dir := path.Dir(importer)
	at, err := f.locate(dir, specifier, require)
	if err != nil || at.file == "" {
		return at, err
	}
	if other, mapped, err := f.browserFile(at.file); err != nil || mapped {
		return other, err
	}
	if p := f.nearestPackage(path.Dir(at.file)); p != nil && p.effects != nil {
		at.pure = !p.effects(strings.TrimPrefix(at.file, strings.TrimPrefix(p.dir+"/", "./")))
	}
	return at, nil
}

func (f *folder) locate(dir, specifier string, require bool) (resolution, error) {
	switch {
	case specifier == ".", specifier == "..", strings.HasPrefix(specifier, "./"), strings.HasPrefix(specifier, "../"):
		return f.fileOrFolder(path.Join(dir, specifier), strings.HasSuffix(specifier, "/"))
	case filepath.IsAbs(specifier) || strings.HasPrefix(specifier, "/") || strings.HasPrefix(specifier, `\`):
		name, err := f.nameOf(filepath.FromSlash(specifier))
		if err != nil {
			return resolution{}, err
		}
		return f.fileOrFolder(name, false)
	}
	if !inModules(dir) {
		for _, name := range f.configOf(dir).candidates(specifier) {
			if at, err := f.fileOrFolder(name, false); err != nil || at.file != "" {
				return at, err
			}
		}
	}
	if p := f.nearestPackage(dir); p != nil {
		if other, mapped := p.browser[specifier]; mapped {
			if other == "" {
				return resolution{empty: true}, nil
			}
			if specifier = other; strings.HasPrefix(other, "./") {
				return f.fileOrFolder(path.Join(p.dir, other), false)
			}
		}
		if strings.HasPrefix(specifier, "#") {
			return f.packageImport(p, specifier, require)
		}
		rest, ok := strings.CutPrefix(specifier, p.name)
		if ok && p.name != "" && p.exports != nil && (rest == "" || rest[0] == '/') {
			return f.packageExport(p, "."+rest, require)
		}
	}
	return f.fromModules(dir, specifier, require)
}

// isOutside reports whether a clean path leaves the folder, or is absolute.
func isOutside(name string) bool {
	return !filepath.IsLocal(filepath.FromSlash(name)) || strings.HasPrefix(name, "/")
}

func inModules(name string) bool {
	return slices.Contains(strings.Split(name, "/"), modulesFolder)
}

// fileOrFolder resolves a path, which may lack its extension or be a folder.
func (f *folder) fileOrFolder(name string, onlyFolder bool) (resolution, error) {
	if isOutside(name) {
		return resolution{}, errOutside
	}
	if !onlyFolder {
		if at, err := f.withExtension(name); err != nil || at != "" {
			return resolution{file: at}, err
		}
	}
	at, mode, err := f.follow(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !mode.IsDir() {
		return resolution{}, nil
	}
	if err != nil {
		return resolution{}, err
	}
	return f.folderEntry(at)
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
		for _, other := range sourceExtensionsOf[extension] {
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

// folderEntry is the entry file of a folder.
func (f *folder) folderEntry(dir string) (resolution, error) {
	if p := f.packageAt(dir); p != nil {
		for _, main := range []string{p.browser["."], p.module, p.main} {
			if main == "" {
				continue
			}
			name := path.Join(dir, main)
			if isOutside(name) {
				return resolution{}, errOutside
			}
			for _, one := range []string{name, path.Join(name, "index")} {
				if at, err := f.withExtension(one); err != nil || at != "" {
					return resolution{file: at}, err
				}
			}
		}
	}
	at, err := f.withExtension(path.Join(dir, "index"))
	return resolution{file: at}, err
}

// fromModules searches node_modules of a folder and of those above it, up to the plugin's.
func (f *folder) fromModules(dir, specifier string, require bool) (resolution, error) {
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
				return resolution{}, err
			case err == nil && !mode.IsDir() && subpath == ".":
				return resolution{file: at}, nil
			case err == nil && mode.IsDir():
				return f.packageEntry(at, subpath, require)
			case err == nil || subpath == ".":
				if at, err := f.withExtension(path.Join(dir, modulesFolder, name)); err != nil || at != "" {
					return resolution{file: at}, err
				}
			}
		}
		if dir == "." {
			return resolution{}, nil
		}
	}
}

func (f *folder) packageEntry(dir, subpath string, require bool) (resolution, error) {
	if p := f.packageAt(dir); p != nil && p.exports != nil {
		return f.packageExport(p, subpath, require)
	}
	if subpath == "." {
		return f.folderEntry(dir)
	}
	return f.fileOrFolder(path.Join(dir, subpath), strings.HasSuffix(subpath, "/"))
}

// packageExport is what a package exports under a subpath, "." or "./…".
func (f *folder) packageExport(p *packageJSON, subpath string, require bool) (resolution, error) {
	target := p.exports
	object, ok := target.Value.(*hujson.Object)
	if ok && len(object.Members) > 0 && strings.HasPrefix(memberName(object.Members[0]), ".") {
		return f.matchEntry(p, object, subpath, require)
	}
	if subpath != "." {
		return resolution{}, nil
	}
	return f.entryTarget(p, *target, "", require)
}

// packageImport is what a package imports under #….
func (f *folder) packageImport(p *packageJSON, specifier string, require bool) (resolution, error) {
	if p.imports != nil {
		if object, ok := p.imports.Value.(*hujson.Object); ok {
			return f.matchEntry(p, object, specifier, require)
		}
	}
	return resolution{}, nil
}

// matchEntry finds the entry of "exports" or "imports" for a key: the same key, or the most specific pattern.
func (f *folder) matchEntry(p *packageJSON, object *hujson.Object, key string, require bool) (resolution, error) {
	best, star := -1, ""
	for i, member := range object.Members {
		pattern := memberName(member)
		if pattern == key && !strings.Contains(key, "*") {
			best, star = i, ""
			break
		}
		head, tail, isPattern := strings.Cut(pattern, "*")
		if !isPattern && strings.HasSuffix(pattern, "/") { // an older form
			head, isPattern = pattern, true
		}
		if !isPattern || len(key) < len(head)+len(tail) ||
			!strings.HasPrefix(key, head) || !strings.HasSuffix(key, tail) {
			continue
		}
		if best < 0 || len(head) > len(strings.SplitN(memberName(object.Members[best]), "*", 2)[0]) {
			best, star = i, key[len(head):len(key)-len(tail)]
		}
	}
	if best < 0 {
		return resolution{}, nil
	}
	return f.entryTarget(p, object.Members[best].Value, star, require)
}

// entryTarget resolves the value of an entry: a path, conditions, or a list of either.
func (f *folder) entryTarget(p *packageJSON, target hujson.Value, star string, require bool) (resolution, error) {
	switch v := target.Value.(type) {
	case hujson.Literal:
		if v.Kind() != '"' {
			return resolution{}, nil
		}
		text := v.String()
		if strings.HasSuffix(text, "/") && !strings.Contains(text, "*") {
			text += "*"
		}
		text = strings.ReplaceAll(text, "*", star)
		if !strings.HasPrefix(text, "./") {
			if isOutside(text) {
				return resolution{}, errOutside
			}
			return f.fromModules(p.dir, text, require) // "imports" may name another package
		}
		name := path.Join(p.dir, text)
		if isOutside(name) {
			return resolution{}, errOutside
		}
		at, err := f.file(name)
		if at == "" && err == nil && !inModules(name) {
			at, err = f.withExtension(name)
		}
		return resolution{file: at}, err
	case *hujson.Object:
		for _, member := range v.Members {
			if !isCondition(memberName(member), require) {
				continue
			}
			if at, err := f.entryTarget(p, member.Value, star, require); err != nil || at.file != "" {
				return at, err
			}
		}
	case *hujson.Array:
		for _, element := range v.Elements {
			if at, err := f.entryTarget(p, element, star, require); err != nil || at.file != "" {
				return at, err
			}
		}
	}
	return resolution{}, nil
}

func isCondition(name string, require bool) bool {
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

func memberName(member hujson.ObjectMember) string {
	name, _ := member.Name.Value.(hujson.Literal)
	return name.String()
}

// browserFile is the file that a package has for browsers in place of another.
func (f *folder) browserFile(name string) (other resolution, mapped bool, err error) {
	p := f.nearestPackage(path.Dir(name))
	if p == nil || len(p.browser) == 0 {
		return resolution{}, false, nil
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
			return resolution{empty: true}, true, nil
		case strings.HasPrefix(to, "./"):
			other, err = f.fileOrFolder(path.Join(p.dir, to), false)
		default:
			other, err = f.fromModules(p.dir, to, false)
		}
		return other, other.file != name, err
	}
	return resolution{}, false, nil
}
