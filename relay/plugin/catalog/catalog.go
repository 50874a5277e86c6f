// Package catalog knows which plugins there are: those shipped in the binary and those in a person's folders, which of
// them a person reviewed, and what is offered of them to agents and browsers. It reads them again when their files or
// the configuration change, and keeps the folder from which browsers load the extension up to date.
//
// One goroutine reads and changes, in the order in which it is asked to: it reads the folders, waits for the store,
// writes the extension's folder, publishes the new tools and tells the browsers. What others ask for is a state that
// never changes; nobody waits, and no lock is held, while a file or the database is read or written.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"

	"github.com/rs/zerolog"

	"tabrelay/adapters"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/async"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/install"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// Options is what a Catalog needs. Functions that may be nil say so.
type Options struct {
	Home    config.Home
	Config  config.Config   // in effect at the start
	Plugins []plugin.Plugin // offered in place of those shipped and installed; nil: those
	Bundle  fs.FS           // the extension in this binary; nil when it was built without
	Store   Store
	Tools   *registry.Registry
	Policy  Policy
	Log     zerolog.Logger

	Browsers Browsers
	// SignedOut reports whether the last call of a plugin was told to sign in; an empty profile means any.
	SignedOut func(plugin, profileID string) bool
	PointDemo func([]plugin.Plugin)                             // says where the demo site is; may be nil
	Mode      func(*registry.Tool) (mode call.Mode, why string) // of a tool, for a client that no rule names
	Changed   func(topics ...string)                            // of the side panel
	Audit     func(call.Entry)

	Problem        func(registry.Problem)                      // something is wrong with a plugin, as agents may read it
	ReloadRefused  func(failure *fault.Error, public *Refusal) // a configuration, or a set of plugins, was not taken over
	ReloadAccepted func(message string)                        // the next one was
	Notice         func(message string)                        // something for the person to read

	Applied func(config.Config) // what is in effect now; it may be called again with the same; may be nil
}

// Policy bounds what a configuration that was read again may put into effect.
type Policy interface {
	Bounded(next config.Config) config.Config
	DropPlugin(name string) error
	Configure(ctx context.Context, next config.Config) (otherRules bool, err error)
	Config() config.Config
	Misspelt() (problems []string)
}

// Browsers are told which plugins there are, and know which pages are open.
type Browsers interface {
	SetPlugins([]wire.Plugin)
	Tabs() []hub.Tab
}

// Catalog is the plugins of a relay. Its methods may be called concurrently.
type Catalog struct {
	options Options
	current atomic.Pointer[state]

	changes *async.Queue

	addingLock   lock.Mutex
	adding       *adding // nil: none
	addingClosed bool

	// Of changes alone.
	extension    *extensionFolder
	reviews      reviews
	hints        []store.Hint              // of all plugins, the later ones of one after the earlier ones
	toldProblems []registry.Problem        // what clients may have heard of
	lastGood     map[string]*plugin.Plugin // by folder: the last content that could be read
	hadList      bool                      // the person's plugins came from a list, which is not to vanish
	hadConfig    bool                      // the configuration came from a file, which is not to vanish
}

// state is the plugins at one moment, and what is wrong with them. It never changes: a change makes another one.
type state struct {
	config   config.Config             // in effect
	all      []plugin.Plugin           // that may run, whether or not they are switched on and set up
	problems []registry.Problem        // of plugins that could not be read
	folders  []pluginFolder            // of the plugins a person added, those within others first
	onDisk   map[string]*folderContent // by name: what lies in the folders
	required bool                      // a review is needed
	refused  *Refusal                  // what was not taken over; nil: nothing
	restart  []string                  // keys whose new values wait for a restart
}

// pluginFolder is where a plugin is.
type pluginFolder struct {
	dir, plugin string
	installed   bool // from a package, into the home folder
}

// New reads what was reviewed. Nothing is offered before [Catalog.Load].
func New(ctx context.Context, o Options) (*Catalog, error) {
	c := &Catalog{
		options: o, extension: newExtensionFolder(o.Home, o.Config, o.Bundle), lastGood: map[string]*plugin.Plugin{},
	}
	_, missing := os.Stat(o.Home.Config())
	c.hadConfig = missing == nil
	c.current.Store(&state{config: o.Config, required: o.Config.Review.Required})
	if err := c.reviews.read(ctx, o.Store, o.Log); err != nil {
		return nil, err
	}
	var err error
	if c.hints, err = o.Store.Hints(ctx); err != nil {
		return nil, err
	}
	c.changes = async.NewQueue()
	return c, nil
}

// Close returns once no change is made any more. It may be called more than once.
func (c *Catalog) Close() {
	c.closeAdding()
	c.changes.Close()
}

// update puts another state in the place of the one there is. Only changes call it.
func (c *Catalog) update(change func(*state)) {
	next := *c.current.Load()
	change(&next)
	c.current.Store(&next)
}

// Load reads plugins and their settings for the first time.
func (c *Catalog) Load() (err error) {
	closed := c.changes.Do(func() {
		if left := install.RemoveUnfinished(c.options.Home.Plugins()); left != nil {
			c.options.Log.Warn().Err(left).Msg("what an unfinished installation left behind was not removed")
		}
		if err = c.extension.write(); err != nil {
			return
		}
		if err = c.publish(c.options.Config); err != nil {
			return
		}
		c.checkRules()
		files, _ := c.extension.adapters(c.options.Tools.Snapshot(), c.reviews.developed)
		err = c.extension.pruneAdapters(files)
	})
	return cmp.Or(err, closed)
}

// Pair tells the extension where the relay is, and the secret with which both prove that they belong together.
func (c *Catalog) Pair(address, secret string) (err error) {
	closed := c.changes.Do(func() { err = c.extension.pair(address, secret) })
	return cmp.Or(err, closed)
}

// TrustedInput reports whether that extension has Chrome's debugger.
func (c *Catalog) TrustedInput() bool { return c.options.Config.TrustedInput }

// ExtensionFolder is where browsers load the extension from.
func (c *Catalog) ExtensionFolder() string { return c.extension.dir }

// Reconfigure takes over the configuration that is in effect after a person said so. undone says that they went back to
// an earlier one.
func (c *Catalog) Reconfigure(undone bool) {
	_ = c.changes.Do(func() { // a relay that stops reads it again when it starts
		next := c.options.Policy.Config()
		if undone && next.Review.Required {
			c.update(func(s *state) { s.required = true })
		}
		if err := c.publish(next); err != nil {
			_ = c.refuse(fault.RegistryError, err) // which tells it
		}
		c.tellRestart(next)
	})
}

// publish gives agents and browsers the plugins that exist now, with these settings: it puts their files where browsers
// can load them, publishes the tools, and then tells the browsers. Only changes call it.
func (c *Catalog) publish(cfg config.Config) error {
	next := *c.current.Load()
	plugins, withheld, err := c.readPlugins(&next)
	if err != nil {
		return err
	}
	c.applyHints(plugins)
	if c.options.PointDemo != nil {
		c.options.PointDemo(plugins)
	}
	candidate, err := c.options.Tools.Prepare(plugins, configured(plugins, cfg, withheld))
	if err != nil {
		return err
	}
	files, list := c.extension.adapters(candidate.Snapshot, c.reviews.developed)
	if err := c.extension.putAdapters(files); err != nil {
		return err
	}
	news := !sameReviews(c.current.Load().onDisk, next.onDisk)
	next.config, next.all = cfg, plugins
	c.current.Store(&next)
	c.options.Tools.Publish(candidate)
	c.options.Browsers.SetPlugins(list)
	if news {
		c.tellReviews()
	}
	c.options.Changed(event.TopicPlugins)
	c.tellProblems(c.Problems())
	if c.options.Applied != nil {
		c.options.Applied(cfg)
	}
	return nil
}

// configured is what the configuration says about each plugin.
func configured(plugins []plugin.Plugin, cfg config.Config,
	withheld map[string]*registry.Withheld) map[string]registry.Configured {
	all := map[string]registry.Configured{}
	for name, p := range cfg.Plugins {
		all[name] = registry.Configured{Disabled: !p.Enabled, URLPatterns: p.URLPatterns, Settings: p.Settings}
	}
	for name, what := range withheld {
		one := all[name]
		one.Withheld = what
		all[name] = one
	}
	for i := range plugins {
		if m := &plugins[i].Manifest; m.EveryPage() {
			if _, said := cfg.Plugins[m.Name]; !said {
				all[m.Name] = registry.Configured{Disabled: !cfg.Plugin(m.Name).Enabled}
			}
			// It works on the pages that agents may read, and no others.
			one, tabs := all[m.Name], cfg.Tabs
			// none means none; nil would mean all
			one.Pages, one.Excludes = nonNil(tabs.URLPatterns), tabs.ExcludePatterns
			all[m.Name] = one
		}
	}
	return all
}

// readPlugins lists the plugins of this person that may run, and those shipped in the binary; withheld is what waits for
// a review. A list that cannot be used is an error: taken for an empty one it would take the person's plugins away, and
// put shipped ones in the place of those they replace.
func (c *Catalog) readPlugins(next *state) (plugins []plugin.Plugin, withheld map[string]*registry.Withheld, err error) {
	if c.options.Plugins != nil {
		return slices.Clone(c.options.Plugins), nil, nil
	}
	added, err := build.List(c.options.Home.Plugins())
	_, missing := os.Stat(c.options.Home.PluginList())
	if err == nil && c.hadList && len(added) == 0 && errors.Is(missing, fs.ErrNotExist) {
		err = &build.ListError{File: c.options.Home.PluginList(), Err: errors.New("it is gone")}
	}
	if err != nil {
		return nil, nil, err
	}
	c.hadList = len(added) > 0
	next.folders, next.problems = nil, nil
	for i := range added {
		e := &added[i]
		next.folders = append(next.folders, pluginFolder{e.Dir, e.Name, e.Pin != nil})
		if e.Plugin != nil {
			c.lastGood[e.Dir] = e.Plugin
		} else if e.Plugin = c.lastGood[e.Dir]; e.Plugin != nil { // a build that went wrong takes no tools away
			e.Problem += "; the tools of its last good build stay"
		}
		if e.Problem != "" || e.Plugin == nil {
			next.problems = append(next.problems, registry.Problem{Plugin: e.Name, Reason: e.Problem})
		}
	}
	slices.SortFunc(next.folders, func(a, b pluginFolder) int { return cmp.Compare(len(b.dir), len(a.dir)) })
	next.onDisk, withheld = c.reviews.admit(added, next)
	shipped, err := Shipped(c.options.Config)
	if err != nil {
		next.problems = append(next.problems, registry.Problem{Reason: err.Error()})
	}
	return build.Offered(shipped, added), withheld, nil
}

// Shipped are the plugins that come with the program, without that of a capability which it does not have.
func Shipped(cfg config.Config) ([]plugin.Plugin, error) {
	files, err := adapters.Files()
	if err != nil {
		return nil, err
	}
	all, err := plugin.LoadFS(files)
	return slices.DeleteFunc(all, func(p plugin.Plugin) bool { return !cfg.HasPlugin(p.Manifest.Name) }), err
}

// Problems are what is wrong with plugins, as the person may read it.
func (c *Catalog) Problems() []registry.Problem {
	return append(nonNil(c.current.Load().problems), c.options.Tools.Snapshot().Problems...)
}

// PublicProblems are what is wrong with plugins, as agents may read it: without folders of this machine.
func (c *Catalog) PublicProblems() []registry.Problem {
	list := c.Problems()
	for i := range list {
		list[i].Reason = fault.Plain(c.Public(list[i].Reason))
	}
	return list
}

// tellProblems logs what of the plugins cannot be used, and tells clients what they have not heard.
func (c *Catalog) tellProblems(now []registry.Problem) {
	for _, p := range now {
		c.options.Log.Warn().Str("plugin", p.Plugin).Msg(p.Reason)
		if !slices.Contains(c.toldProblems, p) {
			c.options.Problem(registry.Problem{Plugin: p.Plugin, Reason: c.Public(p.Reason)})
		}
	}
	c.toldProblems = now
}

// nonNil is never null in JSON.
func nonNil[T any](list []T) []T { return append([]T{}, list...) }
