package dispatch_test

import (
	"encoding/json"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
)

// TestSessionArgument: agents that share an attachment name sessions within its own, and the tool is not told.
func TestSessionArgument(t *testing.T) {
	for _, tt := range []struct{ session, arguments, want string }{
		{"stdio:a", `{"id":1}`, "stdio:a"},
		{"stdio:a", `{"id":1,"session":"night-1.b_C"}`, "stdio:a/session:night-1.b_C"},
		{"http:x/session:day", `{"session":"night","id":1}`, "http:x/session:night"},
		{"stdio:a", `{"id":1,"session":"a/session:b"}`, ""},
		{"stdio:a", `{"id":1,"session":""}`, ""},
		{"stdio:a", `{"id":1,"session":7}`, ""},
		{"stdio:a", `{"id":1,"lane":"a"}`, ""},
		{"stdio:a", `{"id":1,"session":"a","session":"b"}`, ""},
	} {
		var got call.Invocation
		d := dispatch.New(options(t, nil, capturing{answering{output: json.RawMessage(`{"title":"x"}`)}, &got}))
		_, f := d.Do(t.Context(), call.Call{ID: "00", Tool: "demo__read", Session: call.Session{ID: tt.session},
			Arguments: json.RawMessage(tt.arguments)})
		switch {
		case tt.want == "" && (f == nil || f.Code != fault.ValidationError):
			t.Errorf("%s: got %v", tt.arguments, f)
		case tt.want != "" && (f != nil || got.Session.ID != tt.want || string(got.Arguments) != `{"id":1}`):
			t.Errorf("%s: %v, session %q, arguments %s", tt.arguments, f, got.Session.ID, got.Arguments)
		}
	}
}
