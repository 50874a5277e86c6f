package registry

import (
	"bytes"
	"encoding/json"
	"strings"

	"tabrelay/relay/rawjson"
)

// The three tools through which a caller with a small list finds and calls every tool there is. They are no tools of
// the registry: whoever lists them carries them out.
const (
	CallTool     = "relay__call_tool"
	DescribeTool = "relay__describe_tool"
	SearchTools  = "relay__search_tools"
)

// searches is what one of them says of itself.
const searches = `Finds tools by what they do: wiki edit page. Answers name(argument, optional?).`

// SearchObject is the MCP tool object of SearchTools with one more sentence.
func SearchObject(object, sentence string) string {
	return strings.Replace(object, searches, searches+" "+sentence, 1)
}

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
	{SearchTools, `{"name":"` + SearchTools + `","title":"Search tools","description":"` + searches + `",` +
		`"inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer",` +
		`"default":5}},"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"openWorldHint":false},"_meta":` + Meta + `}`},
}

// ArgumentsOf are the arguments for the tool that a call of the gateway names. Models also write them as a string of
// JSON. It is not ok when they are no object; without any they are nil.
func ArgumentsOf(given json.RawMessage) (arguments json.RawMessage, ok bool) {
	if given = bytes.TrimSpace(given); len(given) == 0 || string(given) == "null" {
		return nil, true
	}
	if given[0] == '"' {
		text, _ := rawjson.Text(given)
		if given = bytes.TrimSpace([]byte(text)); len(given) == 0 {
			return nil, true
		}
		if !rawjson.Valid(given) {
			return nil, false
		}
	}
	return given, given[0] == '{'
}
