package relay

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/catalog"
	"tabrelay/relay/fault"
	"tabrelay/relay/front"
	"tabrelay/relay/random"
)

// resources is what the front reads, and all of what the set of resources can do.
type resources interface {
	front.Resources
	front.ResourcesChanging
}

// audited writes down what is read by URI.
type audited struct {
	resources
	relay *Relay
}

// readResource is what reading by URI is called where it is no page that is read.
const readResource = "resources/read"

// reading is under which name a resource is read.
func reading(uri string) string {
	scheme, _, _ := strings.Cut(strings.ToLower(uri), ":")
	switch scheme {
	case "tab":
		return catalog.ReadTab
	case "console":
		return catalog.ReadConsole
	}
	return readResource
}

// readingKey is the id of a read in its context.
type readingKey struct{}

// readingID is the id under which a read is written down; decisions about it are to have the same.
func readingID(ctx context.Context) call.ID {
	if id, ok := ctx.Value(readingKey{}).(call.ID); ok {
		return id
	}
	return call.ID(random.Hex(16))
}

// Read implements front.Resources.
func (a audited) Read(ctx context.Context, s call.Session, uri string) ([]call.ResourceContents, *fault.Error) {
	e := call.Entry{Kind: call.EntryCall, Session: s, Tool: reading(uri), Plugin: relayName, Arguments: uriArgument(uri), Outcome: "returned", CallID: call.ID(random.Hex(16))}
	began := time.Now()
	contents, failure := a.resources.Read(context.WithValue(ctx, readingKey{}, e.CallID), s, uri)
	e.Duration = time.Since(began)
	e.TabID, e.Origin = a.where(uri, contents)
	if failure != nil {
		e.Outcome, e.Code, e.Detail = string(call.NotExecuted), string(failure.Code), failure.Message
	}
	a.relay.audit.Record(e)
	return contents, failure
}

func uriArgument(uri string) json.RawMessage {
	text, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		return nil // a string always has a JSON form
	}
	return text
}

// where is the tab that a URI names, and the origin of what was read.
func (audited) where(uri string, contents []call.ResourceContents) (tabID int, origin string) {
	if u, err := url.Parse(uri); err == nil && ofTabs(uri) {
		tabID, _ = strconv.Atoi(u.Host) // 0: it is none
	}
	if len(contents) > 0 {
		var meta struct {
			Origin string `json:"tabrelay/origin"`
		}
		if json.Unmarshal(contents[0].Meta, &meta) == nil {
			origin = meta.Origin
		}
	}
	return tabID, origin
}
