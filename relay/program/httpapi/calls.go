package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
)

// Listing is the answer of GET /api/v1/tools.
type Listing struct {
	Tools    []json.RawMessage  `json:"tools"` // as tools/list of MCP has them
	Problems []registry.Problem `json:"problems"`
}

// listTools answers with every tool for the person, and with those a client may see for a client.
func (a *API) listTools(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	session := Sender(req.Context())
	snapshot := a.Tools.Snapshot()
	listing := Listing{Tools: make([]json.RawMessage, 0, len(snapshot.Tools)), Problems: a.problemsFor(session)}
	view := a.Policy.View(session)
	for _, t := range snapshot.Tools {
		if t.Dormant {
			continue
		}
		if policy.IsPerson(session) || view.Shows(t) {
			listing.Tools = append(listing.Tools, view.Marked(t, t.Whole()))
		}
	}
	return listing, nil
}

// Ask is the body of POST /api/v1/tools/{name}/call.
type Ask struct {
	Arguments json.RawMessage `json:"arguments,omitempty"`
	TimeoutMs int64           `json:"timeoutMs,omitempty"`
	MaxBytes  int             `json:"maxBytes,omitempty"`
	ArrayPath string          `json:"arrayPath,omitempty"`
	Trace     bool            `json:"trace,omitempty"` // list the steps of the call in the answer
	Plain     bool            `json:"plain,omitempty"` // tell a failure without JSON around it
}

// Answer is what a call came to. Error is set, or else Output, Content or both: where Content stands besides Output,
// its first text is what an agent reads, for example that the output is only a part of the result.
type Answer struct {
	Output   json.RawMessage `json:"output,omitempty"`
	Content  []call.Content  `json:"content,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	Meta     *AnswerMeta     `json:"meta,omitempty"`
	Error    *fault.Error    `json:"error,omitempty"`
	Text     []string        `json:"text,omitempty"` // of a failure, as an agent reads it
	Trace    []TraceStep     `json:"trace,omitempty"`
}

// TraceStep is one step of a call that was asked for with Trace.
type TraceStep struct {
	Ms   float64 `json:"ms"` // since the call came
	Step string  `json:"step"`
}

// AnswerMeta says where and how a call ran.
type AnswerMeta struct {
	CorrelationID call.ID `json:"correlationId"`
	TabID         int     `json:"tabId,omitempty"`
	Profile       string  `json:"profile,omitempty"`
	ProfileID     string  `json:"profileId,omitempty"`
	Origin        string  `json:"origin,omitempty"`
	Attempts      int     `json:"attempts"`
	DurationMs    int64   `json:"durationMs"`
	ResultID      string  `json:"resultId,omitempty"` // of the whole, when the answer is a part of it
}

// callTool carries one call out. A failure of the tool is an answer, not a failure of the request.
func (a *API) callTool(w http.ResponseWriter, req *http.Request) {
	ask, problem := a.readAsk(w, req)
	if problem != nil {
		status := http.StatusBadRequest
		if problem.Code == fault.InputTooLarge {
			status = http.StatusRequestEntityTooLarge
		}
		Refuse(w, status, problem)
		return
	}
	name := req.PathValue("name")
	tools := a.Tools.Snapshot()
	if _, ok := tools.Find(name); !ok && tools.Withheld(name) == nil {
		view := a.Policy.View(Sender(req.Context()))
		shown := func(t *registry.Tool) bool { return view.Shows == nil || view.Shows(t) }
		problem := tools.UnknownTool(name, shown, nil)
		if problem.Code == fault.UnknownTool {
			problem.Hint = "run: tabrelay tools"
		}
		Refuse(w, http.StatusNotFound, problem)
		return
	}
	id := call.NewID()
	c := call.Call{
		ID: id, Session: Sender(req.Context()), Tool: name, Arguments: ask.Arguments,
		Timeout: call.Timeout(ask.TimeoutMs), MaxBytes: ask.MaxBytes, ArrayPath: ask.ArrayPath,
		Trace: call.ReadTrace(req.Header.Get("traceparent"), strings.Join(req.Header.Values("tracestate"), ",")),
	}
	var steps []TraceStep
	if ask.Trace {
		began := time.Now()
		c.Step = func(at time.Time, _, what string) {
			steps = append(steps, TraceStep{float64(at.Sub(began).Microseconds()) / 1000, what})
		}
		c.Step(began, "received", "the relay has the call")
	}
	a.carryOut(w, req, id, func(ctx context.Context, progress func(call.Progress)) Answer {
		c.Progress = progress
		answer := answerOf(a.Calls.Do(ctx, c))
		if ask.Trace {
			c.Step(time.Now(), "answers", "the relay answers")
			slices.SortStableFunc(steps, func(a, b TraceStep) int { return cmp.Compare(a.Ms, b.Ms) })
			answer.Trace = steps
		}
		if ask.Plain && answer.Error != nil {
			answer.Text = []string{answer.Error.Plain()}
		}
		return answer
	})
}

func (a *API) readAsk(w http.ResponseWriter, req *http.Request) (ask Ask, problem *fault.Error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, int64(a.Config.BodyBytes)))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return ask, fault.New(fault.InputTooLarge, fmt.Sprintf("The body has more than %d bytes", tooLarge.Limit))
	case err != nil:
		return ask, malformed("The body ended early")
	case len(body) == 0:
		return ask, nil
	}
	if wrong := ask.parse(body); wrong != "" {
		return ask, fault.New(fault.InvalidRequest, wrong,
			fault.WithHint(`Send {"arguments": {…}, "timeoutMs": 30000, "maxBytes": 100000, "arrayPath": ".items",`+
				` "trace": true, "plain": true}; all may be left out.`))
	}
	return ask, nil
}

// parse says what is wrong with a body, if anything is. It is strict: arguments sent without the word "arguments"
// around them must not become a call without arguments.
func (a *Ask) parse(body []byte) (wrong string) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil { // null
		return "The body is not a JSON object"
	}
	for name, value := range fields {
		switch name {
		case "arguments":
			a.Arguments = value
		case "timeoutMs":
			if json.Unmarshal(value, &a.TimeoutMs) != nil || a.TimeoutMs < 0 {
				return "timeoutMs is not a whole number of at least 0"
			}
		case "maxBytes":
			if json.Unmarshal(value, &a.MaxBytes) != nil || a.MaxBytes < 0 {
				return "maxBytes is not a whole number of at least 0"
			}
		case "trace":
			if json.Unmarshal(value, &a.Trace) != nil {
				return "trace is not true or false"
			}
		case "plain":
			if json.Unmarshal(value, &a.Plain) != nil {
				return "plain is not true or false"
			}
		case "arrayPath":
			if json.Unmarshal(value, &a.ArrayPath) != nil {
				return "arrayPath is not a string"
			}
		default:
			return fmt.Sprintf("The body has an unknown field %q", fault.Excerpt(name))
		}
	}
	return ""
}

// StopRequest is the body of POST /api/v1/stop. Without one the relay ends whatever runs.
type StopRequest struct {
	// Successor is the version of the relay that the sender starts next. With it the relay ends only when no call runs,
	// and its stdio proxies wait for the next one.
	Successor string `json:"successor,omitempty"`
}

// stopNow ends the relay, after the answer. While calls run it makes no room for another version, and says which.
func (a *API) stopNow(w http.ResponseWriter, req *http.Request) {
	var body StopRequest
	if req.ContentLength != 0 {
		if failure := ReadBody(w, req, &body, `{"successor":"0.2.0"}`); failure != nil {
			Refuse(w, http.StatusBadRequest, failure)
			return
		}
	}
	log := a.Log.Info().Str("client", Sender(req.Context()).Client)
	if body.Successor == "" {
		log.Msg("asked to stop")
		a.Clients.Dismiss()
	} else {
		if failure := a.busy(); failure != nil {
			Refuse(w, http.StatusConflict, failure)
			return
		}
		log.Str("version", body.Successor).Msg("asked to make room for another version")
		a.Clients.MakeRoom(body.Successor)
	}
	Reply(w, http.StatusAccepted, map[string]any{"pid": os.Getpid()})
	a.Stop()
}

// maxNamed is how many of the calls that run are named.
const maxNamed = 3

// busy says which calls keep the relay from making room for another version; nil: none.
func (a *API) busy() *fault.Error {
	calls := a.Calls.Running()
	if len(calls) == 0 {
		return nil
	}
	var named []string
	for _, c := range calls[:min(len(calls), maxNamed)] {
		named = append(named, fmt.Sprintf("%s by %s since %s (%s)", c.Tool, fault.Excerpt(c.Session.Client),
			c.Began.Local().Format(time.TimeOnly), c.Stage))
	}
	if more := len(calls) - maxNamed; more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	return fault.New(fault.InvalidRequest, fmt.Sprintf("The relay of version %s is not replaced while calls run: %s",
		a.Version, strings.Join(named, ", ")),
		fault.WithHint("wait until they have ended, or end them in the side panel, and run it again; tabrelay down "+
			"stops the relay at once"))
}

// streamed is the type of an answer that tells the call's progress first: a line {"progress":…} for each step, and
// the answer as the last.
const streamed = "application/x-ndjson"

// Line is one line of a streamed answer. Exactly one of its members is set.
type Line struct {
	Progress *ProgressStep `json:"progress,omitempty"`
	Answer   *Answer       `json:"answer,omitempty"`

	// Question is that the person is asked whether the call may run, told once to those who may answer it.
	Question *call.Approval `json:"question,omitempty"`
	// Asked is the same in a sentence, told once to a client, which may not answer it.
	Asked string        `json:"asked,omitempty"`
	Ended *policy.Ended `json:"ended,omitempty"` // how it ended
}

// ProgressStep is one step a running tool reported.
type ProgressStep struct {
	Progress float64  `json:"progress"`
	Total    *float64 `json:"total,omitempty"`
	Message  string   `json:"message,omitempty"`
}

// carryOut runs a call for a request and answers with what it came to. id is that of the call, empty when it is not
// known. A failure of the tool is an answer, not a failure of the request.
func (a *API) carryOut(w http.ResponseWriter, req *http.Request, id call.ID,
	do func(context.Context, func(call.Progress)) Answer) {
	ctx, cancel := context.WithCancelCause(a.Base)
	defer cancel(nil)
	defer context.AfterFunc(req.Context(), func() { cancel(call.ErrCancelled) })()
	var stream *lineStream
	var progress func(call.Progress)
	asked := func() bool { return false }
	if strings.Contains(req.Header.Get("Accept"), streamed) {
		stream = openStream(w)
		progress = stream.step
		if session := Sender(req.Context()); id != "" {
			asked = a.tellQuestions(stream, id, policy.IsPerson(session))
			progress = func(p call.Progress) {
				if !asked() {
					stream.step(p)
				}
			}
		}
	}
	answer := do(ctx, progress)
	if req.Context().Err() != nil {
		return // nobody listens any more
	}
	if stream != nil {
		asked()
		stream.line(Line{Answer: &answer})
		return
	}
	Reply(w, http.StatusOK, answer)
}

func answerOf(result *call.Result, failure *fault.Error) Answer {
	if failure != nil {
		return Answer{Error: failure, Text: failure.Text(), Warnings: failure.Warnings}
	}
	meta := result.Meta
	return Answer{Output: result.Output, Content: result.Content, Warnings: result.Warnings, Meta: &AnswerMeta{
		CorrelationID: meta.CorrelationID, TabID: meta.TabID, Profile: meta.Profile, ProfileID: meta.ProfileID,
		Origin: meta.Origin, Attempts: meta.Attempts,
		DurationMs: meta.Duration.Milliseconds(), ResultID: meta.ResultID,
	}}
}

// Said is what an agent reads of an answer in place of its output, as far as that is JSON: that it is a part of the
// result, and where the rest is. It is nil when that is the output itself, and when the agent reads something else.
func (a *Answer) Said() json.RawMessage {
	if len(a.Content) == 0 {
		return a.Output
	}
	var item struct{ Text string }
	if a.Output == nil || json.Unmarshal(a.Content[0], &item) != nil || !json.Valid([]byte(item.Text)) {
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

// tellQuestions returns what tells, once each, what the person is asked about a call, or about those that a script
// makes, and, to them, how that ended. A client hears only what they are asked: how the call went is its answer. A
// question announces both as a step, in whose place they are told: it reports whether there was something to tell.
func (a *API) tellQuestions(s *lineStream, id call.ID, toPerson bool) func() bool {
	open := map[string]bool{}
	return func() (told bool) {
		mine := a.madeBy(id)
		for _, q := range a.Policy.Pending("") {
			if _, known := open[q.ID]; mine[q.CallID] && !known {
				open[q.ID] = true
				if told = told || toPerson; toPerson {
					s.line(Line{Question: &q})
				} else {
					s.line(Line{Asked: q.Sentence})
				}
			}
		}
		if !toPerson {
			return false
		}
		for _, e := range a.Policy.Ended() {
			if open[e.ID] {
				open[e.ID], told = false, true
				s.line(Line{Ended: &e})
			}
		}
		return told
	}
}

// madeBy is a call and, where it is a script, those of its calls that run.
func (a *API) madeBy(id call.ID) map[call.ID]bool {
	made := map[call.ID]bool{id: true}
	for _, c := range a.Calls.Running() {
		if c.Script == id {
			made[c.ID] = true
		}
	}
	return made
}

// step is called by one goroutine at a time.
func (s *lineStream) step(p call.Progress) {
	s.line(Line{Progress: &ProgressStep{p.Progress, p.Total, fault.Sanitize(p.Message)}})
}

// line writes a line. All that can fail is a client that went away, and that is noticed by its request's end.
func (s *lineStream) line(l Line) {
	if s.encoder.Encode(l) == nil {
		_ = s.flush()
	}
}
