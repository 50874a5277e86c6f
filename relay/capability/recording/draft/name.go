package draft

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
)

const (
	readingVerbs = `get|list|read|search|find|filter|lookup|count|check|show|compare|download|export|load|fetch`
	otherVerbs   = `create|add|update|edit|set|delete|remove|send|post|upload|open|close|move|copy|rename|mark|` +
		`import|run|start|stop|cancel|reply|comment|assign|save|submit|toggle|enable|disable|activate|` +
		`deactivate|archive|restore|publish|approve|reject|invite|duplicate|clone|refresh|sync|subscribe|` +
		`unsubscribe|follow|unfollow|buy|sell|pay|lock|unlock|merge|reset`
)

var (
	startsWithVerb = lazyregexp.New(`^(?:` + readingVerbs + `|` + otherVerbs + `)(?:_|$)`)
	isVerb         = lazyregexp.New(`^(?:` + readingVerbs + `|` + otherVerbs + `)$`)
	isReadingVerb  = lazyregexp.New(`^(?:` + readingVerbs + `)$`)
)

// nameless are the names of tools at an address without words.
var nameless = map[string]string{"get": "get_data", "list": "list_items", "read": "read_start_page",
	"create": "send_request", "send": "send_request", "update": "update_data", "delete": "delete_data"}

// name makes a tool's name of what it does and to what.
func (m *maker) name(e *endpoint, kind answerKind) string {
	name := e.ownName()
	if name == "" || kind == asPage && e.method == "GET" {
		name = e.nameByAddress(kind)
	}
	if better := nameless[name]; better != "" && len(e.words()) == 0 {
		name = better
	}
	if len(name) > m.longestName {
		name = strings.Trim(name[:m.longestName], "_")
	}
	base := name
	for n := 2; m.names[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	m.names[name] = true
	return name
}

// ownName is what the site itself calls the operation; empty where it has no name for it.
func (e *endpoint) ownName() string {
	if e.graphQL+e.rpc == "" {
		if nouns := e.words(); len(e.route) > 0 && len(nouns) > 0 {
			if last := nouns[len(nouns)-1]; startsWithVerb.MatchString(last) && strings.Contains(last, "_") {
				return last
			}
		}
		return ""
	}
	all := words(cmp.Or(e.graphQL, e.rpc))
	name := strings.Join(all, "_")
	switch last := len(all) - 1; {
	case last < 0:
		return ""
	case startsWithVerb.MatchString(name):
		return name
	case last > 0 && isVerb.MatchString(all[last]):
		return all[last] + "_" + strings.Join(all[:last], "_")
	case !e.samples[0].isGraphQLQuery() && e.method != "GET":
		return "send_" + name
	case singular(all[last]) != all[last]:
		return "list_" + name
	}
	return "get_" + name
}

// nameByAddress makes a name of the method and the words of the address.
func (e *endpoint) nameByAddress(kind answerKind) string {
	nouns := e.words()
	last := len(nouns) - 1
	parts := slices.DeleteFunc(e.addressParts(), func(part string) bool { return part == "" })
	endsInID := len(parts) > 0 && parts[len(parts)-1] == "*"
	plural := last >= 0 && singular(nouns[last]) != nouns[last]
	verb := map[string]string{"GET": "get", "HEAD": "check", "POST": "create", "PUT": "update", "PATCH": "update",
		"DELETE": "delete"}[e.method]
	switch {
	case verb == "":
		verb = "send"
	case kind == asPage && e.method == "GET":
		verb = "read"
	case last > 0 && e.method == "POST" && isVerb.MatchString(nouns[last]), // what is done comes last
		last > 0 && e.method == "GET" && isReadingVerb.MatchString(nouns[last]):
		return nouns[last] + "_" + strings.Join(nouns[:last], "_")
	case e.method == "GET" && (kind == asList || !endsInID && plural):
		verb = "list"
	case e.method == "POST" && endsInID:
		verb = "update"
	}
	saysWhatIsDone := !endsInID && startsWithVerb.MatchString(strings.Join(nouns, "_"))
	if last >= 0 && verb != "list" {
		nouns[last] = singular(nouns[last])
	}
	name := strings.Join(nouns, "_")
	if saysWhatIsDone && e.method != "GET" {
		return name
	}
	return strings.Trim(verb+"_"+name, "_")
}

// words are those of an address that say what it is about, at most the last two. One before an id is about one thing.
func (e *endpoint) words() (nouns []string) {
	if e.graphQL+e.rpc != "" {
		return words(cmp.Or(e.graphQL, e.rpc))
	}
	segments := e.addressParts()
	for i, segment := range segments {
		if segment == "*" || segment == "" || prefixes[strings.ToLower(segment)] || version.MatchString(segment) ||
			looksRandom(segment) {
			continue
		}
		noun := strings.Join(words(hasDot.ReplaceAllString(segment, "")), "_")
		if i+1 < len(segments) && segments[i+1] == "*" {
			noun = singular(noun)
		}
		if noun != "" {
			nouns = append(nouns, noun)
		}
	}
	return nouns[max(0, len(nouns)-2):]
}

// addressParts are the segments of the path, and of fields that belong to the address.
func (e *endpoint) addressParts() []string {
	parts := slices.Clone(e.segments)
	for _, name := range slices.Sorted(maps.Keys(e.route)) {
		parts = append(parts, split(e.route[name])...)
	}
	return parts
}

// irregular are nouns whose singular no rule finds, among them those that look like a plural and are none.
var irregular = map[string]string{"people": "person", "children": "child", "men": "man", "women": "woman",
	"shelves": "shelf", "leaves": "leaf", "knives": "knife", "wolves": "wolf", "halves": "half", "lives": "life",
	"thieves": "thief", "loaves": "loaf", "scarves": "scarf", "buses": "bus", "gases": "gas", "quizzes": "quiz",
	"movies": "movie", "cookies": "cookie", "ties": "tie", "caches": "cache", "indices": "index", "axes": "axis",
	"analyses": "analysis", "bases": "base", "aliases": "alias", "canvases": "canvas",
	"news": "news", "series": "series", "species": "species", "canvas": "canvas", "alias": "alias", "atlas": "atlas",
	"bias": "bias", "gas": "gas", "lens": "lens", "dns": "dns", "sms": "sms", "gps": "gps", "tls": "tls", "aws": "aws",
	"ios": "ios", "https": "https", "sales": "sales", "settings": "settings", "preferences": "preferences",
	"details": "details", "status": "status", "analytics": "analytics", "statistics": "statistics", "stats": "stats"}

// singular is the word for one of several things.
func singular(noun string) string {
	lower := strings.ToLower(noun)
	before, last := "", lower
	if at := strings.LastIndex(lower, "_"); at >= 0 {
		before, last = noun[:at+1], lower[at+1:]
	}
	if one := irregular[last]; one != "" {
		return before + one
	}
	has := func(endings ...string) bool {
		return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(lower, e) })
	}
	switch {
	case has("ies") && len(noun) > 4:
		return noun[:len(noun)-3] + "y"
	case has("sses", "xes", "ches", "shes", "tuses", "nuses", "ruses", "puses"):
		return noun[:len(noun)-2]
	case has("ss", "us", "is"):
		return noun
	case has("s") && len(noun) > 2:
		return noun[:len(noun)-1]
	}
	return noun
}
