package call

import "encoding/json"

// Question is what a running call asks the person behind its client (MCP elicitation, form mode).
type Question struct {
	Message string
	Schema  json.RawMessage // of the answer: a flat JSON Schema object, as MCP elicitation has it
}

// Answer is what the person said.
type Answer struct {
	Action  string          // "accept", "decline" or "cancel"
	Content json.RawMessage // an object, only with "accept"
}
