package build

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"tabrelay/relay/lib/rawjson"
)

const tsconfigFile = "tsconfig.json"

// tsconfig is the part of a tsconfig.json about imports and compilation.
type tsconfig struct {
	base    string // the folder that "baseUrl" names; empty without one
	at      string // the folder that "paths" are relative to
	paths   map[string][]string
	options map[string]json.RawMessage // compilerOptions for the bundler
	warning string
}

// compilerOptions are those that change the output of the bundler.
var compilerOptions = []string{
	"alwaysStrict", "experimentalDecorators", "importsNotUsedAsValues", "jsx", "jsxFactory", "jsxFragmentFactory",
	"jsxImportSource", "preserveValueImports", "strict", "target", "useDefineForClassFields", "verbatimModuleSyntax",
}

// configOf is the tsconfig.json for the files of a folder: the nearest one, up to the plugin's.
func (f *folder) configOf(dir string) *tsconfig {
	for ; ; dir = path.Dir(dir) {
		f.mu.Lock()
		known, ok := f.configs[dir]
		f.mu.Unlock()
		if !ok {
			known = f.readConfig(path.Join(dir, tsconfigFile), maxLinks)
			f.mu.Lock()
			f.configs[dir] = known
			f.mu.Unlock()
		}
		if known != nil || dir == "." {
			return known
		}
	}
}

// readConfig reads a tsconfig.json and those that it extends inside the folder.
func (f *folder) readConfig(name string, depth int) *tsconfig {
	at, err := f.file(name)
	if err != nil {
		return &tsconfig{warning: fmt.Sprintf("%s %v", name, err)}
	}
	if at == "" || depth == 0 {
		return nil
	}
	raw, err := f.read(at)
	if err != nil {
		return &tsconfig{warning: fmt.Sprintf("%s %v", name, err)}
	}
	tree, err := rawjson.ParseCommented(raw)
	if err != nil {
		return &tsconfig{warning: name + " is not JSON, and is not used"}
	}
	tree.Standardize()
	plain := tree.Pack()
	var said struct {
		Extends json.RawMessage            `json:"extends"`
		Options map[string]json.RawMessage `json:"compilerOptions"`
	}
	if json.Unmarshal(plain, &said) != nil {
		return &tsconfig{warning: name + " is not a TypeScript configuration, and is not used"}
	}
	c := &tsconfig{options: map[string]json.RawMessage{}}
	for _, other := range stringList(said.Extends) {
		c.extend(f.extended(path.Dir(at), other, depth))
	}
	c.addOptions(path.Dir(at), said.Options)
	return c
}

// extended reads the file that "extends" names, which may be in a package.
func (f *folder) extended(dir, name string, depth int) *tsconfig {
	names := []string{name, name + ".json", path.Join(name, tsconfigFile)}
	for _, one := range names {
		at := path.Join(dir, one)
		switch {
		case strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") && isOutside(at):
			return &tsconfig{warning: fmt.Sprintf(`%s extends %q, which %v`, path.Join(dir, tsconfigFile), name,
				errOutside)}
		case !strings.HasPrefix(name, "."):
			at = path.Join(modulesFolder, one)
		}
		if _, mode, err := f.follow(at); err == errOutside || err == nil && mode.IsRegular() {
			return f.readConfig(at, depth-1)
		}
	}
	return nil
}

func stringList(raw json.RawMessage) (list []string) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	_ = json.Unmarshal(raw, &list) // anything else is ignored
	return list
}

func (c *tsconfig) extend(other *tsconfig) {
	if other == nil {
		return
	}
	maps.Copy(c.options, other.options)
	if other.base != "" {
		c.base = other.base
	}
	if other.paths != nil {
		c.paths, c.at = other.paths, other.at
	}
	if other.warning != "" {
		c.warning = other.warning
	}
}

func (c *tsconfig) addOptions(dir string, options map[string]json.RawMessage) {
	for _, name := range compilerOptions {
		if value, ok := options[name]; ok {
			c.options[name] = value
		}
	}
	var base string
	if json.Unmarshal(options["baseUrl"], &base) == nil && base != "" {
		c.base = join(dir, base)
	}
	var paths map[string]json.RawMessage
	if json.Unmarshal(options["paths"], &paths) == nil && paths != nil {
		c.paths, c.at = map[string][]string{}, dir
		for pattern, targets := range paths {
			c.paths[pattern] = stringList(targets)
		}
	}
}

// join is path.Join, unless the second part is absolute.
func join(dir, name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return path.Join(dir, name)
}

// candidates are the names that "paths" and "baseUrl" make of a specifier.
func (c *tsconfig) candidates(specifier string) (names []string) {
	if c == nil {
		return nil
	}
	at := c.at
	if c.base != "" {
		at = c.base
	}
	best, star := "", ""
	for _, pattern := range slices.Sorted(maps.Keys(c.paths)) {
		if pattern == specifier {
			best, star = pattern, ""
			break
		}
		head, tail, isPattern := strings.Cut(pattern, "*")
		if isPattern && len(specifier) >= len(head)+len(tail) &&
			strings.HasPrefix(specifier, head) && strings.HasSuffix(specifier, tail) &&
			(best == "" || len(head) >= strings.IndexByte(best, '*')) {
			best, star = pattern, specifier[len(head):len(specifier)-len(tail)]
		}
	}
	for _, target := range c.paths[best] {
		names = append(names, join(at, strings.Replace(target, "*", star, 1)))
	}
	if c.base != "" && !isOutside(c.base) {
		names = append(names, join(c.base, specifier))
	}
	return names
}

// forBundler is a tsconfig.json for the bundler, without names of files.
func (c *tsconfig) forBundler() string {
	if c == nil {
		return "{}"
	}
	encoded, err := json.Marshal(map[string]any{"compilerOptions": c.options})
	if err != nil {
		return "{}"
	}
	return string(encoded)
}
