package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/policy"
	"tabrelay/relay/random"
	"tabrelay/relay/registry"
)

// Listing is the answer of GET /api/v1/tools.
type Listing struct {
	Tools    []json.RawMessage  `json:"tools"` // as tools/list of MCP has them
	Problems []registry.Problem `json:"problems"`
}

// listTools answers with every tool for the person, and with those a client may see for a client.
func (r *Relay) listTools(w http.ResponseWriter, req *http.Request) {
	session, _ := sender(req.Context())
	snapshot := r.tools.Snapshot()
	listing := Listing{Tools: make([]json.RawMessage, 0, len(snapshot.Tools)), Problems: r.problemsFor(session)}
	for _, t := range snapshot.Tools {
		if policy.IsPerson(session) || r.policy.View(session).Shows(t) {
			listing.Tools = append(listing.Tools, t.Listed)
		}
	}
	reply(w, http.StatusOK, listing)
}

// Ask is the body of POST /api/v1/tools/{name}/call.
type Ask struct {
	Arguments json.RawMessage `json:"arguments,omitempty"`
	TimeoutMs int64           `json:"timeoutMs,omitempty"`
	MaxBytes  int             `json:"maxBytes,omitempty"`
	ArrayPath string          `json:"arrayPath,omitempty"`
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
func (r *Relay) callTool(w http.ResponseWriter, req *http.Request) {
	ask, problem := r.readAsk(w, req)
	if problem != nil {
		status := http.StatusBadRequest
		if problem.Code == fault.InputTooLarge {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, problem)
		return
	}
	name := req.PathValue("name")
	if _, ok := r.tools.Snapshot().Find(name); !ok && r.tools.Snapshot().Withheld(name) == nil {
		refuse(w, http.StatusNotFound, fault.New(fault.UnknownTool, "There is no tool "+excerpt(name), fault.WithHint("run: tabrelay tools")))
		return
	}
	session, _ := sender(req.Context())
	id := call.ID(random.Hex(16))
	r.carryOut(w, req, id, func(ctx context.Context, progress func(call.Progress)) (*call.Result, *fault.Error) {
		return r.calls.Do(ctx, call.Call{
			ID: id, Session: session, Tool: name, Arguments: ask.Arguments, Timeout: time.Duration(ask.TimeoutMs) * time.Millisecond,
			MaxBytes: ask.MaxBytes, ArrayPath: ask.ArrayPath, Progress: progress,
		})
	})
}

func (r *Relay) readAsk(w http.ResponseWriter, req *http.Request) (ask Ask, problem *fault.Error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, int64(r.config.BodyBytes)))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return ask, fault.New(fault.InputTooLarge, fmt.Sprintf("The body has more than %d bytes", tooLarge.Limit))
	case err != nil:
		return ask, fault.New(fault.InvalidRequest, "The body ended early")
	case len(body) == 0:
		return ask, nil
	}
	if wrong := ask.parse(body); wrong != "" {
		return ask, fault.New(fault.InvalidRequest, wrong, fault.WithHint(`Send {"arguments": {…}, "timeoutMs": 30000, "maxBytes": 100000, "arrayPath": ".items"}; all may be left out.`))
	}
	return ask, nil
}

// parse says what is wrong with a body, if anything is. It is strict: arguments sent without the word "arguments" around them must not become a call without arguments.
func (a *Ask) parse(body []byte) (wrong string) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
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
		case "arrayPath":
			if json.Unmarshal(value, &a.ArrayPath) != nil {
				return "arrayPath is not a string"
			}
		default:
			return fmt.Sprintf("The body has an unknown field %q", excerpt(name))
		}
	}
	return ""
}

// stopNow ends the relay, after the answer.
func (r *Relay) stopNow(w http.ResponseWriter, req *http.Request) {
	session, _ := sender(req.Context())
	r.Log.Info().Str("client", session.Client).Msg("asked to stop")
	reply(w, http.StatusAccepted, map[string]any{"pid": r.state().PID})
	r.clients.Dismiss()
	r.Stop()
}
