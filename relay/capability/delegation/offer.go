package delegation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// longestName is how long the name of a tool is at the most that all providers take.
const longestName = 64

// offer lists the tools for the model: all of them where they are few. Else it has three by which every tool is found
// and called, and as many of those that are of use in what is open as there is room for, the tools of sites first.
func (l *loop) offer() {
	tools := l.session.Tools.List(l.session.Acts)
	l.session.reads(slices.ContainsFunc(tools, func(t *registry.Tool) bool { return t.Page != nil }))
	room := min(l.options.ToolTokens, l.history.most/3)
	if list, size := listed(tools, math.MaxInt); size <= room {
		l.request.Tools = append(list, askTool)
		return
	}
	l.gateway = true
	offer := l.session.Tools.Offer()
	useful := slices.DeleteFunc(slices.Clone(tools), func(t *registry.Tool) bool { return !offer.Shows(t) })
	slices.SortStableFunc(useful, func(a, b *registry.Tool) int { return cmp.Compare(rank(a), rank(b)) })
	list, _ := listed(useful, room)
	l.request.Tools = append(append(list, gatewayTools()...), askTool)
}

// rank is how soon a tool is listed: those of the sites that are open, then what every page needs, then the rest.
func rank(t *registry.Tool) int {
	switch {
	case registry.OfSite(t):
		return t.Order - 1000
	case t.Group == plugin.Browser:
		if i := slices.Index(basics, strings.TrimPrefix(t.Name, plugin.Browser+"__")); i >= 0 {
			return i
		}
		return len(basics) + t.Order
	}
	return 2000 + t.Order
}

// basics are the tools of the browser with which most errands are done.
var basics = []string{"list_tabs", "open_tab", "navigate", "snapshot", "find", "read", "click", "fill", "press"}

// gatewayTools are those by which other tools are found and called.
func gatewayTools() (list []provider.Tool) {
	for _, g := range registry.Gateway {
		var one struct {
			Name, Description string
			InputSchema       json.RawMessage
		}
		if json.Unmarshal([]byte(g.Object), &one) == nil { // which is a constant
			list = append(list, provider.Tool(one))
		}
	}
	return list
}

// listed are tools as a model sees them, as many as there is room for, and an estimate of their tokens.
func listed(tools []*registry.Tool, room int) (list []provider.Tool, size int) {
	for _, t := range tools {
		if len(t.Name) > longestName {
			continue
		}
		one := provider.Tool{Name: t.Name, Description: t.Spec.Description, InputSchema: t.ListedInput}
		if one.InputSchema == nil {
			one.InputSchema = t.Spec.InputSchema
		}
		if n := toolTokens(one); n <= room-size {
			list = append(list, one)
			size += n
		}
	}
	return list, size
}

func toolTokens(t provider.Tool) int {
	return tokens(len(t.Name) + len(t.Description) + len(t.InputSchema))
}

// overhead estimates the tokens of a request besides its messages.
func (l *loop) overhead() int {
	size := len(l.request.System)
	for _, t := range l.request.Tools {
		size += len(t.Name) + len(t.Description) + len(t.InputSchema)
	}
	return tokens(size)
}

func isGateway(name string) bool {
	return name == registry.CallTool || name == registry.DescribeTool || name == registry.SearchTools
}

// calledByName is the tool that a call of the gateway is about; empty when it only looks for tools.
func calledByName(c provider.ToolCall) string {
	if c.Name != registry.CallTool {
		return ""
	}
	members, _ := rawjson.Members(c.Arguments)
	name, _ := rawjson.Text(rawjson.Get(members, "name"))
	return name
}

// lookUp carries out a tool of the gateway, or says which call it stands for.
func (l *loop) lookUp(name string, arguments json.RawMessage) (*call.Result, *fault.Error, *call.Call) {
	var given struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Query     string          `json:"query"`
		Limit     int             `json:"limit"`
	}
	if err := json.Unmarshal(arguments, &given); err != nil {
		return nil, fault.New(fault.ValidationError, "Invalid arguments: name and query are strings, limit is an "+
			"integer, arguments is an object"), nil
	}
	tools := l.session.Tools.List(l.session.Acts)
	switch name {
	case registry.CallTool:
		arguments, ok := registry.ArgumentsOf(given.Arguments)
		if !ok {
			return nil, fault.New(fault.ValidationError,
				"Invalid arguments: the value of arguments must be an object"), nil
		}
		if arguments == nil {
			arguments = noArguments
		}
		return nil, nil, &call.Call{Tool: given.Name, Arguments: arguments}
	case registry.SearchTools:
		limit := registry.SearchLimit
		if given.Limit > 0 {
			limit = min(given.Limit, 100)
		}
		found := registry.NewIndex(tools).Rank(given.Query, nil)
		return &call.Result{Output: registry.Search(found, limit, "")}, nil, nil
	}
	at := slices.IndexFunc(tools, func(t *registry.Tool) bool { return t.Name == given.Name })
	if at < 0 {
		return nil, fault.New(fault.UnknownTool, fmt.Sprintf("There is no tool %q for this agent",
			fault.Excerpt(given.Name)), fault.WithHint("Find one with "+registry.SearchTools+".")), nil
	}
	return &call.Result{Output: tools[at].Whole()}, nil, nil
}
