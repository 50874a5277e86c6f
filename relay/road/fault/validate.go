package fault

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lazyregexp"
)

//go:embed toolerror.schema.json
var toolErrorSchema string

// compiled on first use: most starts of the relay see no page fail for a while.
var compiled = sync.OnceValue(func() *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, fmt.Errorf("%s is not loaded", url) }
	if err := c.AddResource("tabrelay:toolerror", strings.NewReader(toolErrorSchema)); err != nil {
		panic("fault: toolerror.schema.json: " + err.Error())
	}
	return c.MustCompile("tabrelay:toolerror")
})

// fields of a serialised ToolError, in the order their repairs are reported.
var fields = []string{"code", "category", "retryable", "retryAfterMs", "message", "outcome", "type", "hint", "data"}

const missing = "missing"

const noMessage = "The tool failed and gave no message"

// FromPage reads an error that a page threw, {code, category, retryable, retryAfterMs, message, outcome, type, hint,
// data}; data is JSON text. The fields are checked against a JSON Schema before they are believed; one that does not
// satisfy it is repaired or dropped, and repairs says so, a sentence for each. No input makes it fail.
func FromPage(raw json.RawMessage) (e *Error, repairs []string) {
	text := dropSurrogates(raw)
	if len(text) < len(raw) {
		repairs = append(repairs, "characters that are not Unicode text (half a surrogate pair) were taken out")
	}
	given, problem := read(text)
	if problem != "" {
		repairs = append(repairs, problem)
	}
	wrong := check(given)
	for _, name := range fields {
		if _, bad := wrong[name]; !bad {
			continue
		}
		old := given[name]
		delete(given, name)
		if value, ok := repair(name, old); ok {
			given[name] = value
		}
		if message, _ := old.(string); name == "message" && len(message) > maxMessageBytes {
			repairs = append(repairs, fmt.Sprintf("message of %d bytes was cut: at most %d are passed on",
				readMessageBytes(text, message), maxMessageBytes))
			continue
		}
		repairs = append(repairs, describe(name, old, given[name], wrong[name]))
	}
	e = fromValidFields(given)
	e.TraceLine, problem = readTrace(text)
	e.Places = readPlaces(text)
	if problem != "" {
		repairs = append(repairs, problem)
	}
	return e, repairs
}

// read takes the known fields out of the raw error. null means absent, and an absent retryable means false.
func read(raw json.RawMessage) (given map[string]any, problem string) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		var text string
		_ = json.Unmarshal(raw, &text) // a thrown string is its own message; anything else has none
		return map[string]any{
			"code": string(InternalError), "category": string(Internal), "retryable": false,
			"message": orDefault(text, noMessage),
		}, "the error is not a JSON object: " + excerpt(plain(string(plainData(raw))))
	}
	given = map[string]any{"retryable": false}
	for _, name := range fields {
		text, ok := members[name]
		if !ok || string(text) == "null" {
			continue
		}
		var value any
		if json.Unmarshal(text, &value) != nil {
			value = string(text) // a number no float holds: wrong for every field, and text says what it was
		}
		given[name] = value
	}
	return given, ""
}

// check validates the fields and returns what is wrong with each that is.
func check(given map[string]any) map[string]string {
	wrong := map[string]string{}
	var invalid *jsonschema.ValidationError
	if err := compiled().Validate(given); errors.As(err, &invalid) {
		collect(invalid, wrong)
	}
	if message, ok := given["message"].(string); ok && wrong["message"] == "" && plain(message) != message {
		wrong["message"] = "it is not one plain line"
	}
	if hint, ok := given["hint"].(string); ok && wrong["hint"] == "" && plainHint(hint) != hint {
		wrong["hint"] = "its lines are not plain"
	}
	return wrong
}

func collect(invalid *jsonschema.ValidationError, wrong map[string]string) {
	for _, cause := range invalid.Causes {
		collect(cause, wrong)
	}
	if len(invalid.Causes) > 0 {
		return
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(invalid.InstanceLocation, "/"), "/")
	if name != "" {
		wrong[name] = invalid.Message
		return
	}
	for _, required := range []string{"code", "message"} {
		if strings.Contains(invalid.Message, "'"+required+"'") {
			wrong[required] = missing
		}
	}
}

// repair gives the value that stands in for a wrong one; none means that the field is dropped.
func repair(name string, old any) (value any, ok bool) {
	switch name {
	case "code":
		text, _ := old.(string)
		return repairCode(text), true
	case "retryable":
		return false, true
	case "retryAfterMs":
		ms, isNumber := old.(float64)
		up := math.Ceil(ms)
		return up, isNumber && ms >= 0 && up <= maxRetryAfterMs
	case "message":
		text, _ := old.(string)
		return orDefault(plain(text), noMessage), true
	case "hint":
		text, _ := old.(string)
		text = plainHint(text)
		return text, text != ""
	}
	return nil, false
}

// plainHint is the lines of a hint without what nobody may see, at most maxMessageBytes in all.
func plainHint(text string) string {
	return strings.Join(lines(head(plainLines(text), maxMessageBytes)), "\n")
}

// dataOf is what a page says besides. What is no JSON is kept as text: nothing of it is lost.
func dataOf(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		encoded, _ := json.Marshal(map[string]string{"_invalid_json": text}) // strings always encode
		return plainData(encoded)
	}
	return plainData(json.RawMessage(text))
}

// repairCode makes a code of any text, and INTERNAL_ERROR of none.
func repairCode(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range text {
		if r >= 'a' && r <= 'z' {
			r -= 'a' - 'A'
		}
		ok := r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
		if ok {
			b.WriteRune(r)
		} else if !gap {
			b.WriteByte('_')
		}
		gap = !ok
	}
	code := b.String()
	switch {
	case code == "":
		return string(InternalError)
	case code[0] < 'A' || code[0] > 'Z':
		code = "E_" + code
	}
	return code[:min(len(code), 64)]
}

// fromValidFields makes the failure of fields that satisfy the schema.
func fromValidFields(given map[string]any) *Error {
	text := func(name string) string { s, _ := given[name].(string); return s }
	e := &Error{
		Code: Code(text("code")), Category: Category(text("category")), Message: orDefault(text("message"), noMessage),
		Outcome: Outcome(text("outcome")), Class: Tool, FromPage: true,
	}
	e.Retryable, _ = given["retryable"].(bool)
	if ms, ok := given["retryAfterMs"].(float64); ok {
		whole := int64(ms)
		e.RetryAfterMs = &whole
	}
	e.Outcome = cmp.Or(e.Outcome, Executed)
	e.setSource()
	if kind := text("type"); kind != "" {
		e.Type = Type(kind)
	}
	e.Hint = text("hint")
	if data := text("data"); data != "" {
		e.Data = dataOf(data)
	}
	return e
}

// setSource sets what follows from the category of a page's error.
func (e *Error) setSource() {
	e.Source = SourceUpstream
	if e.Category == Auth {
		e.Source = SourceAuth
	}
	e.Type = e.Category.kind()
	e.RPCCode = e.RPC()
}

// kind is the finer kind of a page's error that names none.
func (c Category) kind() Type {
	return map[Category]Type{
		Auth: TypePermissionDenied, RateLimit: TypeNetwork, NotFound: TypeNotFound,
		Validation: TypeValidation, Internal: TypeInternal, Timeout: TypeTimeout,
	}[c]
}

// describe says in one sentence what was wrong with a field and what became of it.
func describe(name string, old, now any, why string) string {
	if why == missing {
		return fmt.Sprintf("%s is missing, %s is used", name, quote(now))
	}
	if now == nil {
		return fmt.Sprintf("%s %s was dropped: %s", name, quote(old), why)
	}
	if quote(old) == quote(now) { // the difference is what neither log nor agent may see
		return fmt.Sprintf("%s became %s: a stack trace, a path, a secret or invisible characters were removed", name,
			quote(now))
	}
	return fmt.Sprintf("%s %s became %s: %s", name, quote(old), quote(now), why)
}

func quote(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "(unreadable)"
	}
	if len(text) > longest {
		return excerpt(head(string(text), maxMessageBytes))
	}
	return excerpt(string(plainData(text)))
}

// excerpt shortens what a page sent for a log line.
func excerpt(text string) string {
	return clip.Runes(plain(text), 80)
}

// place is the path of a URL with line and column. A query, a fragment or white space is never part of it.
var place = lazyregexp.New(`^/[!-"$->@-~]{0,300}:[0-9]{1,7}:[0-9]{1,7}$`)

// machine is how paths of a person's own files begin. A page has no business with them, and an agent neither.
var machine = lazyregexp.New(`(?i)^/+(?:home|users|root|tmp|var|private|etc|usr|opt|mnt|media|volumes|srv|[a-z]:` +
	`|[a-z]%3a)(?:/|$)`)

// readTrace takes the place an error was thrown at out of the serialised error, if it is one that may be told.
func readTrace(raw json.RawMessage) (line, problem string) {
	var thrown struct {
		TraceLine json.RawMessage `json:"traceLine"`
	}
	if json.Unmarshal(dropSurrogates(raw), &thrown) != nil || len(thrown.TraceLine) == 0 ||
		string(thrown.TraceLine) == "null" {
		return "", ""
	}
	if json.Unmarshal(thrown.TraceLine, &line) != nil || !isPlace(line) {
		return "", "traceLine was dropped: it is not the path, line and column of a URL"
	}
	return line, ""
}

// readMessageBytes is how long a message was that the page may have cut already.
func readMessageBytes(raw json.RawMessage, message string) int64 {
	var thrown struct {
		MessageBytes int64 `json:"messageBytes"`
	}
	_ = json.Unmarshal(raw, &thrown) // then it says nothing of it
	return max(int64(len(message)), thrown.MessageBytes)
}

// maxPlaces is how many frames of a stack are kept.
const maxPlaces = 8

// readPlaces takes the places of a followed call's error; what is none is left out.
func readPlaces(raw json.RawMessage) []string {
	var thrown struct {
		Places []string `json:"places"`
	}
	if json.Unmarshal(dropSurrogates(raw), &thrown) != nil {
		return nil
	}
	return Places(thrown.Places)
}

// Places are those of a page's claims that are places in a file of an extension or a site.
func Places(claimed []string) []string {
	places := slices.DeleteFunc(slices.Clone(claimed), func(line string) bool { return !isPlace(line) })
	return places[:min(len(places), maxPlaces)]
}

func isPlace(line string) bool { return place.MatchString(line) && !machine.MatchString(line) }
