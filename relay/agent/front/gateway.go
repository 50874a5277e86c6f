package front

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// gatewayTool is one of three tools through which a client with a small list finds and calls every tool there is. They
// need the registry and the Caller only, so they are a view and not tools of the registry.
type gatewayTool struct {
	name   string
	object string // the MCP tool object
	// run answers, or says which call is to be made in place of this one.
	run func(*Front, call.Call) (result *call.Result, instead *call.Call, fail *fault.Error)
}

var gatewayTools = func() (all []*gatewayTool) {
	run := map[string]func(*Front, call.Call) (*call.Result, *call.Call, *fault.Error){
		registry.CallTool: callByName, registry.DescribeTool: describeTool, registry.SearchTools: searchTools,
	}
	for _, t := range registry.Gateway {
		all = append(all, &gatewayTool{t.Name, t.Object, run[t.Name]})
	}
	return all
}()

func findGateway(name string) *gatewayTool {
	i := slices.IndexFunc(gatewayTools, func(g *gatewayTool) bool { return g.name == name })
	if i < 0 {
		return nil
	}
	return gatewayTools[i]
}

// bind is the tool as the others are run. What it answers itself is written down here; a call that it makes is audited
// by the Caller.
func (g *gatewayTool) bind(f *Front) func(context.Context, call.Call, *Asker) (*call.Result, *fault.Error) {
	return func(ctx context.Context, c call.Call, client *Asker) (*call.Result, *fault.Error) {
		began := time.Now()
		result, instead, failure := g.run(f, c)
		if instead != nil {
			return f.carryOut(ctx, *instead, client)
		}
		f.record(&c, g.name, began, failure)
		return result, failure
	}
}

// gatewayArguments are the arguments of all three; each looks at its own.
type gatewayArguments struct {
	Name      *string         `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Query     string          `json:"query"`
	Limit     *int            `json:"limit"`
	As        *string         `json:"as"`
}

// readArguments decodes the arguments of c, which may be those with these names and no others.
func readArguments(c call.Call, allowed ...string) (a gatewayArguments, fail *fault.Error) {
	if len(c.Arguments) == 0 {
		return a, nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(c.Arguments, &given); err != nil {
		return a, invalid(c, "expected an object")
	}
	for name := range given {
		if !slices.Contains(allowed, name) {
			return a, invalid(c, fmt.Sprintf("unknown property %q, allowed: %s", clip.Runes(name, 40),
				strings.Join(allowed, ", ")))
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(c.Arguments))
	if err := decoder.Decode(&a); err != nil {
		return a, invalid(c, "name, query and as are strings, limit is an integer, arguments is an object")
	}
	return a, nil
}

func invalid(c call.Call, message string) *fault.Error {
	message = "Invalid arguments: " + message
	return identified(c, fault.New(fault.ValidationError, message, fault.WithOutcome(fault.NotExecuted)))
}

func identified(c call.Call, e *fault.Error) *fault.Error {
	e.CorrelationID = string(c.ID)
	return e
}

// reach is what a client can call through the gateway.
func (f *Front) reach(c call.Call) visible {
	v := visible{tools: registry.Toolset{All: true}}
	if f.options.Views != nil {
		v.view = f.options.Views.View(c.Session)
	}
	return v
}

// lookUp finds the tool that the arguments name. It may be one that the client is not shown.
func (f *Front) lookUp(c call.Call, name *string) (*registry.Tool, *fault.Error) {
	if name == nil {
		return nil, invalid(c, `missing property "name" (string)`)
	}
	snapshot := f.options.Tools.Snapshot()
	t, ok := snapshot.Find(*name)
	if failure := snapshot.Withheld(*name); !ok && failure != nil {
		return nil, identified(c, failure)
	}
	if !ok {
		return nil, identified(c, f.unknownTool(*name, snapshot, f.reach(c)))
	}
	return t, nil
}

func callByName(f *Front, c call.Call) (*call.Result, *call.Call, *fault.Error) {
	a, fail := readArguments(c, "name", "arguments")
	if fail != nil {
		return nil, nil, fail
	}
	t, fail := f.lookUp(c, a.Name)
	if fail != nil {
		return nil, nil, fail
	}
	arguments, ok := registry.ArgumentsOf(a.Arguments)
	if !ok {
		return nil, nil, invalid(c, "the value of arguments must be an object")
	}
	c.Tool, c.Arguments = t.Name, arguments
	return nil, &c, nil
}

func describeTool(f *Front, c call.Call) (*call.Result, *call.Call, *fault.Error) {
	a, fail := readArguments(c, "name", "as")
	if fail != nil {
		return nil, nil, fail
	}
	if a.As != nil && *a.As != "types" && *a.As != "tool" {
		return nil, nil, invalid(c, `as: expected "types" or "tool"`)
	}
	t, fail := f.lookUp(c, a.Name)
	if fail != nil {
		return nil, nil, fail
	}
	v := f.reach(c)
	if !v.mayShow(t) {
		return nil, nil, identified(c, v.refuse(t))
	}
	if a.As != nil && *a.As == "types" {
		result := answerWith(c, rawjson.MustEncode(t.Types()))
		result.Content = []call.Content{rawjson.MustEncode(map[string]string{"type": "text", "text": t.Types()})}
		return result, nil, nil
	}
	return answerWith(c, v.view.Marked(t, t.Whole())), nil, nil
}

func searchTools(f *Front, c call.Call) (*call.Result, *call.Call, *fault.Error) {
	a, fail := readArguments(c, "query", "limit")
	if fail != nil {
		return nil, nil, fail
	}
	limit := registry.SearchLimit
	if a.Limit != nil {
		limit = *a.Limit
	}
	if limit < 1 || limit > 100 {
		return nil, nil, invalid(c, "limit: must be from 1 to 100")
	}
	v := f.reach(c)
	offer := f.offerNow()
	matching := f.index.of(f.options.Tools.Snapshot()).Rank(a.Query, func(t *registry.Tool) bool {
		return t.Plugin != nil && offer.Plugins[t.Group]
	})
	return answerWith(c, registry.Search(v.only(matching), limit, v.more(matching))), nil, nil
}

func answerWith(c call.Call, output json.RawMessage) *call.Result {
	return &call.Result{Output: output, Meta: call.Meta{CorrelationID: c.ID, Attempts: 1}}
}

// searchIndex ranks the tools of one snapshot. It is made at the first search after a change.
type searchIndex struct {
	mu       lock.Mutex
	snapshot *registry.Snapshot
	index    *registry.Index
}

func (x *searchIndex) of(snapshot *registry.Snapshot) *registry.Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.index == nil || x.snapshot != snapshot {
		x.snapshot, x.index = snapshot, registry.NewIndex(snapshot.Tools)
	}
	return x.index
}
