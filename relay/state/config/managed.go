package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"tabrelay/relay/lib/match"
)

// PolicyFile is where an administrator puts what people cannot change; empty: where the system has such files. No
// variable of the environment sets it, because people set those. The linker can, for a system with other folders:
// -X tabrelay/relay/state/config.PolicyFile=/usr/local/etc/tabrelay/policy.json
var PolicyFile string

// PolicyPlace is the file that counts, whether or not it exists.
func PolicyPlace() string { return cmp.Or(PolicyFile, systemPolicyFile()) }

// Managed is what the policy file of an organization says. It never changes once it was read.
type Managed struct {
	File    string `json:"file"`    // that it was read from
	Contact string `json:"contact"` // whom people ask about it

	Rules   map[string]map[string]string `json:"rules"` // as [Config.Permissions]; they allow nothing, they only forbid
	Sites   ManagedSites                 `json:"sites"`
	Plugins ManagedPlugins               `json:"plugins"`

	Settings []string       `json:"settings"` // keys of the settings of config.json that only it sets
	settings *hujson.Object // what it sets them to; nil: none
	text     []byte         // of the file
}

// ManagedSites are the sites that agents may use at all.
type ManagedSites struct {
	Allow []string `json:"allow,omitempty"` // match patterns of whole sites; nil: all sites
	Deny  []string `json:"deny,omitempty"`  // the same, and stronger
}

// ManagedPlugins are the plugins that may be used.
type ManagedPlugins struct {
	Allow []PluginPin `json:"allow,omitempty"` // nil: all plugins
	Deny  []string    `json:"deny,omitempty"`  // names
}

// PluginPin names a plugin. What is empty is not compared.
type PluginPin struct {
	Name   string `json:"name,omitempty"`
	Source string `json:"source,omitempty"` // as `plugin list` shows it; * stands for any characters but /
	Hash   string `json:"hash,omitempty"`   // of its content
}

// ShippedSource is the source of the plugins that are in the program.
const ShippedSource = "tabrelay"

// matches reports whether this is the pin of a plugin.
func (p PluginPin) matches(name, source, hash string) bool {
	is, err := path.Match(p.Source, source)
	return (p.Name == "" || p.Name == name) && (p.Source == "" || err == nil && is) && (p.Hash == "" || p.Hash == hash)
}

// valid reports whether a pin says anything that can be compared.
func (p PluginPin) valid() bool {
	_, err := path.Match(p.Source, "")
	return p != (PluginPin{}) && err == nil && (p.Name == "" || clientNameForm.MatchString(p.Name))
}

// Permits reports whether a plugin may be used. Without a policy every one may.
func (m *Managed) Permits(name, source, hash string) bool {
	if m == nil {
		return true
	}
	pinned := func(p PluginPin) bool { return p.matches(name, source, hash) }
	return !slices.Contains(m.Plugins.Deny, name) &&
		(m.Plugins.Allow == nil || slices.ContainsFunc(m.Plugins.Allow, pinned))
}

// Same reports whether two policies have the same text, in the same file; or are none.
func (m *Managed) Same(other *Managed) bool {
	if m == nil || other == nil {
		return m == other
	}
	return m.File == other.File && bytes.Equal(m.text, other.text)
}

// Fixes reports whether the policy sets the setting of a key, or one above it.
func (m *Managed) Fixes(key string) bool {
	return m != nil && slices.ContainsFunc(m.Settings, func(fixed string) bool {
		return key == fixed || strings.HasPrefix(key, fixed+".")
	})
}

// Name is the policy in a sentence.
func (m *Managed) Name() string { return "your organization's policy (" + m.File + ")" }

// Ask is whom to ask about the policy, as a sentence.
func (m *Managed) Ask() string {
	const show = " `tabrelay policy` shows it."
	if m.Contact == "" {
		return "Only an administrator of this machine can change it." + show
	}
	return "Only an administrator can change it; the contact is " + m.Contact + "." + show
}

// ManagedError says that the policy keeps something from being changed.
type ManagedError struct {
	What    string // “timeoutMs is set”, “the rule would allow more than allowed”
	Managed *Managed
}

func (e *ManagedError) Error() string {
	return e.What + " by " + e.Managed.Name() + ", so nothing was changed"
}

// Hint is the next step.
func (e *ManagedError) Hint() string { return e.Managed.Ask() }

// sitePattern is a match pattern of whole sites: a rule about a site holds for every page of it, and in every frame.
var sitePattern = Text{
	What:    "a match pattern of whole sites, which ends in /*, for example https://*.example.org/*",
	Pattern: `^(\*|https?)://[^/]+/\*$`,
	Accepts: func(s string) bool {
		_, err := match.Parse(s)
		return err == nil && strings.HasSuffix(s, "/*") && strings.Count(s, "/") == 3
	},
}

var pluginPins = KindOf(`a list of plugins, each an object with any of "name", "source" and "hash"`,
	map[string]any{"type": "array", "items": func() map[string]any {
		schema := Closed(map[string]any{"name": anyString, "source": anyString, "hash": anyString})
		schema["minProperties"] = 1
		return schema
	}()}, func(list []PluginPin) bool {
		return !slices.ContainsFunc(list, func(p PluginPin) bool { return !p.valid() })
	})

// fixedSettings are settings as they stand in config.json, but for permissions: the rules of a policy have a place of
// their own.
var fixedSettings = Kind{
	accepts: "an object of settings as in config.json",
	schema:  map[string]any{"type": "object"},
	fill: func(r *reader, field any, key string, v *hujson.Value) {
		object, ok := v.Value.(*hujson.Object)
		if !ok {
			r.fault(v.StartOffset, key, "expected an object, but got "+excerpt(*v))
			return
		}
		for _, m := range object.Members {
			if m.Name.Value.(hujson.Literal).String() == "permissions" {
				r.fault(m.Name.StartOffset, key+".permissions", "rules stand under rules in a policy")
			}
		}
		*field.(**hujson.Object) = object
	},
}

// managedTable is what a policy file may say.
var managedTable = []Setting[Managed]{
	{"contact", String(Text{}), "", func(m *Managed) any { return &m.Contact },
		"Whom people ask about the policy: an address, a page, a name. It is in every refusal."},
	{"rules", permissions, map[string]any{}, func(m *Managed) any { return &m.Rules },
		"Rules as under permissions in config.json. Nobody can loosen them: of these and those of the person, the " +
			"stricter counts. auto leaves the decision to the person."},
	{"sites.allow", List(sitePattern), nil, func(m *Managed) any { return &m.Sites.Allow },
		"Match patterns of the sites that agents may use. Without it: all of them. [] is none."},
	{"sites.deny", List(sitePattern), []string{}, func(m *Managed) any { return &m.Sites.Deny },
		"Match patterns of sites that agents may not use, whatever allow says."},
	{"plugins.allow", pluginPins, nil, func(m *Managed) any { return &m.Plugins.Allow },
		"The plugins that may be used: those that an entry names by name, source (tabrelay for those of the program) " +
			"and hash. Without it: all of them. [] is none."},
	{"plugins.deny", List(Text{}), []string{}, func(m *Managed) any { return &m.Plugins.Deny },
		"Names of plugins that may not be used, whatever allow says."},
	{"settings", fixedSettings, map[string]any{}, func(m *Managed) any { return &m.settings },
		"Settings as in config.json. They win over config.json, the environment and the command line, and nobody " +
			"can change them."},
}

// ReadPolicy reads the policy file; nil: there is none. Its error is an [*Error] or a [*FileError].
func ReadPolicy() (*Managed, error) {
	m, r, err := readPolicy(PolicyPlace())
	if err != nil || m == nil {
		return nil, err
	}
	scratch := Default()
	r.fix(m, &scratch)
	if len(r.faults) > 0 {
		return nil, &Error{Faults: r.faults}
	}
	return m, nil
}

// CheckPolicy is what is wrong with a file that is to become the policy, whoever can write it; nil: nothing.
func CheckPolicy(file string) error {
	text, err := readRegular(file, maxFile)
	if err != nil {
		return &FileError{Err: fmt.Errorf("cannot read the policy: %w", err), Next: "make it a file that you can read"}
	}
	m, r := parsePolicy(file, text)
	scratch := Default()
	r.fix(m, &scratch)
	r.relations(&scratch)
	if len(r.faults) > 0 {
		return &Error{Faults: r.faults}
	}
	return nil
}

// readPolicy reads a policy from where only an administrator may write it; nil: there is none. What is wrong with what
// it says is in the reader.
func readPolicy(file string) (*Managed, *reader, error) {
	text, err := readAdministrators(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, &FileError{Err: fmt.Errorf("the policy %s cannot be used: %w", file, err),
			Next: "have an administrator correct it; until then no relay starts"}
	}
	m, r := parsePolicy(file, text)
	return m, r, nil
}

func parsePolicy(file string, text []byte) (*Managed, *reader) {
	m := Managed{File: file, Rules: map[string]map[string]string{}, Settings: []string{}, text: text}
	r := newReader(file, text)
	if len(text) > maxFile {
		r.fault(0, "", tooLarge)
		return &m, r
	}
	doc, err := parse(text)
	if err != nil {
		r.faults = append(r.faults, Fault{File: file, Message: strings.ReplaceAll(err.Error(), ", with which every "+
			"setting has its default", ", which fixes nothing")})
		return &m, r
	}
	if root, ok := doc.Value.(*hujson.Object); ok {
		fill(r, root, "", "", managedTable, &m)
	} else {
		r.fault(doc.StartOffset, "", "expected an object: { … }")
	}
	return &m, r
}

// Under is a configuration that was read earlier as another policy leaves it. Its error says that the two do not go
// together; the configuration then has the policy, and not its settings.
func (c Config) Under(m *Managed) (Config, error) {
	before := c
	for _, s := range sections {
		s.own(&c)
	}
	r, own := newReader(m.File, m.text), *m
	r.fix(&own, &c)
	r.relations(&c)
	if c.Managed = m; len(r.faults) > 0 {
		before.Managed = m
		return before, &Error{Faults: r.faults}
	}
	return c, nil
}

// fix puts the settings of a policy into a configuration.
func (r *reader) fix(m *Managed, c *Config) {
	c.Managed = m
	if m.settings == nil || len(r.faults) > 0 {
		return
	}
	r.places, r.over = map[string]Fault{}, true
	fill(r, m.settings, "", "", settings, c)
	r.noteFormer(c)
	below := func(key string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(r.places)), func(other string) bool {
			return strings.HasPrefix(other, key+".")
		})
	}
	for key := range r.places {
		if !below(key) {
			m.Settings = append(m.Settings, Now(key))
		}
	}
	for _, s := range sections {
		set := func(one Setting[Config]) bool { return m.Fixes(one.key) }
		if key := s.Key(); s.duty() && !m.Fixes(key) && slices.ContainsFunc(s.rows()[1:], set) {
			*s.on(c) = true
			m.Settings = append(m.Settings, key)
		}
	}
	slices.Sort(m.Settings)
	m.Settings = slices.Compact(m.Settings)
}

// policy reads the policy file over what the person set, and says what of that has no effect.
func (r *reader) policy(c *Config) error {
	m, own, err := readPolicy(PolicyPlace())
	if err != nil || m == nil {
		return err
	}
	own.fix(m, c)
	for _, key := range m.Settings {
		if place, set := r.places[key]; set {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s is set by %s, so what %s says about it has no effect", key,
				m.Name(), filepath.Base(place.File)))
		}
	}
	maps.Copy(r.places, own.places)
	for section, names := range own.order {
		r.order[section] = append(r.order[section], slices.DeleteFunc(names, func(name string) bool {
			return slices.Contains(r.order[section], name)
		})...)
	}
	r.faults = append(r.faults, own.faults...)
	return nil
}

// PermitsName reports whether the policy lets some plugin of a name be used.
func (m *Managed) PermitsName(name string) bool {
	return !slices.Contains(m.Plugins.Deny, name) && (m.Plugins.Allow == nil ||
		slices.ContainsFunc(m.Plugins.Allow, func(p PluginPin) bool { return p.Name == "" || p.Name == name }))
}

// refuseFixed is the error of an edit of what the policy fixes; nil: none of them is one. What is taken out of
// config.json had no effect there.
func refuseFixed(edits []Edit) error {
	m, err := ReadPolicy()
	if err != nil || m == nil {
		return err
	}
	for _, one := range edits {
		if key := Now(strings.Join(one.Path, ".")); one.Value != nil && m.Fixes(key) {
			return &ManagedError{key + " is set", m}
		}
		if path := one.Path; len(path) == 3 && path[0] == "plugins" && path[2] == "enabled" &&
			string(one.Value) == "true" && !m.PermitsName(path[1]) {
			return &ManagedError{"the plugin " + path[1] + " is not one of those allowed", m}
		}
	}
	return nil
}
