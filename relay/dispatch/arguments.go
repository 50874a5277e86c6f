package dispatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"

	"tabrelay/relay/clip"
	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
	"tabrelay/relay/registry"
	"tabrelay/relay/result"
	"tabrelay/relay/schema"
)

// target is where a call is to run, from the arguments the relay takes for itself.
type target struct {
	tab      int
	profile  string
	instance string // empty: any
}

func (r *run) find() *fault.Error {
	snapshot := r.Tools.Snapshot()
	tool, ok := snapshot.Find(r.call.Tool)
	if !ok {
		if failure := snapshot.Withheld(r.call.Tool); failure != nil {
			return failure
		}
		return fault.New(fault.UnknownTool, fmt.Sprintf("No tool is called %q%s", r.call.Tool, closest(r.call.Tool, snapshot.Tools)))
	}
	r.tool = tool
	if r.Scopes != nil {
		return r.Scopes.Refuse(r.call.Session, tool)
	}
	return nil
}

// closest names the tool that was probably meant.
func closest(name string, tools []*registry.Tool) string {
	best, distance := "", max(2, len(name)/4)+1
	for _, t := range tools {
		if d := levenshtein.Distance(name, t.Name, nil); d < distance {
			best, distance = t.Name, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// checkArguments takes out what is the relay's and checks the rest against the tool's schema. When nothing is
// taken out, the tool gets the very bytes the caller sent.
func (r *run) checkArguments() *fault.Error {
	input, failure := r.schemas()
	if failure != nil {
		return failure
	}
	r.args = r.call.Arguments
	if len(r.args) == 0 {
		r.args = json.RawMessage("{}")
	}
	if limit := r.MaxInputBytes; limit > 0 && len(r.args) > limit {
		return fault.New(fault.InputTooLarge, fmt.Sprintf("The arguments have %d bytes; at most %d can be sent", len(r.args), limit))
	}
	if failure := r.takeTarget(); failure != nil {
		return failure
	}
	if failure := result.CheckPath(r.call.ArrayPath); failure != nil {
		return failure
	}
	if problems := input.Check(r.args); len(problems) > 0 {
		return fault.New(fault.ValidationError, "Invalid arguments: "+schema.Explain(problems))
	}
	return nil
}

// schemas compiles what the call will need. A tool whose schemas do not compile is unusable: it is taken out.
func (r *run) schemas() (input *schema.Schema, failure *fault.Error) {
	input, err := r.tool.Input()
	if err == nil {
		_, err = r.tool.Output()
	}
	if err != nil {
		r.Tools.Reject(r.tool, err.Error())
		return nil, fault.New(fault.RegistryError, fmt.Sprintf("Tool %s cannot be used, because a schema of it is unusable: %v", r.tool.Name, err), fault.WithCause(err))
	}
	return input, nil
}

func (r *run) takeTarget() *fault.Error {
	t := r.tool
	if !t.TakesTab && !t.TakesProfile && !t.TakesInstance && !t.TakesMaxBytes && !t.TakesArrayPath && !t.TakesSession {
		return nil
	}
	members, ok := rawjson.Members(r.args)
	if !ok {
		return nil // the schema check says so better
	}
	own := members[:0:0]
	seen := map[string]bool{}
	for _, m := range members {
		if m.Name == "lane" && t.TakesSession && !t.HasProperty("lane") {
			return invalid(m.Name, `is called "session" now`)
		}
		take := r.taker(m.Name)
		if take == nil {
			own = append(own, m)
			continue
		}
		if seen[m.Name] {
			return invalid(m.Name, "is given twice")
		}
		seen[m.Name] = true
		if expected := take(m.Value); expected != "" {
			return invalid(m.Name, "expected "+expected+", but got "+clip.Runes(string(m.Value), 60))
		}
	}
	if t.TakesInstance && r.target.instance == "" && r.target.tab == 0 {
		return fault.New(fault.InstanceRequired, fmt.Sprintf("Plugin %s works with several instances: %s", t.PluginName(), strings.Join(instances(t), ", ")))
	}
	if len(own) == len(members) {
		return nil
	}
	if !rawjson.Valid(r.args) { // Members was told that it is
		return fault.New(fault.ValidationError, "Invalid arguments: they are not valid JSON")
	}
	r.args = rawjson.Join(own)
	return nil
}

// taker returns what takes the argument of that name, nil when it is the tool's own. A taker says what it
// expected when it got something else.
func (r *run) taker(name string) func(json.RawMessage) (expected string) {
	switch {
	case name == "tabId" && r.tool.TakesTab:
		return r.takeTab
	case name == "profile" && r.tool.TakesProfile:
		return r.takeProfile
	case name == "instance" && r.tool.TakesInstance:
		return r.takeInstance
	case name == "maxBytes" && r.tool.TakesMaxBytes:
		return r.takeMaxBytes
	case name == "arrayPath" && r.tool.TakesArrayPath:
		return r.takeArrayPath
	case name == "session" && r.tool.TakesSession:
		return r.takeSession
	}
	return nil
}

func (r *run) takeTab(value json.RawMessage) string {
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || n < 1 || n > math.MaxInt32 || n != math.Trunc(n) {
		return "an integer of at least 1"
	}
	r.target.tab = int(n)
	return ""
}

func (r *run) takeMaxBytes(value json.RawMessage) string {
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || n < 1 || n != math.Trunc(n) {
		return "an integer of at least 1"
	}
	r.call.MaxBytes = int(min(n, math.MaxInt32))
	return ""
}

func (r *run) takeArrayPath(value json.RawMessage) string {
	if json.Unmarshal(value, &r.call.ArrayPath) != nil {
		return "a path such as .data.items"
	}
	return ""
}

func (r *run) takeProfile(value json.RawMessage) string {
	if json.Unmarshal(value, &r.target.profile) != nil || r.target.profile == "" {
		return "a profile's name"
	}
	return ""
}

// sessionName is what a caller may call a session of its own.
var sessionName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// takeSession makes the call one of a named session within its client's: agents that share an attachment or a token
// keep their tabs apart by it.
func (r *run) takeSession(value json.RawMessage) string {
	var name string
	if json.Unmarshal(value, &name) != nil || !sessionName.MatchString(name) {
		return "a name of 1 to 64 letters, digits, ., _ or -"
	}
	base, _, _ := strings.Cut(r.call.Session.ID, "/session:")
	r.call.Session.ID = base + "/session:" + name
	return ""
}

func (r *run) takeInstance(value json.RawMessage) string {
	var name string
	if json.Unmarshal(value, &name) == nil {
		if _, ok := r.tool.Site.Instance(name); ok {
			r.target.instance = name
			return ""
		}
	}
	return "one of " + strings.Join(instances(r.tool), ", ")
}

func instances(t *registry.Tool) []string {
	names := make([]string, len(t.Site.Instances))
	for i, in := range t.Site.Instances {
		names[i] = strconv.Quote(in.Name)
	}
	return names
}

func invalid(name, problem string) *fault.Error {
	return fault.New(fault.ValidationError, "Invalid arguments: arguments."+name+": "+problem)
}
