package webmcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/schema"
)

// document is one document of a tab as the extension tells it: its origin is Chrome's word, all else the page's. A tool
// that cannot be read is left out alone: other documents of the tab are not to lose theirs by it.
type document struct {
	Origin  string            `json:"origin"`
	Tools   []json.RawMessage `json:"tools"`
	Dropped float64           `json:"dropped"` // tools beyond what is sent
}

// pageTool is a tool as its page registers it.
type pageTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"` // JSON, or JSON as text
	Annotations annotations     `json:"annotations"`
	Waits       bool            `json:"waits"` // a form that the person has to submit
	Key         string          `json:"key"`   // the same for the same words
}

// annotations are those of WebMCP, and of MCP where pages use these.
type annotations struct {
	ReadOnly      bool `json:"readOnlyHint"`
	Consequential bool `json:"consequentialHint"`
	Destructive   bool `json:"destructiveHint"`
	Idempotent    bool `json:"idempotentHint"`
	Debugging     bool `json:"debugging"`
}

// The longest that is looked at of a page's words; what is listed of them is configured.
const (
	mostToolName = 256
	mostTitle    = 80
	mostArgument = 200 // bytes of what a page says of one argument
)

// waitingTimeoutMs is how long a call may take that waits for the person to submit a form.
const waitingTimeoutMs = 300_000

// spec is the tool as it is listed: the page's words are shortened, cleaned and said to be the page's.
func (x *Index) spec(origin string, t *pageTool) plugin.Tool {
	yes, no := true, false
	s := plugin.Tool{Name: t.Name, DisplayName: line(t.Title, mostTitle)}
	if s.DisplayName == "" {
		s.DisplayName = line(t.Name, mostTitle)
	}
	s.Annotations = plugin.Annotations{ReadOnlyHint: &no, OpenWorldHint: &yes}
	switch {
	case t.Annotations.Consequential, t.Annotations.Destructive:
		s.Annotations.DestructiveHint = &yes
	case t.Annotations.ReadOnly && !t.Waits:
		s.Annotations.ReadOnlyHint, s.Annotations.DestructiveHint = &yes, &no
	}
	if t.Annotations.Idempotent {
		s.Annotations.IdempotentHint = &yes
	}
	var why string
	s.InputSchema, why = x.inputSchema(t.InputSchema)
	s.Description = "Of the page " + origin + ", in its own words, which nobody has checked: “" +
		line(t.Description, x.options.DescriptionBytes) + "”."
	if t.Waits {
		s.TimeoutMs, s.MaxTimeoutMs = waitingTimeoutMs, waitingTimeoutMs
		s.Description += " It fills in a form and waits until the person has submitted it."
	}
	if why != "" {
		s.Description += " Its schema is not used (" + why + "): any arguments are passed on."
	}
	return s
}

// line is words of a page as one line that cannot end the quotation marks around it.
func line(text string, most int) string {
	plain := strings.NewReplacer("“", "'", "”", "'", `"`, "'", "⟨", "(", "⟩", ")")
	return strings.TrimSpace(clip.Bytes(strings.TrimSpace(plain.Replace(fault.Sanitize(text))), most))
}

// anything takes any arguments.
var anything = json.RawMessage(`{"type":"object"}`)

// inputSchema is the page's schema as far as it is sound: without its words beyond a measure, and for objects. Another
// one is replaced by one that takes anything; why says so.
func (x *Index) inputSchema(raw json.RawMessage) (kept json.RawMessage, why string) {
	if text, isText := rawjson.Text(raw); isText && len(raw) > 0 && raw[0] == '"' {
		raw = json.RawMessage(text)
	}
	if len(raw) == 0 || string(raw) == "null" {
		return anything, ""
	}
	switch {
	case len(raw) > x.options.SchemaBytes:
		return anything, fmt.Sprintf("it has %d bytes, more than %d", len(raw), x.options.SchemaBytes)
	case rawjson.Depth(raw) > schema.MaxDepth:
		return anything, fmt.Sprintf("it nests deeper than %d levels", schema.MaxDepth)
	case !rawjson.Valid(raw) || !rawjson.IsObject(raw):
		return anything, "it is not a JSON object"
	}
	clean, problem := cleanSchema(raw, false)
	if problem != "" {
		return anything, problem
	}
	members, _ := rawjson.Members(clean)
	switch kind := rawjson.Get(members, "type"); {
	case kind == nil:
		members = append([]rawjson.Member{rawjson.Make("type", json.RawMessage(`"object"`))}, members...)
	case string(kind) != `"object"`:
		return anything, "it is not one of an object"
	}
	if properties := rawjson.Get(members, "properties"); properties != nil && !rawjson.IsObject(properties) {
		return anything, "its properties are not an object"
	}
	clean = rawjson.Join(members)
	if _, err := schema.Compile(clean); err != nil {
		return anything, line(err.Error(), mostArgument)
	}
	return clean, ""
}

// unused are keywords that check nothing, or mean something to other programs.
var unused = []string{"$schema", "$id", "id", "$anchor", "$comment", "examples", "x-mcp-header"}

// cleanSchema leaves out what is for other programs, and shortens the words for people. named says that the members are
// names of arguments, and no keywords.
func cleanSchema(raw json.RawMessage, named bool) (clean json.RawMessage, problem string) {
	if items, ok := rawjson.Items(raw); ok {
		for i := range items {
			if items[i], problem = cleanSchema(items[i], false); problem != "" {
				return nil, problem
			}
		}
		return rawjson.List(items), ""
	}
	if text, ok := rawjson.Text(raw); ok && len(raw) > 0 && raw[0] == '"' {
		return raw, hidden(text)
	}
	members, ok := rawjson.Members(raw)
	if !ok {
		return raw, ""
	}
	kept := make([]rawjson.Member, 0, len(members))
	for _, m := range members {
		if problem = hidden(m.Name); problem != "" {
			return nil, problem
		}
		switch {
		case named && prototypes[m.Name]:
			return nil, "an argument is called " + m.Name
		case !named && (slices.Contains(unused, m.Name) || strings.HasPrefix(m.Name, "x-")):
			continue
		case !named && (m.Name == "description" || m.Name == "title"):
			text, _ := rawjson.Text(m.Value)
			kept = append(kept, rawjson.Make(m.Name, rawjson.MustEncode(line(text, mostArgument))))
			continue
		}
		names := !named && (m.Name == "properties" || m.Name == "$defs" || m.Name == "definitions" ||
			m.Name == "patternProperties" || m.Name == "dependentSchemas")
		value, problem := cleanSchema(m.Value, names)
		if problem != "" {
			return nil, problem
		}
		kept = append(kept, rawjson.Make(m.Name, value))
	}
	return rawjson.Join(kept), ""
}

var prototypes = map[string]bool{"__proto__": true, "constructor": true, "prototype": true}

// hidden says that a text has characters that nobody sees; empty when it has none.
func hidden(text string) string {
	if strings.ContainsFunc(text, fault.Invisible) {
		return "it has invisible characters"
	}
	return ""
}
