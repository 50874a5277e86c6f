package dispatch

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/random"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/effect"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/result"
	"tabrelay/relay/road/schema"
)

// Results keeps results whole that an agent gets a part of.
type Results interface {
	// KeepResult returns when the result can be read under its id.
	KeepResult(ctx context.Context, r call.StoredResult) error
}

// checkResult accepts what the tool returned only if it is what the tool promised. The action has happened by
// then, whatever the check says.
func (r *run) checkResult() *fault.Error {
	if r.result == nil {
		r.result = &call.Result{Output: r.reply.Output}
	}
	res := r.result
	if len(res.Content) > 0 && res.Output == nil {
		return nil // a built-in tool that answers with images and the like
	}
	if len(res.Output) == 0 {
		res.Output = json.RawMessage("null") // a handler without a return value
	}
	if len(res.Output) > r.MaxResultBytes {
		message := fmt.Sprintf("The tool's result has %d bytes; at most %d are passed on",
			len(res.Output), r.MaxResultBytes)
		return r.executed(fault.OutputTooLarge, message)
	}
	if r.tool.Browses && r.takeContent() {
		return nil
	}
	if !rawjson.Valid(res.Output) {
		return r.keepingInvalid(r.executed(fault.InvalidOutput, whyNoJSON(res.Output)), plainText)
	}
	if depth := rawjson.Depth(res.Output); depth > rawjson.MostDeep {
		message := fmt.Sprintf("The tool's result nests %d levels deep; at most %d are passed on",
			depth, rawjson.MostDeep)
		return r.keepingInvalid(r.executed(fault.InvalidOutput, message), plainText) // as text it can be read
	}
	var left []string
	if res.Output, left = rawjson.WithoutPrototypes(res.Output); left != nil {
		r.warn("The result had members that programs take for something other than a value (" +
			strings.Join(left, ", ") + "); they are left out.")
	}
	var replaced bool
	if res.Output, replaced = rawjson.WithoutHalfPairs(res.Output); replaced {
		r.warn("The result had characters that are not Unicode text (half a surrogate pair); " +
			"U+FFFD stands in their place.")
	}
	if r.output == nil {
		if r.tool.Acts && !r.tool.Develops && r.takeLines() {
			return nil
		}
		return r.fit()
	}
	if problems := r.output.Check(res.Output); len(problems) > 0 {
		message := "The tool's result does not fit its output schema: " + schema.ExplainAs("result", problems)
		return r.keepingInvalid(r.executed(fault.InvalidOutput, message), jsonText)
	}
	res.Structured = true
	reserved := func(m rawjson.Member) bool { return m.Name == call.NoteMember }
	if members, ok := rawjson.Members(res.Output); ok && !r.tool.Wrapped && slices.ContainsFunc(members, reserved) {
		res.Output = rawjson.Join(slices.DeleteFunc(members, reserved))
		r.warn("The result had a member " + call.NoteMember + ", which only the relay writes. It was left out.")
	}
	return r.fit()
}

// takeContent reports whether a tool of the browser answered with content, {"content": [{"type": "text", …}, {"type":
// "image", …}]}, and takes that for the answer. Its texts have been made for agents, within their budget: what a page
// says stands in quotes in them.
func (r *run) takeContent() bool {
	var shown struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text,omitempty"`
			Data string `json:"data,omitempty"` // Base64
			MIME string `json:"mimeType,omitempty"`
			Name string `json:"name,omitempty"`
		} `json:"content"`
	}
	if json.Unmarshal(r.result.Output, &shown) != nil || len(shown.Content) == 0 {
		return false
	}
	for _, one := range shown.Content {
		switch one.Type {
		case "text":
			r.result.Content = append(r.result.Content, textItem(one.Text))
		case "image":
			r.result.Content = append(r.result.Content, rawjson.MustEncode(one))
		case "resource":
			data := []byte(one.Text)
			if one.Data != "" {
				data, _ = base64.StdEncoding.DecodeString(one.Data) // the extension's own encoding
			}
			r.result.Content = append(r.result.Content, r.keptFile(data, one.MIME, one.Name))
		}
	}
	r.result.Output = nil
	return true
}

// takeLines reports whether a tool of the browser answered with what an act came to, and has its answer say that in
// lines. A program that asks for it gets the value, too.
func (r *run) takeLines() bool {
	arguments := r.args
	if arguments == nil { // the answer of a call that an earlier relay had sent
		arguments = r.call.Arguments
	}
	res := r.result
	text, ok := effect.Lines(r.tool.Spec.Name, arguments, res.Output)
	if !ok {
		return false
	}
	res.Structured = r.call.Structured && len(res.Output)+len(text)+r.spoken() <= r.maxBytes
	res.Content = []call.Content{textItem(r.fitLines(text))}
	return true
}

// fitLines are as many lines as the answer may have. All of them are kept then.
func (r *run) fitLines(text string) string {
	most := r.maxBytes - r.spoken()
	if len(text) <= most {
		return text
	}
	id, lost := r.keep([]byte(text), plainText)
	if lost != "" {
		r.warn(lost)
	}
	r.result.Meta.ResultID = id
	end := fmt.Sprintf("… %d bytes in all: %s {\"id\":%q}", len(text), result.Reader, id)
	shown := text[:max(most-len(end)-1, 0)]
	return shown[:strings.LastIndexByte(shown, '\n')+1] + end
}

// keptFile keeps a file that a tool of the browser has made, and links to it: an agent reads it where it needs it.
func (r *run) keptFile(data []byte, mime, name string) call.Content {
	id, lost := r.keep(data, mime)
	if lost != "" {
		return textItem(lost)
	}
	r.result.Meta.ResultID = id
	return rawjson.MustEncode(map[string]any{
		"type": "resource_link", "uri": result.URI(id), "name": name, "mimeType": mime, "size": len(data),
	})
}

// whyNoJSON is the first line of a result that has no JSON form, where the page runtime wrote one.
func whyNoJSON(output []byte) string {
	const sentence = "The tool's result is not JSON"
	line, _, _ := bytes.Cut(output, []byte("\n"))
	if bytes.HasPrefix(line, []byte(sentence+": ")) {
		return fault.Plain(string(line))
	}
	var value json.RawMessage
	if err := json.Unmarshal(output, &value); err != nil && strings.Contains(err.Error(), "max depth") {
		return "The tool's result nests too deeply: at most 10000 levels can be read"
	}
	return sentence
}

// wrap is the value as a tool whose output schema is not one of an object answers it.
func (r *run) wrap(value json.RawMessage) json.RawMessage {
	if !r.tool.Wrapped {
		return value
	}
	return rawjson.Join([]rawjson.Member{rawjson.Make("result", value)})
}

// executed is a failure found after the tool had run.
func (r *run) executed(code fault.Code, message string) *fault.Error {
	f := fault.New(code, message, fault.WithOutcome(fault.Executed))
	return r.place(f)
}

func (r *run) warn(sentence string) { r.warnings = append(r.warnings, sentence) }

// keepTime is how long an answer may wait for its result to be kept.
const keepTime = 5 * time.Second

// What a kept result is.
const (
	jsonText  = "application/json"
	plainText = "text/plain"
)

// warningStart is how a front begins the text that lists warnings.
const warningStart = "Warning: "

// fit makes an answer that is too large smaller, and keeps the whole. The tool's schema, if it has one, is kept too: a
// client checks the value against it. A built-in tool that has content of its own has seen to its size itself.
func (r *run) fit() *fault.Error {
	res, whole := r.result, r.result.Output
	if len(res.Content) > 0 {
		return nil
	}
	spoken := r.spoken()
	res.Output = r.wrap(whole)
	if len(res.Output)+spoken <= r.maxBytes {
		return nil
	}
	id, lost := r.keep(whole, jsonText)
	request := result.Request{
		MaxBytes: r.maxBytes, Others: len(warningStart) + spoken + len(lost) + 1, Path: r.call.ArrayPath,
		Declared: r.tool.Spec.ArrayPath, ID: id,
	}
	if r.output != nil {
		request.Others += noted
		request.Fits = func(value, note json.RawMessage) bool {
			return len(r.output.Check(value)) == 0 && r.accepts(r.wrap(value), note)
		}
	}
	shaped, failure := result.Shape(whole, request)
	if failure != nil {
		failure.Outcome = fault.Executed
		return r.readable(r.place(failure), id, len(whole))
	}
	res.Output, res.Note = r.wrap(shaped.Value), shaped.Note
	res.Content = []call.Content{textItem(string(shaped.Text))}
	if id != "" {
		res.Content = append(res.Content, link(id, r.tool.Name, len(whole)))
	}
	res.Meta.ResultID = id
	r.warn(shaped.Warning)
	if lost != "" {
		r.warn(lost)
	}
	return nil
}

// noted is how many bytes the member takes that holds a note, and the list of warnings in it.
const noted = len(call.NoteMember) + len(`"":{"warnings":[""]},`) + len(`"result":{}`)

// accepts reports whether clients, which check structured content against the schema that is listed, take a value
// together with a note.
func (r *run) accepts(value, note json.RawMessage) bool {
	answer, err := r.tool.Answer()
	if err != nil {
		return false
	}
	members, ok := rawjson.Members(value)
	if !ok || answer == nil {
		return ok
	}
	return len(answer.Check(rawjson.Join(append(members, rawjson.Make(call.NoteMember, note))))) == 0
}

// annotate has structured content say what clients that show nothing else would lose: what is missing, and warnings.
func (r *run) annotate() {
	res := r.result
	members, _ := rawjson.Members(res.Note)
	note := rawjson.Join(append(members, rawjson.Make("warnings", rawjson.MustEncode(res.Warnings))))
	if res.Note == nil && !r.accepts(res.Output, note) {
		return // the value is whole, and better without than not at all
	}
	res.Note = note
}

// spoken is how many bytes of the answer its warnings take.
func (r *run) spoken() (bytes int) {
	for _, warning := range r.warnings {
		bytes += len(warning) + 1
	}
	if bytes > 0 {
		bytes += len(warningStart)
	}
	if bytes > 0 && r.tool.Spec.OutputSchema != nil {
		bytes += noted
	}
	return bytes
}

// wrapping is how many bytes the object takes into which a value is wrapped.
const wrapping = len(`{"result":}`)

// keep keeps what the tool returned, and says by its id how it can be read. When that is not possible, lost says so.
func (r *run) keep(data []byte, mime string) (id, lost string) {
	const sorry = "The whole result could not be kept."
	if r.Results == nil {
		return "", sorry
	}
	ctx, cancel := context.WithTimeout(r.ctx, keepTime)
	defer cancel()
	id = random.Hex(16)
	err := r.Results.KeepResult(ctx, call.StoredResult{
		ID: id, CallID: r.call.ID, Session: r.call.Session, Tool: r.tool.Name, Created: time.Now(), MIMEType: mime,
		Data: data, Size: int64(len(data)),
	})
	if err != nil {
		r.Log.Warn().Err(err).Str("correlationId", string(r.call.ID)).Str("tool", r.tool.Name).Int("bytes", len(data)).
			Msg("a result was not kept")
		return "", sorry
	}
	return id, ""
}

// keepingInvalid keeps a result that is not what the tool promised, so that what the action came to is not lost.
func (r *run) keepingInvalid(f *fault.Error, mime string) *fault.Error {
	id, _ := r.keep(r.result.Output, mime)
	return r.readable(f, id, len(r.result.Output))
}

// readable says in a failure that comes after the action how its result can be read.
func (r *run) readable(f *fault.Error, id string, size int) *fault.Error {
	if id == "" {
		return f
	}
	hint := fmt.Sprintf(`The action has happened, and its result is kept: read it in pieces with %s {"id":%q}.`,
		result.Reader, id)
	if f.Code == fault.ValidationError {
		hint = f.Hint + "\n" + hint
	}
	fault.WithHint(hint)(f)
	f.Data = rawjson.MustEncode(map[string]any{"resultId": id, "uri": result.URI(id), "bytes": size})
	return f
}

// place adds where the tool ran to a failure found afterwards.
func (r *run) place(f *fault.Error) *fault.Error {
	if r.reply != nil {
		f.TabID, f.Profile = r.reply.TabID, r.reply.Profile
	}
	return f
}

// textItem and link are content blocks of MCP 2025-06-18, schema TextContent and ResourceLink.
func textItem(text string) call.Content {
	return rawjson.MustEncode(map[string]any{"type": "text", "text": text})
}

func link(id, tool string, size int) call.Content {
	return rawjson.MustEncode(map[string]any{
		"type": "resource_link", "uri": result.URI(id), "name": "result " + id, "title": "The whole result of " + tool,
		"mimeType": jsonText, "size": size,
	})
}
