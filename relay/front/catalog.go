package front

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agext/levenshtein"

	"tabrelay/relay/fault"
	"tabrelay/relay/registry"
)

// toolset says which of the tools a client sees and may call.
type toolset struct {
	key     string // canonical, for the cache
	all     bool
	gateway bool            // the three tools through which every tool is found and called, and the relay's own
	agents  bool            // the tools of delegation
	plugins map[string]bool // those of these plugins
}

var toolsetName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// parseToolset reads all, gateway, agents, or a list of plugin names; empty means all. The name of a plugin that is not
// installed is no error: it may come.
func parseToolset(text string) (toolset, error) {
	names := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	slices.Sort(names)
	names = slices.Compact(names)
	t := toolset{key: strings.Join(names, ","), plugins: map[string]bool{}, all: len(names) == 0}
	for _, name := range names {
		switch {
		case name == "all":
			t.all = true
		case name == "gateway":
			t.gateway = true
		case name == "agents":
			t.agents = true
		case toolsetName.MatchString(name):
			t.plugins[name] = true
		default:
			return t, fmt.Errorf("toolset %.60q: expected all, gateway, agents or names of plugins, separated by commas", text)
		}
	}
	if t.all {
		t.key, t.gateway = "all", false
	}
	return t, nil
}

// CheckToolset says what is wrong with the text of a toolset, so that a client can be told before it is served.
func CheckToolset(text string) error {
	_, err := parseToolset(text)
	return err
}

// shows reports whether a client with this toolset sees t.
func (s toolset) shows(t *registry.Tool) bool {
	plugin, _, grouped := strings.Cut(t.Name, "__")
	switch {
	case s.all, s.plugins[plugin] && grouped:
		return true
	case t.Plugin != nil:
		return false
	case grouped:
		return s.gateway && plugin == "relay"
	default: // bridge_health, sessions_create …: the tools of delegation are the ones without a group
		return s.agents || s.gateway && t.Name == "bridge_health"
	}
}

// catalog answers tools/list. What it answers is encoded once for each listing and toolset.
type catalog struct {
	mu      sync.Mutex
	listing uint64
	cached  map[string]*toolList
}

// toolList is the tools that a toolset shows, sorted by name.
type toolList struct {
	objects []byte // separated by commas
	ends    []int  // of each object
	digest  string
}

// part returns the objects from and up to but not including to.
func (l *toolList) part(from, to int) []byte {
	if from == to {
		return nil
	}
	start := 0
	if from > 0 {
		start = l.ends[from-1] + len(",")
	}
	return l.objects[start:l.ends[to-1]]
}

// maxCached bounds the toolsets whose list is kept: their names come from clients.
const maxCached = 32

// list returns the tools that a toolset shows.
func (c *catalog) list(snapshot *registry.Snapshot, s toolset) *toolList {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cached == nil || c.listing != snapshot.Listing || len(c.cached) >= maxCached {
		c.listing, c.cached = snapshot.Listing, map[string]*toolList{}
	}
	if l, ok := c.cached[s.key]; ok {
		return l
	}
	l := encodeList(snapshot, s)
	c.cached[s.key] = l
	return l
}

func encodeList(snapshot *registry.Snapshot, s toolset) *toolList {
	type listed struct {
		name   string
		object []byte
	}
	var tools []listed
	size := 2
	for _, t := range snapshot.Tools {
		if s.shows(t) {
			tools = append(tools, listed{t.Name, t.Listed})
			size += len(t.Listed) + 1
		}
	}
	if s.gateway {
		for _, g := range gatewayTools {
			tools = append(tools, listed{g.name, []byte(g.object)})
			size += len(g.object) + 1
		}
		slices.SortFunc(tools, func(a, b listed) int { return strings.Compare(a.name, b.name) })
	}
	l := &toolList{objects: make([]byte, 0, size), ends: make([]int, len(tools))}
	for i, t := range tools {
		l.objects = append(separate(l.objects, i), t.object...)
		l.ends[i] = len(l.objects)
	}
	l.digest = digestOf("tools", [][]byte{l.objects})
	return l
}

// unknownTool says which tool the client may have meant.
func unknownTool(name string, snapshot *registry.Snapshot, s toolset) *fault.Error {
	message := fmt.Sprintf("There is no tool named %q", shorten(name, 80))
	best, distance := "", 1+max(2, len(name)/4)
	for _, t := range snapshot.Tools {
		if !s.shows(t) || len(t.Name)-len(name) > distance || len(name)-len(t.Name) > distance {
			continue
		}
		if d := levenshtein.Distance(name, t.Name, nil); d < distance {
			best, distance = t.Name, d
		}
	}
	if best == "" {
		return fault.New(fault.UnknownTool, message)
	}
	return fault.New(fault.UnknownTool, message, fault.WithHint(fmt.Sprintf("Did you mean %s? List the tools again and use one of them.", best)))
}

func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
