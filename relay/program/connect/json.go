package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"tabrelay/relay/lib/rawjson"
)

// jsonDocument is a file in JSON, with or without comments and trailing commas.
type jsonDocument struct{ hujson.Value }

func parseJSON(text []byte) (document, error) {
	if text == nil {
		return &jsonDocument{hujson.Value{Value: &hujson.Object{}, AfterExtra: hujson.Extra("\n")}}, nil
	}
	v, err := rawjson.ParseCommented(text)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	return &jsonDocument{v}, nil
}

func (d *jsonDocument) pack() []byte { return d.Pack() }

func (d *jsonDocument) entry(path []string) (asJSON []byte, found bool) {
	v := d.Find(rawjson.Pointer(path))
	if v == nil {
		return nil, false
	}
	standard := v.Clone()
	standard.Standardize()
	return standard.Pack(), true
}

func (d *jsonDocument) put(path []string, value any) error { return put(&d.Value, path, value) }

func (d *jsonDocument) remove(path []string) error {
	remove(&d.Value, path)
	return nil
}

func (d *jsonDocument) has(path []string) bool { return d.Find(rawjson.Pointer(path)) != nil }

func (d *jsonDocument) prune(path []string) {
	v := d.Find(rawjson.Pointer(path))
	if v == nil {
		return
	}
	if obj, ok := v.Value.(*hujson.Object); ok && bare(obj) {
		remove(&d.Value, path)
	}
}

func (d *jsonDocument) empty() bool {
	obj, ok := d.Value.Value.(*hujson.Object)
	return ok && bare(obj) && d.BeforeExtra.IsStandard() && d.AfterExtra.IsStandard()
}

// bare reports whether an object has neither members nor comments.
func bare(obj *hujson.Object) bool { return len(obj.Members) == 0 && obj.AfterExtra.IsStandard() }

// put sets the value at path, and makes the objects on the way. Only the lines of the value itself, and of
// objects that are new, change.
func put(doc *hujson.Value, path []string, value any) error {
	obj, ok := doc.Value.(*hujson.Object)
	if !ok {
		return fmt.Errorf("an object was expected at its top")
	}
	unit := indentation(obj)
	for depth, name := range path {
		m := find(obj, name)
		last := depth == len(path)-1
		if m == nil {
			obj.Members = append(obj.Members, member(obj, name, strings.Repeat(unit, depth+1)))
			m = &obj.Members[len(obj.Members)-1]
			ended(obj, strings.Repeat(unit, depth))
			if !last {
				m.Value.Value = &hujson.Object{}
			}
		}
		if last {
			return set(&m.Value, value, strings.Repeat(unit, depth+1), unit)
		}
		if obj, ok = m.Value.Value.(*hujson.Object); !ok {
			return fmt.Errorf("an object was expected as the value of %q", strings.Join(path[:depth+1], "."))
		}
	}
	return nil
}

// set replaces a value, unless it means the same already.
func set(v *hujson.Value, value any, margin, unit string) error {
	want, err := json.MarshalIndent(value, margin, unit)
	if err != nil {
		return err
	}
	if v.Value != nil && same(*v, want) {
		return nil
	}
	parsed, err := rawjson.ParseCommented(want)
	if err != nil {
		return err
	}
	v.Value = parsed.Value
	return nil
}

func same(v hujson.Value, text []byte) bool {
	have := v.Clone()
	have.Minimize()
	want, err := rawjson.ParseCommented(text)
	if err != nil {
		return false
	}
	want.Minimize()
	return bytes.Equal(sorted(have.Pack()), sorted(want.Pack()))
}

// sorted writes a document with its members in order.
func sorted(text []byte) []byte {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return text
	}
	out, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return out
}

// member is a new last member of obj, on a line of its own.
func member(obj *hujson.Object, name, margin string) hujson.ObjectMember {
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}}
	m.Name.BeforeExtra = hujson.Extra("\n" + margin)
	m.Value.BeforeExtra = hujson.Extra(" ")
	if n := len(obj.Members); n > 0 {
		// A comment after the last member stays where it is, before the new one.
		m.Name.BeforeExtra = append(slices.Clone(comments(obj.AfterExtra)), m.Name.BeforeExtra...)
	}
	return m
}

// comments is the part of an object's last white space up to the end of its comments.
func comments(extra hujson.Extra) hujson.Extra {
	if extra.IsStandard() {
		return nil
	}
	return hujson.Extra(bytes.TrimRight(extra, " \t\r\n"))
}

// ended puts the closing brace on a line of its own, and a comma after the last member where the text had one.
func ended(obj *hujson.Object, margin string) {
	n := len(obj.Members)
	if n > 1 && commaAtEnd(obj.Members[:n-1]) {
		obj.Members[n-1].Value.AfterExtra = hujson.Extra{}
	}
	obj.AfterExtra = hujson.Extra("\n" + margin)
}

// commaAtEnd reports whether the last member is followed by a comma, which hujson marks in this way.
func commaAtEnd(members []hujson.ObjectMember) bool {
	return len(members) > 0 && members[len(members)-1].Value.AfterExtra != nil
}

// remove takes the value at path out, if it is there, and leaves the objects on the way.
func remove(doc *hujson.Value, path []string) {
	obj, ok := doc.Value.(*hujson.Object)
	for _, name := range path[:len(path)-1] {
		if !ok {
			return
		}
		m := find(obj, name)
		if m == nil {
			return
		}
		obj, ok = m.Value.Value.(*hujson.Object)
	}
	if !ok {
		return
	}
	i := slices.IndexFunc(obj.Members, func(m hujson.ObjectMember) bool { return named(m, path[len(path)-1]) })
	if i >= 0 {
		cut(obj, i)
	}
}

// cut removes one member. Comments above it may be about something else: they stay.
func cut(obj *hujson.Object, i int) {
	comma, above := commaAtEnd(obj.Members), comments(obj.Members[i].Name.BeforeExtra)
	obj.Members = slices.Delete(obj.Members, i, i+1)
	if i < len(obj.Members) {
		next := &obj.Members[i].Name.BeforeExtra
		*next = append(slices.Clone(above), *next...)
		return
	}
	obj.AfterExtra = append(slices.Clone(above), obj.AfterExtra...)
	if i == 0 {
		if obj.AfterExtra.IsStandard() {
			obj.AfterExtra = nil
		}
		return
	}
	if obj.AfterExtra.IsStandard() && !slices.ContainsFunc(obj.Members, onItsOwnLine) {
		obj.AfterExtra = nil // the brace was moved to a line of its own for the member that is gone
	}
	last := &obj.Members[i-1].Value.AfterExtra
	switch {
	case comma && *last == nil:
		*last = hujson.Extra{}
	case !comma:
		obj.AfterExtra = append(slices.Clone(comments(*last)), obj.AfterExtra...)
		*last = nil
	}
}

func onItsOwnLine(m hujson.ObjectMember) bool { return bytes.ContainsRune(m.Name.BeforeExtra, '\n') }

func find(obj *hujson.Object, name string) *hujson.ObjectMember {
	for i := range obj.Members {
		if named(obj.Members[i], name) {
			return &obj.Members[i]
		}
	}
	return nil
}

func named(m hujson.ObjectMember, name string) bool {
	literal, ok := m.Name.Value.(hujson.Literal)
	return ok && literal.String() == name
}

// indentation is what one level of the file is indented by.
func indentation(obj *hujson.Object) string {
	for _, m := range obj.Members {
		extra := string(m.Name.BeforeExtra)
		if at := strings.LastIndexByte(extra, '\n'); at >= 0 && len(extra) > at+1 &&
			strings.Trim(extra[at:], " \t\n") == "" {
			return extra[at+1:]
		}
	}
	return "  "
}
