package draft

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
)

const samplePage = "<!doctype html><title>Sample</title><main><p>Text</p></main>"

// answerKind says what the answers of an endpoint are, and has those that are JSON.
func (b *toolDraft) answerKind() (answerKind, []any) {
	var values []any
	known := false
	for _, q := range b.good {
		if value, ok := q.answerJSON(); ok && q.status < 300 {
			values = append(values, value)
		}
		known = known || q.answered
	}
	q := b.good[0]
	if len(values) == 0 {
		html := strings.Contains(q.answerType, "html")
		switch {
		case q.navigation || html && q.method == "GET":
			return asPage, nil
		case q.status == 204 || known && q.answer == "" || b.e.method == "DELETE":
			return asNone, nil
		}
		b.note("The recording has no answer in JSON: shape what the site says into fields that an agent needs.")
		return asText, nil
	}
	kinds := map[answerKind]bool{}
	for _, value := range values {
		switch value.(type) {
		case map[string]any:
			kinds[asObject] = true
		case []any:
			kinds[asList] = true
		default:
			kinds[asValue] = true
		}
	}
	for _, kind := range []answerKind{asObject, asList} {
		if kinds[kind] && len(kinds) == 1 {
			return kind, values
		}
	}
	return asValue, values
}

// outputOf is the schema of what a tool answers, and a sample of what the site does.
func outputOf(kind answerKind, values []any) (schema map[string]any, sample any) {
	object := func(properties map[string]any, required ...string) map[string]any {
		return map[string]any{"type": "object", "properties": properties, "required": required}
	}
	text := map[string]any{"type": "string"}
	s := shapeOf(values...)
	switch kind {
	case asNone:
		return object(map[string]any{"done": map[string]any{"type": "boolean"}}, "done"), ""
	case asText:
		return object(map[string]any{"text": text}, "text"), "Text"
	case asPage:
		number := map[string]any{"type": "integer"}
		return object(map[string]any{"title": text, "text": text, "totalChars": number, "nextOffset": number}, "title",
			"text", "totalChars"), samplePage
	case asList:
		items := map[string]any{}
		if s.items != nil {
			items = s.items.answerSchema()
		}
		return object(map[string]any{"items": map[string]any{"type": "array", "items": items}}, "items"),
			s.sample("item")
	case asValue:
		return object(map[string]any{"value": s.answerSchema()}, "value"), s.sample("value")
	}
	schema = s.answerSchema()
	schema["type"] = "object"
	if schema["properties"] == nil {
		schema["properties"] = map[string]any{}
	}
	return schema, s.sample("answer")
}

// sampleOutput is what a tool makes of a sample.
func sampleOutput(kind answerKind, sample any) map[string]any {
	switch kind {
	case asNone:
		return map[string]any{"done": true}
	case asText:
		return map[string]any{"text": sample}
	case asPage:
		return map[string]any{"title": "Sample", "text": "Text", "totalChars": 4}
	case asList:
		return map[string]any{"items": sample}
	case asValue:
		return map[string]any{"value": sample}
	}
	object, _ := sample.(map[string]any)
	return object
}

// finishRequests gives the request of the fixture its answer.
func (b *toolDraft) finishRequests(kind answerKind, sample any) {
	last := b.requests[len(b.requests)-1]
	if last["body"] != nil {
		return
	}
	if text, ok := sample.(string); ok && kind == asValue {
		last["body"] = string(toJSON(text))
		return
	}
	last["body"] = sample
	if kind == asValue || kind == asList || kind == asObject {
		if _, isText := sample.(string); !isText {
			last["body"] = sample
		}
	}
}

var (
	reading = lazyregexp.New(`(?i)(?:^|[/_-])(?:search|query|find|filter|list|lookup|count|` +
		`autocomplete|suggest|read|get)(?:$|[/_-])`)
	destroying = lazyregexp.New(`(?:^|_)(?:delet|remov|destroy|trash|purge|eras|revok|cancel|wipe|reset|discard|` +
		`deactivat|disabl|unsubscrib|logout|log_?out|logoff|sign_?out|sign_?off)`)
	changing = lazyregexp.New(`(?:^|_)(?:edit|add|create|new|save|update|write|lock|unlock|mark|move|rename|set|` +
		`subscribe|upload|import|publish|approve|assign|star|send)(?:$|_)`)
	graphQLRead = lazyregexp.New(`^\s*(?:query\b|\{)`)
	graphQLDoes = lazyregexp.New(`\b(?:mutation|subscription)\b`)
)

// annotations are the hints of a tool. Only what its method promises is taken for reading.
func (b *toolDraft) annotations() string {
	route := strings.Join(b.e.segments, "/") + "/" + strings.Join(slices.Sorted(maps.Values(b.e.route)), "/") +
		"/" + b.e.rpc
	switch {
	case b.e.method == "GET" || b.e.method == "HEAD":
		for _, q := range b.good {
			route += "/" + q.url.Path + "/" + strings.Join(sortedKeys(q.url.Query()), "/")
		}
		if destroying.MatchString(snake(route)) {
			b.note("It is a GET whose address sounds as if it destroys something, so it does not count as reading.")
			return "{ destructiveHint: true }"
		}
		for _, action := range b.e.route {
			if changing.MatchString(snake(action)) {
				b.note("It is a GET whose address names a change (an editor may lock what it opens), so it does not " +
					"count as reading. If it only reads: annotations: { readOnlyHint: true }.")
				return "{ readOnlyHint: false, destructiveHint: false }"
			}
		}
		return "{ readOnlyHint: true }"
	case b.e.method == "DELETE" || destroying.MatchString(snake(route)):
		return "{ destructiveHint: true }"
	case b.isGraphQLQuery() && !destroying.MatchString(snake(b.e.graphQL)):
		b.note("It is a query of GraphQL, which promises that queries only read.")
		return "{ readOnlyHint: true }"
	case reading.MatchString(route):
		b.note("It looks as if it only reads. If so: annotations: { readOnlyHint: true }.")
	}
	return "{ readOnlyHint: false, destructiveHint: false }"
}

// isGraphQLQuery tells an operation that reads, as far as its text is known.
func (b *toolDraft) isGraphQLQuery() bool {
	return b.e.graphQL != "" && !slices.ContainsFunc(b.good, func(q *request) bool { return !q.isGraphQLQuery() })
}

// describe says what a tool does, as far as the recording tells.
func (b *toolDraft) describe(kind answerKind, form bool) string {
	address := plainText(b.secrets.strip(b.e.address()))
	what := map[bool]string{true: "Reads", false: "Sends"}[b.e.method == "GET"]
	switch {
	case form:
		what = "Fills in and sends the form at"
	case kind == asPage:
		what = "The text of the page at"
	case b.e.method == "DELETE":
		what = "Deletes at"
	case b.e.method != "GET":
		what = "Sends " + b.e.method + " to"
	}
	text := what + " " + address + "."
	for _, q := range b.good {
		if label := plainText(q.afterClick); label != "" && len([]rune(label)) <= 40 && !looksRandom(label) &&
			!strings.ContainsAny(label, "@0123456789") {
			return text + " The page does it after a click on “" + label + "”."
		}
	}
	return text + " Say here what for, and when to use it."
}

// address is what an endpoint is called by people.
func (e *endpoint) address() string {
	path := "/" + strings.ReplaceAll(strings.Join(e.segments, "/"), "*", "…")
	for _, name := range slices.Sorted(maps.Keys(e.route)) {
		path += " " + name + "=" + strings.ReplaceAll(e.route[name], "*", "…")
	}
	return strings.TrimSpace(path + " " + e.graphQL + e.rpc)
}

// title is a name for people.
func title(name string) string {
	text := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(text[:1]) + text[1:]
}

func indent(schema map[string]any) string {
	text, _ := json.MarshalIndent(schema, "  ", "  ") // made of JSON types
	return string(text)
}
