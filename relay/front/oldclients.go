package front

import (
	"bytes"
	"encoding/json"
	"slices"

	"tabrelay/relay/call"
	"tabrelay/relay/rawjson"
)

// linksSince is the first version of MCP in which a result may hold resource links. Clients of earlier versions check
// content against the kinds they know, and lose the whole result over one they do not.
const linksSince = "2025-06-18"

// learnVersion remembers from the answer to initialize whether the client knows resource links. Versions are dates.
func (p *party) learnVersion(answer []byte) {
	var a struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(answer, &a) == nil {
		p.old.Store(a.Result.ProtocolVersion < linksSince)
	}
}

// understood leaves out of a result what an old client would stumble over. What a link leads to is in the text too.
func (p *party) understood(r *call.Result) *call.Result {
	if !p.old.Load() || len(r.Content) == 0 {
		return r
	}
	copied := *r
	copied.Content = slices.DeleteFunc(slices.Clone(r.Content), func(item call.Content) bool {
		members, _ := rawjson.Members(item)
		return bytes.Equal(rawjson.Get(members, "type"), []byte(`"resource_link"`))
	})
	return &copied
}
