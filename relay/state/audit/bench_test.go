package audit

import (
	"encoding/json"
	"testing"
	"time"

	"tabrelay/relay/road/call"
)

// BenchmarkRowOf is what an entry costs before it is written, hash included.
func BenchmarkRowOf(b *testing.B) {
	e := call.Entry{
		At: time.Now(), Kind: call.EntryCall, Session: call.Session{Client: "claude-code", Via: "stdio",
			ID: "stdio:0123456789abcdef"}, Tool: "shop__read", Plugin: "shop",
		ProfileID: "0123456789abcdef", Profile: "Büro", TabID: 7, Origin: "https://shop.example",
		Arguments: json.RawMessage(`{"what":"tea","limit":20}`),
		Decision:  "auto: a rule about the plugin shop says so", DecidedBy: "rule", Outcome: "returned",
		CallID: "0123456789abcdef0123456789abcdef",
	}
	b.ReportAllocs()
	for range b.N {
		r := RowOf(&e, "d", false)
		r.Hash = Chain(r.Hash, &r)
	}
}
