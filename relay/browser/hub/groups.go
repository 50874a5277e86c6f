package hub

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"slices"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// groups shows people in their browsers which agent owns which tab.
type groups struct {
	mu      lock.Mutex        // held while they are told, so that the last word is the newest
	clients map[string]string // to their colours
}

// group is what an extension is told of one owner.
type group struct {
	Title string `json:"title"`
	Color string `json:"color"`
	Tabs  []int  `json:"tabs"`
}

// maxTitle is the length of a group's name that still leaves room for tabs.
const maxTitle = 24

// ownersChanged tells who wants to know.
func (h *Hub) ownersChanged() {
	for _, b := range h.all() {
		h.regroup(b)
	}
	if h.cfg.OwnersChanged != nil {
		h.cfg.OwnersChanged()
	}
}

// regroup tells a browser the groups that its tabs are to be in: all of them, so that nothing depends on what it was
// told before. Nobody waits for the answer.
func (h *Hub) regroup(b *browser) {
	if !h.cfg.Groups {
		return
	}
	h.groups.mu.Lock()
	defer h.groups.mu.Unlock()
	params, err := json.Marshal(map[string]any{"groups": h.groups.of(h.leases.in(b.id))})
	if err != nil {
		return // names and numbers always encode
	}
	frame := mustEncode(&wire.Command{ID: call.ID(wire.NewID()), Name: "tabs.group", Params: params})
	b.peek(func(s *calls) {
		if s.conn != nil && s.conn.ready.Load() && s.conn.protocol >= wire.WithPanel {
			s.conn.queue.putAlways(frame)
		}
	})
}

// of makes one group of the tabs of each session, in the order of their names. Called with the lock held.
func (g *groups) of(owners map[int]*Owner) []group {
	sessions := map[string]*group{}
	list := []*group{}
	for tabID, w := range owners {
		in := sessions[w.Session]
		if in == nil {
			in = &group{Title: titled(w.Name), Color: w.color}
			if w.color == "" {
				in.Color = g.color(w.Client)
			}
			sessions[w.Session] = in
			list = append(list, in)
		}
		in.Tabs = append(in.Tabs, tabID)
	}
	all := make([]group, len(list))
	for i, in := range list {
		slices.Sort(in.Tabs)
		all[i] = *in
	}
	slices.SortFunc(all, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.Title, b.Title),
			cmp.Compare(a.Tabs[0], b.Tabs[0]))
	})
	return all
}

// Color is the one that a client has in tab groups and in the side panel.
func (h *Hub) Color(client string) string {
	h.groups.mu.Lock()
	defer h.groups.mu.Unlock()
	return h.groups.color(client)
}

// color is a client's: the same at every start, unless another client has it already and there are others left.
func (g *groups) color(client string) string {
	if c, ok := g.clients[client]; ok {
		return c
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(client)) // a hash takes everything
	taken := map[string]bool{}
	for _, c := range g.clients {
		taken[c] = true
	}
	at := int(sum.Sum32() % uint32(len(call.Colors)))
	for range call.Colors {
		if !taken[call.Colors[at]] {
			break
		}
		at = (at + 1) % len(call.Colors)
	}
	if g.clients == nil {
		g.clients = map[string]string{}
	}
	g.clients[client] = call.Colors[at]
	return call.Colors[at]
}

// titled is a name as a tab strip can show it.
func titled(name string) string {
	runes := []rune(fault.Sanitize(name))
	if len(runes) > maxTitle {
		runes = append(runes[:maxTitle-1], '…')
	}
	return string(runes)
}
