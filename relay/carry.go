package relay

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/policy"
)

// streamed is the type of an answer that tells the call's progress first: a line {"progress":…} for each step, and the
// answer as the last.
const streamed = "application/x-ndjson"

// Line is one line of a streamed answer. Exactly one of its members is set.
type Line struct {
	Progress *Step   `json:"progress,omitempty"`
	Answer   *Answer `json:"answer,omitempty"`

	// Question is that the person is asked whether the call may run, told once to those who may answer it.
	Question *call.Approval `json:"question,omitempty"`
}

// Step is one step a running tool reported.
type Step struct {
	Progress float64  `json:"progress"`
	Total    *float64 `json:"total,omitempty"`
	Message  string   `json:"message,omitempty"`
}

// carryOut runs a call for a request and answers with what it came to. id is that of the call, empty when it is not
// known. A failure of the tool is an answer, not a
// failure of the request.
func (r *Relay) carryOut(w http.ResponseWriter, req *http.Request, id call.ID, do func(context.Context, func(call.Progress)) (*call.Result, *fault.Error)) {
	ctx, cancel := context.WithCancelCause(r.base)
	defer cancel(nil)
	defer context.AfterFunc(req.Context(), func() { cancel(call.ErrCancelled) })()
	var stream *lineStream
	var progress func(call.Progress)
	if strings.Contains(req.Header.Get("Accept"), streamed) {
		stream = openStream(w)
		progress = stream.step
		if session, _ := sender(req.Context()); id != "" && policy.IsPerson(session) {
			progress = r.withQuestions(stream, id)
		}
	}
	result, failure := do(ctx, progress)
	if req.Context().Err() != nil {
		return // nobody listens any more
	}
	answer := answerOf(result, failure)
	if stream != nil {
		stream.line(Line{Answer: &answer})
		return
	}
	reply(w, http.StatusOK, answer)
}

func answerOf(result *call.Result, failure *fault.Error) Answer {
	if failure != nil {
		return Answer{Error: failure, Text: failure.Text(), Warnings: failure.Warnings}
	}
	meta := result.Meta
	return Answer{Output: result.Output, Content: result.Content, Warnings: result.Warnings, Meta: &AnswerMeta{
		CorrelationID: meta.CorrelationID, TabID: meta.TabID, Profile: meta.Profile, ProfileID: meta.ProfileID, Origin: meta.Origin, Attempts: meta.Attempts,
		DurationMs: meta.Duration.Milliseconds(), ResultID: meta.ResultID,
	}}
}

// Said is what an agent reads of an answer in place of its output: that it is a part of the result, and where the rest
// is. It is nil when that is the output itself.
func (a *Answer) Said() json.RawMessage {
	if len(a.Content) == 0 || a.Output == nil {
		return nil
	}
	var item struct{ Text string }
	if json.Unmarshal(a.Content[0], &item) != nil || !json.Valid([]byte(item.Text)) {
		return nil
	}
	return json.RawMessage(item.Text)
}

// lineStream writes an answer line by line.
type lineStream struct {
	encoder *json.Encoder
	flush   func() error
}

func openStream(w http.ResponseWriter) *lineStream {
	h := w.Header()
	h.Set("Content-Type", streamed)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return &lineStream{e, http.NewResponseController(w).Flush}
}

// withQuestions tells steps, and before them what the person is asked about the call: a question announces itself as a
// step.
func (r *Relay) withQuestions(s *lineStream, id call.ID) func(call.Progress) {
	told := map[string]bool{}
	return func(p call.Progress) {
		for _, q := range r.policy.Pending("") {
			if q.CallID == id && !told[q.ID] {
				told[q.ID] = true
				s.line(Line{Question: &q})
			}
		}
		s.step(p)
	}
}

// step is called by one goroutine at a time.
func (s *lineStream) step(p call.Progress) {
	s.line(Line{Progress: &Step{p.Progress, p.Total, fault.Sanitize(p.Message)}})
}

// line writes a line. All that can fail is a client that went away, and that is noticed by its request's end.
func (s *lineStream) line(l Line) {
	if s.encoder.Encode(l) == nil {
		_ = s.flush()
	}
}
