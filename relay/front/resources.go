package front

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
)

// listResources answers resources/list.
func (f *Front) listResources(ctx context.Context, p *party, x *exchange, m *message) response {
	resources, fail := f.options.Resources.List(ctx, p.session)
	if fail != nil {
		return f.failed(x, fail, "Unable to list resources")
	}
	return f.list(x, m, "resources", encodeAll(resources), pageSize)
}

// listTemplates answers resources/templates/list.
func (f *Front) listTemplates(x *exchange, m *message) response {
	return f.list(x, m, "resourceTemplates", encodeAll(f.options.Resources.Templates()), pageSize)
}

// absolute is what a URI looks like at the least (RFC 3986 section 4.3): a scheme, and something without white space.
var absolute = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f]+$`)

// maxURI is how long a URI may be.
const maxURI = 8 << 10

// readURI takes the uri out of params.
func readURI(m *message) (uri string, fail *fault.Error) {
	uri, ok := rawjson.Text(m.param("uri"))
	switch {
	case !ok:
		return "", fault.New(fault.InvalidParams, "The params of "+m.method+" have no uri, or it is not a string")
	case len(uri) > maxURI || !absolute.MatchString(uri):
		return uri, fault.New(fault.InvalidParams, "The uri is not a URI with a scheme", fault.WithHint("List the resources and use one of their URIs."))
	}
	return uri, nil
}

// readResource carries resources/read out.
func (f *Front) readResource(ctx context.Context, s call.Session, m *message) func(*exchange) response {
	uri, fail := readURI(m)
	var contents []call.ResourceContents
	if fail == nil {
		contents, fail = f.options.Resources.Read(ctx, s, uri)
	}
	return func(x *exchange) response {
		if fail != nil {
			return f.failed(x, fail, "Unable to read resource", uriMember(uri))
		}
		size := 64
		for _, c := range contents {
			size += 2*len(c.Text) + 2*len(c.Blob) + 200
		}
		b := append(f.openResult(x, true, size), `"contents":[`...)
		for i := range contents {
			b = appendContents(separate(b, i), &contents[i])
		}
		return response{body: append(b, "]}}"...)}
	}
}

func uriMember(uri string) rawjson.Member { return rawjson.Make("uri", rawjson.AppendText(nil, uri)) }

func appendContents(b []byte, c *call.ResourceContents) []byte {
	b = rawjson.AppendText(append(b, `{"uri":`...), c.URI)
	if c.MIMEType != "" {
		b = rawjson.AppendText(append(b, `,"mimeType":`...), c.MIMEType)
	}
	if c.Blob != nil {
		b = base64.StdEncoding.AppendEncode(append(b, `,"blob":"`...), c.Blob)
		b = append(b, '"')
	} else {
		b = rawjson.AppendText(append(b, `,"text":`...), c.Text)
	}
	if len(c.Meta) > 0 {
		b = append(append(b, `,"_meta":`...), oneLine(c.Meta)...)
	}
	return append(b, '}')
}

// subscribeResource takes resources/subscribe and resources/unsubscribe of the legacy era: what the client listens to is
// decided at once, and work does what that takes.
func (f *Front) subscribeResource(p *party, x *exchange, m *message) (work func()) {
	uri, fail := readURI(m)
	change := func() *fault.Error { return fail }
	switch {
	case fail != nil:
	case m.method == string(mcp.MethodResourcesSubscribe):
		change = f.watch(p.client, uri)
	default:
		p.client.unwatch(uri)
	}
	return func() {
		if fail := change(); fail != nil {
			x.respond(f.failed(x, fail, "Unable to subscribe to resource", uriMember(uri)))
			return
		}
		x.respond(succeed(x.id, []byte("{}")))
	}
}

// failed answers with a protocol error. A failure that has a number of its own is told as it is; any other is an
// internal error under the words that MCP clients know for the method, with the failure in data. Members, and the
// facts the failure itself carries, stand in data beside its fields.
func (f *Front) failed(x *exchange, e *fault.Error, otherwise string, members ...rawjson.Member) response {
	x.identify(e)
	code, message := e.ProtocolNumber(x.modern), e.Message
	if code == internalNumber {
		message = otherwise
	}
	object, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	all, _ := rawjson.Members(object)
	facts, merged := rawjson.Members(e.Data)
	if merged {
		all = slices.DeleteFunc(all, func(m rawjson.Member) bool { return m.Name == "data" })
	}
	for _, m := range append(members, facts...) {
		if rawjson.Get(all, m.Name) == nil {
			all = append(all, m)
		}
	}
	return refuseWithData(x.id, code, message, rawjson.Join(all))
}

const internalNumber = -32603
