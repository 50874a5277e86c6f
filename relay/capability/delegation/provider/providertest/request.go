package providertest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"tabrelay/relay/capability/delegation/provider"
)

// Request is one that came, in the words of package provider, whatever the wire.
type Request struct {
	Number   int // from 0
	Model    string
	System   string
	Messages []provider.Message // what tools answered and the words that follow are one
	Tools    []provider.Tool
	Params   map[string]any // every other member of the body, those of Gemini's generationConfig among them

	Path   string
	Header http.Header
	Body   json.RawMessage
}

// Last is the last message of the request.
func (r Request) Last() provider.Message {
	if len(r.Messages) == 0 {
		return provider.Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// speaker is one wire, seen from the server.
type speaker interface {
	base() string // of the path, in a baseUrl
	// understand reads a request, and says what a real server would refuse.
	understand(r *Request) (wrong string)
	// speak makes the events of an answer: those up to the end of its content, and those that end it.
	speak(s Step) (content, end []string)
	// failure is an event amid a stream; refusal is a body for a status.
	failure(word string) string
	refusal(status int) any
}

// speakers has who speaks each wire.
var speakers = map[provider.Kind]speaker{provider.OpenAI: openAI{}, provider.Anthropic: anthropic{},
	provider.Gemini: gemini{}}

// Kinds are those that can be played.
func Kinds() []provider.Kind { return slices.Sorted(maps.Keys(speakers)) }

type object = map[string]any

// rest are the members of a body but for some.
func rest(body json.RawMessage, without ...string) map[string]any {
	all := map[string]any{}
	if json.Unmarshal(body, &all) != nil {
		return nil
	}
	for _, name := range without {
		delete(all, name)
	}
	return all
}

// append adds a message of a request; what tools answered and the words that follow are one message.
func (r *Request) append(m provider.Message) {
	if n := len(r.Messages); n > 0 && m.Role == provider.User && r.Messages[n-1].Role == provider.User {
		before := &r.Messages[n-1]
		if before.Text == "" && len(before.Results) > 0 {
			before.Text, before.Results = m.Text, append(before.Results, m.Results...)
			return
		}
	}
	r.Messages = append(r.Messages, m)
}

// nameResults gives results the names of the calls that they answer, where the wire has only ids, and says which
// answer no call.
func (r *Request) nameResults() (wrong string) {
	names := map[string]string{}
	for _, m := range r.Messages {
		for _, c := range m.Calls {
			names[c.ID] = c.Name
		}
		for i, result := range m.Results {
			name, known := names[result.ID]
			if !known {
				return "a result answers the unknown call " + result.ID
			}
			m.Results[i].Name = name
		}
	}
	return ""
}
