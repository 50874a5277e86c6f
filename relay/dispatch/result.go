package dispatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
	"tabrelay/relay/registry"
	"tabrelay/relay/schema"
)

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
		return r.executed(fault.OutputTooLarge, fmt.Sprintf("The tool's result has %d bytes; at most %d are passed on", len(res.Output), r.MaxResultBytes))
	}
	if !rawjson.Valid(res.Output) {
		return r.keepingInvalid(r.executed(fault.InvalidOutput, whyNoJSON(res.Output)), plainText)
	}
	if depth := rawjson.Depth(res.Output); depth > rawjson.MostDeep {
		message := fmt.Sprintf("The tool's result nests %d levels deep; at most %d are passed on", depth, rawjson.MostDeep)
		return r.keepingInvalid(r.executed(fault.InvalidOutput, message), plainText) // as text it can be read
	}
	var left []string
	if res.Output, left = rawjson.WithoutPrototypes(res.Output); left != nil {
		r.warn("The result had members that programs take for something else than a value (" +
			strings.Join(left, ", ") + "); they are left out.")
	}
	var replaced bool
	if res.Output, replaced = rawjson.WithoutHalfPairs(res.Output); replaced {
		r.warn("The result had characters that are no Unicode text (half a surrogate pair); U+FFFD stands in their place.")
	}
	output, err := r.tool.Output()
	if err != nil || output == nil {
		return r.fit(nil) // err was the arguments' business: the tool would not have run
	}
	if problems := output.Check(res.Output); len(problems) > 0 {
		return r.keepingInvalid(r.executed(fault.InvalidOutput, "The tool's result does not fit its output schema: "+schema.ExplainAs("result", problems)), jsonText)
	}
	res.Structured = true
	if members, ok := rawjson.Members(res.Output); ok && !r.tool.Wrapped && rawjson.Get(members, call.NoteMember) != nil {
		res.Output = rawjson.Join(slices.DeleteFunc(members, func(m rawjson.Member) bool { return m.Name == call.NoteMember }))
		r.warn("The result had a member " + call.NoteMember + ", which only the relay writes. It was left out.")
	}
	return r.fit(output)
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

// recordResult completes a result and counts the call.
func (r *run) recordResult() *call.Result {
	took := time.Since(r.began)
	res := r.result
	res.Warnings = append(res.Warnings, r.warnings...)
	r.annotate()
	res.Meta.CorrelationID, res.Meta.Attempts, res.Meta.Duration = r.call.ID, r.attempts, took
	if p := r.reply; p != nil {
		res.Meta.TabID, res.Meta.Profile, res.Meta.Origin, res.Meta.Frame, res.Meta.Trust = p.TabID, p.Profile, p.Origin, p.Frame, p.Trust
		res.Meta.ProfileID = p.ProfileID
	}
	res.Meta.Untrusted = res.Meta.Untrusted || r.reply != nil
	r.Meter.CallDone(r.tool.PluginName(), "ok", took)
	r.tellSignIn(nil)
	if r.attempts > 1 {
		r.Meter.Retry(retrySucceeded, r.waited)
	}
	r.line(zerolog.DebugLevel, took).Int("tab", res.Meta.TabID).Msg("call succeeded")
	r.tellEnd("", "", took)
	r.audit(nil, took)
	return res
}

// recordFailure completes a failure and counts the call.
func (r *run) recordFailure(f *fault.Error) *fault.Error {
	took := time.Since(r.began)
	f.CorrelationID, f.Attempts = string(r.call.ID), r.attempts
	f.Warnings = append(f.Warnings, r.warnings...)
	if f.FromPage {
		f.Origin = r.turn.at.Origin
	}
	r.narrow(f)
	r.bury(f)
	plugin := ""
	if r.tool != nil {
		plugin = r.tool.PluginName()
	}
	r.Meter.CallDone(plugin, string(f.Outcome), took)
	r.tellSignIn(f)
	r.tellEnd(f.Code, f.Message, took)
	r.audit(f, took)
	if f.Code != fault.Cancelled { // which is nobody's fault
		r.Meter.ErrorRaised(f.Class, f.Source, f.Code)
	}
	if r.attempts > 1 {
		r.Meter.Retry(retryFailed, r.waited)
	}
	level := zerolog.InfoLevel
	if f.Source == fault.SourceInternal && !f.FromPage && f.Code != fault.Cancelled {
		level = zerolog.ErrorLevel
	}
	r.line(level, took).Str("code", string(f.Code)).Str("class", string(f.Class)).Str("source", string(f.Source)).
		Str("outcome", string(f.Outcome)).Str("failure", f.Message).AnErr("cause", f.Err).Msg("call failed")
	return f
}

func (r *run) line(level zerolog.Level, took time.Duration) *zerolog.Event {
	return r.Log.WithLevel(level).Str("correlationId", string(r.call.ID)).Str("tool", r.call.Tool).Str("client", r.call.Session.Client).
		Int("attempts", r.attempts).Dur("took", took)
}

// tellSignIn says what the end of a call tells about the person being signed in: only what a page answered does.
func (r *run) tellSignIn(f *fault.Error) {
	if r.SignedOut == nil || r.tool == nil || r.tool.Plugin == nil {
		return
	}
	switch {
	case f == nil && r.reply != nil:
		r.SignedOut(r.tool.PluginName(), r.reply.ProfileID, false)
	case f != nil && f.FromPage && f.Code == fault.AuthError:
		r.SignedOut(r.tool.PluginName(), r.turn.at.ProfileID, true)
	}
}

var _ Tools = (*registry.Registry)(nil)
