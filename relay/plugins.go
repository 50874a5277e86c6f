package relay

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"tabrelay/adapters"
	"tabrelay/relay/config"
	"tabrelay/relay/fault"
	"tabrelay/relay/plugin"
	"tabrelay/relay/registry"
	"tabrelay/relay/wire"
)

// offer is what the relay offered last.
type offer struct {
	mu       sync.Mutex // one reading at a time
	problems []registry.Problem
	told     []registry.Problem // what clients may have heard of
	all      []plugin.Plugin    // that may run, whether or not they are switched on and set up
	unwatch  func()
	good     map[string]*plugin.Plugin     // of each folder, the last one that could be read
	withheld map[string]*registry.Withheld // by plugin: what waits for a review
	last     config.Config                 // the last one that was taken over
	listed   bool                          // the person's plugins came from a list, which is not to vanish

	folders atomic.Pointer[[]pluginFolder] // of the plugins a person added, those within others first
}

// pluginFolder is where a plugin is.
type pluginFolder struct{ dir, plugin string }

// keep remembers a plugin that is sound.
func (o *offer) keep(e *plugin.Entry) {
	if o.good == nil {
		o.good = map[string]*plugin.Plugin{}
	}
	o.good[e.Dir] = e.Plugin
}

// load reads plugins and their settings for the first time, and keeps the extension's folder and the browsers
// informed from then on.
func (r *Relay) load(ctx context.Context) error {
	if err := r.folder.write(); err != nil {
		return err
	}
	var failure error
	r.offer.unwatch = r.tools.OnChange(func(s *registry.Snapshot) {
		if failure = r.announce(s); failure != nil {
			r.Log.Error().Err(failure).Msg("the browsers were not told about the plugins")
		}
	})
	if err := r.replace(r.config); err != nil {
		return err
	}
	if failure != nil {
		return failure
	}
	return r.folder.pruneAdapters(r.adapterFiles(r.tools.Snapshot()))
}

// replace offers the plugins that exist now, with their settings.
func (r *Relay) replace(c config.Config) error {
	r.offer.mu.Lock()
	defer r.offer.mu.Unlock()
	plugins, problems, err := r.installed()
	if err != nil {
		return err
	}
	r.demo.Place(plugins)
	configured := map[string]registry.Configured{}
	for name, p := range c.Plugins {
		configured[name] = registry.Configured{Disabled: !p.Enabled, URLPatterns: p.URLPatterns, Settings: p.Settings}
	}
	for name, what := range r.offer.withheld {
		one := configured[name]
		one.Withheld = what
		configured[name] = one
	}
	for i := range plugins {
		if m := &plugins[i].Manifest; m.EveryPage() {
			// The pages that may be read as resources are the ones it may read.
			one, tabs := configured[m.Name], c.Resources.Tabs
			one.Pages, one.Excludes = listed(tabs.URLPatterns), tabs.ExcludePatterns // none means none; nil would mean all
			configured[m.Name] = one
		}
	}
	if err := r.tools.Replace(plugins, configured); err != nil {
		return err
	}
	r.offer.problems, r.offer.last, r.offer.all = problems, c, plugins
	r.news(topicPlugins)
	r.tellProblems(slices.Concat(problems, r.tools.Snapshot().Problems))
	return nil
}

// tellProblems logs what of the plugins cannot be used, and tells clients what they have not heard. It needs offer.mu.
func (r *Relay) tellProblems(now []registry.Problem) {
	for _, p := range now {
		r.Log.Warn().Str("plugin", p.Plugin).Msg(p.Reason)
		if r.front != nil && !slices.Contains(r.offer.told, p) { // at the start there are no clients
			r.front.Log("warning", "tabrelay", map[string]any{"code": fault.RegistryError, "plugin": p.Plugin, "message": r.withoutFolders(p.Reason)})
		}
	}
	r.offer.told = now
}

// offerAgain offers the plugins that exist now, with the settings that are in effect.
func (r *Relay) offerAgain() *fault.Error {
	r.refused.reading.Lock() // or what a reload took over meanwhile would be lost
	defer r.refused.reading.Unlock()
	r.offer.mu.Lock()
	c := r.offer.last
	r.offer.mu.Unlock()
	if err := r.replace(c); err != nil {
		return r.refuse(fault.RegistryError, err)
	}
	return nil
}

// installed lists the plugins of this person, and those shipped in the binary. A list that cannot be used is an error:
// taken for an empty one it would take the person's plugins away, and put shipped ones in the place of those they replace.
func (r *Relay) installed() (plugins []plugin.Plugin, problems []registry.Problem, err error) {
	if r.Plugins != nil {
		return r.Plugins, nil, nil
	}
	note := func(plugin string, reason string) {
		problems = append(problems, registry.Problem{Plugin: plugin, Reason: reason})
	}
	added, err := plugin.List(r.Home.Plugins())
	_, missing := os.Stat(r.Home.PluginList())
	if err == nil && r.offer.listed && len(added) == 0 && errors.Is(missing, fs.ErrNotExist) {
		err = &plugin.ListError{File: r.Home.PluginList(), Err: errors.New("it is gone")}
	}
	if err != nil {
		return nil, nil, err
	}
	r.offer.listed = len(added) > 0
	var folders []pluginFolder
	for _, e := range added {
		folders = append(folders, pluginFolder{e.Dir, e.Name})
	}
	slices.SortFunc(folders, func(a, b pluginFolder) int { return cmp.Compare(len(b.dir), len(a.dir)) })
	r.offer.folders.Store(&folders)
	for i := range added {
		e := &added[i]
		if e.Plugin != nil {
			r.offer.keep(e)
			if e.Problem != "" {
				note(e.Name, e.Problem)
			}
			continue
		}
		e.Plugin = r.offer.good[e.Dir] // a build that went wrong takes no tools away
		if e.Plugin != nil {
			e.Problem += "; the tools of its last good build stay"
		}
		note(e.Name, e.Problem)
	}
	r.admitPlugins(added)
	var shipped []plugin.Plugin
	files, err := adapters.Files()
	if err == nil {
		shipped, err = plugin.LoadFS(files)
	}
	if err != nil {
		note("", err.Error())
	}
	return plugin.Offered(shipped, added), problems, nil
}

// announce puts the adapters where browsers can load them, and then tells the browsers.
func (r *Relay) announce(s *registry.Snapshot) error {
	files := r.adapterFiles(s)
	if err := r.folder.adapters(files); err != nil {
		return err
	}
	list := make([]wire.Plugin, 0, len(s.Sites))
	for _, site := range s.Sites {
		p := site.Plugin
		list = append(list, wire.Plugin{
			Name: p.Manifest.Name, Hash: p.Hash, World: string(p.Manifest.World), Matches: site.Matches, Excludes: site.Excludes,
			File: fileName(p.Manifest.Name, r.compose(site)), PreScript: preScript(p), Frames: frames(p),
		})
	}
	r.hub.SetPlugins(list)
	return nil
}

// adapterFiles are the files of all plugins, by their name in the extension's folder.
func (r *Relay) adapterFiles(s *registry.Snapshot) map[string][]byte {
	files := make(map[string][]byte, len(s.Sites))
	for _, site := range s.Sites {
		composed := r.compose(site)
		files[fileName(site.Plugin.Manifest.Name, composed)] = composed
		if name := preScript(site.Plugin); name != "" {
			files[name] = plugin.ComposePreScript(*site.Plugin)
		}
	}
	return files
}

// compose makes the file that is injected for a plugin: it knows the pages that a person added.
func (r *Relay) compose(site *registry.Site) []byte {
	p := *site.Plugin
	p.Manifest.URLPatterns, p.Manifest.ExcludePatterns = site.Matches, site.Excludes
	return plugin.Compose(p, r.folder.runtime())
}

// fileName names a file by its content: a browser never runs an old file under a new plugin's name.
func fileName(plugin string, content []byte) string {
	sum := sha256.Sum256(content)
	return fmt.Sprintf("%s/%s-%s.js", adaptersDir, plugin, hex.EncodeToString(sum[:6]))
}

func preScript(p *plugin.Plugin) string {
	if p.PreScript == nil {
		return ""
	}
	return fileName(p.Manifest.Name+"-pre", plugin.ComposePreScript(*p))
}

// frames is "all" when a tool of the plugin wants to run in every frame.
func frames(p *plugin.Plugin) string {
	if slices.ContainsFunc(p.Manifest.Tools, func(t plugin.Tool) bool { return t.Frames == "all" }) {
		return "all"
	}
	return ""
}

// runtime is the extension's part of a main-world adapter.
func (u *unpacked) runtime() []byte {
	if u.bundle == nil {
		return nil
	}
	code, err := fs.ReadFile(u.bundle, "page-main.js")
	if err != nil {
		return nil // a bundle that lacks it is refused by its own generator
	}
	return code
}
