package dispatch_test

import (
	"encoding/json"
	"testing"

	"tabrelay/relay/call"
	"tabrelay/relay/dispatch"
	"tabrelay/relay/fault"
)

// TestLaneArgument: agents that share an attachment name lanes within its own, and the tool is not told.
func TestLaneArgument(t *testing.T) {
	for _, tt := range []struct{ lane, arguments, want string }{
		{"stdio:a", `{"id":1}`, "stdio:a"},
		{"stdio:a", `{"id":1,"lane":"night-1.b_C"}`, "stdio:a/lane:night-1.b_C"},
		{"http:x/lane:day", `{"lane":"night","id":1}`, "http:x/lane:night"},
		{"stdio:a", `{"id":1,"lane":"a/lane:b"}`, ""},
		{"stdio:a", `{"id":1,"lane":""}`, ""},
		{"stdio:a", `{"id":1,"lane":7}`, ""},
		{"stdio:a", `{"id":1,"lane":"a","lane":"b"}`, ""},
	} {
		var got call.Invocation
		d := dispatch.New(options(t, nil, capturing{answering{output: json.RawMessage(`{"title":"x"}`)}, &got}))
		_, f := d.Do(t.Context(), call.Call{ID: "00", Tool: "demo__read", Session: call.Session{Lane: tt.lane}, Arguments: json.RawMessage(tt.arguments)})
		switch {
		case tt.want == "" && (f == nil || f.Code != fault.ValidationError):
			t.Errorf("%s: got %v", tt.arguments, f)
		case tt.want != "" && (f != nil || got.Session.Lane != tt.want || string(got.Arguments) != `{"id":1}`):
			t.Errorf("%s: %v, lane %q, arguments %s", tt.arguments, f, got.Session.Lane, got.Arguments)
		}
	}
}
