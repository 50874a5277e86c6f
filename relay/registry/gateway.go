package registry

import (
	"encoding/json"
	"slices"
	"strings"

	"tabrelay/relay/clip"
	"tabrelay/relay/rawjson"
)

// The three tools through which a caller with a small list finds and calls every tool there is. They are no tools of
// the registry: whoever lists them carries them out.
const (
	CallTool     = "relay__call_tool"
	DescribeTool = "relay__describe_tool"
	SearchTools  = "relay__search_tools"
)

// Gateway is the MCP tool object of each, in order of name.
var Gateway = []struct{ Name, Object string }{
	{CallTool, `{"name":"` + CallTool + `","title":"Call a tool","description":"Calls a tool that is not listed, ` +
		`by its full name.","inputSchema":{"type":"object","properties":{"name":{"type":"string"},` +
		`"arguments":{"type":"object"}},"required":["name"],"additionalProperties":false},` +
		`"annotations":{"openWorldHint":true},"_meta":` + Meta + `}`},
	{DescribeTool, `{"name":"` + DescribeTool + `","title":"Describe a tool","description":"All about one tool: ` +
		`description, schemas, annotations.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},` +
		`"required":["name"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"openWorldHint":false},"_meta":` + Meta + `}`},
	{SearchTools, `{"name":"` + SearchTools + `","title":"Search tools","description":"Finds tools by what they do: ` +
		`wiki edit page. Answers name(argument, optional?).",` +
		`"inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer",` +
		`"default":5}},"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"openWorldHint":false},"_meta":` + Meta + `}`},
}

// Search answers a caller that looks for tools: the first of those that it is shown, how many these are, and one line
// about those that the person could enable, empty for none.
func Search(shown []*Tool, limit int, off string) json.RawMessage {
	type hit struct {
		Name        string `json:"name"`
		Title       string `json:"title,omitempty"`
		Description string `json:"description,omitempty"`
	}
	hits := []hit{}
	for _, t := range shown[:min(limit, len(shown))] {
		hits = append(hits, hit{t.Name, t.Spec.DisplayName, clip.Runes(t.Spec.Description, 300)})
	}
	return rawjson.MustEncode(struct {
		Tools []hit  `json:"tools"`
		Total int    `json:"total"`
		Off   string `json:"off,omitempty"` // what the person could enable
	}{hits, len(shown), off})
}

// Rank returns the tools in which at least one word of a query occurs, best first: a word in the name counts most, then
// in the title, then in the description. Without words it returns them all.
func Rank(tools []*Tool, query string) []*Tool {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return tools
	}
	scores := map[*Tool]int{}
	var found []*Tool
	for _, t := range tools {
		name, title, description := strings.ToLower(t.Name), strings.ToLower(t.Spec.DisplayName),
			strings.ToLower(t.Spec.Description)
		for _, word := range words {
			switch {
			case strings.Contains(name, word):
				scores[t] += 4
			case strings.Contains(title, word):
				scores[t] += 2
			case strings.Contains(description, word):
				scores[t]++
			}
		}
		if scores[t] > 0 {
			found = append(found, t)
		}
	}
	slices.SortStableFunc(found, func(a, b *Tool) int { return scores[b] - scores[a] })
	return found
}
