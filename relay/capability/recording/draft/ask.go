package draft

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// askCode is the request of a tool that sends what a script of the page sent.
func (b *toolDraft) askCode(kind answerKind, path, query, samplePath, sampleQuery string) string {
	q := b.good[0]
	options := []string{}
	if query != "" {
		options = append(options, "query: "+query)
	}
	sent := map[string]any{}
	if code, sample, ok := b.body(); ok {
		options = append(options, code)
		if text, isText := sample.(string); isText && q.fields() == nil {
			sample = string(toJSON(text)) // a text in a fixture is what is sent, as it is
		}
		if sample != nil {
			sent["sends"] = sample
		}
	}
	if headers := b.headerCode(q); headers != "" {
		options = append(options, "headers: "+headers)
	}
	options = append(options, "signal")
	address := samplePath
	if sampleQuery != "" {
		address += "?" + sampleQuery
	}
	sent["url"] = address
	if q.method != "GET" {
		sent["method"] = q.method
	}
	b.requests = append(b.requests, sent)
	call := fmt.Sprintf("%s, %s, { %s }", quote(q.method), path, strings.Join(options, ", "))
	switch kind {
	case asList:
		return "return { items: await askJSON(" + call + ") };"
	case asValue:
		return "return { value: await askJSON(" + call + ") };"
	case asNone:
		return "await askText(" + call + ");\n    return { done: true };"
	case asText:
		return "return { text: await askText(" + call + ") };"
	case asPage:
		return "return pageText(await askText(" + call + "), " + b.pageArguments() + ");"
	}
	return "return await askJSON(" + call + ");"
}

// pageArguments are those by which an agent reads a page in parts.
func (b *toolDraft) pageArguments() string {
	offset := b.args.add("", "offset", map[string]any{"type": "integer", "minimum": 0, "default": 0,
		"description": "Where to go on: nextOffset of the previous answer."}, false, 0)
	most := b.args.add("", "maxChars", map[string]any{"type": "integer", "minimum": 1, "maximum": 100_000,
		"default":     20_000,
		"description": "At most this many characters of the text."}, false, 20_000)
	return fmt.Sprintf("{ offset: params.%s, maxChars: params.%s, maxBytes }", offset.name, most.name)
}

// headerCode are the headers that matter: tokens, and words that say what is meant.
func (b *toolDraft) headerCode(q *request) string {
	entries := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(q.headers)) {
		value := q.headers[name]
		switch {
		case name == "content-type" || name == "referer" || !isASCIIName(name):
		case isSecret(name) || looksRandom(value):
			if t := b.tokens.of(name, value); t != nil {
				entries[name] = b.read(t)
			} else {
				b.note("The page also sent the header %s; the recording does not show where its value came from.",
					plainText(name))
			}
		case harmless(name, strings.ToLower(value)):
			entries[name] = quote(value)
		}
	}
	return literal(entries)
}

// body is what is sent, as code and as it is in the fixture.
func (b *toolDraft) body() (code string, sample any, ok bool) {
	q := b.good[0]
	if q.fields() != nil {
		var samples []url.Values
		for _, one := range b.good {
			samples = append(samples, one.fields())
		}
		fields, text := b.values(samples, nil, "form")
		if strings.HasPrefix(q.headers["content-type"], "multipart/form-data") {
			return "multipart: " + cmp.Or(fields, "{}"), nil, fields != "" // a fixture cannot tell its boundary
		}
		return "form: " + cmp.Or(fields, "{}"), text, fields != ""
	}
	var bodies []any
	for _, one := range b.good {
		if value, ok := one.json(); ok {
			bodies = append(bodies, value)
		}
	}
	switch {
	case len(bodies) == 0:
		return "", nil, false
	case b.e.graphQL != "":
		return b.graphQLBody(bodies)
	case b.e.rpc != "":
		return b.rpcBody(bodies)
	}
	entries, sent := b.jsonEntries(bodies, "")
	if entries == nil {
		s := shapeOf(bodies...)
		f := b.args.add("", "body", s.inputSchema(""), true, s.inputSample(""))
		f.schema["description"] = "What is sent."
		return "json: params." + f.name, f.sample, true
	}
	return "json: " + cmp.Or(literal(entries), "{}"), sent, true
}

// jsonEntries are the fields of JSON bodies that are objects, as code and as they are in the fixture.
func (b *toolDraft) jsonEntries(bodies []any, _ string) (entries map[string]string, sent map[string]any) {
	object, isObject := bodies[0].(map[string]any)
	isRoute := func(name string) bool { return b.e.route[name] != "" && object[name] == any(b.e.route[name]) }
	fields, ok := b.args.jsonArguments(bodies, func(name string) bool { return isSecret(name) || isRoute(name) })
	if !ok || !isObject {
		return nil, nil
	}
	entries, sent = map[string]string{}, map[string]any{}
	for _, f := range fields {
		entries[f.wire], sent[f.wire] = "params."+f.name, f.sample
	}
	for name, value := range object {
		text, isText := value.(string)
		if isRoute(name) {
			entries[name], sent[name] = quote(text), text
		}
		if !isText || !isSecret(name) || !plainKey(name) {
			continue
		}
		if t := b.tokens.of(name, text); t != nil {
			entries[name], sent[name] = b.read(t), t.prefix+Placeholder
		} else {
			b.note("The page also sent %s, a secret that the recording does not show the origin of.", plainText(name))
		}
	}
	return entries, sent
}
