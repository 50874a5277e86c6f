package registry

import (
	"encoding/json"
	"slices"
	"strings"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/plugin"
)

// Web is the group of the tools that pages register: rules, scopes and toolsets name them so.
const Web = "web"

// IsPageTool reports whether a tool of that name can only be one that a page registers.
func IsPageTool(name string) bool {
	host, tool, found := strings.Cut(strings.TrimPrefix(name, Web+"__"), "__")
	return strings.HasPrefix(name, Web+"__") && found && host != "" && tool != "" && nameForm.MatchString(name)
}

// PageAdapter is the plugin by whose adapter the tools of pages are called.
const PageAdapter = plugin.Browser

// Page is what a tool that a page registers is more than others.
type Page struct {
	Origin string // of the document
	Name   string // as the page calls it
	Key    string // the same for the same words only
	Entry  string // of the browser's adapter, by which it is called

	// Others are tools of the same name with other words, of other tabs.
	Others []*Tool
	// In reports whether a tab offers it now; of the tab 0, whether any does.
	In func(tabID int) bool
}

// ID is what a tab has to offer to have this tool.
func (p *Page) ID() string { return PageToolID(p.Origin, p.Name, p.Key) }

// PageToolID tells the tools of all pages apart.
func PageToolID(origin, name, key string) string { return origin + "\n" + key + "\n" + name }

// Arguments are what the browser's adapter gets for a call with this input.
func (p *Page) Arguments(input json.RawMessage) json.RawMessage {
	return rawjson.Join([]rawjson.Member{
		rawjson.Make("name", rawjson.MustEncode(p.Name)), rawjson.Make("key", rawjson.MustEncode(p.Key)),
		rawjson.Make("origin", rawjson.MustEncode(p.Origin)), rawjson.Make("input", input),
	})
}

// ForTab is what a call of t means in a tab, or without one: the tool as a page has it now, where it was listed in
// another form.
func (t *Tool) ForTab(tabID int) *Tool {
	if t.Page == nil || t.Page.In(tabID) {
		return t
	}
	for _, other := range t.Page.Others {
		if other.Page.In(tabID) {
			return other
		}
	}
	return t
}

// PageTool is a tool of a page as it is to be offered.
type PageTool struct {
	Name string // full
	Spec plugin.Tool
	Page Page       // without Others
	Also []PageTool // Others
}

// SetPageTools offers these tools of pages, and no others, and announces that. Each is one of the browser's plugin: its
// configuration says in which pages they may be used. One that cannot be offered is left out.
func (r *Registry) SetPageTools(list []PageTool) {
	r.change.Lock()
	defer r.change.Unlock()
	now := r.Snapshot()
	r.pageTools.Store(&list)
	r.publish(r.snapshot(now.Sites, ofPlugins(now.Tools), now.Problems, now.withheld))
}

// ofPlugins leaves out the tools that each snapshot gets anew.
func ofPlugins(tools []*Tool) []*Tool {
	return slices.DeleteFunc(slices.Clone(tools), func(t *Tool) bool { return t.Plugin == nil || t.Page != nil })
}

// ofPages makes the tools that pages register.
func (r *Registry) ofPages(sites []*Site) (tools []*Tool) {
	list := r.pageTools.Load()
	at := slices.IndexFunc(sites, func(s *Site) bool {
		return s.Plugin.Shipped && s.Plugin.Manifest.Name == plugin.Browser
	})
	if list == nil || at < 0 {
		return nil
	}
	browser := sites[at]
	web := *browser.Plugin
	web.Manifest = plugin.Manifest{Name: Web, DisplayName: "Tools of pages", World: browser.Plugin.Manifest.World}
	site := *browser
	site.Plugin, site.Homepage = &web, ""
	cache := newSchemas(nil)
	for i := range *list {
		if t := (*list)[i].tool(&site, cache); t != nil {
			tools = append(tools, t)
		}
	}
	return tools
}

func (p *PageTool) tool(site *Site, cache *schemas) *Tool {
	page := p.Page
	for i := range p.Also {
		if other := p.Also[i].tool(site, cache); other != nil {
			page.Others = append(page.Others, other)
		}
	}
	t := &Tool{Name: p.Name, Plugin: site.Plugin, Site: site, Spec: p.Spec, Page: &page}
	if t.accept(cache) != nil {
		return nil
	}
	return t
}
