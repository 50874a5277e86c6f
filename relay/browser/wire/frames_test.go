package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"tabrelay/relay/road/call"
)

// golden reads the frames of a folder. A file ends with a line feed, as files do, which is not part of the frame.
func golden(t testing.TB, kind string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/frames/" + kind + "/*.frame")
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s frames: %v", kind, err)
	}
	frames := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		frames[strings.TrimSuffix(filepath.Base(file), ".frame")] = bytes.TrimSuffix(text, []byte("\n"))
	}
	return frames
}

func TestGoldenFramesAreRead(t *testing.T) {
	schemas := compileSchemas(t)
	for name, text := range golden(t, "good") {
		t.Run(name, func(t *testing.T) {
			f, payload, err := Decode(text)
			if err != nil {
				t.Fatal(err)
			}
			header, _, _ := bytes.Cut(text, []byte("\n"))
			var doc any
			if err := json.Unmarshal(header, &doc); err != nil {
				t.Fatal(err)
			}
			if err := schemas[string(f.Kind())].Validate(doc); err != nil {
				t.Errorf("the schema refuses it: %v", err)
			}
			again, err := Encode(f, payload)
			if err != nil {
				t.Fatal(err)
			}
			againHeader, againPayload, _ := bytes.Cut(again, []byte("\n"))
			var back any
			if err := json.Unmarshal(againHeader, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(doc, back); diff != "" {
				t.Errorf("encoding changed the header (-want +got):\n%s", diff)
			}
			if !bytes.Equal(payload, againPayload) {
				t.Errorf("encoding changed the payload to %s", againPayload)
			}
		})
	}
}

func TestMalformedFramesAreRefused(t *testing.T) {
	for name, text := range golden(t, "bad") {
		if f, _, err := Decode(text); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %#v and error %v", name, f, err)
		}
	}
}

func TestUnknownTypeIsNoError(t *testing.T) {
	f, payload, err := Decode([]byte("{\"type\":\"from-the-future\",\"x\":1}\nmore"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Kind() != "from-the-future" || string(payload) != "more" {
		t.Errorf("got %v with payload %q", f, payload)
	}
}

func TestUnknownFieldIsIgnored(t *testing.T) {
	f, _, err := Decode([]byte(`{"x":{"type":"pong"},"type":"ping","later":true}`))
	if err != nil || f.Kind() != "ping" {
		t.Errorf("got %v, %v", f, err)
	}
}

// A raw value inside a header may come with line feeds; the header must still be one line.
func TestHeaderIsOneLine(t *testing.T) {
	order := call.Order{Settings: json.RawMessage("{\n  \"a\": \"b\"\n}")}
	text, err := Encode(&Call{Order: order}, json.RawMessage("{\n}"))
	if err != nil {
		t.Fatal(err)
	}
	header, payload, _ := bytes.Cut(text, []byte("\n"))
	if !json.Valid(header) || string(payload) != "{\n}" {
		t.Errorf("got %q", text)
	}
}

func TestEncodeRefusesBrokenRawJSON(t *testing.T) {
	if _, err := Encode(&Call{Order: call.Order{Settings: json.RawMessage("{")}}, nil); err == nil {
		t.Error("no error")
	}
}

func TestHeaderLimit(t *testing.T) {
	long := strings.Repeat("x", readHeaderBytes)
	if _, _, err := Decode([]byte(`{"type":"notice","level":"info","message":"` + long + `"}`)); !errors.Is(err,
		ErrMalformed) {
		t.Errorf("a long notice: %v", err)
	}
	if _, _, err := Decode([]byte(`{"type":"tabs","tabs":[{"id":1,"url":"http://a/` + long + `"}]}`)); err != nil {
		t.Errorf("a long list of tabs: %v", err)
	}
}

// Every schema has its Go type with the same fields, every Go type its schema.
func TestSchemasAndTypesAgree(t *testing.T) {
	for name, schema := range readSchemas(t) {
		var value any
		switch name {
		case "tabinfo":
			value = Tab{}
		case "plugininfo":
			value = Plugin{}
		default:
			empty, ok := kinds[Kind(name)]
			if !ok {
				t.Errorf("no Go type for the frame %s", name)
				continue
			}
			value = reflect.ValueOf(empty()).Elem().Interface()
		}
		var want []string
		for field := range schema.Properties {
			if field != "type" {
				want = append(want, field)
			}
		}
		got := fields(reflect.TypeOf(value))
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: schema and Go type differ (-schema +go):\n%s", name, diff)
		}
	}
	for kind := range kinds {
		if _, err := os.Stat("schema/" + string(kind) + ".json"); err != nil {
			t.Errorf("no schema for the frame %s", kind)
		}
	}
}

func fields(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			names = append(names, fields(field.Type)...)
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

type schemaFile struct {
	Properties map[string]json.RawMessage `json:"properties"`
	raw        []byte
}

func readSchemas(t *testing.T) map[string]schemaFile {
	t.Helper()
	files, err := filepath.Glob("schema/*.json")
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]schemaFile{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := schemaFile{raw: raw}
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		schemas[strings.TrimSuffix(filepath.Base(file), ".json")] = s
	}
	return schemas
}

func compileSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	files := readSchemas(t)
	c := jsonschema.NewCompiler()
	for name, file := range files {
		if err := c.AddResource("wire:///"+name+".json", bytes.NewReader(file.raw)); err != nil {
			t.Fatal(err)
		}
	}
	compiled := map[string]*jsonschema.Schema{}
	for name := range files {
		s, err := c.Compile("wire:///" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		compiled[name] = s
	}
	return compiled
}

func FuzzDecode(f *testing.F) {
	for _, kind := range []string{"good", "bad"} {
		for _, text := range golden(f, kind) {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		frame, payload, err := Decode(text)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("the error is not ErrMalformed: %v", err)
			}
			return
		}
		if _, unknown := frame.(*Unknown); unknown {
			return
		}
		again, err := Encode(frame, payload)
		if err != nil {
			t.Fatalf("a decoded frame does not encode: %v", err)
		}
		back, backPayload, err := Decode(again)
		if err != nil {
			t.Fatalf("an encoded frame does not decode: %v\n%s", err, again)
		}
		// Raw JSON may be written with other escapes the first time, and stays so.
		third, err := Encode(back, backPayload)
		if err != nil || !bytes.Equal(again, third) || !bytes.Equal(payload, backPayload) {
			t.Errorf("round trip changed the frame from\n%s\nto\n%s (%v)", again, third, err)
		}
	})
}

func BenchmarkEncodeCall(b *testing.B) {
	f := &Call{ID: "0123456789abcdef0123456789abcdef", Plugin: "demo", Tool: "echo", TimeoutMs: 1, MaxTimeoutMs: 1,
		Order: call.Order{MaxResultBytes: 1, Hash: strings.Repeat("a", 64)}}
	payload := json.RawMessage(`{"text":"hello"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Encode(f, payload); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeOutcome(b *testing.B) {
	text := golden(b, "good")["outcome-returned"]
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Decode(text); err != nil {
			b.Fatal(err)
		}
	}
}
