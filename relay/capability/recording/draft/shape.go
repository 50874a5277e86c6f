package draft

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
)

const (
	deepest         = 8  // levels of JSON that are looked at
	mostFields      = 60 // of one object; more is a map
	mostWords       = 12 // different values of one field that are remembered
	describedLevels = 2  // of objects in an output schema: what is deeper may be anything
	sure            = 3  // samples from which on a type is taken to be the only one
)

// shape is what the samples of one value have in common.
type shape struct {
	seen    int
	kinds   map[string]int // by JSON type; integer apart from number
	fields  map[string]*shape
	objects int // samples that were objects
	items   *shape
	words   map[string]int // texts that are plain words
	texts   int
}

func newShape() *shape { return &shape{kinds: map[string]int{}, words: map[string]int{}} }

// add takes one more sample.
func (s *shape) add(value any, depth int) {
	s.seen++
	switch v := value.(type) {
	case nil:
		s.kinds["null"]++
	case bool:
		s.kinds["boolean"]++
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			s.kinds["integer"]++
		} else {
			s.kinds["number"]++
		}
	case string:
		s.kinds["string"]++
		s.texts++
		if word.MatchString(v) && (len(s.words) < mostWords || s.words[v] > 0) {
			s.words[v]++
		}
	case []any:
		s.kinds["array"]++
		if depth >= deepest {
			return
		}
		if s.items == nil {
			s.items = newShape()
		}
		for _, one := range v {
			s.items.add(one, depth+1)
		}
	case map[string]any:
		s.kinds["object"]++
		s.objects++
		if depth >= deepest {
			return
		}
		if s.fields == nil {
			s.fields = map[string]*shape{}
		}
		for key, one := range v {
			if s.fields[key] == nil {
				s.fields[key] = newShape()
			}
			s.fields[key].add(one, depth+1)
		}
	}
}

// isMap tells an object whose keys are data, such as ids, and no names of fields.
func (s *shape) isMap() bool {
	odd := 0
	for key := range s.fields {
		if isID(key) || looksRandom(key) || len(words(key)) == 0 || len(key) > 64 {
			odd++
		}
	}
	return len(s.fields) > mostFields || odd > 0 && odd*2 >= len(s.fields)
}

// plainKey tells a name of a field that may be written.
func plainKey(key string) bool {
	return key != "__proto__" && len(key) <= 64 && !looksRandom(key) && !isID(key) && isASCIIName(key)
}

func isASCIIName(key string) bool {
	for _, r := range key {
		if r < 0x20 || r > 0x7e || r == '`' || r == '"' || r == '\\' {
			return false
		}
	}
	return key != ""
}

// types are the JSON types that were seen, as a schema names them.
func (s *shape) types() []string {
	var all []string
	for kind := range s.kinds {
		if kind == "integer" && s.kinds["number"] > 0 {
			continue
		}
		all = append(all, kind)
	}
	slices.Sort(all)
	return all
}

// answerSchema describes what a site answers, so that another answer of the same kind satisfies it: what was seen
// seldom may also be null, and a field is required when every one of several samples has it.
func (s *shape) answerSchema() map[string]any { return s.answerTo(describedLevels) }

func (s *shape) answerTo(levels int) map[string]any {
	schema := map[string]any{}
	types := s.types()
	if i := slices.Index(types, "integer"); i >= 0 {
		types[i] = "number"
	}
	if s.seen < sure && !slices.Contains(types, "null") {
		types = append(types, "null")
	}
	if slices.Equal(types, []string{"null"}) || len(types) == 0 {
		return schema // only null was seen: it may be anything
	}
	schema["type"] = types
	if len(types) == 1 {
		schema["type"] = types[0]
	}
	if s.items != nil && s.items.seen > 0 {
		schema["items"] = s.items.answerTo(levels)
	}
	if s.objects == 0 || s.isMap() || levels == 0 {
		return schema
	}
	properties, required := map[string]any{}, []string{}
	for _, key := range slices.Sorted(maps.Keys(s.fields)) {
		if !plainKey(key) {
			continue
		}
		properties[key] = s.fields[key].answerTo(levels - 1)
		if s.objects >= sure && s.fields[key].seen == s.objects && s.seen == s.objects {
			required = append(required, key)
		}
	}
	schema["properties"] = properties
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// inputSchema describes what an agent may send.
func (s *shape) inputSchema(name string) map[string]any {
	schema := map[string]any{}
	types := s.types()
	switch len(types) {
	case 0:
		return schema
	case 1:
		schema["type"] = types[0]
	default:
		schema["type"] = types
	}
	if choices := s.choices(name); len(types) == 1 && choices != nil {
		schema["enum"] = choices
	}
	if s.items != nil {
		schema["items"] = s.items.inputSchema(singular(name))
	}
	if s.objects > 0 && !s.isMap() {
		properties, required := map[string]any{}, []string{}
		for _, key := range slices.Sorted(maps.Keys(s.fields)) {
			if !plainKey(key) || isSecret(key) {
				continue
			}
			properties[key] = s.fields[key].inputSchema(key)
			if s.fields[key].seen == s.objects {
				required = append(required, key)
			}
		}
		schema["properties"] = properties
		if len(required) > 0 {
			schema["required"] = required
		}
	}
	return schema
}

// choices are the only values of a field, when the samples say so: plain words, each of them more than once on average.
// A field without a name, or that may be about people, has none.
func (s *shape) choices(name string) []string {
	if name == "" || isSecret(name) || personalName.MatchString(name) {
		return nil
	}
	known := 0
	for _, n := range s.words {
		known += n
	}
	if len(s.words) < 2 || known != s.texts || s.texts < 2*len(s.words) || len(s.words) >= mostWords {
		return nil
	}
	return slices.Sorted(maps.Keys(s.words))
}

// sample makes a value of this shape in which nothing is left of what was recorded but the names of fields.
func (s *shape) sample(name string) any { return s.sampleOf(name, false) }

// inputSample is one that the schema of the input allows: of a few words that were sent it is one of them.
func (s *shape) inputSample(name string) any { return s.sampleOf(name, true) }

func (s *shape) sampleOf(name string, sent bool) any {
	types := s.types()
	pick := func(kind string) bool { return slices.Contains(types, kind) }
	switch {
	case pick("object"):
		object := map[string]any{}
		if s.isMap() {
			return object
		}
		for key, field := range s.fields {
			if plainKey(key) && !isSecret(key) {
				object[key] = field.sampleOf(key, sent)
			}
		}
		return object
	case pick("array"):
		if s.items == nil || s.items.seen == 0 {
			return []any{}
		}
		return []any{s.items.sampleOf(singular(name), sent)}
	case pick("string"):
		if choices := s.choices(name); sent && choices != nil {
			return choices[0]
		}
		return sampleText(name)
	case pick("integer"), pick("number"):
		return 1
	case pick("boolean"):
		return true
	}
	return nil
}

// sampleText is a text for a field: what it is called, and nothing of what it was.
func sampleText(name string) string {
	if isSecret(name) {
		return Placeholder
	}
	text := cmp.Or(snake(name), "text")
	return "sample-" + text
}

// shapeOf infers the shape of a value.
func shapeOf(values ...any) *shape {
	s := newShape()
	for _, v := range values {
		s.add(v, 0)
	}
	return s
}

func toJSON(v any) json.RawMessage {
	text, _ := json.Marshal(v) // made of JSON types
	return text
}
