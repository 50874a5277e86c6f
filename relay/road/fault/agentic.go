package fault

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
)

// agenticData is what clients of mcp-agentic find in the data of a failure, and what the relay adds to it. Members of
// the failure's own Data follow.
type agenticData struct {
	Type          Source   `json:"type"`
	Code          Code     `json:"code"`
	Retryable     bool     `json:"retryable"`
	RetryAfterMs  *int64   `json:"retryAfterMs,omitempty"`
	SessionValid  *bool    `json:"sessionValid,omitempty"`
	SessionID     string   `json:"sessionId,omitempty"`
	ProviderID    string   `json:"providerId,omitempty"`
	Attempts      int      `json:"attempts,omitempty"` // when there was more than one
	CorrelationID string   `json:"correlationId,omitempty"`
	Recovery      []string `json:"recovery,omitempty"` // what can be done, one sentence each
}

// AgenticText renders a failure as the JSON text that clients of mcp-agentic parse: {"error","code","data"}.
func (e *Error) AgenticText() string {
	return indented(e.agenticMembers())
}

// TaskText is [Error.AgenticText] of the tool that hands over a whole errand:
// {"success":false,"sessionId"?,"error","code","data"}.
func (e *Error) TaskText() string {
	head := []rawjson.Member{rawjson.Make("success", json.RawMessage("false"))}
	if e.SessionID != "" {
		head = append(head, rawjson.Make("sessionId", rawjson.MustEncode(e.SessionID)))
	}
	return indented(append(head, e.agenticMembers()...))
}

func (e *Error) agenticMembers() []rawjson.Member {
	attempts := e.Attempts
	if attempts <= 1 {
		attempts = 0
	}
	data, _ := rawjson.Members(rawjson.MustEncode(agenticData{
		Attempts: attempts,
		Type:     e.Source, Code: Code(repairCode(string(e.Code))), Retryable: e.Retryable,
		RetryAfterMs: e.RetryAfterMs,
		SessionValid: e.SessionValid, SessionID: e.SessionID, ProviderID: e.ProviderID,
		CorrelationID: e.CorrelationID, Recovery: e.recovery(),
	}))
	if own, ok := rawjson.Members(e.Data); ok && rawjson.Valid(e.Data) {
		for _, m := range own {
			known := func(k rawjson.Member) bool { return strings.EqualFold(k.Name, m.Name) } // as some parsers read
			if !slices.ContainsFunc(data, known) {
				data = append(data, m)
			}
		}
	}
	return []rawjson.Member{
		rawjson.Make("error", rawjson.MustEncode(orDefault(Sanitize(e.Message), noMessage))),
		rawjson.Make("code", rawjson.MustEncode(e.RPC())),
		rawjson.Make("data", rawjson.Join(data)),
	}
}

// recovery is what can be done, as sentences.
func (e *Error) recovery() []string {
	if advice := lines(e.Suggestion); len(advice) > 0 {
		return advice
	}
	return lines(e.Hint)
}

func indented(members []rawjson.Member) string {
	var b bytes.Buffer
	if err := json.Indent(&b, rawjson.Join(members), "", "  "); err != nil {
		panic(err) // every member was encoded here, or is the Data of a failure, which is JSON
	}
	return b.String()
}

// anyFolder is an absolute path of this machine, up to the name at its end.
var anyFolder = lazyregexp.New(`(^|[\s"'(=])(?:[A-Za-z]:)?[/\\]+(?:[^\s/\\"'<>|:;,()]+[/\\]+)+`)

// WithoutFolders leaves the folders of this machine out of a text that a client reads: of each path its last name
// stays.
func WithoutFolders(text string) string { return anyFolder.ReplaceAllString(text, "$1…/") }

// anyPlace is a place in a source file, with the folders before it: src/agents/x.ts:12:3.
var anyPlace = lazyregexp.New(`(?:[\w.@~+-]+[/\\]|…/)*[\w.@+-]+` +
	`\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|cs|cpp|cc|c|php|` +
	`swift):\d+(?::\d+)?`)

// WithoutPlaces leaves folders of this machine and places in source files out of a text that a client reads.
func WithoutPlaces(text string) string {
	return anyPlace.ReplaceAllString(strings.ReplaceAll(WithoutFolders(text), "file://", ""), "…")
}
