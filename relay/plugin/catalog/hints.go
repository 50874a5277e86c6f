package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/store"
)

// Hints are what a person declares about tools whose authors declared nothing. They stay when a plugin is updated, and
// are deleted when it is removed.

// ToolHint is the effect of one tool, as its author and as the person declare it.
type ToolHint struct {
	Tool   string        `json:"tool"`
	Says   string        `json:"says"`             // what its author says it does: read, write, destroy, or nothing
	Hinted plugin.Effect `json:"hinted,omitempty"` // what the person says
}

// HintsView has the hints about the tools of one plugin.
type HintsView struct {
	Plugin    string       `json:"plugin"`
	Hints     []store.Hint `json:"hints"`
	Tools     []ToolHint   `json:"tools"`
	Suggested []string     `json:"suggested"` // patterns of tools that seem to read, and have no hint
}

// hintsOf returns the hints about the tools of a plugin.
func (c *Catalog) hintsOf(name string) (hints []plugin.Hint) {
	for _, h := range c.hints {
		if h.Plugin == name {
			hints = append(hints, plugin.Hint{Pattern: h.Pattern, Effect: plugin.Effect(h.Effect)})
		}
	}
	return hints
}

// applyHints adds the person's hints to plugins, in place. Shipped plugins declare everything themselves.
func (c *Catalog) applyHints(plugins []plugin.Plugin) {
	for i := range plugins {
		if !plugins[i].Shipped {
			plugins[i] = plugins[i].Annotate(c.hintsOf(plugins[i].Manifest.Name))
		}
	}
}

// Hints returns the hints about the tools of an added plugin.
func (c *Catalog) Hints(name string) (view HintsView, failure *fault.Error) {
	f := c.current.Load().onDisk[name]
	if f == nil {
		return view, noPlugin(name)
	}
	view = HintsView{Plugin: name, Hints: []store.Hint{}, Tools: []ToolHint{}, Suggested: []string{}}
	err := c.changes.Do(func() {
		hints := c.hintsOf(name)
		for _, h := range c.hints {
			if h.Plugin == name {
				view.Hints = append(view.Hints, h)
			}
		}
		var undeclared []plugin.Tool
		for _, t := range f.plugin.Manifest.Tools {
			one := ToolHint{Tool: t.Name, Says: declaredEffect(&t), Hinted: t.Hinted(hints)}
			view.Tools = append(view.Tools, one)
			if one.Hinted == plugin.Unsaid {
				undeclared = append(undeclared, t)
			}
		}
		view.Suggested = append(view.Suggested, plugin.SuggestReading(undeclared)...)
	})
	if err != nil {
		return view, stopping()
	}
	return view, nil
}

func declaredEffect(t *plugin.Tool) string {
	switch a := t.Annotations; {
	case t.SaysNothing():
		return "nothing"
	case a.ReadOnlyHint != nil && *a.ReadOnlyHint:
		return "read"
	case a.DestructiveHint != nil && !*a.DestructiveHint:
		return "write"
	}
	return "destroy"
}

// SetHints stores what a person declares about the tools whose names match the patterns, and publishes the tools anew.
func (c *Catalog) SetHints(name string, patterns []string, effect plugin.Effect, by string, s call.Session) (
	failure *fault.Error) {
	err := c.changes.Do(func() {
		hints := make([]store.Hint, len(patterns))
		for i, pattern := range patterns {
			hints[i] = store.Hint{Plugin: name, Pattern: pattern, Effect: string(effect), Created: time.Now(), By: by}
		}
		if err := c.options.Store.SetHints(context.Background(), hints); err != nil {
			failure = fault.New(fault.InternalError, "The hints could not be saved: "+err.Error(),
				fault.WithHint("`tabrelay doctor` looks at the disk and the database."))
			return
		}
		c.hints = slices.DeleteFunc(slices.Clone(c.hints), func(h store.Hint) bool {
			return h.Plugin == name && slices.Contains(patterns, h.Pattern)
		})
		if effect != plugin.Unsaid {
			c.hints = append(c.hints, hints...)
		}
		c.options.Audit(call.Entry{
			At: time.Now(), Kind: call.EntryReview, Session: s, Plugin: name, Decision: "annotated", DecidedBy: by,
			Detail: fmt.Sprintf("the tools %s of the plugin %s: %s", strings.Join(patterns, ", "), name,
				cmp.Or(string(effect), "as their author says")),
		})
		failure = c.publishAgain()
	})
	if err != nil {
		return stopping()
	}
	c.options.Changed(event.TopicPlugins)
	return failure
}
