package front

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Resources knows what agents can read. Front pages the list, keeps the subscriptions and renders failures; its methods
// are called concurrently.
type Resources interface {
	// List returns every resource there is now for this session, in an order that stays the same while the list does.
	List(ctx context.Context, s call.Session) ([]call.Resource, *fault.Error)
	// Templates returns the families of resources that List does not enumerate.
	Templates() []call.ResourceTemplate
	// Read returns what a resource holds. There is no such resource: fault.ResourceNotFound; the URI is not one:
	// fault.InvalidParams; anything else is a resource that could not be read. client is nil when it cannot be asked.
	Read(ctx context.Context, s call.Session, uri string, client *Asker) ([]call.ResourceContents, *fault.Error)
	// Watch calls changed when what the resource holds for s has changed, until stop. changed does not block.
	Watch(s call.Session, uri string, changed func()) (stop func(), failure *fault.Error)
}

// ResourcesChanging is implemented by Resources whose list changes while the relay runs.
type ResourcesChanging interface {
	// OnListChange calls changed when List or Templates would answer s something else, until stop. changed does not
	// block.
	OnListChange(s call.Session, changed func()) (stop func())
}

// listResources answers resources/list.
func (f *Front) listResources(ctx context.Context, p *peer, x *exchange, m *message) response {
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
var absolute = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f]+$`)

// maxURI is how long a URI may be.
const maxURI = 8 << 10

// readURI takes the uri out of params.
func readURI(m *message) (uri string, fail *fault.Error) {
	uri, ok := rawjson.Text(m.param("uri"))
	switch {
	case !ok:
		return "", fault.New(fault.InvalidParams, "The params of "+m.method+" have no uri, or it is not a string")
	case len(uri) > maxURI || !absolute.MatchString(uri):
		return uri, fault.New(fault.InvalidParams, "The uri is not a URI with a scheme",
			fault.WithHint("List the resources and use one of their URIs."))
	}
	return uri, nil
}

// readResource carries resources/read out.
func (f *Front) readResource(ctx context.Context, s call.Session, m *message, client *Asker) answer {
	uri, fail := readURI(m)
	var contents []call.ResourceContents
	if fail == nil {
		contents, fail = f.options.Resources.Read(ctx, s, uri, client)
	}
	return func(x *exchange) response {
		if fail != nil {
			return f.failed(x, fail, "Unable to read resource", uriMember(uri))
		}
		size, fresh := 64, time.Duration(0)
		for i, c := range contents {
			size += 2*len(c.Text) + 2*len(c.Blob) + 200
			if fresh = min(fresh, c.Fresh); i == 0 {
				fresh = c.Fresh
			}
		}
		b := append(f.openResult(x, fresh, size), `"contents":[`...)
		for i := range contents {
			b = appendContents(appendComma(b, i), &contents[i])
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

// subscribeResource takes resources/subscribe and resources/unsubscribe of the legacy era: what the client listens to
// is decided at once, and work does what that takes.
func (f *Front) subscribeResource(p *peer, x *exchange, m *message) (work func()) {
	uri, fail := readURI(m)
	change := func() *fault.Error { return fail }
	switch {
	case fail != nil:
	case m.method == string(mcp.MethodResourcesSubscribe):
		change = f.watch(p.listener, uri)
	default:
		p.listener.unwatch(uri)
	}
	return func() {
		if fail := change(); fail != nil {
			x.respond(f.failed(x, fail, "Unable to subscribe to resource", uriMember(uri)))
			return
		}
		x.respond(resultResponse(x.id, []byte("{}")))
	}
}

// failed answers with a protocol error. A failure that has a number of its own is told as it is; any other is an
// internal error under the words that MCP clients know for the method, with the failure in data. Members, and the
// facts the failure itself carries, stand in data beside its fields.
func (f *Front) failed(x *exchange, e *fault.Error, otherwise string, members ...rawjson.Member) response {
	x.setCorrelationID(e)
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
	return errorResponseWith(x.id, code, message, rawjson.Join(all))
}

const internalNumber = -32603

// maxWatches bounds the resources that one client can listen to.
const maxWatches = 256

// watch is one resource that a client listens to.
type watch struct{ stop func() }

// watch has the client told when a resource changes. From now on it listens to that resource, which begin brings
// about or says why it cannot. Listening twice to one resource is listening once.
func (f *Front) watch(c *listener, uri string) (begin func() *fault.Error) {
	w := &watch{stop: func() {}}
	if known, fail := c.reserve(uri, w); known || fail != nil {
		return func() *fault.Error { return fail }
	}
	return func() *fault.Error { return f.beginWatch(c, uri, w) }
}

func (f *Front) beginWatch(c *listener, uri string, w *watch) *fault.Error {
	stop, fail := f.options.Resources.Watch(c.session, uri, func() {
		c.outbox.add(notification{key: "updated " + uri, method: "notifications/resources/updated",
			members: rawjson.AppendText([]byte(`"uri":`), uri)})
	})
	c.mu.Lock()
	kept := c.watches[uri] == w
	switch {
	case fail != nil && kept:
		delete(c.watches, uri)
	case kept:
		w.stop = stop
	}
	c.mu.Unlock()
	if fail == nil && !kept { // the client has unsubscribed, or gone, in the meantime
		stop()
	}
	return fail
}

// reserve keeps a place for w, or reports that the client listens to this resource already.
func (c *listener) reserve(uri string, w *watch) (known bool, fail *fault.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watches == nil {
		return true, nil
	}
	if c.watches[uri] != nil {
		return true, nil
	}
	if len(c.watches) == maxWatches {
		return false, fault.New(fault.InvalidParams, fmt.Sprintf("This client listens to %d resources already",
			maxWatches),
			fault.WithHint("Unsubscribe from one that is no longer needed."))
	}
	c.watches[uri] = w
	return false, nil
}

// unwatch ends listening to a resource. One that the client does not listen to is no error.
func (c *listener) unwatch(uri string) {
	c.mu.Lock()
	stop := func() {}
	if w := c.watches[uri]; w != nil {
		stop = w.stop
	}
	delete(c.watches, uri)
	c.mu.Unlock()
	stop()
}

// unwatchAll ends listening for good.
func (c *listener) unwatchAll() {
	c.mu.Lock()
	var stops []func()
	for _, w := range c.watches {
		stops = append(stops, w.stop)
	}
	c.watches = nil
	c.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}
