package front

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"tabrelay/relay/fault"
)

// maxParams is how many members the params of a message may have; MCP's own methods use fewer than ten.
const maxParams = 64

// message is one JSON-RPC message, cut into the pieces that matter and otherwise left as it came.
type message struct {
	id      []byte // exact JSON text, so that 7, "7" and 9007199254740993 stay what they are; nil when absent
	method  string
	reply   bool    // it carries a result or an error: the client answers a request of ours
	params  []byte  // as sent; nil when absent
	members []field // of params, when it is an object

	result, failure []byte // of a reply: one of the two
}

// field is one member of params.
type field struct {
	name  string
	value []byte
}

// param returns a member of params, nil when it is absent or null.
func (m *message) param(name string) []byte {
	for _, f := range m.members {
		if f.name == name && string(f.value) != "null" {
			return f.value
		}
	}
	return nil
}

// with returns the message with another value for one member of its params.
func (m *message) with(name string, value []byte) *message {
	changed := *m
	changed.members = slices.Clone(m.members)
	changed.params = []byte{'{'}
	for i := range changed.members {
		f := &changed.members[i]
		if f.name == name {
			f.value = value
		}
		changed.params = append(appendString(separate(changed.params, i), f.name), ':')
		changed.params = append(changed.params, f.value...)
	}
	changed.params = append(changed.params, '}')
	return &changed
}

// parse reads one message. Its failure is a protocol error; the message returned with it has the id, if one was found.
func parse(text []byte) (message, *fault.Error) {
	s := scanner{text: text}
	if !utf8.Valid(text) {
		return message{}, fault.New(fault.ParseError, "The message is not UTF-8")
	}
	if s.space() != '{' {
		return message{}, notAnObject(text)
	}
	p := messageParser{scanner: s}
	if !p.object(p.top) || p.space() != 0 || p.at != len(text) {
		if p.refused != nil {
			return message{}, p.refused
		}
		return message{}, p.unreadable()
	}
	return p.m, p.check()
}

// notAnObject says what is wrong with text that does not begin with an opening brace.
func notAnObject(text []byte) *fault.Error {
	s := scanner{text: text}
	first := s.space()
	if !s.value() || s.space() != 0 || s.at != len(text) {
		return s.unreadable()
	}
	if first == '[' {
		return fault.New(fault.InvalidRequest, "Batch arrays are not supported")
	}
	return fault.New(fault.InvalidRequest, "The message is not a JSON object")
}

// unreadable is why the scanner stopped where it did.
func (s *scanner) unreadable() *fault.Error {
	if s.deep {
		return fault.New(fault.ParseError, "The message nests more than "+strconv.Itoa(maxDepth)+" levels deep", fault.WithHint("Send flatter params."))
	}
	return fault.New(fault.ParseError, "The message is not valid JSON")
}

type messageParser struct {
	scanner
	m       message
	version []byte // value of jsonrpc
	method  []byte
	refused *fault.Error // why the walk was stopped, when it was not for bad JSON
}

// top takes one member of the message itself. Names are matched exactly, and a name that comes twice is refused, so
// that no two readers of one message can disagree about it.
func (p *messageParser) top(key []byte) bool {
	var into *[]byte
	name := keyName(key)
	switch name {
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
	if into != nil && *into != nil {
		return p.refuse("The message has " + name + " twice")
	}
	start := p.at
	ok := false
	if into == &p.m.params && p.space() == '{' {
		ok = p.object(p.member)
	} else {
		ok = p.value()
	}
	if ok && into != nil {
		*into = p.text[start:p.at]
	}
	return ok
}

// member takes one member of params.
func (p *messageParser) member(key []byte) bool {
	name := keyName(key)
	for _, f := range p.m.members {
		if f.name == name {
			return p.refuse("The params have " + name + " twice")
		}
	}
	if len(p.m.members) == maxParams {
		return p.refuse("The params have too many members")
	}
	start := p.at
	if !p.value() {
		return false
	}
	p.m.members = append(p.m.members, field{name, p.text[start:p.at]})
	return true
}

// keyName decodes a key as it stands between its quotes.
func keyName(key []byte) string {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key)
	}
	name, _ := unquote(slices.Concat([]byte{'"'}, key, []byte{'"'}))
	return name
}

func (p *messageParser) refuse(why string) bool {
	p.refused = fault.New(fault.InvalidRequest, why)
	return false
}

// check looks at the members of a message that is valid JSON, and completes it.
func (p *messageParser) check() *fault.Error {
	if string(p.version) != `"2.0"` {
		return fault.New(fault.InvalidRequest, `The message does not say "jsonrpc":"2.0"`)
	}
	if p.m.id != nil && p.m.id[0] != '"' && p.m.id[0] != '-' && !isDigit(p.m.id[0]) {
		p.m.id = nil
		return fault.New(fault.InvalidRequest, "The id is neither a string nor a number")
	}
	if p.method == nil {
		if p.m.reply {
			return nil
		}
		return fault.New(fault.InvalidRequest, "The message has no method")
	}
	method, ok := unquote(p.method)
	if !ok || method == "" {
		return fault.New(fault.InvalidRequest, "The method is not a string")
	}
	p.m.method, p.m.reply = method, false
	if p.m.params != nil && p.m.params[0] != '{' {
		return fault.New(fault.InvalidParams, "The params are not an object")
	}
	return nil
}
