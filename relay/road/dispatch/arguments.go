package dispatch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/road/result"
	"tabrelay/relay/road/schema"
)

// find looks up the tool and checks that the client's scope covers it.
func (r *run) find() *fault.Error {
	snapshot := r.Tools.Snapshot()
	tool, ok := snapshot.Find(r.call.Tool)
	if !ok {
		if failure := snapshot.Withheld(r.call.Tool); failure != nil {
			return failure
		}
		return snapshot.UnknownTool(r.call.Tool, r.mayCall, nil)
	}
	r.tool = tool
	if r.Scopes != nil {
		return r.Scopes.Refuse(r.call.Session, tool)
	}
	return nil
}

// mayCall reports whether the scope of the client covers a tool.
func (r *run) mayCall(t *registry.Tool) bool {
	return r.Scopes == nil || r.Scopes.Refuse(r.call.Session, t) == nil
}

// checkArguments extracts the relay's own arguments and checks the rest against the tool's schema. Where there are
// none, the tool gets exactly the bytes that the caller sent. A tool whose schemas do not compile is removed from the
// registry.
func (r *run) checkArguments() *fault.Error {
	if failure := r.selectPageTool(); failure != nil {
		return failure
	}
	if site := r.tool.Site; site != nil && len(site.Missing) > 0 {
		return lacksSettings(site)
	}
	input, output, err := r.tool.Schemas()
	if err != nil {
		r.Tools.Reject(r.tool, err.Error())
		message := fmt.Sprintf("Tool %s cannot be used, because a schema of it is unusable: %v", r.tool.Name, err)
		return fault.New(fault.RegistryError, message, fault.WithCause(err))
	}
	r.output, r.args = output, r.call.Arguments
	if len(r.args) == 0 {
		r.args = json.RawMessage("{}")
	}
	if limit := r.MaxInputBytes; limit > 0 && len(r.args) > limit {
		return fault.New(fault.InputTooLarge,
			fmt.Sprintf("The arguments have %d bytes; at most %d can be sent", len(r.args), limit))
	}
	if !utf8.Valid(r.args) { // a browser ends the whole link over such a frame
		return fault.New(fault.ValidationError, "Invalid arguments: they are not UTF-8")
	}
	if failure := r.extractRelayArgs(); failure != nil {
		return failure
	}
	if path := r.call.ArrayPath; path != "" {
		if failure := result.CheckPath(path); failure != nil {
			return failure
		}
	}
	if problems := input.Check(r.args); len(problems) > 0 {
		var options []fault.Option
		if r.tool.AgenticText != nil {
			options = append(options, fault.WithSource(fault.SourceInternal))
		}
		return fault.New(fault.ValidationError, "Invalid arguments: "+schema.Explain(problems), options...)
	}
	return nil
}

// lacksSettings refuses a call of a plugin whose required settings are missing: its failure in the page would not say
// so.
func lacksSettings(site *registry.Site) *fault.Error {
	name, lacking, given, held := site.Plugin.Manifest.Name, []string(nil), "", false
	for _, setting := range site.Missing {
		said := "setting " + strconv.Quote(setting)
		if slices.Contains(site.Held, setting) {
			held, said = true, said+", which waits for the person to confirm it,"
		} else {
			given += " " + setting + "=VALUE"
		}
		lacking = append(lacking, said)
	}
	var steps []string
	if given != "" {
		steps = append(steps, "Ask the person to run: tabrelay plugin configure "+name+given)
	}
	if held {
		steps = append(steps, "Ask the person to answer in the side panel, or to run: tabrelay config apply")
	}
	return fault.New(fault.ConfigError, fmt.Sprintf("Plugin %s cannot work without %s", name,
		strings.TrimSuffix(strings.Join(lacking, " and "), ",")), fault.WithHint(strings.Join(steps, ". ")))
}

// selectPageTool replaces the tool by the one of the page in the tab that the call names, where pages in several tabs
// have registered a tool of that name.
func (r *run) selectPageTool() *fault.Error {
	if r.tool.Page == nil || len(r.tool.Page.Others) == 0 {
		return nil
	}
	members, _ := rawjson.Members(r.call.Arguments)
	var tab int
	_ = json.Unmarshal(rawjson.Get(members, "tabId"), &tab) // extractRelayArgs says what is wrong with it
	r.tool = r.tool.ForTab(tab)
	if r.Scopes != nil {
		return r.Scopes.Refuse(r.call.Session, r.tool)
	}
	return nil
}

// extractRelayArgs moves the arguments that are for the relay (tabId, timeoutMs, ...) from args to relayArgs. A tool
// that has an argument of the same name keeps it.
func (r *run) extractRelayArgs() *fault.Error {
	t := r.tool
	if !t.TakesTab && !t.TakesProfile && !t.TakesInstance && !t.TakesTimeout && !t.TakesMaxBytes && !t.TakesArrayPath &&
		!t.TakesSession {
		return nil
	}
	members, ok := rawjson.Members(r.args)
	if !ok {
		return nil // the schema check says so better
	}
	kept := members[:0:0]
	seen := map[string]bool{}
	for _, m := range members {
		if m.Name == "lane" && t.TakesSession && !t.HasProperty("lane") {
			return invalid(m.Name, `is called "session" now`)
		}
		taken, expected := r.relayArgs.read(t, m.Name, m.Value)
		switch {
		case !taken:
			kept = append(kept, m)
			continue
		case seen[m.Name]:
			return invalid(m.Name, "is given twice")
		case expected != "":
			return invalid(m.Name, "expected "+expected+", but got "+clip.Runes(string(m.Value), 60))
		}
		seen[m.Name] = true
	}
	if t.NeedsInstance && r.relayArgs.instance == "" && r.relayArgs.tab == 0 {
		return fault.New(fault.InstanceRequired,
			fmt.Sprintf("Plugin %s works with several instances: %s", t.Group, strings.Join(instances(t), ", ")))
	}
	if len(kept) == len(members) {
		return nil
	}
	if !rawjson.Valid(r.args) {
		return fault.New(fault.ValidationError, "Invalid arguments: they are not valid JSON")
	}
	r.args = rawjson.Join(kept)
	r.call.MaxBytes = cmp.Or(r.relayArgs.maxBytes, r.call.MaxBytes)
	r.call.ArrayPath = cmp.Or(r.relayArgs.arrayPath, r.call.ArrayPath)
	r.call.Timeout = cmp.Or(r.relayArgs.timeout, r.call.Timeout)
	if r.relayArgs.session != "" && r.call.Session.Bounds == nil { // whose session is its own, and no other's
		base, _, _ := strings.Cut(r.call.Session.ID, call.NamedSession)
		r.call.Session.ID = base + call.NamedSession + r.relayArgs.session
	}
	return nil
}

// relayArgs are the arguments that are for the relay, not for the tool.
type relayArgs struct {
	tab       int
	profile   string
	instance  string // empty: any
	session   string // name of a session within that of the client
	timeout   time.Duration
	maxBytes  int
	arrayPath string
}

// read sets an argument if it is one for the relay; expected is what its value should have been, if it is invalid.
func (o *relayArgs) read(t *registry.Tool, name string, value json.RawMessage) (taken bool, expected string) {
	switch {
	case name == "tabId" && t.TakesTab:
		n, err := strconv.ParseFloat(string(value), 64)
		if err != nil || n < 1 || n > math.MaxInt32 || n != math.Trunc(n) {
			return true, "an integer of at least 1"
		}
		o.tab = int(n)
	case name == "timeoutMs" && t.TakesTimeout:
		n, err := strconv.ParseFloat(string(value), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || n < 1 || n != math.Trunc(n) {
			return true, "an integer of at least 1"
		}
		o.timeout = call.Timeout(n)
	case name == "maxBytes" && t.TakesMaxBytes:
		n, err := strconv.ParseFloat(string(value), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || n < 1 || n != math.Trunc(n) {
			return true, "an integer of at least 1"
		}
		o.maxBytes = int(min(n, math.MaxInt32))
	case name == "profile" && t.TakesProfile:
		if json.Unmarshal(value, &o.profile) != nil || o.profile == "" {
			return true, "a profile's name"
		}
	case name == "arrayPath" && t.TakesArrayPath:
		if json.Unmarshal(value, &o.arrayPath) != nil {
			return true, "a path such as .data.items"
		}
	case name == "session" && t.TakesSession:
		if json.Unmarshal(value, &o.session) != nil || !call.SessionName.MatchString(o.session) {
			return true, "a name of 1 to 64 letters, digits, ., _ or -"
		}
	case name == "instance" && t.TakesInstance:
		if json.Unmarshal(value, &o.instance) != nil || !slices.Contains(instances(t), strconv.Quote(o.instance)) {
			return true, "one of " + strings.Join(instances(t), ", ")
		}
	default:
		return false, ""
	}
	return true, ""
}

func instances(t *registry.Tool) []string {
	names := make([]string, len(t.Site.Instances))
	for i, in := range t.Site.Instances {
		names[i] = strconv.Quote(in.Name)
	}
	return names
}

func invalid(name, problem string) *fault.Error {
	return fault.New(fault.ValidationError, "Invalid arguments: "+name+": "+problem)
}
