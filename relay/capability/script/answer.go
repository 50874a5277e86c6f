package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"tabrelay/relay/capability/script/engine"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// mostLine is how many bytes a line of a script's log has, and the message of an error.
const mostLine = 2_000

// journal is what a script has logged, as far as there is room.
type journal struct {
	mu    lock.Mutex
	lines []string
	size  int
	left  int // lines that there was no room for
}

// add adds a line, and tells who waits for the script of it, as what it is: the line may be a page's words that look
// like what the relay itself tells them.
func (j *journal) add(line string, most int, tell func(call.Progress)) {
	line = clip.Bytes(fault.Sanitize(line), mostLine)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.size += len(line) + 1; j.size > most {
		j.left++
		return
	}
	j.lines = append(j.lines, line)
	if tell != nil {
		tell(call.Progress{Progress: float64(len(j.lines)), Message: "log: " + line})
	}
}

// list is the log.
func (j *journal) list() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.left > 0 {
		return append(j.lines, fmt.Sprintf("… %d more lines", j.left))
	}
	return j.lines
}

// trust is whether words of pages have come into a script, and of which.
type trust struct {
	mu        lock.Mutex
	untrusted bool
}

func (t *trust) note(result *call.Result, f *fault.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.untrusted = t.untrusted || result != nil && result.Meta.Untrusted ||
		f != nil && (f.FromPage || f.Untrusted || f.ConsoleTail != "")
}

func (t *trust) read() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.untrusted
}

// valueOf is what a call answered, as a script gets it: the value where the tool says which form that has, or answers
// with nothing else, and else its text.
func valueOf(t *registry.Tool, result *call.Result) json.RawMessage {
	switch {
	case result == nil:
		return nil
	case t.Spec.OutputSchema != nil && t.Wrapped:
		members, _ := rawjson.Members(result.Output)
		return rawjson.Get(members, "result")
	case t.Spec.OutputSchema != nil && len(result.Output) > 0, result.Content == nil:
		return result.Output
	}
	var texts []string
	for _, content := range result.Content {
		var one struct{ Type, Text, URI string }
		if json.Unmarshal(content, &one) == nil {
			texts = append(texts, cmp.Or(one.Text, one.URI, "["+one.Type+"]"))
		}
	}
	return rawjson.MustEncode(strings.Join(texts, "\n"))
}

// membersOf are the members of the ToolError that a failed call throws.
func membersOf(f *fault.Error, tool string) json.RawMessage {
	return rawjson.MustEncode(struct {
		Message       string         `json:"message"`
		Tool          string         `json:"tool"`
		Code          fault.Code     `json:"code"`
		Category      fault.Category `json:"category,omitempty"`
		Retryable     bool           `json:"retryable"`
		RetryAfterMs  *int64         `json:"retryAfterMs,omitempty"`
		Outcome       fault.Outcome  `json:"outcome,omitempty"`
		Hint          string         `json:"hint,omitempty"`
		CorrelationID string         `json:"correlationId,omitempty"`
	}{f.Message, tool, f.Code, f.Category, f.Retryable, f.RetryAfterMs, f.Outcome, f.Hint, f.CorrelationID})
}

// answer is what the script returned, or the failure that it ended with.
func (r *run) answer(end *engine.End) (*call.Result, *fault.Error) {
	if end.Failed != nil {
		return nil, r.failed(r.failureOf(end.Failed))
	}
	value := end.Value
	if len(value) == 0 {
		value = json.RawMessage("null")
	}
	if !rawjson.Valid(value) || len(value) > r.limits.OutputBytes {
		return nil, r.failed(fault.New(scriptLimit, "The script's process answered with something that is no value"))
	}
	log, made := r.log.list(), r.ledger.list()
	output := rawjson.MustEncode(struct {
		Value json.RawMessage `json:"value"`
		Log   []string        `json:"log,omitempty"`
		Calls []row           `json:"calls"`
	}{value, log, made.rows()})
	texts := []string{string(output)}
	var text string
	if json.Unmarshal(value, &text) == nil && text != "" {
		texts = []string{text, made.text() + saidLog(log)}
	}
	// The script has bounds of its own: the answer is as long as it is.
	result := &call.Result{Output: output, Meta: call.Meta{Untrusted: r.untrusted.read()}}
	for _, text := range texts {
		result.Content = append(result.Content, rawjson.MustEncode(map[string]string{"type": "text", "text": text}))
	}
	return result, nil
}

// saidLog is a line with a script's log; "" without one.
func saidLog(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "\nLog: " + string(rawjson.MustEncode(lines))
}

// failureOf is how a script ended without a value.
func (r *run) failureOf(f *engine.Failed) *fault.Error {
	where := ""
	if f.At.Line > 0 {
		where = fmt.Sprintf("Line %d, column %d: ", f.At.Line, f.At.Column)
	}
	message := where + clip.Bytes(fault.Plain(f.Message), mostLine)
	code := scriptFailed
	switch f.Why {
	case engine.Busy, engine.TooLarge, engine.Deep:
		code = scriptLimit
	}
	failure := fault.New(code, message)
	if f.Tool != "" {
		failure.Message = fmt.Sprintf("%s%s failed with %s: %s", where, fault.Excerpt(f.Tool), fault.Excerpt(f.Code),
			clip.Bytes(fault.Plain(f.Message), mostLine))
	}
	if f.Why == engine.TooLarge {
		fault.WithHint("Return less: only the members that are needed, or a count.")(failure)
	}
	if f.Why == engine.Threw && f.Retryable {
		failure.Retryable = true
		if f.RetryAfterMs != nil && *f.RetryAfterMs >= 0 {
			failure.RetryAfterMs = f.RetryAfterMs
		}
	}
	return failure
}

// failed says in a failure what is known of the script's calls: it is as uncertain as the least certain of those that
// change something, and the script can be repeated only if none of them did.
func (r *run) failed(f *fault.Error) *fault.Error {
	list := r.ledger.list()
	f.Outcome = list.outcome()
	f.Untrusted = r.untrusted.read()
	if f.Outcome != fault.NotExecuted {
		f.Retryable, f.RetryAfterMs = false, nil
		fault.WithHint("The script has changed something, or may have: look at its calls, and read the pages, before " +
			"you go on with what is left. Do not run it again as it is.\n" + f.Hint)(f)
	}
	f.Before = list.text() + saidLog(r.log.list())
	f.Data = rawjson.MustEncode(struct {
		Script call.ID  `json:"script"`
		Calls  []row    `json:"calls"`
		Log    []string `json:"log,omitempty"`
	}{r.asked.ID, list.rows(), r.log.list()})
	return f
}
