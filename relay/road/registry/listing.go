package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
)

// Meta is the _meta of every listed tool. Claude Code puts a result of more characters than this into a file and shows
// its model the beginning. The relay bounds its answers itself, so the number is the largest that Claude Code takes:
// only what an agent asked for, with maxBytes, comes near it.
const Meta = `{"anthropic/maxResultSizeChars":500000}`

// asks is in the _meta of a listed tool about which the person is asked.
const asks = `,"tabrelay/permission":"ask"`

// The arguments every page tool also takes, as they are listed: without a description, which would cost an agent's
// context thirty tokens in every tool; the instructions say once what they mean. profile is listed only while several
// are connected, see Tool.InList. The others (timeoutMs, maxBytes, arrayPath, session) are taken and not listed.
const (
	tabProperty     = `{"type":"integer"}`
	profileProperty = `{"type":"string"}`
)

// withTarget adds the relay's own arguments to a plugin tool's input schema, and notes which ones it takes. A name the
// tool uses itself stays the tool's.
func (t *Tool) withTarget(schema []rawjson.Member) ([]rawjson.Member, error) {
	if bytes.Contains(t.Spec.InputSchema, []byte(headerKeyword)) {
		var err error
		if t.Mirrored, err = mirrored(schema); err != nil {
			return nil, err
		}
	}
	if t.Plugin == nil {
		return schema, nil
	}
	var own []rawjson.Member
	if raw := rawjson.Get(schema, "properties"); raw != nil {
		var ok bool
		if own, ok = rawjson.Members(raw); !ok {
			return nil, errors.New("the properties of its input schema are not an object")
		}
	}
	add := func(name string, property json.RawMessage) bool {
		if rawjson.Get(own, name) != nil {
			return false
		}
		own = append(own, rawjson.Make(name, property))
		return true
	}
	t.TakesTab = add("tabId", json.RawMessage(tabProperty))
	t.TakesProfile = rawjson.Get(own, "profile") == nil
	t.TakesTimeout = rawjson.Get(own, "timeoutMs") == nil
	t.TakesMaxBytes = rawjson.Get(own, "maxBytes") == nil
	t.TakesArrayPath = rawjson.Get(own, "arrayPath") == nil
	t.TakesSession = rawjson.Get(own, "session") == nil
	t.TakesInstance = len(t.Site.Instances) > 0 && rawjson.Get(own, "instance") == nil
	if t.NeedsInstance = t.TakesInstance && len(t.Site.Instances) > 1; t.NeedsInstance {
		add("instance", instanceProperty(t.Site.Instances))
		required, err := alsoRequired(rawjson.Get(schema, "required"), "instance")
		if err != nil {
			return nil, err
		}
		schema = with(schema, "required", required)
	}
	return with(schema, "properties", rawjson.Join(own)), nil
}

func instanceProperty(instances []plugin.Instance) json.RawMessage {
	names := make([]string, len(instances))
	for i, in := range instances {
		names[i] = in.Name
	}
	enum, _ := json.Marshal(names) // strings always encode
	return json.RawMessage(`{"type":"string","enum":` + string(enum) +
		`,"description":"Which configured instance of the web app to use."}`)
}

func alsoRequired(required json.RawMessage, name string) (json.RawMessage, error) {
	var names []string
	if required != nil && json.Unmarshal(required, &names) != nil {
		return nil, errors.New("the required of its input schema is not a list of names")
	}
	return json.Marshal(append(names, name))
}

// with replaces a member in place, or appends it.
func with(members []rawjson.Member, name string, value json.RawMessage) []rawjson.Member {
	i := slices.IndexFunc(members, func(m rawjson.Member) bool { return m.Name == name })
	if i < 0 {
		return append(members, rawjson.Make(name, value))
	}
	members[i].Value = value
	return members
}

// asObject is an output schema as MCP wants it, that is, of an object. Another is wrapped as {"result": …}, with
// its definitions moved up so that its references still lead somewhere. One that refers to itself as a whole
// cannot be moved; such a tool is listed without an output schema, and still wrapped and checked.
func asObject(schema []rawjson.Member) (listed []rawjson.Member, wrapped bool) {
	if string(rawjson.Get(schema, "type")) == `"object"` {
		return schema, false
	}
	if refersToRoot(rawjson.Join(schema)) {
		return nil, true
	}
	root := []rawjson.Member{rawjson.Make("type", json.RawMessage(`"object"`))}
	var inner []rawjson.Member
	for _, m := range schema {
		switch m.Name {
		case "$schema", "$defs", "definitions":
			root = append(root, m)
		default:
			inner = append(inner, m)
		}
	}
	return append(root,
		rawjson.Make("properties", rawjson.Join([]rawjson.Member{rawjson.Make("result", rawjson.Join(inner))})),
		rawjson.Make("required", json.RawMessage(`["result"]`))), true
}

// withNote lets an output schema that names all members there may be allow the one in which the relay says what it did
// to a result (call.NoteMember).
func withNote(schema []rawjson.Member) ([]rawjson.Member, error) {
	var own []rawjson.Member
	if raw := rawjson.Get(schema, "properties"); raw != nil {
		var ok bool
		if own, ok = rawjson.Members(raw); !ok {
			return nil, errors.New("the properties of its output schema are not an object")
		}
	}
	if rawjson.Get(own, call.NoteMember) != nil {
		return nil, fmt.Errorf("its output schema has a property %s, which is the relay's", call.NoteMember)
	}
	if others := rawjson.Get(schema, "additionalProperties"); (others == nil || string(others) == "true") &&
		rawjson.Get(schema, "unevaluatedProperties") == nil {
		return schema, nil
	}
	return with(schema, "properties",
		rawjson.Join(append(own, rawjson.Make(call.NoteMember, json.RawMessage(`{"type":"object"}`))))), nil
}

var localReference = lazyregexp.New(`"\$(?:ref|dynamicRef|recursiveRef)":"#([^"]*)"`)

// refersToRoot finds references that wrapping would break: everything local but into the definitions.
func refersToRoot(schema json.RawMessage) bool {
	for _, found := range localReference.FindAllSubmatch(schema, -1) {
		if !bytes.HasPrefix(found[1], []byte("/$defs/")) && !bytes.HasPrefix(found[1], []byte("/definitions/")) {
			return true
		}
	}
	return false
}

// list encodes the MCP tool object as tools/list has it.
func (t *Tool) list(input, output []rawjson.Member) error {
	if t.AgenticText == nil {
		input = brief(input)
	}
	object, start, end, err := t.object(input, output)
	if err != nil {
		return err
	}
	t.Listed, t.ListedInput = object, object[start:end:end]
	t.Tokens = Tokens(t.Name) + Tokens(t.Spec.Description) + Tokens(t.ListedInput)
	if t.TakesProfile { // behind the last property; there is one: every page tool has an argument tabId
		at := slices.IndexFunc(input, func(m rawjson.Member) bool { return m.Name == "properties" })
		t.profileAt = start + len(rawjson.Join(input[:at+1])) - len("}}")
	}
	return nil
}

// InList is the tool object of tools/list; with profiles it lists the argument by which one of several is chosen.
func (t *Tool) InList(profiles bool) []byte {
	if !profiles || t.profileAt == 0 {
		return t.Listed
	}
	const property = `,"profile":` + profileProperty
	b := make([]byte, 0, len(t.Listed)+len(property))
	b = append(append(b, t.Listed[:t.profileAt]...), property...)
	return append(b, t.Listed[t.profileAt:]...)
}

// Whole is the tool object with everything that is known of the tool, also what tools/list leaves out.
func (t *Tool) Whole() json.RawMessage {
	whole := *t
	input, output, err := whole.structures()
	if err == nil && t.TakesProfile {
		own, _ := rawjson.Members(rawjson.Get(input, "properties"))
		own = append(slices.Clone(own), rawjson.Make("profile", json.RawMessage(profileProperty)))
		input = with(input, "properties", rawjson.Join(own))
	}
	if err == nil {
		if object, _, _, err := t.object(input, output); err == nil {
			return object
		}
	}
	return t.Listed // it was accepted, so nothing above fails
}

// object encodes an MCP tool object; the input schema is in it from start to end.
func (t *Tool) object(input, output []rawjson.Member) (object []byte, start, end int, err error) {
	var b bytes.Buffer
	b.Grow(len(t.Spec.InputSchema) + len(t.Spec.OutputSchema) + len(t.Spec.Description) + 640)
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	head := struct {
		Name        string `json:"name"`
		Title       string `json:"title,omitempty"`
		Description string `json:"description,omitempty"`
	}{t.Name, t.Spec.DisplayName, t.Spec.Description}
	if err := e.Encode(head); err != nil {
		return nil, 0, 0, fmt.Errorf("its description does not encode: %w", err)
	}
	b.Truncate(b.Len() - len("}\n"))
	b.WriteString(`,"inputSchema":`)
	start = b.Len()
	b.Write(rawjson.Join(input))
	end = b.Len()
	if output != nil {
		b.WriteString(`,"outputSchema":`)
		b.Write(rawjson.Join(output))
	}
	if t.Spec.Annotations != (plugin.Annotations{}) {
		annotations, err := json.Marshal(t.Spec.Annotations)
		if err != nil {
			return nil, 0, 0, fmt.Errorf("its annotations do not encode: %w", err)
		}
		b.WriteString(`,"annotations":`)
		b.Write(annotations)
	}
	b.WriteString(`,"_meta":` + Meta)
	b.WriteByte('}')
	return b.Bytes(), start, end, nil
}

// Tokens estimates how many tokens a text is for a model, without a vocabulary of 2 MB.
// Of the tools that ship it is 6 % more than o200k counts, of scripts other than Latin up to three times as many.
func Tokens[T ~string | ~[]byte](text T) int {
	tenths := 0
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf:
			i += runeBytes(c)
			tenths += 10
			continue
		case isLetter(c):
			end := i + 1
			for end < len(text) && isLetter(text[end]) && !(text[end] < 'a' && text[end-1] >= 'a') {
				end++
			}
			tenths += 10 * ((end - i + 8) / 9)
			i = end
			continue
		case isDigit(c):
			end := i + 1
			for end < len(text) && isDigit(text[end]) {
				end++
			}
			tenths += 10 * ((end - i + 2) / 3)
			i = end
			continue
		case c != ' ': // a blank belongs to the word behind it, and to no number
			tenths += 4
		case i+1 < len(text) && isDigit(text[i+1]):
			tenths += 10
		}
		i++
	}
	return (tenths + 9) / 10
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLetter reports whether a byte is an ASCII letter; those below 'a' are upper-case.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// runeBytes is the length of the UTF-8 sequence that a byte begins.
func runeBytes(first byte) int {
	switch {
	case first >= 0xf0:
		return 4
	case first >= 0xe0:
		return 3
	}
	return 2
}
