package front

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Members of _meta that tabrelay adds.
const (
	metaCall     = "tabrelay/call"
	metaError    = "tabrelay/error"
	metaWarnings = "tabrelay/warnings"

	metaOrigin    = "tabrelay/origin"    // of the page whose words these are
	metaUntrusted = "tabrelay/untrusted" // true: words of a page are in it
)

// renderResult encodes a success as CallToolResult. The tool's value is copied as the bytes it is: key order and
// integers above 2^53 survive.
func (f *Front) renderResult(x *exchange, r *call.Result) response {
	output := oneLine(r.Output)
	b := f.begin(x, encodedSize(r))
	b = append(b, `"content":[`...)
	for i, item := range r.Content {
		b = append(appendComma(b, i), oneLine(item)...)
	}
	if r.Content == nil {
		b = append(rawjson.AppendDocument(append(b, `{"type":"text","text":`...), output), '}')
	}
	if len(r.Warnings) > 0 {
		b = appendText(append(b, ','), "Warning: "+strings.Join(r.Warnings, " "))
	}
	b = append(b, ']')
	if r.Structured {
		b = append(b, `,"structuredContent":`...)
		if r.Note == nil {
			b = append(b, output...)
		} else {
			b = appendNoted(b, output, oneLine(r.Note))
		}
	}
	return f.end(b, x, r, nil, fault.Executed)
}

// indented returns the result with its value as text of JSON indented by two spaces, unless it has content of its own.
func indented(r *call.Result) *call.Result {
	var b bytes.Buffer
	if r.Content != nil || json.Indent(&b, r.Output, "", "  ") != nil {
		return r
	}
	shown := *r
	shown.Content = []call.Content{append(rawjson.AppendText([]byte(`{"type":"text","text":`), b.Bytes()), '}')}
	return &shown
}

// appendNoted writes a value, which is an object, with what the relay says of it as its first member.
func appendNoted(b, value, note []byte) []byte {
	b = append(rawjson.AppendText(append(b, '{'), call.NoteMember), ':')
	b = append(b, note...)
	value = bytes.TrimLeft(bytes.TrimLeft(value, " \t")[len("{"):], " \t")
	if value[0] != '}' {
		b = append(b, ',')
	}
	return append(b, value...)
}

// encodedSize estimates the encoded size of a result, so that a buffer for megabytes is allocated once.
func encodedSize(r *call.Result) (size int) {
	if r.Content == nil {
		size = len(r.Output) + bytes.Count(r.Output, []byte{'"'}) + bytes.Count(r.Output, []byte{'\\'})
	}
	for _, item := range r.Content {
		size += len(item) + 1
	}
	if r.Structured {
		size += len(r.Output) + len(r.Note)
	}
	return size
}

// renderFailure encodes a failure as CallToolResult. Models see the text items, programs read _meta. A client checks
// structuredContent against the tool's output schema even in a failure, and hides the failure when it does not fit: it
// is there only when the tool declares none.
func (f *Front) renderFailure(x *exchange, e *fault.Error, r *call.Result, t callable, advice string) response {
	object, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	b := append(f.begin(x, 3*len(object)+len(e.Message)), `"content":[`...)
	items := e.Text()
	if t.failureText != nil {
		items = []string{t.failureText(e)}
	}
	for i, item := range items {
		b = appendText(appendComma(b, i), item)
	}
	if advice != "" { // apart from what a page says
		b = appendText(append(b, ','), advice)
	}
	b = append(b, `],"isError":true`...)
	if !t.hasOutputSchema {
		b = append(append(append(b, `,"structuredContent":{"success":false,"error":`...), object...), '}')
	}
	if r == nil && (e.FromPage || e.Untrusted || e.ConsoleTail != "") {
		object = appendUntrusted(object, e.Origin)
	}
	return f.end(b, x, r, object, e.Outcome, e.Warnings...)
}

// begin opens the response and its result.
func (f *Front) begin(x *exchange, size int) []byte {
	b := make([]byte, 0, size+len(f.identity)+640)
	b = append(appendID(b, x.id), `,"result":{`...)
	if x.modern {
		b = append(b, `"resultType":"complete",`...)
	}
	return b
}

// end adds _meta and closes the response. r may be nil, and failure is nil for a success. The warnings are those of a
// failure; a result has its own.
func (f *Front) end(b []byte, x *exchange, r *call.Result, failure []byte, outcome fault.Outcome,
	warnings ...string) response {
	b = append(b, `,"_meta":{`...)
	start := len(b)
	if failure != nil {
		b = append(rawjson.AppendText(b, metaError), ':')
		b = append(b, failure...)
	}
	if r != nil {
		b = appendMeta(append(rawjson.AppendText(appendComma(b, len(b)-start), metaCall), ':'), &r.Meta, outcome)
		warnings = append(warnings, r.Warnings...)
		if r.Meta.Untrusted {
			b = appendUntrusted(b, r.Meta.Origin)
		}
	}
	if len(warnings) > 0 {
		b = append(rawjson.AppendText(appendComma(b, len(b)-start), metaWarnings), ":["...)
		for i, w := range warnings {
			b = rawjson.AppendText(appendComma(b, i), w)
		}
		b = append(b, ']')
	}
	if x.modern {
		b = append(appendComma(b, len(b)-start), f.identity...)
	}
	return response{body: append(b, "}}}"...)}
}

// appendUntrusted adds to the members of _meta that words of a page are in the result.
func appendUntrusted(b []byte, origin string) []byte {
	if origin != "" {
		b = rawjson.AppendText(append(rawjson.AppendText(append(b, ','), metaOrigin), ':'), origin)
	}
	return append(rawjson.AppendText(append(b, ','), metaUntrusted), ":true"...)
}

// appendMeta says where and how a call ran, and how that ended.
func appendMeta(b []byte, m *call.Meta, outcome fault.Outcome) []byte {
	b = rawjson.AppendText(append(b, `{"correlationId":`...), string(m.CorrelationID))
	if m.TabID != 0 {
		b = strconv.AppendInt(append(b, `,"tabId":`...), int64(m.TabID), 10)
	}
	for _, field := range [...]struct{ name, value string }{
		{"profile", m.Profile}, {"profileId", m.ProfileID}, {"origin", m.Origin}, {"frame", m.Frame},
		{"trust", m.Trust}, {"resultId", m.ResultID},
	} {
		if field.value != "" {
			b = rawjson.AppendText(append(rawjson.AppendText(append(b, ','), field.name), ':'), field.value)
		}
	}
	b = strconv.AppendInt(append(b, `,"attempts":`...), int64(m.Attempts), 10)
	b = strconv.AppendInt(append(b, `,"durationMs":`...), m.Duration.Milliseconds(), 10)
	if outcome != "" {
		b = rawjson.AppendText(append(b, `,"outcome":`...), string(outcome))
	}
	return append(b, '}')
}

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(rawjson.AppendText(append(b, `{"type":"text","text":`...), text), '}')
}

func appendComma(b []byte, before int) []byte {
	if before > 0 {
		b = append(b, ',')
	}
	return b
}

// oneLine returns raw JSON without line breaks, as a line of stdio and an event of HTTP need it: raw itself where it
// has none, which is nearly always. Empty or invalid JSON becomes null.
func oneLine(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return []byte("null")
	}
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 && utf8.Valid(raw) {
		return raw
	}
	var b bytes.Buffer
	if json.Compact(&b, bytes.ToValidUTF8(raw, []byte("\uFFFD"))) != nil {
		return []byte("null")
	}
	return b.Bytes()
}

// notCacheable is in place of the time for which a result is fresh, where the method's results have no such time.
const notCacheable time.Duration = -1

// openResult begins a response with the members that its era requires of every result. The caller appends those of the
// method and two closing braces. A cacheable result says for how long it is fresh, and that it is the client's own: it
// depends on scope and session. Lists are never fresh: they change with what the person has open, and not every client
// listens.
func (f *Front) openResult(x *exchange, fresh time.Duration, size int) []byte {
	body := make([]byte, 0, size+len(f.identity)+len(x.id)+200)
	body = append(appendID(body, x.id), `,"result":{`...)
	if !x.modern {
		return body
	}
	body = append(append(body, `"_meta":{`...), f.identity...)
	body = append(body, `},"resultType":"complete",`...)
	if fresh != notCacheable {
		body = strconv.AppendInt(append(body, `"ttlMs":`...), fresh.Milliseconds(), 10)
		body = append(body, `,"cacheScope":"private",`...)
	}
	return body
}
