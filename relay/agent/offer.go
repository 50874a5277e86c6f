package agent

import (
	"encoding/json"
	"fmt"
	"slices"

	"tabrelay/relay/agent/provider"
	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
	"tabrelay/relay/registry"
)

// longestName is how long the name of a tool is at the most that all providers take.
const longestName = 64

// offer lists the tools for the model. Where the list would be too long, it has those that are of use in what is open,
// and three by which the others are found and called; where that is too long as well, only these three.
func (l *loop) offer() {
	tools := l.session.Tools.List(l.session.Acts)
	list, size := listed(tools, func(*registry.Tool) bool { return true })
	if size <= l.options.ToolTokens {
		l.request.Tools = list
		return
	}
	l.gateway = true
	if list, size = listed(tools, l.session.Tools.Offer().Shows); size > l.options.ToolTokens {
		list = nil
	}
	for _, g := range registry.Gateway {
		var one struct {
			Name, Description string
			InputSchema       json.RawMessage
		}
		if json.Unmarshal([]byte(g.Object), &one) == nil { // which is a constant
			list = append(list, provider.Tool(one))
		}
	}
	l.request.Tools = list
}

// listed are those of some tools that a model is shown, as it sees them, and an estimate of their tokens.
func listed(tools []*registry.Tool, shows func(*registry.Tool) bool) (list []provider.Tool, size int) {
	for _, t := range tools {
		if len(t.Name) > longestName || !shows(t) {
			continue
		}
		one := provider.Tool{Name: t.Name, Description: t.Spec.Description, InputSchema: t.ListedInput}
		if one.InputSchema == nil {
			one.InputSchema = t.Spec.InputSchema
		}
		list = append(list, one)
		size += tokens(len(one.Name) + len(one.Description) + len(one.InputSchema))
	}
	return list, size
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
