package draft

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// field is one argument of a tool.
type field struct {
	name     string // of the argument
	wire     string // as the site calls it
	schema   map[string]any
	required bool
	sample   any
	on       string // what a checked box sends; empty: it is none
}

// ownArguments are those that the relay has on every tool of a page.
var ownArguments = map[string]bool{"tabId": true, "profile": true, "timeoutMs": true, "maxBytes": true,
	"instance": true,
	"signal":   true, "constructor": true}

// arguments are the fields of a tool, by name.
type arguments struct{ list []*field }

// add adds an argument, or returns the one of the same place that is there.
func (a *arguments) add(wire, name string, schema map[string]any, required bool, sample any) *field {
	if ownArguments[name] {
		name += "Value"
	}
	base := name
	for n := 2; slices.ContainsFunc(a.list, func(f *field) bool { return f.name == name }); n++ {
		name = base + strconv.Itoa(n)
	}
	f := &field{name: name, wire: wire, schema: schema, required: required, sample: sample}
	a.list = append(a.list, f)
	return f
}

// schema is that of a tool's input.
func (a *arguments) schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range a.list {
		properties[f.name] = f.schema
		if f.required {
			required = append(required, f.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		slices.Sort(required)
		schema["required"] = required
	}
	return schema
}

// samples are arguments for a fixture.
func (a *arguments) samples() map[string]any {
	all := map[string]any{}
	for _, f := range a.list {
		all[f.name] = f.sample
	}
	return all
}

// cacheBusters are fields that only keep an answer from being kept.
var cacheBusters = map[string]bool{"_": true, "_t": true, "_ts": true, "ts": true, "timestamp": true, "cb": true,
	"nocache": true, "cachebuster": true, "_dc": true}

// pathArguments are arguments for the segments of a path that vary, in their order.
func (a *arguments) pathArguments(segments []string, samples [][]string) []part {
	parts := make([]part, len(segments))
	for i, segment := range segments {
		if segment != "*" {
			parts[i].fixed = segment
			continue
		}
		noun := ""
		if i > 0 && segments[i-1] != "*" {
			noun = singular(segments[i-1])
		}
		allNumbers, allIDs := true, true
		for _, sample := range samples {
			allNumbers = allNumbers && i < len(sample) && numeric.MatchString(sample[i])
			allIDs = allIDs && i < len(sample) && isID(sample[i])
		}
		name := camel(noun, "part")
		if noun == "" {
			name = "id"
		} else if allIDs {
			name += "Id"
		}
		schema, value := map[string]any{"type": "string", "minLength": 1}, any("sample-1")
		if allNumbers {
			schema, value = map[string]any{"type": "integer"}, 1
		}
		schema["description"] = "In the address, after /" + plainText(strings.Join(fixedBefore(segments, i), "/")) +
			"/."
		parts[i].param = a.add("", name, schema, true, value)
	}
	return parts
}

func fixedBefore(segments []string, i int) []string {
	out := slices.Clone(segments[:i])
	for n, s := range out {
		if s == "*" {
			out[n] = "…"
		}
	}
	return out
}

// valueArguments are arguments for fields of a query or a form. A field with one harmless value in all samples has it
// as default.
func (a *arguments) valueArguments(samples []url.Values, skip func(name string) bool, form *event) []*field {
	count := map[string]int{}
	values := map[string][]string{}
	lists := map[string]bool{}
	for _, one := range samples {
		for name, list := range one {
			count[name]++
			values[name] = append(values[name], list...)
			lists[name] = lists[name] || len(list) > 1 || strings.HasSuffix(name, "[]")
		}
	}
	var all []*field
	for _, wire := range slices.Sorted(maps.Keys(values)) {
		if skip(wire) || cacheBusters[strings.ToLower(wire)] || !isASCIIName(wire) || len(wire) > 100 ||
			isID(wire) || looksRandom(wire) {
			continue
		}
		schema, sample := textSchema(wire, values[wire])
		required := count[wire] == len(samples) && form == nil
		if distinct := slices.Compact(slices.Sorted(slices.Values(values[wire]))); len(distinct) == 1 && !lists[wire] &&
			harmless(wire, distinct[0]) && form == nil {
			schema["default"], sample = typed(schema, distinct[0]), typed(schema, distinct[0])
			required = false
		}
		if lists[wire] {
			schema = map[string]any{"type": "array", "items": schema}
			sample = []any{sample}
		}
		f := a.add(wire, camel(wire, "field"), schema, required, sample)
		describe(f, form, values[wire])
		all = append(all, f)
	}
	return all
}

// describe takes what a form says about a field.
func describe(f *field, form *event, seen []string) {
	f.schema["description"] = "Sent as " + plainText(f.wire) + "."
	if form == nil {
		return
	}
	i := slices.IndexFunc(form.Fields, func(one Field) bool { return one.Name == f.wire })
	if i < 0 {
		return
	}
	one := form.Fields[i]
	if label := plainText(one.Label); label != "" && !mayBePersonal(label) {
		f.schema["description"] = strings.TrimRight(label, ":* ") + "."
	}
	f.required = one.Required && one.Type != "checkbox" && len(one.Options) == 0
	if one.Type == "checkbox" && len(seen) > 0 && f.schema["type"] != "array" {
		f.on = "on"
		if harmless(f.wire, seen[0]) {
			f.on = seen[0]
		}
		f.schema["type"], f.sample = "boolean", true
		delete(f.schema, "default")
	}
	plain := func(option string) bool {
		return !looksRandom(option) && !strings.Contains(option, "@") && len(option) <= 40
	}
	if len(one.Options) > 1 && f.schema["type"] != "array" && !personalName.MatchString(f.wire) &&
		!slices.ContainsFunc(one.Options, func(o string) bool { return !plain(o) }) {
		// Options that are numbers are ids of this site: they differ elsewhere.
		if !slices.ContainsFunc(one.Options, func(o string) bool { return !word.MatchString(o) && o != "" }) {
			f.schema["type"], f.schema["enum"] = "string", one.Options
			f.sample = one.Options[0]
		}
	}
}

// textSchema infers the type of values that are sent as text.
func textSchema(name string, values []string) (schema map[string]any, sample any) {
	all := func(is func(string) bool) bool {
		return len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return !is(v) })
	}
	switch {
	case all(func(v string) bool { return numeric.MatchString(v) && len(v) < 16 && (v == "0" || v[0] != '0') }):
		return map[string]any{"type": "integer"}, 1
	case all(func(v string) bool { return v == "true" || v == "false" }):
		return map[string]any{"type": "boolean"}, true
	}
	texts := newShape()
	for _, v := range values {
		texts.add(v, 0)
	}
	return texts.inputSchema(name), texts.inputSample(name)
}

// typed is a text as a value of a schema.
func typed(schema map[string]any, text string) any {
	switch schema["type"] {
	case "integer":
		n, _ := strconv.Atoi(text) // it was a number
		return n
	case "boolean":
		return text == "true"
	}
	return text
}

// jsonArguments are arguments for the fields of JSON bodies that are objects; ok is false for others.
func (a *arguments) jsonArguments(bodies []any, skip func(name string) bool) (list []*field, ok bool) {
	s := shapeOf(bodies...)
	if s.objects != s.seen || s.isMap() {
		return nil, false
	}
	for _, wire := range slices.Sorted(maps.Keys(s.fields)) {
		if !plainKey(wire) || skip(wire) {
			continue
		}
		one := s.fields[wire]
		schema := one.inputSchema(wire)
		schema["description"] = "Sent as " + plainText(wire) + "."
		list = append(list, a.add(wire, camel(wire, "field"), schema, one.seen == s.objects, one.inputSample(wire)))
	}
	return list, true
}
