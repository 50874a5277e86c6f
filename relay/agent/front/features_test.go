package front

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
)

// features are resources, prompts and completions for a Front under test.
type features struct {
	mu       sync.Mutex
	next     int
	watching map[string]map[int]func() // by URI; lists under their own names
	extra    int                       // resources and prompts that were added
}

var (
	_ Resources         = (*features)(nil)
	_ ResourcesChanging = (*features)(nil)
	_ Prompts           = promptFeatures{}
	_ Completer         = (*features)(nil)
)

// promptFeatures is the prompts of features: both have a List.
type promptFeatures struct{ *features }

func (x *features) List(context.Context, call.Session) ([]call.Resource, *fault.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	size := int64(5)
	all := []call.Resource{{URI: "demo://text", Name: "text", Title: "Text", MIMEType: "text/plain", Size: &size},
		{URI: "demo://bytes", Name: "bytes", MIMEType: "image/png"}}
	for i := range 3 + x.extra {
		all = append(all, call.Resource{URI: fmt.Sprintf("demo://item/%d", i), Name: "item <same>"})
	}
	return all, nil
}

func (x *features) Templates() []call.ResourceTemplate {
	return []call.ResourceTemplate{{URITemplate: "demo://item/{n}", Name: "item"}}
}

func (x *features) Read(
	ctx context.Context, s call.Session, uri string, client *Asker,
) ([]call.ResourceContents, *fault.Error) {
	switch {
	case uri == "demo://text":
		return []call.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: "a <b> \u2028",
			Meta: json.RawMessage("{\"n\":\n1}"), Fresh: time.Hour}}, nil
	case uri == "demo://bytes":
		return []call.ResourceContents{{URI: uri, MIMEType: "image/png", Blob: []byte{0, 1, 2}}}, nil
	case uri == "demo://moved":
		e := fault.New(fault.InternalError, "The server redirects elsewhere",
			fault.WithData(json.RawMessage(`{"location":"https://other.example/","uri":"not this one"}`)))
		e.Type = fault.TypeRedirect
		return nil, e
	case uri == "demo://ask":
		return ask(ctx, client, uri)
	case uri == "demo://panic":
		panic("secret")
	case strings.HasPrefix(uri, "demo://item/"):
		return []call.ResourceContents{{URI: uri, Text: s.ID}}, nil
	}
	return nil, fault.New(fault.ResourceNotFound, "There is no resource "+uri)
}

func ask(ctx context.Context, a *Asker, uri string) ([]call.ResourceContents, *fault.Error) {
	if !a.Can(Roots) {
		return nil, fault.New(fault.ClientCapabilityMissing, "The client has no roots",
			fault.WithData(json.RawMessage(`{"requiredCapabilities":{"roots":{}}}`)))
	}
	answers, err := a.Ask(ctx, Input{Key: "folders", Method: Roots})
	if err != nil {
		return nil, fault.New(fault.InternalError, err.Error())
	}
	return []call.ResourceContents{{URI: uri, Text: string(answers["folders"])}}, nil
}

func (x *features) Watch(_ call.Session, uri string, changed func()) (stop func(), failure *fault.Error) {
	if _, fail := x.Read(context.Background(), call.Session{}, uri, nil); fail != nil {
		return nil, fail
	}
	if uri == "demo://item/restless" {
		changed()
	}
	return x.listen(uri, changed), nil
}

func (x *features) OnListChange(_ call.Session, changed func()) (stop func()) {
	return x.listen("resources", changed)
}

func (x promptFeatures) OnChange(changed func()) (stop func()) { return x.listen("prompts", changed) }

func (x *features) listen(what string, changed func()) (stop func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.watching == nil {
		x.watching = map[string]map[int]func(){}
	}
	if x.watching[what] == nil {
		x.watching[what] = map[int]func(){}
	}
	x.next++
	id := x.next
	x.watching[what][id] = changed
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.watching[what], id)
	}
}

// touch tells those who listen that something has changed, and how many they are.
func (x *features) touch(what string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if what == "resources" || what == "prompts" {
		x.extra++
	}
	for _, changed := range x.watching[what] {
		changed()
	}
	return len(x.watching[what])
}

func (x promptFeatures) List() []call.Prompt {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := []call.Prompt{
		{Name: "greet", Title: "Greet", Description: "Greets someone.",
			Arguments: []call.PromptArgument{{Name: "who", Required: true}}},
		{Name: "broken"},
	}
	for i := range x.extra {
		all = append(all, call.Prompt{Name: fmt.Sprintf("extra_%d", i)})
	}
	return all
}

func (x promptFeatures) Render(
	_ context.Context, name string, args map[string]string, _ *Asker,
) (*call.RenderedPrompt, *fault.Error) {
	switch {
	case name == "greet" && args["who"] == "":
		return nil, fault.New(fault.InvalidParams, "The argument who is missing")
	case name == "greet":
		return &call.RenderedPrompt{Description: "Greets", Messages: []call.PromptMessage{
			{Role: "user", Content: json.RawMessage(`{"type":"text","text":"Greet ` + args["who"] + `"}`)},
			{Role: "assistant", Content: json.RawMessage("{\"type\":\"text\",\n\"text\":\"Hello\"}")},
		}}, nil
	case name == "broken":
		return nil, fault.New(fault.InternalError, "The template has a mistake")
	}
	return nil, fault.New(fault.UnknownPrompt, "There is no prompt named "+name)
}

func (x *features) Complete(_ context.Context, _ call.Session, ref Ref, argument, typed string,
	known map[string]string) (call.Completion, *fault.Error) {
	switch {
	case argument == "many":
		done := call.Completion{Total: 150}
		for i := range 150 {
			done.Values = append(done.Values, fmt.Sprint(typed, i))
		}
		return done, nil
	case ref.Prompt == "greet":
		return call.Completion{Values: slices.DeleteFunc([]string{"Ann", "Anton", "Bob"},
			func(s string) bool { return !strings.HasPrefix(s, typed) })}, nil
	case ref.Template == "demo://item/{n}":
		return call.Completion{Values: []string{"after " + known["before"]}}, nil
	}
	return call.Completion{}, fault.New(fault.InvalidParams, "There is nothing to complete")
}

// A request of the modern era that needs something of a client which cannot do it says what that is.
func TestWhatAClientLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSide(t, true)
		s.bubble = true
		defer s.close()
		const read = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"demo://ask",` +
			modernMeta + `}}`
		x := s.post("", read, mcp.HeaderProtocolVersion, "2026-07-28", mcp.HeaderMethod, "resources/read",
			mcp.HeaderName, "demo://ask")
		<-x.done
		x.messages()
		_, response, _ := strings.Cut(x.text.String(), "\n\n") // after its headers
		faulttest.Answered(t, "client-cannot-do-it", []byte(response), true)
	})
}
