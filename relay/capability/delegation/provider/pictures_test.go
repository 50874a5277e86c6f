package provider_test

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/capability/delegation/provider/providertest"
	"tabrelay/relay/road/fault"
)

// dot is a picture of one pixel.
func dot(t *testing.T) provider.Image {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptV" +
		"AAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	return provider.Image{MIMEType: "image/png", Data: data}
}

// seeing are models of each wire that are known to see.
var seeing = map[provider.Kind]string{provider.OpenAI: "gpt-4o", provider.Anthropic: "claude",
	provider.Gemini: "gemini-3"}

// TestPicturesOfAPrompt: each wire takes the pictures that belong to what is asked, in every turn that follows.
func TestPicturesOfAPrompt(t *testing.T) {
	for _, kind := range providertest.Kinds() {
		s := providertest.New(t, kind, providertest.Step{Text: "a dot"})
		r := ask("What is this?")
		r.Params = read(t, `{"model": "`+seeing[kind]+`"}`)
		r.Messages[0].Images = []provider.Image{dot(t), dot(t)}
		r.Messages = append(r.Messages, provider.Message{Role: provider.Assistant, Text: "Two pictures."},
			provider.Message{Role: provider.User, Text: "Of what?"})
		complete(t, s.Provider(), r)
		if got := s.Requests()[0].Messages; len(got) != 3 || !reflect.DeepEqual(got[0].Images, r.Messages[0].Images) ||
			got[0].Text != "What is this?" || len(got[2].Images) > 0 {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

// TestModelsThatDoNotSee refuse pictures of a prompt before anything is sent, unless the person says that they see.
func TestModelsThatDoNotSee(t *testing.T) {
	for _, model := range []string{"qwen3", "gpt-4", "gpt-3.5-turbo", "gpt-4ox"} {
		s := providertest.New(t, provider.OpenAI, providertest.Step{Text: "a dot"})
		r := ask("What is this?")
		r.Params, r.Messages[0].Images = read(t, `{"model": "`+model+`"}`), []provider.Image{dot(t)}
		_, failed := s.Provider().Complete(t.Context(), r)
		if failed == nil || failed.Code != fault.ConfigError || s.HTTPCalls() != 0 ||
			!strings.Contains(failed.Message, model+" is not known to see any") ||
			!strings.Contains(failed.Hint, "providers.openai.images") {
			t.Fatalf("%s: %v, %d calls", model, failed, s.HTTPCalls())
		}
		c := s.Config()
		c.Images = true
		p, err := provider.New(c)
		if err != nil {
			t.Fatal(err)
		}
		complete(t, p, r)
		if got := s.Requests()[0].Last().Images; !reflect.DeepEqual(got, r.Messages[0].Images) {
			t.Errorf("%s: %+v", model, got)
		}
	}
}

// TestPicturesOfAModel: those of Gemini come with the answer. What is no picture is not passed on, and said.
func TestPicturesOfAModel(t *testing.T) {
	svg := provider.Image{MIMEType: "image/svg+xml", Data: []byte("<svg onload='x()'/>")}
	lie := dot(t)
	lie.MIMEType = "image/webp"
	s := providertest.New(t, provider.Gemini, providertest.Step{Text: "Here: ",
		Images: []provider.Image{svg, dot(t), lie, dot(t)}}, providertest.Step{Text: "ok"})
	p, r := s.Provider(), ask("Draw two dots")
	done := complete(t, p, r)
	m := done.Message
	const want = "Here: [picture left out: its data is no picture of the type image/png, image/jpeg or image/webp]" +
		"[picture 1][picture left out: its mimeType is \"image/webp\", but its data is image/png][picture 2]"
	if m.Text != want || !reflect.DeepEqual(m.Images, []provider.Image{dot(t), dot(t)}) {
		t.Errorf("%q, %d pictures", m.Text, len(m.Images))
	}
	r.Messages = append(r.Messages, m, provider.Message{Role: provider.User, Text: "Thanks"})
	complete(t, p, r)
	if back := s.Requests()[1].Messages[1]; !reflect.DeepEqual(back.Images, m.Images) {
		t.Errorf("the model got %+v back", back)
	}
}
