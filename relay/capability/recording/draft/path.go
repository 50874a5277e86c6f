package draft

import (
	"strings"
	"unicode"

	"tabrelay/relay/lib/lazyregexp"
)

var (
	numeric   = lazyregexp.New(`^\d+$`)
	uuid      = lazyregexp.New(`^(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$`)
	hexadec   = lazyregexp.New(`^(?i)[0-9a-f]{12,}$`)
	date      = lazyregexp.New(`^\d{4}-\d{2}-\d{2}$`)
	version   = lazyregexp.New(`^v\d+(?:\.\d+)*$`)
	hasDot    = lazyregexp.New(`\.[a-z]{2,5}\d?$`)
	slugLike  = lazyregexp.New(`[A-Z0-9_-]`)
	ofPersons = lazyregexp.New(`^(?i)(?:users?|people|members?|accounts?|customers?|contacts?|profiles?|u|` +
		`authors?)$`)
)

// prefixes are segments that say nothing about what an endpoint is for.
var prefixes = map[string]bool{"api": true, "_api": true, "rest": true, "wp-json": true, "wp": true, "ajax": true,
	"admin-ajax.php": true, "ajax.php": true, "api.php": true, "index.php": true, "rpc": true, "jsonrpc": true,
	"jsonrpc.php": true, "graphql": true, "cgi-bin": true, "json": true, "public": true, "internal": true, "web": true}

// isID tells a segment that names one thing among many, by its form alone.
func isID(segment string) bool {
	switch {
	case version.MatchString(segment):
		return false
	case segment == "":
		return false
	case numeric.MatchString(segment), uuid.MatchString(segment), hexadec.MatchString(segment),
		date.MatchString(segment), strings.Contains(segment, "@"):
		return true
	}
	return looksRandom(segment)
}

// part is one segment of a path: fixed, or a parameter.
type part struct {
	fixed string
	param *field // nil: fixed
}

// split cuts a path into its segments.
func split(path string) []string { return strings.Split(strings.TrimPrefix(path, "/"), "/") }

// generalise makes the segments of a path that name one thing into "*".
func generalise(segments []string, answer any) []string {
	out := make([]string, len(segments))
	for i, segment := range segments {
		out[i] = segment
		before := ""
		if i > 0 {
			before = segments[i-1]
		}
		switch {
		case segment == "" || segment == "*":
		case isID(segment), ofPersons.MatchString(before) && !prefixes[segment] && beginsResource(segments, i-1),
			i > 0 && !prefixes[before] &&
				namedIn(answer, segment):
			out[i] = "*"
		}
	}
	return out
}

// beginsResource tells whether the segment at i is the first that is no prefix: a collection may be called like people.
func beginsResource(segments []string, i int) bool {
	return i == 0 || prefixes[segments[i-1]] || version.MatchString(segments[i-1])
}

// namedIn tells whether an answer is about the thing that a segment names.
func namedIn(answer any, segment string) bool {
	object, ok := answer.(map[string]any)
	if !ok || len(segment) < 2 {
		return false
	}
	for _, key := range []string{"id", "slug", "name", "key", "login", "username", "uid", "identifier", "code"} {
		if object[key] == segment {
			return true
		}
	}
	return false
}

// varying finds the one segment in which two paths differ; -1 when that is none or several.
func varying(a, b []string) int {
	at := -1
	if len(a) != len(b) {
		return -1
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// mayVary tells whether the segment at i may be a name that a person gave: it comes after a noun, and is no file.
func mayVary(segments []string, i int) bool {
	if i == 0 || segments[i] == "*" || hasDot.MatchString(segments[i]) {
		return false
	}
	before := segments[i-1]
	return before != "*" && before != "" && !prefixes[before] && !version.MatchString(before)
}

// words are the words of a name in any style of writing.
func words(name string) []string {
	var all []string
	var now []rune
	end := func() {
		if len(now) > 0 {
			all = append(all, strings.ToLower(string(now)))
			now = nil
		}
	}
	var last rune
	for _, r := range name {
		switch {
		case r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			last = 0
			continue
		case unicode.IsUpper(r) && unicode.IsLower(last):
			end()
		}
		now = append(now, r)
		last = r
	}
	end()
	return all
}

// camel is a name as an identifier; fallback where nothing of it is left.
func camel(name, fallback string) string {
	out := ""
	for _, w := range words(name) {
		if out != "" {
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		out += w
	}
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		out = fallback + strings.ToUpper(out)
	}
	return out[:min(len(out), 48)]
}

func snake(name string) string { return strings.Join(words(name), "_") }
