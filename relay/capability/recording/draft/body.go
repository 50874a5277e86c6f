package draft

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
)

var (
	graphQLLiteral = lazyregexp.New(`"(?:[^"\\]|\\.)+"`)
	graphQLBlock   = lazyregexp.New(`(?s)"""(?:\\"""|.)*?"""`)
)

// graphQLBody sends the operation as it was, with its variables as arguments.
func (b *toolDraft) graphQLBody(bodies []any) (code string, sample any, ok bool) {
	object, _ := bodies[0].(map[string]any)
	query, _ := object["query"].(string)
	query = graphQLBlock.ReplaceAllString(b.secrets.strip(query), `" "`)
	if graphQLLiteral.MatchString(query) {
		query = graphQLLiteral.ReplaceAllString(query, `""`)
		b.note("The operation had texts inside, which were taken out: make variables of them.")
	}
	var variables []any
	for _, body := range bodies {
		one, _ := body.(map[string]any)
		if given, ok := one["variables"].(map[string]any); ok {
			variables = append(variables, given)
		}
	}
	entries, sent := map[string]string{}, map[string]any{}
	if len(variables) > 0 {
		if made, values := b.jsonEntries(variables, ""); made != nil {
			entries, sent = made, values
		}
	}
	whole := map[string]string{"variables": cmp.Or(literal(entries), "{}")}
	value := map[string]any{"variables": sent}
	if query != "" {
		whole["query"], value["query"] = quote(query), query
	}
	if hash := persistedHash(object); hash != "" {
		known := map[string]any{"persistedQuery": map[string]any{"version": 1, "sha256Hash": hash}}
		whole["extensions"], value["extensions"] = string(toJSON(known)), known
		b.note("The site knows the operation by a hash, which may be another one after it was updated.")
	}
	if name, ok := object["operationName"].(string); ok && isASCIIName(name) {
		whole["operationName"], value["operationName"] = quote(name), name
	}
	return "json: " + literal(whole), value, true
}

// rpcBody sends the method of JSON-RPC, with its params as arguments.
func (b *toolDraft) rpcBody(bodies []any) (code string, sample any, ok bool) {
	var params []any
	for _, body := range bodies {
		one, _ := body.(map[string]any)
		params = append(params, one["params"])
	}
	whole := map[string]string{"method": quote(b.e.rpc), "id": "1", "jsonrpc": quote("2.0")}
	value := map[string]any{"method": b.e.rpc, "id": 1, "jsonrpc": "2.0"}
	params = slices.DeleteFunc(params, func(one any) bool { return one == nil })
	if len(params) == 0 {
		return "json: " + literal(whole), value, true
	}
	if entries, sent := b.jsonEntries(params, ""); entries != nil {
		whole["params"], value["params"] = cmp.Or(literal(entries), "{}"), sent
		return "json: " + literal(whole), value, true
	}
	s := shapeOf(params...)
	f := b.args.add("", "params", s.inputSchema(""), true, s.inputSample(""))
	f.schema["description"] = "The method's parameters."
	whole["params"], value["params"] = "params."+f.name, f.sample
	return "json: " + literal(whole), value, true
}

// form is the form that the person submitted; nil when a script of the page made the request.
func (b *toolDraft) form() *event {
	if b.e.method == "GET" {
		return nil
	}
	for _, q := range b.good {
		if q.submit != nil && q.fields() != nil {
			return q.submit
		}
	}
	return nil
}

// submitCode fills the form in as the page has it now: its hidden fields, such as tokens, are those of this moment.
func (b *toolDraft) submitCode(form *event, path, query, samplePath, sampleQuery string) string {
	q := b.good[slices.IndexFunc(b.good, func(q *request) bool { return q.submit == form })]
	var samples []url.Values
	for _, one := range b.good {
		samples = append(samples, b.visible(one, form))
	}
	fields, sent := b.values(samples, form, "form")
	page := b.formPage(q, form)
	address := samplePath
	if sampleQuery != "" {
		address += "?" + sampleQuery
	}
	hidden := ""
	for _, f := range form.Fields {
		if f.Type == "hidden" && isASCIIName(f.Name) {
			hidden += `<input type="hidden" name="` + markup(f.Name) + `" value="` + Placeholder + `">`
		}
	}
	b.requests = append(b.requests,
		page200(page.sample, `<form method="post" action="`+markup(address)+`">`+hidden+`</form>`),
		map[string]any{"method": "POST", "url": address, "body": samplePage})
	if sent != "" && b.e.method == "POST" {
		b.note("The form is read from its page first, so what is not given stays as the page has it.")
	}
	options := []string{"page: " + page.code, "action: " + path, "fields: " + cmp.Or(fields, "{}")}
	if query != "" {
		options = append(options, "query: "+query)
	}
	options = append(options, "signal")
	return "return pageText(await submitForm({ " + strings.Join(options, ", ") + " }), { offset: 0, maxChars: 2000, " +
		"maxBytes });"
}

// visible are the fields of a form that the person sees.
func (b *toolDraft) visible(q *request, form *event) url.Values {
	seen := url.Values{}
	for name, values := range q.fields() {
		hidden := slices.ContainsFunc(form.Fields, func(f Field) bool { return f.Name == name && f.Type == "hidden" })
		known := slices.ContainsFunc(form.Fields, func(f Field) bool { return f.Name == name })
		if !hidden && known {
			seen[name] = values
		}
	}
	return seen
}

// pageOf is the address of a form's page, as code and as it is in the fixture.
type pageOf struct{ code, sample string }

// formPage is where a form was: an earlier answer that has its hidden values, else the page of the tab.
func (b *toolDraft) formPage(q *request, form *event) pageOf {
	address := form.Page
	for _, earlier := range slices.Backward(b.tokens.recording.requests) {
		if earlier.at >= q.at || !earlier.answered || earlier.method != "GET" || earlier.navigation ||
			!strings.Contains(earlier.answer, "<form") || !strings.Contains(earlier.answer, markup(q.url.Path)) {
			continue
		}
		address = earlier.url.String()
		break
	}
	u, err := url.Parse(address)
	if err != nil {
		return pageOf{quote("/"), "/"}
	}
	return b.pageAddress(u)
}

// pageAddress is the address of a page, with arguments for what names one thing in it: the same as in the request's own
// address, where they are called the same.
func (b *toolDraft) pageAddress(u *url.URL) pageOf {
	code, sample := "", ""
	segments := split(u.EscapedPath())
	general := generalise(segments, nil)
	before := ""
	for i, segment := range segments {
		if general[i] != "*" {
			code, sample = code+"/"+templateText(b.secrets.strip(segment)), sample+"/"+b.secrets.strip(segment)
			before = segment
			continue
		}
		f := b.idArgument("", camel(singular(before), "id")+"Id", segment)
		code, sample = code+"/${segment(params."+f.name+")}", sample+"/"+fmt.Sprint(f.sample)
	}
	mark := "?"
	for _, name := range sortedKeys(u.Query()) {
		value := u.Query().Get(name)
		if isSecret(name) || !isASCIIName(name) || cacheBusters[name] {
			continue
		}
		part := url.QueryEscape(name) + "="
		if isRoute(name, value) || word.MatchString(value) &&
			!personalName.MatchString(name) {
			code, sample = code+mark+templateText(part+url.QueryEscape(value)), sample+mark+part+url.QueryEscape(value)
		} else {
			f := b.idArgument(name, camel(name, "id"), value)
			code += mark + templateText(part) + "${encodeURIComponent(params." + f.name + ")}"
			sample += mark + part + url.QueryEscape(fmt.Sprint(f.sample))
		}
		mark = "&"
	}
	if strings.HasPrefix(sample, "//") {
		code, sample = "/."+code, "/."+sample
	}
	return pageOf{"`" + code + "`", sample}
}

// idArgument is an argument that names one thing: one that is there already, or a new one.
func (b *toolDraft) idArgument(wire, name, value string) *field {
	for _, f := range b.args.list {
		if plain := f.schema["type"] == "string" || f.schema["type"] == "integer"; plain &&
			(f.name == name || wire != "" && f.wire == wire) {
			f.required = true
			return f
		}
	}
	schema, sample := textSchema(name, []string{value})
	schema["description"] = "In the address of the page that has the form."
	return b.args.add(wire, name, schema, true, sample)
}

func sortedKeys(values url.Values) []string {
	var all []string
	for name := range values {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
