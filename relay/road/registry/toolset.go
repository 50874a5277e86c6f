package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
)

// Toolset says which of the tools a client sees.
type Toolset struct {
	Key      string          // canonical: the same for toolsets that show the same; empty: Adaptive
	Adaptive bool            // nothing was asked for: what is of use now, and the gateway for everything else
	All      bool            // every tool
	Gateway  bool            // the three tools through which every tool is found and called, and the relay's own
	plugins  map[string]bool // those of these plugins and groups
}

// Offer is what an adaptive toolset lists besides the browser's own tools, those of capabilities, the health of the
// relay and the gateway. It never changes once it is made.
type Offer struct {
	Key      string          // the same for offers that list the same
	Plugins  map[string]bool // whose site is open
	Profiles bool            // several are connected, so that tools list the argument by which one is chosen
}

// Offer is what is of use where pages of some sites are open, in one browser profile or several.
func (s *Snapshot) Offer(open func(*Site) bool, several bool) *Offer {
	o := &Offer{Plugins: map[string]bool{}, Profiles: several}
	for _, site := range s.Sites {
		if !site.Everywhere && open(site) {
			o.Plugins[site.Plugin.Manifest.Name] = true
		}
	}
	return o
}

// Shows reports whether an adaptive toolset lists t.
func (o *Offer) Shows(t *Tool) bool {
	switch group := t.Group; {
	case plugin.Browses(group): // also those of its tools that run in pages
		return true
	case t.Page != nil: // only pages that an agent has looked at have any
		return true
	case t.Plugin != nil:
		return o.Plugins[group]
	case t.Dormant:
		return false
	default:
		return group != ownGroup || t.Name == "bridge_health"
	}
}

// OfSite reports whether a tool is one of a site or of a page, of which there may be any number. The others are the
// same few for everybody.
func OfSite(t *Tool) bool { return t.Plugin != nil && (t.Page != nil || !plugin.Browses(t.Group)) }

var name = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// IsName reports whether a plugin can have a name.
func IsName(text string) bool { return name.MatchString(text) }

// SplitNames are the names in a list of them, with commas or blanks between: sorted, each once.
func SplitNames(text string) []string {
	names := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	slices.Sort(names)
	return slices.Compact(names)
}

// ParseToolset reads all, gateway, or a list of names of plugins and groups; empty means what is of use now. It
// does not know which there are.
func ParseToolset(text string) (Toolset, error) {
	names := SplitNames(text)
	t := Toolset{Key: strings.Join(names, ","), plugins: map[string]bool{}}
	if len(names) == 0 {
		t.Adaptive, t.Gateway = true, true
	}
	for _, n := range names {
		switch {
		case n == "all":
			t.All = true
		case n == "gateway":
			t.Gateway = true
		case name.MatchString(n):
			t.plugins[n] = true
		default:
			return t, fmt.Errorf("toolset %.60q: expected all, gateway or names, separated by commas", text)
		}
	}
	if t.All {
		t.Key, t.Gateway = "all", false
	}
	return t, nil
}

// Plugins are the names of plugins and groups in it, sorted.
func (s *Toolset) Plugins() []string { return slices.Sorted(maps.Keys(s.plugins)) }

// Shows reports whether a client with this toolset sees t. An adaptive one may show every tool: which it lists is for
// an Offer to say.
func (s *Toolset) Shows(t *Tool) bool {
	switch {
	case t.Dormant:
		return s.plugins[t.Group]
	case s.All, s.Adaptive, s.plugins[t.Group], s.beside(t):
		return true
	case t.Plugin != nil:
		return false
	default:
		return s.Gateway && t.Group == ownGroup
	}
}

// beside reports whether one of the groups in it is listed together with t.
func (s *Toolset) beside(t *Tool) bool {
	return slices.ContainsFunc(t.Beside, func(group string) bool { return s.plugins[group] })
}

// Reaches reports whether a client with this toolset can call t: one with the gateway can call every tool through it.
func (s *Toolset) Reaches(t *Tool) bool {
	return s.Gateway && !t.Dormant || s.Shows(t) || ForEverybody(t)
}

// ForEverybody reports whether a tool is one of the relay's own that no scope hides: without them nobody learns what is
// wrong.
func ForEverybody(t *Tool) bool { return t.Plugin == nil && t.Group == ownGroup }

// View is what one client may see at one moment. The zero value shows everything.
type View struct {
	Key     string                   // the same for views that show the same
	Toolset string                   // what a client gets that asks for all; empty: all
	Shows   func(*Tool) bool         // nil: everything
	Hidden  func(*Tool) bool         // of a tool it does not show: the person could let the client have it
	Why     func(*Tool) *fault.Error // of a tool it does not show
	Asks    func(*Tool) bool         // whether the person is asked before a tool runs; nil: of none
}

// Marked is a tool as it is listed: where the person is asked before it runs, its _meta says so.
func (v *View) Marked(t *Tool, listed []byte) []byte {
	if v.Asks == nil || !v.Asks(t) {
		return listed
	}
	return slices.Concat(bytes.TrimSuffix(listed, []byte("}}")), []byte(asks+"}}"))
}

// The three tools through which a caller with a small list finds and calls every tool there is. They are no tools of
// the registry: whoever lists them carries them out.
const (
	CallTool     = "relay__call_tool"
	DescribeTool = "relay__describe_tool"
	SearchTools  = "relay__search_tools"
)

// searches is what one of them says of itself.
const searches = `Finds tools by what they do: wiki edit page. Returns name(argument, optional?).`

// SearchObject is the MCP tool object of SearchTools with one more sentence.
func SearchObject(object, sentence string) string {
	return strings.Replace(object, searches, searches+" "+sentence, 1)
}

// Gateway is the MCP tool object of each, in order of name.
var Gateway = []struct{ Name, Object string }{
	{CallTool, `{"name":"` + CallTool + `","title":"Call a tool","description":"Calls a tool that is not listed, ` +
		`by its full name.","inputSchema":{"type":"object","properties":{"name":{"type":"string"},` +
		`"arguments":{"type":"object"}},"required":["name"],"additionalProperties":false},` +
		`"annotations":{"openWorldHint":true},"_meta":` + Meta + `}`},
	{DescribeTool, `{"name":"` + DescribeTool + `","title":"Describe a tool","description":"All about one tool: ` +
		`description, schemas, annotations.","inputSchema":{"type":"object","properties":{"name":{"type":"string"},` +
		`"as":{"type":"string","enum":["tool","types"]}},` +
		`"required":["name"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"openWorldHint":false},"_meta":` + Meta + `}`},
	{SearchTools, `{"name":"` + SearchTools + `","title":"Search tools","description":"` + searches + `",` +
		`"inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer",` +
		`"default":5}},"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"openWorldHint":false},"_meta":` + Meta + `}`},
}

// ArgumentsOf are the arguments for the tool that a call of the gateway names. Models also write them as a string of
// JSON. It is not ok when they are no object; without any they are nil.
func ArgumentsOf(given json.RawMessage) (arguments json.RawMessage, ok bool) {
	if given = bytes.TrimSpace(given); len(given) == 0 || string(given) == "null" {
		return nil, true
	}
	if given[0] == '"' {
		text, _ := rawjson.Text(given)
		if given = bytes.TrimSpace([]byte(text)); len(given) == 0 {
			return nil, true
		}
		if !rawjson.Valid(given) {
			return nil, false
		}
	}
	return given, given[0] == '{'
}
