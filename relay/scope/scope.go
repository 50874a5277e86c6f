// Package scope decides what one client may see and call at the most, whatever the rules of permissions say. A person
// gives a client its scope when they add it, see `tabrelay clients`.
package scope

import (
	"fmt"
	"slices"
	"strings"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/registry"
)

// Scope is a [call.Scope] that was read. A nil Scope bounds nothing.
type Scope struct {
	Key      string  // canonical: the same for scopes that bound in the same way; empty: nothing is bounded
	Toolset  Toolset // what a client gets that asks for all
	plugins  map[string]bool
	readOnly bool
	names    string // of plugins, for sentences
	closed   string // why nothing is let through but the relay's own reading tools; empty: it is not so
	next     string // what the person can do about that
}

// Read reads a scope. Its error is a sentence about which part of it cannot be read.
func Read(c call.Scope) (*Scope, error) {
	c, err := Normal(c)
	if err != nil || c == (call.Scope{}) {
		return nil, err
	}
	s := &Scope{readOnly: c.ReadOnly, names: strings.ReplaceAll(c.Plugins, ",", ", ")}
	if s.Toolset, err = ParseToolset(c.Toolset); err != nil {
		return nil, err
	}
	if c.Plugins != "" {
		s.plugins = map[string]bool{}
		for n := range strings.SplitSeq(c.Plugins, ",") {
			s.plugins[n] = true
		}
	}
	s.Key = fmt.Sprintf("%s|%s|%t", s.Toolset.Key, c.Plugins, c.ReadOnly)
	return s, nil
}

// Closed is the scope of a client that may not use anything now: nothing but the relay's own tools that only read. why
// and next are sentences without a full stop: why that is so, and what the person can do.
func Closed(why, next string) *Scope {
	return &Scope{Key: "closed", plugins: map[string]bool{}, readOnly: true, closed: why, next: next}
}

// Normal is the same scope in the one form that is kept: names sorted, each once, and what bounds nothing left out.
func Normal(c call.Scope) (call.Scope, error) {
	t, err := ParseToolset(c.Toolset)
	if err != nil {
		return call.Scope{}, err
	}
	if c.Toolset = t.Key; t.All {
		c.Toolset = ""
	}
	names := strings.FieldsFunc(c.Plugins, separates)
	slices.Sort(names)
	names = slices.Compact(names)
	for _, n := range names {
		if !name.MatchString(n) {
			return call.Scope{}, fmt.Errorf("plugins %.60q: expected names of plugins, separated by commas", c.Plugins)
		}
	}
	if c.Plugins = strings.Join(names, ","); slices.Contains(names, "all") {
		c.Plugins = ""
	}
	return c, nil
}

// Covers reports whether a client with this scope may see and call t. The relay's own tools that only read are for
// every client.
func (s *Scope) Covers(t *registry.Tool) bool {
	switch {
	case s == nil:
		return true
	case s.readOnly && !t.ReadOnly:
		return false
	case own(t):
		return true
	}
	return (s.plugins == nil || s.plugins[Group(t)]) && s.Toolset.Reaches(t)
}

// CoversPages reports whether a client with this scope may read open tabs as resources, which is what the browser's own
// tools can.
func (s *Scope) CoversPages() bool { return s == nil || s.plugins == nil || s.plugins["browser"] }

// Refuse says why a client may not call t, nil when it may.
func (s *Scope) Refuse(client string, t *registry.Tool) *fault.Error {
	if s.Covers(t) {
		return nil
	}
	if s.closed != "" {
		return fault.New(fault.PermissionDenied, fmt.Sprintf("%s cannot be used by the client %s: %s", t.Name, fault.Sanitize(client), s.closed),
			fault.WithHint("Do not try again by yourself; tell the person: "+s.next+"."))
	}
	why := "it may only use the toolset " + s.Toolset.Key
	switch {
	case s.readOnly && !t.ReadOnly:
		why = "it may only call tools that read, and " + t.Name + " does not say that it only reads"
	case s.plugins != nil && !s.plugins[Group(t)]:
		why = "it may only use the plugins " + s.names
	}
	return fault.New(fault.PermissionDenied, fmt.Sprintf("%s is outside the scope of the client %s: %s", t.Name, fault.Sanitize(client), why),
		fault.WithHint(fmt.Sprintf("Do not look for a way around it; the person can change the scope with `tabrelay clients scope %s`.", fault.Sanitize(client))))
}

// Words are a scope as a person reads it.
func Words(c call.Scope) string {
	var parts []string
	if c.Toolset != "" {
		parts = append(parts, "toolset "+c.Toolset)
	}
	if c.Plugins != "" {
		parts = append(parts, "plugins "+c.Plugins)
	}
	if c.ReadOnly {
		parts = append(parts, "read-only")
	}
	if len(parts) == 0 {
		return "everything"
	}
	return strings.Join(parts, "; ")
}

// Widens reports whether a client with the scope after may use anything that one with the scope before may not.
func Widens(before, after call.Scope) bool {
	return before.ReadOnly && !after.ReadOnly || !within(after.Toolset, before.Toolset) || !within(after.Plugins, before.Plugins)
}

// within reports whether a list of names bounds at least as much as another one. An empty one bounds nothing, and the
// name none stands for nothing.
func within(list, bound string) bool {
	if bound == "" || list == "none" {
		return true
	}
	allowed := strings.Split(bound, ",")
	for one := range strings.SplitSeq(list, ",") {
		if !slices.Contains(allowed, one) {
			return false
		}
	}
	return true
}
