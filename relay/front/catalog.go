package front

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"tabrelay/relay/clip"
	"tabrelay/relay/fault"
	"tabrelay/relay/registry"
	"tabrelay/relay/suggest"
)

// catalog answers tools/list. What it answers is encoded once for each listing, toolset and view.
type catalog struct {
	mu      sync.Mutex
	listing uint64
	cached  map[string]*toolList
}

// toolList is the tools that a client is shown, sorted by name.
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

// maxCached bounds the lists that are kept: the names of toolsets come from clients.
const maxCached = 32

// list returns the tools that are shown.
func (c *catalog) list(snapshot *registry.Snapshot, v sight) *toolList {
	key := v.key()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cached == nil || c.listing != snapshot.Listing || len(c.cached) >= maxCached {
		c.listing, c.cached = snapshot.Listing, map[string]*toolList{}
	}
	if l, ok := c.cached[key]; ok {
		return l
	}
	l := encodeList(snapshot, v)
	c.cached[key] = l
	return l
}

func encodeList(snapshot *registry.Snapshot, v sight) *toolList {
	type listed struct {
		name   string
		object []byte
	}
	var tools []listed
	size := 2
	for _, t := range snapshot.Tools {
		if v.shows(t) {
			tools = append(tools, listed{t.Name, t.Listed})
			size += len(t.Listed) + 1
		}
	}
	if v.tools.Gateway {
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
func unknownTool(name string, snapshot *registry.Snapshot, v sight) *fault.Error {
	message := fmt.Sprintf("There is no tool named %q", clip.Runes(name, 80))
	var shown []string
	for _, t := range snapshot.Tools {
		if v.shows(t) {
			shown = append(shown, t.Name)
		}
	}
	nearest := suggest.Nearest(name, shown)
	if nearest == "" {
		return fault.New(fault.UnknownTool, message)
	}
	return fault.New(fault.UnknownTool, message,
		fault.WithHint("Did you mean "+nearest+"? List the tools again and use one of them."))
}
