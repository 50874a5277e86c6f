package draft

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
)

// endpoint is what several requests have in common: one tool.
type endpoint struct {
	method   string // what it does; the request may be a POST that says so in a header
	segments []string
	route    map[string]string // fields of the query or the form that say which of several endpoints is meant
	graphQL  string            // the name of the operation
	rpc      string            // the method, in JSON-RPC
	samples  []*request
}

// routeName are fields whose value belongs to the address.
var routeName = lazyregexp.New(`^(?i)(?:rest_route|route|action|do|op|cmd|controller|module|method|call|` +
	`func|view|r)$`)

var routeValue = lazyregexp.New(`^[A-Za-z][\w.:-]{0,63}$|^/[\w/.:-]{1,120}$`)

// isRoute tells a field that belongs to the address as it is.
func isRoute(name, value string) bool {
	return routeName.MatchString(name) && routeValue.MatchString(value) && !looksRandom(value)
}

// endpoints groups requests: first by what they are, then those whose paths differ only in a name.
func endpoints(requests []*request) []*endpoint {
	byKey := map[string]*endpoint{}
	var order []*endpoint
	for _, q := range requests {
		e := endpointOf(q)
		key := e.key()
		if byKey[key] == nil {
			byKey[key] = e
			order = append(order, e)
		}
		byKey[key].samples = append(byKey[key].samples, q)
	}
	return mergeVarying(order)
}

func endpointOf(q *request) *endpoint {
	answer, _ := q.answerJSON()
	e := &endpoint{method: q.effectiveMethod(), route: map[string]string{}}
	e.segments = generalise(split(q.url.EscapedPath()), answer)
	take := func(values url.Values) {
		for name, list := range values {
			if len(list) == 1 && routeName.MatchString(name) && routeValue.MatchString(list[0]) &&
				(strings.HasPrefix(list[0], "/") || isRoute(name, list[0])) {
				e.route[name] = list[0]
				if strings.HasPrefix(list[0], "/") {
					e.route[name] = "/" + strings.Join(generalise(split(list[0]), answer), "/")
				}
			}
		}
	}
	take(q.url.Query())
	take(q.fields())
	body, isJSON := q.json()
	switch query := q.url.Query().Get("query"); {
	case isJSON:
		e.graphQL, e.rpc = operation(body)
		e.routeIn(body)
	case q.method == "GET" && graphQLRead.MatchString(query) && strings.Contains(query, "{"):
		e.graphQL = operationName(query)
	}
	return e
}

// routeField are fields of a JSON body whose value says what is asked.
var routeField = lazyregexp.New(`^(?i)(?:op|operation|action|do|cmd|command|func)$`)

// routeIn takes what a JSON body says of which endpoint is meant.
func (e *endpoint) routeIn(body any) {
	object, ok := body.(map[string]any)
	if !ok || e.graphQL+e.rpc != "" {
		return
	}
	for name, value := range object {
		text, isText := value.(string)
		if isText && routeField.MatchString(name) && routeValue.MatchString(text) && !looksRandom(text) {
			e.route[name] = text
		}
	}
}

var (
	graphQLText = lazyregexp.New(`^\s*(?:query|mutation|subscription|fragment|\{)`)
	graphQLName = lazyregexp.New(`(?:query|mutation|subscription)\s+(\w+)`)
	graphQLTop  = lazyregexp.New(`\{\s*(?:\w+\s*:\s*)?(\w+)`)
)

// operation names the GraphQL operation or the JSON-RPC method of a body.
func operation(body any) (graphQL, rpc string) {
	object, ok := body.(map[string]any)
	if !ok {
		return "", ""
	}
	name, _ := object["operationName"].(string)
	if text, ok := object["query"].(string); ok && graphQLText.MatchString(text) {
		return cmp.Or(name, operationName(text)), ""
	}
	if name != "" && persistedHash(object) != "" {
		return name, ""
	}
	method, ok := object["method"].(string)
	_, hasParams := object["params"]
	_, isRPC := object["jsonrpc"]
	if ok && (hasParams || isRPC) && routeValue.MatchString(method) {
		return "", method
	}
	return "", ""
}

// operationName is what a GraphQL operation calls itself, else the first field that it asks for.
func operationName(text string) string {
	for _, form := range []*lazyregexp.Regexp{graphQLName, graphQLTop} {
		if match := form.FindStringSubmatch(text); match != nil {
			return match[1]
		}
	}
	return "operation"
}

var sha256Text = lazyregexp.New(`^[0-9a-f]{64}$`)

// persistedHash is the hash by which a body names an operation that the site knows; empty when it has none.
func persistedHash(body map[string]any) string {
	extensions, _ := body["extensions"].(map[string]any)
	persisted, _ := extensions["persistedQuery"].(map[string]any)
	hash, _ := persisted["sha256Hash"].(string)
	if !sha256Text.MatchString(hash) {
		return ""
	}
	return hash
}

func (e *endpoint) key() string {
	route := ""
	for _, name := range slices.Sorted(maps.Keys(e.route)) {
		route += "&" + name + "=" + e.route[name]
	}
	return fmt.Sprintf("%s /%s%s %s %s", e.method, strings.Join(e.segments, "/"), route, e.graphQL, e.rpc)
}

// mergeVarying makes one endpoint of those that differ in one segment only, which then is a name that a person gave.
func mergeVarying(list []*endpoint) []*endpoint {
	for i := 0; i < len(list); i++ {
		for at := range list[i].segments {
			same := []int{i}
			for j := i + 1; j < len(list); j++ {
				if varying(list[i].segments, list[j].segments) == at && list[i].alike(list[j]) {
					same = append(same, j)
				}
			}
			if !list[i].mayMerge(at, list, same) {
				continue
			}
			list[i].segments[at] = "*"
			for _, j := range slices.Backward(same[1:]) {
				list[i].samples = append(list[i].samples, list[j].samples...)
				list = slices.Delete(list, j, j+1)
			}
			slices.SortStableFunc(list[i].samples, func(a, b *request) int { return int(a.at - b.at) })
		}
	}
	return list
}

// alike tells endpoints that do the same and are answered the same.
func (e *endpoint) alike(other *endpoint) bool {
	return e.method == other.method && maps.Equal(e.route, other.route) && e.graphQL == other.graphQL &&
		e.rpc == other.rpc && slices.Equal(e.answerKeys(), other.answerKeys()) && e.isPage() == other.isPage()
}

// mayMerge tells whether the segment in which endpoints differ is a name. Pages say little about themselves, so their
// segments have to look like names, too.
func (e *endpoint) mayMerge(at int, list []*endpoint, same []int) bool {
	if len(same) < 2 {
		return false
	}
	nameLike := 0
	for _, j := range same {
		if !mayVary(list[j].segments, at) {
			return false
		}
		if slugLike.MatchString(list[j].segments[at]) {
			nameLike++
		}
	}
	if e.isPage() || len(e.answerKeys()) == 0 {
		return nameLike*2 >= len(same)
	}
	return true
}

// answerKeys are the names of the fields that are answered, of an item where it is a list.
func (e *endpoint) answerKeys() []string {
	for _, q := range e.samples {
		value, ok := q.answerJSON()
		if list, isList := value.([]any); isList && len(list) > 0 {
			value = list[0]
		}
		if object, isObject := value.(map[string]any); ok && isObject && q.succeeded() {
			return slices.Sorted(maps.Keys(object))
		}
	}
	return nil
}

// isPage tells an address at which a page is, and no data.
func (e *endpoint) isPage() bool { return e.samples[0].navigation }

// noise is why an endpoint is no tool; empty: it is one.
func (e *endpoint) noise(passwords map[string]bool) string {
	path := strings.ToLower(strings.Join(e.segments, "/"))
	switch {
	case analytics.MatchString(path):
		return "statistics"
	case e.method == "OPTIONS" || e.method == "HEAD":
		return "questions about what is allowed"
	case staticFile.MatchString(path):
		return "files"
	case e.asksPassword(passwords):
		return "sign-in, which stays with the person"
	case e.polls():
		return "what the page asks again and again by itself"
	case !slices.ContainsFunc(e.samples, (*request).succeeded):
		return "requests that were not answered, or refused"
	case slices.ContainsFunc(e.samples, func(q *request) bool { return q.file }):
		return "uploads of files"
	}
	return ""
}

var (
	analytics = lazyregexp.New(`(?:^|/)(?:collect|beacon|analytics|telemetry|track(?:ing)?|rum|pixel|` +
		`heartbeat|metrics)(?:/|$)`)
	staticFile = lazyregexp.New(`\.(?:js|mjs|css|map|png|jpe?g|gif|svg|ico|webp|avif|woff2?|ttf|mp4|` +
		`webmanifest|wasm)$`)
)

const (
	pollingTimes = 4      // requests that nobody caused, from which on they are polling
	unrelatedMs  = 3000   // after a click a request is taken to be caused by it
	longPollMs   = 15_000 // an answer that takes so long was waited for
)

func (e *endpoint) polls() bool {
	alone := 0
	for _, q := range e.samples {
		if q.answeredAt-q.at > longPollMs && !q.navigation {
			return true
		}
		if !q.navigation && (q.sinceClick < 0 || q.sinceClick > unrelatedMs) {
			alone++
		}
	}
	same := func(q *request) bool { return q.url.String() == e.samples[0].url.String() }
	again := alone == len(e.samples) && alone >= pollingTimes && !slices.ContainsFunc(e.samples,
		func(q *request) bool { return !same(q) })
	return again || e.route["action"] == "heartbeat"
}

// asksPassword tells whether a request has a password in it; known are fields that forms of the recording have for one.
// Where a form has a field for a new password that was left empty, it is about something else.
func (e *endpoint) asksPassword(known map[string]bool) bool {
	in := func(values url.Values) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(values)),
			func(name string) bool {
				return (known[name] || isPassword(name)) && slices.ContainsFunc(values[name], isGiven)
			})
	}
	return slices.ContainsFunc(e.samples, func(q *request) bool {
		body, _ := q.json()
		return in(q.url.Query()) || in(q.fields()) || hasPassword(body, known) || q.submit != nil &&
			slices.ContainsFunc(q.submit.Fields, func(f Field) bool {
				sent, there := q.fields()[f.Name] // else it may be there under another name
				return f.Type == "password" && (f.Given || !there || slices.ContainsFunc(sent, isGiven))
			})
	})
}

func isGiven(value string) bool { return value != "" }
