package build

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"tabrelay/relay/lib/match"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/road/plugin"
)

// source is the content of package.json about a plugin.
type source struct {
	Package struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	Plugin struct {
		DisplayName     string          `json:"displayName"`
		Description     string          `json:"description"`
		URLPatterns     []string        `json:"urlPatterns"`
		ExcludePatterns []string        `json:"excludePatterns"`
		Homepage        string          `json:"homepage"`
		ConfigSchema    json.RawMessage `json:"configSchema"`
		PreScript       string          `json:"preScript"`
		World           plugin.World    `json:"world"`
	}
	name    string // the plugin's, made from the package's
	foreign bool   // it was written for OpenTabs, where other names are reserved
}

const packageFile = "package.json"

// packageUse is what a package is read for.
type packageUse struct {
	shipped   bool // it becomes part of the binary
	published bool // it has no sources: it was built for OpenTabs
}

// readPackage reads and checks package.json. It reports all faults, not only the first.
func readPackage(f *folder, use packageUse) (*source, []Diagnostic) {
	raw, err := f.read(packageFile)
	if err != nil {
		return nil, faultf(packageFile, "cannot be read (%v); a plugin is a folder with package.json and src/index.ts",
			rootCause(err))
	}
	return parsePackage(f, raw, use)
}

// rootCause drops the path from a file error: messages name files relative to the plugin.
func rootCause(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
}

// jsonError takes the line and column out of the parser's message, which has no other form.
func jsonError(err error) Diagnostic {
	d := Diagnostic{File: packageFile, Text: "is not valid JSON"}
	why := strings.TrimPrefix(err.Error(), "hujson: ")
	if n, _ := fmt.Sscanf(why, "line %d, column %d:", &d.Line, &d.Column); n == 2 {
		_, why, _ = strings.Cut(why, ": ")
	}
	d.Text += ": " + why
	return d
}

func parsePackage(f *folder, raw []byte, use packageUse) (*source, []Diagnostic) {
	c := &packageCheck{folder: f, raw: raw, packageUse: use}
	tree, err := rawjson.ParseCommented(raw)
	if err != nil {
		return nil, []Diagnostic{jsonError(err)}
	}
	if !tree.IsStandard() {
		c.add("", "has comments or trailing commas; other tools that read it refuse them")
		return nil, c.found
	}
	c.tree = tree
	if _, ok := tree.Value.(*hujson.Object); !ok {
		c.add("", "is not a JSON object")
		return nil, c.found
	}
	c.read()
	slices.SortStableFunc(c.found, func(a, b Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	return &c.source, c.found
}

// packageCheck collects the faults of one package.json.
type packageCheck struct {
	folder *folder
	raw    []byte
	tree   hujson.Value
	key    string // "tabrelay", or "opentabs" in a plugin written for that
	source source
	found  []Diagnostic

	packageUse
}

// add reports a fault at a JSON pointer.
func (c *packageCheck) add(pointer, format string, args ...any) {
	d := Diagnostic{File: packageFile, Text: fmt.Sprintf(format, args...)}
	if v := c.tree.Find(pointer); v != nil && pointer != "" {
		before := string(c.raw[:min(v.StartOffset, len(c.raw))])
		d.Line = 1 + strings.Count(before, "\n")
		d.Column = v.StartOffset - strings.LastIndexByte(before, '\n')
	}
	c.found = append(c.found, d)
}

// addType reports that a value below a JSON pointer has another type than its field.
func (c *packageCheck) addType(pointer string, err error) {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		c.add(pointer, "cannot be read: %v", err)
		return
	}
	field, expected := strings.TrimPrefix(wrong.Field, "."), "a text"
	switch wrong.Type.Kind() {
	case reflect.Slice:
		expected = "a list of texts"
	case reflect.Struct:
		expected = "an object"
	}
	at := pointer
	if field != "" {
		at += "/" + strings.ReplaceAll(field, ".", "/")
	}
	c.add(at, "%q has to be %s, and is of the type %s", path.Base(at), expected, wrong.Value)
}

func (c *packageCheck) read() {
	if err := json.Unmarshal(c.raw, &c.source.Package); err != nil {
		c.addType("", err)
		return
	}
	c.checkName()
	for _, key := range []string{"tabrelay", "opentabs"} {
		v := c.tree.Find("/" + key)
		if v == nil {
			continue
		}
		c.key, c.source.foreign = key, key == "opentabs"
		if !c.source.foreign { // OpenTabs has more fields
			c.checkFieldNames(v)
		}
		if err := json.Unmarshal(v.Pack(), &c.source.Plugin); err != nil {
			c.addType("/"+key, err)
			return
		}
		c.checkFields()
		return
	}
	c.add("", `has no "tabrelay" key; add "tabrelay": {"displayName": "…", "urlPatterns": ["https://example.com/*"]}`)
}

// checkFieldNames reports misspelt fields, which would be ignored. Fields with other names may be for another program,
// or for a later version.
func (c *packageCheck) checkFieldNames(v *hujson.Value) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return // reported when it is decoded
	}
	var known []string
	for field := range reflect.TypeOf(c.source.Plugin).Fields() {
		known = append(known, field.Tag.Get("json"))
	}
	for _, member := range object.Members {
		name := member.Name.Value.(hujson.Literal).String()
		if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			continue
		}
		if meant := suggest.Nearest(name, known); meant != "" {
			at := strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			c.add("/"+c.key+"/"+at, "%q has no field %q; did you mean %q?", c.key, name, meant)
		}
	}
}

func (c *packageCheck) checkName() {
	if c.source.Package.Name == "" {
		c.add("/name", `has no "name"; a plugin's name is its package's, such as tabrelay-plugin-example`)
		return
	}
	name, err := plugin.NameOf(c.source.Package.Name, c.shipped)
	if err != nil {
		c.add("/name", "%v", err)
	}
	c.source.name = name
	c.source.Package.Version = cmp.Or(c.source.Package.Version, "0.0.0")
}

func (c *packageCheck) checkFields() {
	p, at := &c.source.Plugin, "/"+c.key
	if p.DisplayName == "" {
		c.add(at, `%q has no "displayName"; it is what people see`, c.key)
	}
	switch p.World {
	case "":
		p.World = plugin.Main
		if c.key == "tabrelay" {
			p.World = plugin.Isolated
		}
	case plugin.Isolated, plugin.Main:
	default:
		c.add(at+"/world", `"world" is %q; write "isolated" (default) or "main"`, p.World)
	}
	if p.Homepage != "" && !isWebAddress(p.Homepage) {
		c.add(at+"/homepage", `"homepage" %q is not an http or https address`, p.Homepage)
	}
	c.checkPreScript()
	c.checkPatterns()
	declared, at := p.ConfigSchema, at+"/configSchema"
	for _, problem := range plugin.CheckSettings(declared) {
		c.add(at, "%s", problem)
	}
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func (c *packageCheck) checkPatterns() {
	p, at := c.source.Plugin, "/"+c.key
	if len(p.URLPatterns) == 0 && plugin.URLSetting(p.ConfigSchema) == "" {
		c.add(at, `%q has no "urlPatterns"; name the pages it works on, such as ["https://*.example.com/*"]`, c.key)
	}
	for i, text := range p.URLPatterns {
		pattern, err := match.Parse(text)
		if err == nil {
			err = plugin.CheckPattern(pattern, c.shipped)
		}
		if err != nil {
			c.add(fmt.Sprintf("%s/urlPatterns/%d", at, i), "url pattern %v", err)
		}
	}
	for i, text := range p.ExcludePatterns {
		if _, err := match.Parse(text); err != nil {
			c.add(fmt.Sprintf("%s/excludePatterns/%d", at, i), "exclude pattern %v", err)
		}
	}
}
