package config

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"tabrelay/relay/road/plugin"
)

// Section is what a capability adds to the configuration. Its values are a T, which [Section.Of] takes out of a Config.
type Section[T any] struct {
	Capability string
	Switch     string // the setting that switches it off; empty: capabilities.<Capability>
	Right      string // what databases call that it is on; empty: as the switch
	About      string // "Whether …", one sentence
	Plugin     string // of the program's plugins, the one that is there with it only; empty: none
	Settings   []Setting[T]
	Named      []Example // of its settings that have things by name

	// Check finds what no single setting can, and completes what was read.
	Check func(*T, Checker)
	// Rights are its settings by which agents may do more.
	Rights []Right[T]
	// Environment are the variables that it reads besides the twins of its settings.
	Environment func(T) []string
	// Programs reports whether it starts programs, which are found by PATH.
	Programs func(T) bool
	// Live says that a change of its settings is in effect without a restart.
	Live bool
	// AtStart are its settings, or groups of them, that a command of its own reads when it starts: the command, by
	// key.
	AtStart map[string]string
	// Duty says that it does something for an organization. A policy that sets one of its settings holds it switched
	// on, because the person could do without it otherwise.
	Duty bool
}

// Example is how the documents show a setting that has things by name.
type Example struct {
	One, Key string // what one of them is, and the setting
	Example  string // the value of the setting
	More     string // a sentence
}

// Setting is one row of the table: a key, what it accepts, its default and its meaning. T is what the key belongs to:
// Config, the values of a section, or the thing of one name.
type Setting[T any] struct {
	key      string // dotted path in config.json
	kind     Kind
	fallback any // the default, as the JSON value a person would write
	field    func(*T) any
	about    string
}

// Row is a setting.
func Row[T any](key string, kind Kind, standard any, field func(*T) any, about string) Setting[T] {
	return Setting[T]{key, kind, standard, field, about}
}

// Attached is a section, whatever its values are.
type Attached interface {
	// Key is the setting that switches it off.
	Key() string
	name() string
	on(*Config) *bool
	plugin() string
	rows() []Setting[Config]
	check(*Config, *reader)
	examples() []Example
	live() bool
	atStart() map[string]string
	duty() bool
	environment(*Config) []string
	programs(*Config) bool
	rights() []Right[Config]
	own(*Config)
}

// sections are those of the program's capabilities, as they were attached.
var sections []Attached

// Attach adds a section to the settings there are. It is called before anything is read.
func Attach(one Attached) {
	sections = append(sections, one)
	settings = slices.Concat(settings, one.rows())
	rights = slices.Concat(rights, one.rights())
}

// values are those of one section in a configuration. They never change once it was read.
type values[T any] struct {
	on bool
	of T
}

// in are the values of this section, the defaults where a configuration has none.
func (s *Section[T]) in(c *Config) *values[T] {
	if v, there := c.sections[s.Capability].(*values[T]); there {
		return v
	}
	return s.put(c, values[T]{true, defaults(s.Settings)})
}

func (s *Section[T]) put(c *Config, v values[T]) *values[T] {
	c.sections = maps.Clone(c.sections) // copies of a configuration share it
	if c.sections == nil {
		c.sections = map[string]any{}
	}
	c.sections[s.Capability] = &v
	return &v
}

// own makes a copy of a configuration have values that the other one does not share.
func (s *Section[T]) own(c *Config) { s.put(c, *s.in(c)) }

// Of are its values in a configuration.
func (s *Section[T]) Of(c Config) T { return s.in(&c).of }

// Change makes a configuration have other values of it.
func (s *Section[T]) Change(c *Config, change func(*T)) {
	v := *s.in(c)
	change(&v.of)
	s.put(c, v)
}

// Extensions are the ids of the extensions that may connect, of which own is the one that comes with this program.
func (c Config) Extensions(own string) []string { return append([]string{own}, c.ExtensionIDs...) }

// Has reports whether a capability is switched on.
func (c Config) Has(capability string) bool {
	for _, s := range sections {
		if s.name() == capability {
			return *s.on(&c)
		}
	}
	return true
}

// HasPlugin reports whether the program has a plugin that it comes with. What a person has to switch on belongs to a
// capability.
func (c Config) HasPlugin(name string) bool {
	for _, s := range sections {
		if s.plugin() == name {
			return *s.on(&c)
		}
	}
	return name != plugin.OptIn
}

func (s *Section[T]) name() string       { return s.Capability }
func (s *Section[T]) plugin() string     { return s.Plugin }
func (s *Section[T]) on(c *Config) *bool { return &s.in(c).on }
func (s *Section[T]) Key() string        { return cmp.Or(s.Switch, "capabilities."+s.Capability) }
func (s *Section[T]) live() bool         { return s.Live }
func (s *Section[T]) atStart() map[string]string {
	return s.AtStart
}
func (s *Section[T]) duty() bool          { return s.Duty }
func (s *Section[T]) examples() []Example { return s.Named }

func (s *Section[T]) environment(c *Config) []string {
	if s.Environment == nil {
		return nil
	}
	return s.Environment(s.in(c).of)
}

func (s *Section[T]) programs(c *Config) bool { return s.Programs != nil && s.Programs(s.in(c).of) }

func (s *Section[T]) rows() []Setting[Config] {
	list := []Setting[Config]{{s.Key(), Boolean, true, func(c *Config) any { return s.on(c) },
		s.About + " false: as if this were not in the program."}}
	for _, one := range s.Settings {
		list = append(list, Setting[Config]{one.key, one.kind, one.fallback,
			func(c *Config) any { return one.field(&s.in(c).of) }, one.about})
	}
	return list
}

func (s *Section[T]) check(c *Config, r *reader) {
	if s.Check != nil {
		s.Check(&s.in(c).of, Checker{r})
	}
	if *s.on(c) {
		return
	}
	fresh, inert := Default(), []string{}
	for _, one := range s.Settings {
		was, is := reflect.ValueOf(one.field(&s.in(&fresh).of)).Elem(), reflect.ValueOf(one.field(&s.in(c).of)).Elem()
		if !reflect.DeepEqual(was.Interface(), is.Interface()) {
			inert = append(inert, one.key)
		}
	}
	if len(inert) > 0 {
		c.Warnings = append(c.Warnings, s.Key()+" is false, so these settings do nothing: "+strings.Join(inert, ", "))
	}
}

// rights are those of its settings, and that it is there.
func (s *Section[T]) rights() []Right[Config] {
	list := []Right[Config]{Switch(cmp.Or(s.Right, s.Key()), s.Key(), true, true, s.on)}
	for _, one := range s.Rights {
		list = append(list, Right[Config]{name: one.name, Keys: one.Keys,
			of: func(c *Config) json.RawMessage { return one.of(&s.in(c).of) }, grown: one.grown,
			bound: func(c *Config, before json.RawMessage) { one.bound(&s.in(c).of, before) }})
	}
	return list
}

// Checker says what is wrong with settings that were read together.
type Checker struct{ r *reader }

// Broken says what is wrong with what a key was set to.
func (c Checker) Broken(key, message string) {
	f, set := c.r.places[key]
	if !set {
		f = Fault{File: c.r.file}
	}
	f.Key, f.Message = key, message
	c.r.faults = append(c.r.faults, f)
}

// Order are the names of the things under a key, as they stand in config.json.
func (c Checker) Order(key string) []string { return c.r.order[key] }

// Live reports whether a change of a setting is in effect without a restart.
func Live(key string) bool {
	return key == "plugins" || key == "permissions" || slices.ContainsFunc(sections, func(s Attached) bool {
		return s.live() && slices.ContainsFunc(s.rows()[1:], func(one Setting[Config]) bool { return one.key == key })
	})
}

// StartedWith is the command that reads a setting when it starts, and not the relay; empty: there is none.
func StartedWith(key string) string {
	for _, s := range sections {
		for at, command := range s.atStart() {
			if key == at || strings.HasPrefix(key, at+".") || strings.HasPrefix(at, key+".") {
				return command
			}
		}
	}
	return ""
}

// StartsPrograms reports whether a capability starts programs of the person, which are found by PATH.
func StartsPrograms(c Config) bool {
	return slices.ContainsFunc(sections, func(s Attached) bool { return *s.on(&c) && s.programs(&c) })
}

// EnvironmentOf are the variables that capabilities read besides settings, those that are set, sorted.
func EnvironmentOf(c Config) (names []string) {
	for _, s := range sections {
		if *s.on(&c) {
			names = append(names, s.environment(&c)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
