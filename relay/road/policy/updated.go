package policy

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"tabrelay/relay/road/call"
)

// ChangeUpdated are the tools that an update of tabrelay brought. What it does by default, and its plugins, are part of
// the rights that are compared at each start.
const ChangeUpdated = "updated"

// programSwitch is the name under which the store has the program of the last start, as JSON.
const programSwitch = "program"

// program is a version of tabrelay with its tools, and with those that an update brought.
type program struct {
	Version string   `json:"version"`
	Tools   []string `json:"tools"`          // also of plugins that are off now
	From    string   `json:"from,omitempty"` // the version that did not have New
	New     []string `json:"new,omitempty"`  // until the person has read of them
}

// tellUpdated finds out, once all tools are known, which ones came with an update. A plugin that was not there before
// is told of by [Policy.compareStarts].
func (p *Policy) tellUpdated(ctx context.Context) (*Change, error) {
	text, err := p.options.Store.Switch(ctx, programSwitch)
	if err != nil {
		return nil, err
	}
	var is program
	known := text != "" && json.Unmarshal([]byte(text), &is) == nil
	if now := p.shippedTools(); !known {
		is = program{Tools: now}
	} else if is.Version != p.options.Version {
		is.add(now)
	} else {
		is.Tools = union(is.Tools, now)
	}
	is.Version = p.options.Version
	written, _ := json.Marshal(is) // strings always encode
	if string(written) != text {
		if err := p.options.Store.SetSwitch(ctx, programSwitch, string(written)); err != nil {
			return nil, err
		}
		if c := is.change(); c != nil {
			p.RecordWidening(call.Session{Via: "config"}, c, "came with an update", ByRelay)
		}
	}
	return is.change(), nil
}

// add takes over the tools of another version.
func (is *program) add(tools []string) {
	for _, tool := range tools {
		plugin, _, named := strings.Cut(tool, "__")
		ofPlugin := func(other string) bool { return strings.HasPrefix(other, plugin+"__") }
		if slices.Contains(is.Tools, tool) || named && !slices.ContainsFunc(is.Tools, ofPlugin) {
			continue
		}
		if len(is.New) == 0 {
			is.From = is.Version
		}
		is.New = union(is.New, []string{tool})
	}
	is.Tools = union(is.Tools, tools)
}

// change is what the person reads of an update; nil: it brought no tools, or they have read it.
func (is *program) change() *Change {
	if len(is.New) == 0 {
		return nil
	}
	return NewChange("tabrelay was updated from version "+is.From+" to "+is.Version, "", call.Difference{
		What: "new tools", Before: "none", After: strings.Join(is.New, ", ")})
}

// Updated lists the tools that an update brought, until the person has read of them.
func (p *Policy) Updated() string {
	if c := p.toAcknowledge().updated; c != nil {
		return c.String()
	}
	return ""
}

// readUpdated notes that the person has read of the tools that an update brought.
func (p *Policy) readUpdated(ctx context.Context) error {
	text, err := p.options.Store.Switch(ctx, programSwitch)
	if err != nil {
		return err
	}
	var is program
	_ = json.Unmarshal([]byte(text), &is) // it was written by tellUpdated
	is.From, is.New = "", nil
	written, _ := json.Marshal(is)
	return p.options.Store.SetSwitch(ctx, programSwitch, string(written))
}

// shippedTools are the tools of this program and its plugins.
func (p *Policy) shippedTools() (list []string) {
	if p.options.Tools == nil {
		return nil
	}
	for _, a := range p.options.Tools() {
		if a.Shipped || a.BuiltIn {
			list = append(list, a.Tool)
		}
	}
	return union(list, nil)
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
