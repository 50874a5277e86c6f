package front

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// Faults in lists, in what a server asks its client, and in errors that have a number.
var featureFaults = []libraryFault{
	{"one bad tool empties the list", func(t *testing.T, s *side) bool {
		s.addBad(`{"type":"object"`)
		x := s.post(s.begin(), `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null}}`)
		<-x.done
		return len(x.messages()) == 0
	}},
	{"a mark of an argument as a header ends the process", func(t *testing.T, s *side) (panicked bool) {
		defer func() { panicked = recover() != nil }()
		s.addBad(`{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}`)
		return false
	}},
	{"pages leave out what has the same name", func(t *testing.T, s *side) bool {
		session := s.begin()
		seen, cursor := 0, ""
		for id := range 4 {
			params := `"limit":2`
			if cursor != "" {
				params += `,"cursor":"` + cursor + `"`
			}
			x := s.post(session, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/list","params":{%s}}`, id,
				params))
			<-x.done
			var page struct {
				Resources  []json.RawMessage `json:"resources"`
				NextCursor string            `json:"nextCursor"`
			}
			_ = json.Unmarshal(x.messages()[0].Result, &page)
			seen += len(page.Resources)
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		return seen != 5
	}},
	{"logs nothing below error unless asked", func(t *testing.T, s *side) bool {
		x := s.post(s.begin(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__log"}}`)
		<-x.done
		return len(x.messages()) < 2
	}},
	{"asks a client that cannot be asked", func(t *testing.T, s *side) bool {
		return strings.Contains(s.asked(s.begin(), `"name":"demo__ask"`, "tools/call"), "elicitation/create")
	}},
	{"asks for what no form can show", func(t *testing.T, s *side) bool {
		return strings.Contains(s.asked(s.beginAs(`{"elicitation":{}}`), `"name":"demo__ask","arguments":{"nested":1}`,
			"tools/call"), "elicitation/create")
	}},
	{"asks for folders on a stream that need not be there", func(t *testing.T, s *side) bool {
		return !strings.Contains(s.asked(s.beginAs(`{"roots":{}}`), `"uri":"demo://ask"`, "resources/read"),
			"roots/list")
	}},
	{"cannot say what a client lacks", func(t *testing.T, s *side) bool {
		body := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"demo://ask",` + modernMeta + `}}`
		x := s.post("", body, mcp.HeaderProtocolVersion, "2026-07-28", mcp.HeaderMethod, "resources/read",
			mcp.HeaderName, "demo://ask")
		<-x.done
		return x.messages()[0].Error.Code != mcp.MISSING_REQUIRED_CLIENT_CAPABILITY
	}},
	{"does not say which resource is unknown", func(t *testing.T, s *side) bool {
		x := s.post(s.begin(), `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"demo://nosuch"}}`)
		<-x.done
		return !strings.Contains(string(x.messages()[0].Error.Data), `"uri":"demo://nosuch"`)
	}},
}

// addBad adds a tool with this input schema as someone would who has not looked at it.
func (s *side) addBad(schema string) {
	if !s.ours {
		s.library.AddTool(mcp.NewToolWithRawSchema("demo__bad", "bad", json.RawMessage(schema)),
			func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
		return
	}
	more := demoPlugin
	more.Manifest.Tools = append(more.Manifest.Tools[:len(more.Manifest.Tools):len(more.Manifest.Tools)],
		plugin.Tool{Name: "bad", InputSchema: json.RawMessage(schema)})
	if err := s.fixture.tools.Replace([]plugin.Plugin{more}, map[string]registry.Configured{}); err != nil {
		s.t.Error(err)
	}
}

// beginAs initializes a session of a client with these capabilities.
func (s *side) beginAs(capabilities string) string {
	x := s.post("", strings.Replace(initialize, `"capabilities":{}`, `"capabilities":`+capabilities, 1))
	<-x.done
	return x.header.Get(mcp.HeaderSessionID)
}

// asked is what a request that asks its client something has said until nothing more happens.
func (s *side) asked(session, params, method string) string {
	x := s.post(session, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params))
	synctest.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.text.String()
}
