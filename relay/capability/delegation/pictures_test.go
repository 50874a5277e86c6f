package delegation

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"tabrelay/relay/capability/delegation/picture"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// dot is a picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

func dots(t *testing.T, n int) (list []provider.Image) {
	t.Helper()
	for range n {
		p, err := picture.Read("image/png", dot)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

type delegateArgs = struct {
	createArgs
	errandArgs
}

// TestPicturesGoBothWays: what a client passes reaches the agent, and what the agent answers with reaches the client as
// image content behind the text, whose form stays.
func TestPicturesGoBothWays(t *testing.T) {
	a := &scripted{id: "a", prompt: func(_ context.Context, _ *Session, p Prompt) (Answer, *fault.Error) {
		return Answer{Text: fmt.Sprint(p.Text, " ", len(p.Images)), Images: p.Images, StopReason: provider.EndTurn}, nil
	}}
	s := newSessions(t, nil, a)
	var delegate func(context.Context, call.Call, json.RawMessage) (*call.Result, *fault.Error)
	for _, tool := range s.OwnTools() {
		if tool.Name == "tasks_delegate" {
			delegate = tool.Run
		}
	}
	block := `{"type":"image","mimeType":"image/png","data":"` + dot + `"}`
	r, failure := delegate(t.Context(), call.Call{Session: client},
		json.RawMessage(`{"prompt":"look","images":[`+block+`,`+block+`]}`))
	if failure != nil {
		t.Fatal(failure)
	}
	if len(r.Content) != 3 || !strings.Contains(string(r.Output), `"text":"look 2"`) {
		t.Fatalf("%s, %s", r.Output, r.Content)
	}
	var text struct{ Type, Text string }
	if err := json.Unmarshal(r.Content[0], &text); err != nil || text.Text != string(r.Output) {
		t.Errorf("%v: %s", err, r.Content[0])
	}
	var shown struct{ Type, MIMEType, Data string }
	if err := json.Unmarshal(r.Content[2], &shown); err != nil || shown.Type != "image" || shown.Data != dot ||
		shown.MIMEType != "image/png" {
		t.Errorf("%v: %s", err, r.Content[2])
	}
	if r, failure = delegate(t.Context(), call.Call{Session: client}, json.RawMessage(`{"prompt":"look"}`)); failure !=
		nil || r.Content != nil {
		t.Errorf("without pictures: %v %v", failure, r)
	}
}

// TestPicturesThatAreNone are refused before an agent is asked, with the place and what may be passed.
func TestPicturesThatAreNone(t *testing.T) {
	a := &scripted{id: "a", prompt: func(context.Context, *Session, Prompt) (Answer, *fault.Error) {
		t.Error("the agent was asked")
		return Answer{}, nil
	}}
	s := newSessions(t, nil, a)
	good := givenImage{"image/png", dot}
	large := strings.Repeat("A", base64.StdEncoding.EncodedLen(picture.MostBytes)+4)
	for name, given := range map[string][]givenImage{
		"svg":       {good, {"image/svg+xml", "PHN2Zy8+"}},
		"html":      {good, {"text/html", "PHN2Zy8+"}},
		"lie":       {good, {"image/jpeg", dot}},
		"no base64": {good, {"image/png", "%%%"}},
		"large":     {good, {"image/png", large}},
		"empty":     {good, {}},
	} {
		var args delegateArgs
		args.Prompt, args.Images = "look", given
		_, failure := s.delegate(t.Context(), call.Call{Session: client}, args)
		if failure == nil || failure.Code != fault.ValidationError || len(failure.Message) > 300 ||
			!strings.HasPrefix(failure.Message, "images[1] ") ||
			!strings.Contains(failure.Hint, "up to 4 pictures") {
			t.Errorf("%s: %v", name, failure)
		}
	}
	var args delegateArgs
	args.Prompt, args.Images = "look", []givenImage{good, good, good, good, good}
	if _, failure := s.delegate(t.Context(), call.Call{Session: client}, args); failure == nil ||
		!strings.HasPrefix(failure.Message, "images[4] ") {
		t.Errorf("five pictures: %v", failure)
	}
}

// TestPicturesOfToolsAreHandedOver: a model names those that its answer needs; a name that is none stays a text.
func TestPicturesOfToolsAreHandedOver(t *testing.T) {
	b := newBench(t, nil, calls("wiki__edit", `{}`, "wiki__edit", `{}`),
		says("Before: [tool picture 2]. After: [tool picture 1] ([tool picture 2] again, [tool picture 9])"), says("x"))
	b.tools.run = func(context.Context, call.Call) (*call.Result, *fault.Error) {
		return &call.Result{Content: []call.Content{
			json.RawMessage(`{"type":"image","mimeType":"image/png","data":"` + dot + `"}`),
			json.RawMessage(`{"type":"image","mimeType":"image/gif","data":"R0lGODlhAQABAAAAACw="}`)},
			Meta: call.Meta{Untrusted: true}}, nil
	}
	answer, _, failure := b.prompt(t.Context(), Prompt{Text: "look", Images: dots(t, 2)}, Budget{})
	if failure != nil {
		t.Fatal(failure)
	}
	if answer.Text != "Before: [picture 1]. After: [picture 2] ([picture 1] again, [tool picture 9])" ||
		!reflect.DeepEqual(answer.Images, dots(t, 2)) {
		t.Errorf("%q, %d pictures", answer.Text, len(answer.Images))
	}
	if got := b.last().Messages[0].Images; len(got) != 2 {
		t.Errorf("the model got %d pictures of the prompt", len(got))
	}
	for i, r := range b.last().Messages[2].Results {
		if mark := fmt.Sprintf("\nThis picture is [tool picture %d].", i+1); len(r.Images) != 1 ||
			!strings.Contains(r.Text, mark) || !strings.Contains(r.Text, "[picture left out: its data is no picture") {
			t.Errorf("%d: %q", i, r.Text)
		}
	}
	answer, _, failure = b.prompt(t.Context(), Prompt{Text: "and?"}, Budget{})
	if failure != nil || len(answer.Images) > 0 {
		t.Errorf("%v: the next answer has %d pictures", failure, len(answer.Images))
	}
}
