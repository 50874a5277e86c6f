// Package prompt offers the recipes of plugins to agents (MCP, "Prompts"). A recipe is text with places for arguments;
// rendering one puts words together and does nothing else: no tool is called, no page is read.
package prompt

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// maxRendered bounds a rendered recipe, in bytes: an argument that a recipe repeats must not fill an agent's memory.
const maxRendered = 1 << 20

// Tools knows the plugins that exist now.
type Tools interface {
	Snapshot() *registry.Snapshot
	OnChange(func(*registry.Snapshot)) (stop func())
}

// Prompts are the recipes of the enabled plugins. Create it with New. Its methods may be called concurrently.
type Prompts struct {
	tools Tools
	now   atomic.Pointer[listing]
}

// listing is the recipes of one snapshot.
type listing struct {
	generation uint64
	listed     []call.Prompt
	recipes    map[string]*Recipe
}

// Recipe is a plugin's recipe under its full name.
type Recipe struct {
	*plugin.Prompt
	Site *registry.Site
}

// New offers the recipes of these plugins.
func New(tools Tools) *Prompts { return &Prompts{tools: tools} }

// listing returns the recipes that exist now, read once for each snapshot.
func (p *Prompts) listing() *listing {
	s := p.tools.Snapshot()
	if b := p.now.Load(); b != nil && b.generation == s.Generation {
		return b
	}
	b := newListing(s)
	p.now.Store(b)
	return b
}

func newListing(s *registry.Snapshot) *listing {
	b := &listing{generation: s.Generation, recipes: map[string]*Recipe{}}
	for _, site := range s.Sites {
		for i := range site.Plugin.Manifest.Prompts {
			r := &Recipe{&site.Plugin.Manifest.Prompts[i], site}
			name := site.Plugin.Manifest.Name + "__" + r.Name
			b.recipes[name] = r
			b.listed = append(b.listed, listed(name, r))
		}
	}
	slices.SortFunc(b.listed, func(a, b call.Prompt) int { return strings.Compare(a.Name, b.Name) })
	return b
}

func listed(name string, r *Recipe) call.Prompt {
	entry := call.Prompt{Name: name, Title: r.Title, Description: r.Description}
	for _, a := range r.Arguments {
		about := a.Description
		if a.Default != "" {
			about = strings.TrimSpace(fmt.Sprintf("%s Default: %s.", about, strings.TrimSuffix(a.Default, ".")))
		}
		entry.Arguments = append(entry.Arguments, call.PromptArgument{Name: a.Name, Description: about,
			Required: a.Required})
	}
	return entry
}

// List returns the recipes, sorted by name.
func (p *Prompts) List() []call.Prompt { return slices.Clone(p.listing().listed) }

// Find returns the recipe of that full name.
func (p *Prompts) Find(name string) (*Recipe, bool) {
	r, ok := p.listing().recipes[name]
	return r, ok
}

// Render fills in a recipe. Its failures are fault.UnknownPrompt, fault.InvalidParams when arguments are missing or
// unknown, and fault.PromptFailed.
func (p *Prompts) Render(
	_ context.Context, name string, args map[string]string, _ *front.Asker,
) (*call.RenderedPrompt, *fault.Error) {
	b := p.listing()
	r, ok := b.recipes[name]
	if !ok {
		return nil, fault.New(fault.UnknownPrompt, fmt.Sprintf("There is no prompt %.80q", name),
			fault.WithHint(nearest(name, b)))
	}
	if failure := r.check(name, args); failure != nil {
		return nil, failure
	}
	text, fits := r.render(args)
	if !fits {
		return nil, failed(name, fmt.Sprintf("the text becomes longer than %d bytes", maxRendered))
	}
	content, err := json.Marshal(map[string]string{"type": "text", "text": text})
	if err != nil {
		return nil, failed(name, "the text cannot be encoded")
	}
	return &call.RenderedPrompt{Description: r.Description,
		Messages: []call.PromptMessage{{Role: "user", Content: content}}}, nil
}

func failed(name, reason string) *fault.Error {
	data, _ := json.Marshal(map[string]string{"prompt": name, "reason": reason}) // strings always encode
	return fault.New(fault.PromptFailed, "Prompt render failed", fault.WithData(data),
		fault.WithHint("The prompt "+name+" was not rendered: "+reason+". Pass shorter arguments."))
}

// check refuses arguments that are missing or that the recipe does not have.
func (r *Recipe) check(name string, args map[string]string) *fault.Error {
	var known, missing []string
	for _, a := range r.Arguments {
		known = append(known, a.Name)
		if a.Required && args[a.Name] == "" {
			missing = append(missing, a.Name)
		}
	}
	for _, given := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(known, given) {
			return fault.New(fault.InvalidParams, fmt.Sprintf("The prompt %s has no argument %.80q", name, given),
				fault.WithHint(takes(known)))
		}
	}
	if len(missing) > 0 {
		return fault.New(fault.InvalidParams, fmt.Sprintf("The prompt %s needs the argument %s", name,
			strings.Join(missing, ", ")), fault.WithHint(takes(known)))
	}
	return nil
}

func takes(known []string) string {
	if len(known) == 0 {
		return "Get the prompt without arguments."
	}
	return "Its arguments are: " + strings.Join(known, ", ") + "."
}

// render puts the text together, and stops as soon as it is too long.
func (r *Recipe) render(args map[string]string) (text string, fits bool) {
	size := len(r.Template)
	text = r.Fill(func(name string) string {
		value := r.value(name, args)
		if size += len(value); size > maxRendered {
			return ""
		}
		return value
	})
	return text, size <= maxRendered
}

func (r *Recipe) value(name string, args map[string]string) string {
	if given := args[name]; given != "" {
		return given
	}
	i := slices.IndexFunc(r.Arguments, func(a plugin.PromptArgument) bool { return a.Name == name })
	if i < 0 {
		return ""
	}
	return r.Arguments[i].Default
}

// nearest says what to use in place of a prompt that does not exist.
func nearest(name string, b *listing) string {
	if len(b.listed) == 0 {
		return "No plugin offers prompts at the moment."
	}
	names := make([]string, len(b.listed))
	for i, p := range b.listed {
		names[i] = p.Name
	}
	if nearest := suggest.Nearest(name, names); nearest != "" {
		return "Did you mean " + nearest + "? prompts/list shows all of them."
	}
	return "List the prompts again and use one of them."
}

// OnChange calls changed when List answers something else, until stop.
func (p *Prompts) OnChange(changed func()) (stop func()) {
	last := p.listing().listed
	return p.tools.OnChange(func(s *registry.Snapshot) {
		next := newListing(s).listed
		if !reflect.DeepEqual(last, next) {
			last = next
			changed()
		}
	})
}
