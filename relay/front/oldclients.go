package front

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/call"
	"tabrelay/relay/rawjson"
)

// linksSince is the first version of MCP in which a result may hold resource links. Clients of earlier versions check
// content against the kinds they know, and lose the whole result over one they do not.
const linksSince = "2025-06-18"

// instructionsSince is the first version whose clients get instructions.
const instructionsSince = "2025-03-26"

// versioned returns initialize with a version where it asks for none, which then is the newest of its era.
func (m *message) versioned() *message {
	if asked := m.param("protocolVersion"); asked != nil && string(asked) != `""` {
		return m
	}
	changed := *m
	version := json.RawMessage(strconv.Quote(mcp.LATEST_LEGACY_PROTOCOL_VERSION))
	changed.members = append(without(slices.Clone(m.members), "protocolVersion"), rawjson.Make("protocolVersion", version))
	changed.params = rawjson.Join(changed.members)
	return &changed
}

// asOfVersion remembers from the answer to initialize which version the client speaks, and leaves out of it what clients
// of that version are not offered: until 2025-03-26 changes of lists and completions, before it instructions. Versions
// are dates.
func (p *party) asOfVersion(answer []byte) []byte {
	members, _ := rawjson.Members(answer)
	result, _ := rawjson.Members(rawjson.Get(members, "result"))
	var version string
	if json.Unmarshal(rawjson.Get(result, "protocolVersion"), &version) != nil {
		return answer
	}
	p.version.Store(&version)
	if version >= linksSince {
		return answer
	}
	p.old.Store(true)
	p.client.unchanging.Store(true)
	replace(result, "capabilities", plainCapabilities)
	if version < instructionsSince {
		result = without(result, "instructions")
	}
	replace(members, "result", func([]rawjson.Member) []rawjson.Member { return result })
	return rawjson.Join(members)
}

// plainCapabilities are capabilities without the parts that came with later versions.
func plainCapabilities(all []rawjson.Member) []rawjson.Member {
	for _, name := range []string{"tools", "prompts", "resources"} {
		replace(all, name, func(one []rawjson.Member) []rawjson.Member { return without(one, "listChanged") })
	}
	return without(all, "completions")
}

// replace changes the members of the object that a member holds, if it is there.
func replace(members []rawjson.Member, name string, change func([]rawjson.Member) []rawjson.Member) {
	for i := range members {
		if members[i].Name == name {
			inner, _ := rawjson.Members(members[i].Value)
			members[i].Value = rawjson.Join(change(inner))
		}
	}
}

func without(members []rawjson.Member, name string) []rawjson.Member {
	return slices.DeleteFunc(members, func(m rawjson.Member) bool { return m.Name == name })
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
