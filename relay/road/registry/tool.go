package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/schema"
)

var nameForm = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// Tool is one tool a caller can name: of a plugin, or built in. It never changes once it is in a snapshot.
type Tool struct {
	Name   string         // <plugin>__<tool>, at most 64 characters
	Plugin *plugin.Plugin // nil for a built-in tool
	Site   *Site          // nil for a built-in tool
	Page   *Page          // nil for a tool that no page registers
	Spec   plugin.Tool

	// Group is the name by which rules, scopes and toolsets know what the tool belongs to: that of its plugin; of a
	// built-in tool what its name begins with, or what the capability says that it is of, else "relay".
	Group    string
	Browses  bool // it is one of the browser's own, which see and use any page
	Develops bool // it is one of those for developers, whose values are nobody's business
	Acts     bool // it is one of the browser's own that change something, and may type into fields of a page

	// AddressArgument is the argument with the address that a call loads; empty: the tool takes none.
	AddressArgument string

	// Run carries a built-in tool out; its arguments fit Spec.InputSchema. Nil for a plugin's tool.
	Run func(ctx context.Context, c call.Call, args json.RawMessage) (*call.Result, *fault.Error)

	ReadOnly   bool // it changes nothing
	Idempotent bool // repeating it changes nothing more
	Unqueued   bool // a built-in tool that is carried out at once, however much is going on
	ForClients bool // a built-in tool that no agent may call which acts for a client
	Task       bool // it takes long: clients that have tasks need not wait for it

	// AgenticText says that clients of mcp-agentic parse what a built-in tool answers: results are JSON, indented by
	// two blanks, failures are the JSON text that it makes of them, and arguments that do not fit are an INTERNAL
	// failure. Nil: it is answered like every other tool.
	AgenticText func(*fault.Error) string
	Beside      []string // groups whose toolset lists this built-in tool of another group, too
	Compact     bool     // with AgenticText: results are not indented, which those clients parse as well

	Dormant  bool // it would answer only that nothing is configured for it: those list it who ask for its toolset
	Mirrored bool // clients also send some of its arguments as HTTP headers
	Wrapped  bool // its output schema is not an object's: results are listed and answered as {"result": …}

	// The arguments the relay takes out for itself. One is off where the tool has an argument of its own with
	// that name, and instance also where none is configured.
	TakesTab, TakesProfile, TakesInstance bool
	TakesTimeout, TakesMaxBytes           bool
	TakesArrayPath, TakesSession          bool
	NeedsInstance                         bool // a call must say which instance it means: several are configured

	Listed      json.RawMessage // the MCP tool object as tools/list has it, encoded once
	ListedInput json.RawMessage // the part of it that is the input schema, with the relay's own arguments
	Tokens      int             // what a model is given of it, estimated: name, description, input schema
	Order       int             // of the tools of its plugin: those that matter most come first, see ordered
	profileAt   int             // where in Listed the argument profile can be put; 0: nowhere

	input, output, answer *lazy
}

// Schemas are the compiled schemas of the tool's own arguments, without those the relay takes out, and of what it
// returns, before wrapping; output is nil when it declares none.
func (t *Tool) Schemas() (input, output *schema.Schema, err error) {
	if input, err = t.input.get(); err == nil && t.output != nil {
		output, err = t.output.get()
	}
	return input, output, err
}

// Answer is the compiled output schema as it is listed, which is what clients check structured content against; nil
// when none is listed.
func (t *Tool) Answer() (*schema.Schema, error) {
	if t.answer == nil {
		return nil, nil
	}
	return t.answer.get()
}

// HasProperty reports whether the tool's own input schema names a property.
func (t *Tool) HasProperty(name string) bool {
	schema, _ := rawjson.Members(t.Spec.InputSchema)
	own, _ := rawjson.Members(rawjson.Get(schema, "properties"))
	return rawjson.Get(own, name) != nil
}

// ownGroup has the tools of the relay that no other group has.
const ownGroup = "relay"

// groupOf is the group of a tool that no plugin has, and that says none.
func groupOf(name string) string {
	if group, _, grouped := strings.Cut(name, "__"); grouped {
		return group
	}
	return ownGroup
}

// assign notes whose the tool is.
func (t *Tool) assign() {
	if t.Plugin == nil {
		if t.Group == "" {
			t.Group = groupOf(t.Name)
		}
		return
	}
	t.Group = t.Plugin.Manifest.Name
	t.Browses = t.Plugin.Shipped && plugin.Browses(t.Group)
	t.Develops = t.Browses && t.Group == plugin.OptIn
	t.Acts = t.Browses && !t.ReadOnly
	if t.Browses && t.Name == navigate {
		t.AddressArgument = "to"
	}
}

// navigate is the one tool of the browser's own that is part of a plugin and loads an address.
const navigate = plugin.Browser + "__navigate"

// accept checks a tool as far as that is cheap and completes it. What only compiling a schema can tell is seen
// at the first call.
func (t *Tool) accept(cache *schemas) error {
	if !nameForm.MatchString(t.Name) {
		return errors.New("its full name is not 1 to 64 letters, digits, _ or -")
	}
	if err := t.Spec.CheckText(); err != nil {
		return err
	}
	t.ReadOnly = isTrue(t.Spec.Annotations.ReadOnlyHint)
	t.assign()
	t.Idempotent = t.ReadOnly || isTrue(t.Spec.Annotations.IdempotentHint)
	input, output, err := t.structures()
	if err != nil {
		return err
	}
	t.input = cache.of(t.Spec.InputSchema)
	if t.Spec.OutputSchema != nil {
		t.output = cache.of(t.Spec.OutputSchema)
	}
	if output != nil {
		t.answer = cache.of(rawjson.Join(output))
	}
	return t.list(input, output)
}

// structures checks the structure of the tool's schemas, and completes them with what is the relay's.
func (t *Tool) structures() (input, output []rawjson.Member, err error) {
	if input, err = structure("input", t.Spec.InputSchema); err != nil {
		return nil, nil, err
	}
	if kind := rawjson.Get(input, "type"); string(kind) != `"object"` {
		return nil, nil, errors.New(`its input schema is not one of an object ("type": "object")`)
	}
	if input, err = t.withTarget(input); err != nil || t.Spec.OutputSchema == nil {
		return input, nil, err
	}
	if output, err = structure("output", t.Spec.OutputSchema); err != nil {
		return nil, nil, err
	}
	output, t.Wrapped = asObject(output)
	output, err = withNote(output)
	return input, output, err
}

func isTrue(hint *bool) bool { return hint != nil && *hint }

// structure checks a schema's size and shape and returns its members, without white space.
func structure(which string, doc json.RawMessage) ([]rawjson.Member, error) {
	if len(doc) == 0 {
		return nil, fmt.Errorf("it has no %s schema", which)
	}
	if len(doc) > schema.MaxBytes {
		return nil, fmt.Errorf("its %s schema has %d bytes, more than %d", which, len(doc), schema.MaxBytes)
	}
	b := bytes.NewBuffer(make([]byte, 0, len(doc)))
	if json.Compact(b, doc) != nil {
		return nil, fmt.Errorf("its %s schema is not JSON", which)
	}
	if rawjson.Depth(b.Bytes()) > schema.MaxDepth {
		return nil, fmt.Errorf("its %s schema nests deeper than %d levels", which, schema.MaxDepth)
	}
	members, ok := rawjson.Members(b.Bytes())
	if !ok {
		return nil, fmt.Errorf("its %s schema is not an object", which)
	}
	return members, nil
}

// schemas is a cache by content: many tools share a schema, and a reload changes few. It belongs to the one
// who makes a candidate, and does not change once that is published.
type schemas struct {
	old    map[hash]*lazy // of the snapshot before; what is not used again is forgotten
	byHash map[hash]*lazy
}

type hash = [sha256.Size]byte

// lazy is a schema that is compiled when it is first needed: most tools are listed and never called.
type lazy struct {
	hash hash
	get  func() (*schema.Schema, error)
}

func newSchemas(before *schemas) *schemas {
	s := &schemas{byHash: map[hash]*lazy{}}
	if before != nil {
		s.old = before.byHash
	}
	return s
}

// of returns the one lazy schema of that text; nil for no schema.
func (s *schemas) of(text json.RawMessage) *lazy {
	if text == nil {
		return nil
	}
	h := sha256.Sum256(text)
	l, ok := s.byHash[h]
	if !ok {
		l = s.old[h]
	}
	if l == nil {
		l = &lazy{hash: h, get: sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(text) })}
	}
	s.keep(l)
	return l
}

func (s *schemas) keep(l *lazy) {
	if l != nil {
		s.byHash[l.hash] = l
	}
}
