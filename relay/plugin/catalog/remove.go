package catalog

import (
	"context"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/plugin/install"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// Removable returns a failure for a plugin that the person did not add.
func (c *Catalog) Removable(name string) *fault.Error {
	now := c.current.Load()
	if slices.ContainsFunc(now.folders, func(f pluginFolder) bool { return f.plugin == name }) {
		return nil
	}
	if p, failure := now.runnable(name); failure == nil && p.Shipped {
		return fault.New(fault.ResourceNotFound, "The plugin "+name+" is part of tabrelay, and cannot be removed",
			fault.WithHint("Switch it off: tabrelay permit set "+name+" off"))
	}
	return fault.New(fault.ResourceNotFound, "There is no plugin "+fault.Excerpt(name)+" to remove",
		fault.WithHint("`tabrelay plugin list` lists the plugins."))
}

// Remove removes an added plugin and the hints about its tools. A folder of the person's own stays.
func (c *Catalog) Remove(name, by string) *fault.Error {
	if err := install.Remove(c.options.Home.Plugins(), name); err != nil {
		return fault.New(fault.RegistryError, "The plugin "+name+" was not removed: "+err.Error(),
			fault.WithHint("`tabrelay doctor` looks at the home folder."))
	}
	c.options.Log.Info().Str("plugin", name).Str("by", by).Msg("a plugin was removed")
	var failure *fault.Error
	if c.changes.Do(func() { failure = c.dropHints(name, by) }) != nil {
		return stopping()
	}
	if failure != nil {
		return failure
	}
	_, failure = c.Reload()
	return failure
}

// dropHints deletes the hints about the tools of a removed plugin: they would let agents do more with another plugin
// of that name.
func (c *Catalog) dropHints(name, by string) *fault.Error {
	dropped, err := c.options.Store.DropHints(context.Background(), name)
	if err != nil {
		return fault.New(fault.RegistryError, "The plugin "+name+" is removed, but what you declared about its "+
			"tools is not: "+
			err.Error(), fault.WithHint("`tabrelay doctor` looks at the disk and the database."))
	}
	c.hints = slices.DeleteFunc(slices.Clone(c.hints), func(h store.Hint) bool { return h.Plugin == name })
	if len(dropped) > 0 {
		c.options.Audit(hintsDropped(name, dropped, by))
	}
	return nil
}

// hintsDropped returns the entry of the audit log about the hints that were deleted with a plugin.
func hintsDropped(plugin string, hints []store.Hint, by string) call.Entry {
	said := make([]string, len(hints))
	for i, h := range hints {
		said[i] = h.Pattern + " " + h.Effect
	}
	return call.Entry{
		At: time.Now(), Kind: call.EntryReview, Plugin: plugin, Decision: "forgotten", DecidedBy: by,
		Detail: "the plugin " + plugin + " was removed, and with it what was declared about its tools: " +
			strings.Join(said, ", "),
	}
}

// DropSettings deletes the settings of a removed plugin, secrets included, unless a shipped plugin of that name has
// taken its place.
func (c *Catalog) DropSettings(name string) *fault.Error {
	if _, there := c.current.Load().runnable(name); there == nil {
		return nil
	}
	if _, set := c.current.Load().config.Plugins[name]; !set {
		return nil
	}
	var failure *fault.Error
	if c.changes.Do(func() { failure = c.dropSettings(name) }) != nil {
		return stopping()
	}
	return failure
}

func (c *Catalog) dropSettings(name string) *fault.Error {
	err := config.Unset(c.options.Home, []string{"plugins", name})
	if err == nil {
		err = c.options.Policy.DropPlugin(name)
	}
	if err != nil {
		return fault.New(fault.ConfigError, "The plugin "+name+" is removed, but its settings are not: "+err.Error(),
			fault.WithHint("Remove plugins."+name+" from config.json."))
	}
	_, failure := c.reload()
	return failure
}
