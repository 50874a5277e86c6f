package front

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
)

// maxDepth is how deep a message may nest.
const maxDepth = 1000

// maxParams is how many members the params of a message may have; MCP's own methods use fewer than ten.
const maxParams = 64

// message is one JSON-RPC message, cut into the pieces that matter and otherwise left as it came.
type message struct {
	id      []byte // exact JSON text, so that 7, "7" and 9007199254740993 stay what they are; nil when absent
	method  string
	reply   bool             // it carries a result or an error: the client answers a request of ours
	params  []byte           // as sent; nil when absent
	members []rawjson.Member // of params, when it is an object
	meta    *requestMeta     // of params, once it was read: see readMeta

	result, failure []byte // of a reply: one of the two
}

// param returns a member of params, nil when it is absent or null.
func (m *message) param(name string) json.RawMessage {
	value := rawjson.Get(m.members, name)
	if string(value) == "null" {
		return nil
	}
	return value
}

// withParam returns the message with another value for one member of its params.
func (m *message) withParam(name string, value []byte) *message {
	changed := *m
	changed.members = slices.Clone(m.members)
	for i := range changed.members {
		if changed.members[i].Name == name {
			changed.members[i].Value = value
		}
	}
	changed.params = rawjson.Join(changed.members)
	return &changed
}

// checkText refuses text that is not UTF-8, not JSON, or nests too deeply for programs that recurse.
func checkText(text []byte) *fault.Error {
	switch {
	case !utf8.Valid(text):
		return fault.New(fault.ParseError, "The message is not UTF-8")
	case rawjson.Depth(text) > maxDepth:
		return fault.New(fault.ParseError, "The message nests more than "+strconv.Itoa(maxDepth)+" levels deep",
			fault.WithHint("Send flatter params."))
	case !rawjson.Valid(text):
		return fault.New(fault.ParseError, "The message is not valid JSON")
	}
	return nil
}

// parse reads one message. Its failure is a protocol error; the message returned with it has the id, if one was found:
// a client that gets no answer with its id waits until it gives up.
// Names are matched exactly, and one that comes twice is refused, so that no two readers of one message can disagree
// about it.
func parse(text []byte) (message, *fault.Error) {
	m, fail := read(text)
	if fail != nil {
		return message{id: idIn(text)}, fail
	}
	return m, nil
}

// idIn returns the id of a message that is refused, nil when it has none, none that is allowed, or two.
func idIn(text []byte) (id []byte) {
	if !rawjson.Valid(text) {
		return nil
	}
	for member := range rawjson.EachMember(text) {
		if member.Name != "id" {
			continue
		}
		if id != nil || !isID(member.Value) || !utf8.Valid(member.Value) {
			return nil
		}
		id = member.Value
	}
	return id
}

func read(text []byte) (message, *fault.Error) {
	if fail := checkText(text); fail != nil {
		return message{}, fail
	}
	switch {
	case rawjson.IsObject(text):
	case rawjson.IsArray(text):
		return message{}, fault.New(fault.InvalidRequest, "Batch arrays are not supported")
	default:
		return message{}, fault.New(fault.InvalidRequest, "The message is not a JSON object")
	}
	var p messageParser
	for member := range rawjson.EachMember(text) {
		if fail := p.addMember(member); fail != nil {
			return message{}, fail
		}
	}
	return p.m, p.check()
}

type messageParser struct {
	m       message
	version []byte // value of jsonrpc
	method  []byte
}

// addMember reads one member of the message itself.
func (p *messageParser) addMember(member rawjson.Member) *fault.Error {
	var into *[]byte
	switch member.Name {
	case "jsonrpc":
		into = &p.version
	case "id":
		into = &p.m.id
	case "method":
		into = &p.method
	case "params":
		into = &p.m.params
	case "result":
		into, p.m.reply = &p.m.result, true
	case "error":
		into, p.m.reply = &p.m.failure, true
	}
	switch {
	case into == nil:
		return nil
	case *into != nil:
		return fault.New(fault.InvalidRequest, "The message has "+member.Name+" twice")
	}
	*into = member.Value
	if member.Name == "params" {
		return p.readParams()
	}
	return nil
}

func (p *messageParser) readParams() *fault.Error {
	for member := range rawjson.EachMember(p.m.params) {
		switch {
		case rawjson.Get(p.m.members, member.Name) != nil:
			return fault.New(fault.InvalidRequest, "The params have "+member.Name+" twice")
		case len(p.m.members) == maxParams:
			return fault.New(fault.InvalidRequest, "The params have too many members")
		}
		p.m.members = append(p.m.members, member)
	}
	return nil
}

// check looks at the members of a message that is valid JSON, and completes it.
func (p *messageParser) check() *fault.Error {
	if string(p.version) != `"2.0"` {
		return fault.New(fault.InvalidRequest, `The message does not say "jsonrpc":"2.0"`)
	}
	if p.m.id != nil && !isID(p.m.id) {
		return fault.New(fault.InvalidRequest, "The id is neither a string nor a number")
	}
	if p.method == nil {
		if p.m.reply {
			return nil
		}
		return fault.New(fault.InvalidRequest, "The message has no method")
	}
	method, ok := rawjson.Text(p.method)
	if !ok || method == "" {
		return fault.New(fault.InvalidRequest, "The method is not a string")
	}
	p.m.method, p.m.reply = method, false
	if p.m.params != nil && p.m.params[0] != '{' {
		return fault.New(fault.InvalidParams, "The params are not an object")
	}
	return nil
}

// isID reports whether a value is a string or a number, as ids and progress tokens are.
func isID(value []byte) bool { return strings.IndexByte(`"-0123456789`, value[0]) >= 0 }

// response is the answer to one request, ready for the wire.
type response struct {
	body []byte // one JSON object, without line breaks
	code int    // the JSON-RPC error code, 0 for a result
}

// resultResponse wraps a result that is encoded already.
func resultResponse(id, result []byte) response {
	body := make([]byte, 0, len(result)+len(id)+40)
	body = append(appendID(body, id), `,"result":`...)
	body = append(body, result...)
	return response{body: append(body, '}')}
}

// errorResponse renders a protocol error. Its data is the whole fault, so that a program finds code, hint and the rest
// where it finds them in a tool's failure.
func errorResponse(id []byte, e *fault.Error, modern bool) response {
	data, err := json.Marshal(e)
	if err != nil {
		data = nil
	}
	return errorResponseWith(id, e.ProtocolNumber(modern), e.Message, data)
}

// errorResponseWith renders a protocol error with data that is encoded already; nil: without data, as for errors of a
// transport.
func errorResponseWith(id []byte, code int, message string, data []byte) response {
	body := append(appendID(nil, id), `,"error":{"code":`...)
	body = strconv.AppendInt(body, int64(code), 10)
	body = rawjson.AppendText(append(body, `,"message":`...), message)
	if data != nil {
		body = append(append(body, `,"data":`...), data...)
	}
	return response{body: append(body, "}}"...), code: code}
}

// appendID begins a response. An id that could not be read is left out: MCP has no null id, and the official clients
// refuse a message that has one.
func appendID(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if id != nil {
		dst = append(append(dst, `,"id":`...), id...)
	}
	return dst
}
