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
	"tabrelay/relay/lib/called"
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

// Options of a Catalog. Functions must not be nil, unless their comment says so.
type Options struct {
	Home    config.Home
	Config  config.Config   // in effect at the start
	Plugins []plugin.Plugin // offered in place of those shipped and installed; nil: those
	Bundle  fs.FS           // files of the extension; nil in a binary that was built without them
	Store   Store
	Tools   *registry.Registry
	Policy  Policy
	Log     zerolog.Logger

	Browsers Browsers
	// SignedOut reports whether the last call of a plugin was told to sign in; an empty profile means any.
	SignedOut func(plugin, profileID string) bool
	PointDemo func([]plugin.Plugin)                             // sets the address of the demo plugin; may be nil
	Mode      func(*registry.Tool) (mode call.Mode, why string) // of a tool, for a client that no rule names
	Changed   func(topics ...string)                            // what the side panel shows about these changed
	Audit     func(call.Entry)

	Problem        func(registry.Problem)                      // of a plugin, as agents may read it
	ReloadRefused  func(failure *fault.Error, public *Refusal) // a configuration or set of plugins cannot be used
	ReloadAccepted func(message string)                        // a reload succeeded after one that was refused
	Notice         func(message string)                        // something for the person to read

	Applied func(config.Config) // gets the configuration in effect after each reload, changed or not; may be nil
}

// Policy is what the catalog needs of permissions: what of a changed configuration may take effect without the person.
type Policy interface {
	Bounded(next config.Config) config.Config
	AllowSites(plugin string, sites map[string][]string) error
	DropPlugin(name string) error
	Configure(ctx context.Context, next config.Config) (otherRules bool, err error)
	Manage(ctx context.Context, m *config.Managed) error
	Config() config.Config
	Misspelt() (problems []string)
}

// Browsers is what the catalog needs of the hub.
type Browsers interface {
	SetPlugins([]wire.Plugin)
	Tabs() []hub.Tab
}

// Catalog holds the plugins of a relay. Its methods may be called concurrently.
type Catalog struct {
	options Options
	current atomic.Pointer[state]

	changes *async.Queue

	addingLock   lock.Mutex
	adding       *adding // nil: none
	addingClosed bool

	// Only functions in changes use the fields below.
	extension    *extensionFolder
	reviews      reviews
	hints        []store.Hint              // of all plugins, oldest first
	toldProblems []registry.Problem        // reported to clients at the last publication
	lastGood     map[string]*plugin.Plugin // by folder: the last content that could be read
	hadList      bool                      // there was a list of plugins: that it is missing now is an error
	hadConfig    bool                      // there was a config.json: that it is missing now is an error
}

// state is an immutable snapshot of the catalog. See [Catalog.update].
type state struct {
	config   config.Config             // in effect
	all      []plugin.Plugin           // accepted or shipped, also those that are off or lack settings
	problems []registry.Problem        // of plugins that could not be read
	folders  []pluginFolder            // of the plugins a person added, longest path first
	onDisk   map[string]*folderContent // by name: the content of the folders, accepted or not
	required bool                      // plugins need a review
	refused  *Refusal                  // why the last reload failed; nil: it did not
	restart  []string                  // changed keys that only a restart applies
}

// pluginFolder is the folder of a plugin that a person added.
type pluginFolder struct {
	dir, plugin string
	installed   bool // unpacked into the home folder, from a package
}

// New makes a catalog and reads reviews and hints from the store. It publishes nothing before [Catalog.Load].
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

// Close waits for the change that runs and refuses others. It may be called more than once.
func (c *Catalog) Close() {
	c.closeAdding()
	c.changes.Close()
}

// update replaces the state with a changed copy. Only functions in changes call it.
func (c *Catalog) update(change func(*state)) {
	next := *c.current.Load()
	change(&next)
	c.current.Store(&next)
}

// Load writes the extension's folder and publishes the plugins for the first time.
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

// Pair writes the relay's address and the pairing secret into the extension's folder.
func (c *Catalog) Pair(address, secret string) (err error) {
	closed := c.changes.Do(func() { err = c.extension.pair(address, secret) })
	return cmp.Or(err, closed)
}

// TrustedInput reports whether the extension may use Chrome's debugger.
func (c *Catalog) TrustedInput() bool { return c.options.Config.TrustedInput }

// Adapter is the file that is injected for a plugin, by its name in the extension's folder of adapters. An extension
// that the relay does not write asks for it.
func (c *Catalog) Adapter(name string) ([]byte, *fault.Error) {
	code, err := c.extension.adapter(name)
	if err != nil {
		return nil, fault.New(fault.ResourceNotFound, "There is no adapter "+fault.Excerpt(name)+" any more",
			fault.WithHint("Call the tool again: the plugin was changed or removed."), fault.WithCause(err))
	}
	return code, nil
}

// ExtensionFolder returns the folder from which browsers load the extension.
func (c *Catalog) ExtensionFolder() string { return c.extension.dir }

// Reconfigure publishes the plugins again after a person allowed a change of the configuration, or undid one. After an
// undo a review is required again at once, if the earlier configuration says so.
func (c *Catalog) Reconfigure(undone bool) {
	_ = c.changes.Do(func() { // a relay that stops reads it again when it starts
		next := c.options.Policy.Config()
		if undone && next.Review.Required {
			c.update(func(s *state) { s.required = true })
		}
		if err := c.publish(next); err != nil {
			_ = c.refuse(fault.RegistryError, err) // reports the error
		}
		c.tellRestart(next)
	})
}

// publish reads the plugins and offers them with these settings: it writes their files into the extension's folder,
// publishes their tools to agents, and then sends browsers the list. Only functions in changes call it.
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
	candidate, err := c.options.Tools.Prepare(plugins, next.configured(plugins, cfg, withheld))
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

// configured returns what the configuration and the policy say about each plugin, and what of it is withheld.
func (s *state) configured(plugins []plugin.Plugin, cfg config.Config,
	withheld map[string]*registry.Withheld) map[string]registry.Configured {
	all := map[string]registry.Configured{}
	for name, p := range cfg.Plugins {
		all[name] = registry.Configured{Disabled: !p.Enabled, URLPatterns: p.URLPatterns, Settings: p.Settings,
			Held: p.Held}
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
		if !s.permits(&plugins[i], cfg.Managed) {
			all[plugins[i].Manifest.Name] = registry.Configured{Disabled: true}
		}
	}
	return all
}

// permits reports whether the policy lets a plugin be used.
func (s *state) permits(p *plugin.Plugin, managed *config.Managed) bool {
	source := config.ShippedSource
	if f := s.onDisk[p.Manifest.Name]; f != nil && !p.Shipped {
		source = f.pin
	}
	return managed.Permits(p.Manifest.Name, source, p.Hash)
}

// readPlugins reads the plugins that may run, shipped and added, and notes folders, problems and contents in next;
// withheld has the tools that wait for a review. A list of plugins that cannot be read is an error: taken for an empty
// one it would remove the person's plugins, and put shipped ones in the place of those that replaced them.
func (c *Catalog) readPlugins(next *state) (plugins []plugin.Plugin, withheld map[string]*registry.Withheld,
	err error) {
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
	// Longest first: Public replaces a folder before the one that contains it.
	slices.SortFunc(next.folders, func(a, b pluginFolder) int { return cmp.Compare(len(b.dir), len(a.dir)) })
	next.onDisk, withheld = c.reviews.admit(added, next)
	shipped, err := Shipped(c.options.Config)
	if err != nil {
		next.problems = append(next.problems, registry.Problem{Reason: err.Error()})
	}
	return build.Offered(shipped, added), withheld, nil
}

// Shipped returns the plugins in the binary, without those of capabilities that are switched off.
func Shipped(cfg config.Config) ([]plugin.Plugin, error) {
	files, err := adapters.Files()
	if err != nil {
		return nil, err
	}
	all, err := plugin.LoadFS(files)
	return slices.DeleteFunc(all, func(p plugin.Plugin) bool { return !cfg.HasPlugin(p.Manifest.Name) }), err
}

// ShippedNames are the names of all plugins in the binary.
func ShippedNames() (names []string, err error) {
	files, err := adapters.Files()
	if err != nil {
		return nil, err
	}
	all, err := plugin.LoadFS(files)
	for _, p := range all {
		names = append(names, p.Manifest.Name)
	}
	return names, err
}

// Problems returns what is wrong with plugins, with paths of this machine.
func (c *Catalog) Problems() []registry.Problem {
	return append(nonNil(c.current.Load().problems), c.options.Tools.Snapshot().Problems...)
}

// PublicProblems is Problems for agents: without paths of this machine.
func (c *Catalog) PublicProblems() []registry.Problem {
	list := c.Problems()
	for i := range list {
		list[i].Reason = called.In(fault.Plain(c.Public(list[i].Reason)))
	}
	return list
}

// tellProblems logs all problems and tells clients the new ones.
func (c *Catalog) tellProblems(now []registry.Problem) {
	for _, p := range now {
		c.options.Log.Warn().Str("plugin", p.Plugin).Msg(p.Reason)
		if !slices.Contains(c.toldProblems, p) {
			c.options.Problem(registry.Problem{Plugin: p.Plugin, Reason: c.Public(p.Reason)})
		}
	}
	c.toldProblems = now
}

// nonNil copies a list, so that an empty one is [] in JSON and not null.
func nonNil[T any](list []T) []T { return append([]T{}, list...) }
