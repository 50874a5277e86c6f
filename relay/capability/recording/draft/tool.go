package draft

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// tool is one tool of a draft.
type tool struct {
	Name, Title, Description string
	Comments                 []string
	Variable                 string
	Annotations              string
	Input, Output            string // as literals
	Code                     []string
	HasInput                 bool

	fixture map[string]any
}

// answerKind is what a tool makes of an answer.
type answerKind string

const (
	asObject answerKind = "object"
	asList   answerKind = "list"
	asValue  answerKind = "value"
	asNone   answerKind = "none"
	asText   answerKind = "text"
	asPage   answerKind = "page"
)

// maker makes the tools of one draft.
type maker struct {
	tokens      *tokens
	names       map[string]bool
	variables   map[string]bool
	longestName int
	origin      string
	secrets     secrets
}

// toolDraft is one tool while it is made.
type toolDraft struct {
	*maker
	e        *endpoint
	good     []*request // samples that succeeded
	args     arguments
	comments []string
	requests []map[string]any // of the fixture
}

func (m *maker) tool(e *endpoint) *tool {
	b := &toolDraft{maker: m, e: e}
	for _, q := range e.samples {
		if q.succeeded() {
			b.good = append(b.good, q)
		}
	}
	path, samplePath := b.path()
	query, sampleQuery := b.query()
	kind, answers := b.answerKind()
	t := &tool{Name: m.name(e, kind)}
	form := b.form()
	var code string
	if form != nil {
		code = b.submitCode(form, path, query, samplePath, sampleQuery)
		kind = asPage
	} else {
		code = b.askCode(kind, path, query, samplePath, sampleQuery)
	}
	t.Variable = m.variable(t.Name)
	t.Title = title(t.Name)
	t.Input, t.HasInput = indent(b.args.schema()), len(b.args.list) > 0
	output, sample := outputOf(kind, answers)
	t.Output = indent(output)
	b.finishRequests(kind, sample)
	t.Code = []string{code}
	t.Description = b.describe(kind, form != nil)
	t.Annotations = b.annotations()
	if slices.ContainsFunc(b.good, func(q *request) bool { return q.batched }) {
		b.note("The page sent it with others in one request.")
	}
	t.Comments = b.comments
	expect := map[string]any{"output": sampleOutput(kind, sample)}
	page := map[string]any{"url": m.origin + "/"}
	for _, used := range b.used(code) {
		merge(page, "cookies", used.cookies)
		merge(page, "localStorage", used.local)
		merge(page, "sessionStorage", used.session)
		merge(page, "globals", used.globals)
		if used.request != nil {
			b.requests = append(b.requests, used.request)
		}
	}
	t.fixture = map[string]any{"tool": t.Name, "arguments": b.args.samples(), "page": page, "requests": b.requests,
		"expect": expect}
	return t
}

// variable is a name for what a tool is in the code: no word of the language, and none that is there already.
func (m *maker) variable(tool string) string {
	base := camel(tool, "tool")
	name := base + "Tool"
	for n := 2; m.variables[name]; n++ {
		name = fmt.Sprintf("%s%dTool", base, n)
	}
	m.variables[name] = true
	return name
}

func merge(into map[string]any, key string, more map[string]any) {
	if len(more) == 0 {
		return
	}
	if into[key] == nil {
		into[key] = map[string]any{}
	}
	maps.Copy(into[key].(map[string]any), more)
}

// used are the tokens that a piece of code reads.
func (b *toolDraft) used(code string) []*token {
	var all []*token
	for _, t := range b.tokens.list {
		if strings.Contains(code, "await "+t.name+"(") {
			all = append(all, t)
		}
	}
	return all
}

// path is the address as a template, and as it is in the fixture.
func (b *toolDraft) path() (template, sample string) {
	var seen [][]string
	for _, q := range b.e.samples {
		seen = append(seen, split(q.url.EscapedPath()))
	}
	for _, p := range b.args.pathArguments(b.e.segments, seen) {
		if p.param == nil {
			template += "/" + templateText(b.secrets.strip(p.fixed))
			sample += "/" + b.secrets.strip(p.fixed)
			continue
		}
		template += "/${segment(params." + p.param.name + ")}"
		sample += "/" + fmt.Sprint(p.param.sample)
	}
	if strings.HasPrefix(sample, "//") { // it would be the address of another site
		template, sample = "/."+template, "/."+sample
	}
	return "`" + template + "`", sample
}

var templateEscapes = strings.NewReplacer("\\", "\\\\", "`", "\\`", "${", "\\${")

func templateText(text string) string { return templateEscapes.Replace(text) }

// route is a field that says which endpoint is meant, as code and as it is in the fixture.
func (b *toolDraft) route(name string) (code, sample string) {
	value := b.e.route[name]
	if !strings.Contains(value, "*") {
		return quote(value), value
	}
	var seen [][]string
	for _, q := range b.e.samples {
		seen = append(seen, split(cmp.Or(q.url.Query().Get(name), q.fields().Get(name))))
	}
	for _, p := range b.args.pathArguments(split(value), seen) {
		if p.param == nil {
			code, sample = code+"/"+templateText(p.fixed), sample+"/"+p.fixed
			continue
		}
		code += "/${segment(params." + p.param.name + ")}"
		sample += "/" + fmt.Sprint(p.param.sample)
	}
	return "`" + code + "`", sample
}

// query is the query as an object, and as it is in the fixture.
func (b *toolDraft) query() (code, sample string) {
	var samples []url.Values
	for _, q := range b.good {
		samples = append(samples, q.url.Query())
	}
	return b.values(samples, nil, "query")
}

// values makes code for the fields of a query or a form.
func (b *toolDraft) values(samples []url.Values, form *event, what string) (code, sample string) {
	entries, sent := map[string]string{}, url.Values{}
	has := func(name string) bool {
		return slices.ContainsFunc(samples, func(v url.Values) bool { return v.Has(name) })
	}
	for name := range b.e.route {
		if has(name) {
			value, text := b.route(name)
			entries[name] = value
			sent.Set(name, text)
		}
	}
	if text := samples[0].Get("query"); what == "query" && b.e.graphQL != "" && text != "" {
		text = graphQLLiteral.ReplaceAllString(b.secrets.strip(text), `""`)
		entries["query"] = quote(text)
		sent.Set("query", text)
	}
	button := func(name string) bool {
		return form != nil && slices.ContainsFunc(form.Fields,
			func(f Field) bool { return f.Name == name && f.Type == "submit" })
	}
	for _, one := range samples {
		for name, list := range one {
			if button(name) && len(list) > 0 { // it says which button was pressed
				entries[name] = quote(plainText(list[0]))
				sent.Set(name, plainText(list[0]))
			}
		}
	}
	skip := func(name string) bool {
		return button(name) || entries[name] != "" || b.e.route[name] != "" || name == "_method" ||
			b.skipsSecret(name, form, what)
	}
	for _, f := range b.args.valueArguments(samples, skip, form) {
		entries[f.wire] = "params." + f.name
		if f.on != "" {
			entries[f.wire] = "params." + f.name + " === true ? " + quote(f.on) + " : undefined"
			sent.Set(f.wire, f.on)
			continue
		}
		if list, ok := f.sample.([]any); ok {
			for _, one := range list {
				sent.Add(f.wire, fmt.Sprint(one))
			}
			continue
		}
		sent.Set(f.wire, fmt.Sprint(f.sample))
	}
	if what != "query" || form == nil {
		for _, one := range samples {
			for name, list := range one {
				if entries[name] != "" || b.e.route[name] != "" || !isSecret(name) || form != nil || len(list) == 0 {
					continue
				}
				if t := b.tokens.of(name, list[0]); t != nil {
					entries[name] = b.read(t)
					sent.Set(name, t.prefix+Placeholder)
				}
			}
		}
	}
	if has("_method") && b.e.method != "POST" {
		entries["_method"] = quote(b.e.method)
		sent.Set("_method", b.e.method)
	}
	return literal(entries), orderedQuery(entries, sent)
}

// asBrowsers writes an encoded form as browsers do.
var asBrowsers = strings.NewReplacer("%2A", "*", "~", "%7E")

// orderedQuery encodes fields in the order in which the code has them.
func orderedQuery(entries map[string]string, sent url.Values) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		for _, value := range sent[name] {
			all = append(all, asBrowsers.Replace(url.QueryEscape(name)+"="+url.QueryEscape(value)))
		}
	}
	return strings.Join(all, "&")
}

// skipsSecret leaves a secret field out of the arguments, and says so where its origin is not known.
func (b *toolDraft) skipsSecret(name string, form *event, what string) bool {
	if form != nil && slices.ContainsFunc(form.Fields, func(f Field) bool {
		return f.Name == name &&
			(f.Type == "hidden" || f.Type == "password")
	}) {
		return true
	}
	if !isSecret(name) {
		return false
	}
	for _, q := range b.good {
		value := q.fields().Get(name)
		if what == "query" {
			value = q.url.Query().Get(name)
		}
		if form == nil && value != "" && b.tokens.of(name, value) == nil {
			b.note("The page also sent %s, a secret that the recording does not show the origin of.", plainText(name))
		}
	}
	return true
}

func (b *toolDraft) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(b.comments, text) {
		b.comments = append(b.comments, text)
	}
}

func (b *toolDraft) read(t *token) string {
	if t.prefix != "" {
		return "`" + templateText(t.prefix) + "${await " + t.name + "(signal)}`"
	}
	return "await " + t.name + "(signal)"
}

// literal is an object of code; empty for none.
func literal(entries map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		key := quote(name)
		if name == "__proto__" { // without brackets it is no field
			key = `["__proto__"]`
		}
		all = append(all, key+": "+entries[name])
	}
	if len(all) == 0 {
		return ""
	}
	return "{ " + strings.Join(all, ", ") + " }"
}
