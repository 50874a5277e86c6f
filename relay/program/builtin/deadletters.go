package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/audit"
	"tabrelay/relay/state/metrics"
	"tabrelay/relay/state/store"
)

// DeadLetters are the calls with unknown outcome, or that failed at every attempt: they are kept, listed and replayed.
type DeadLetters struct {
	Store  *store.Store
	Tools  *registry.Registry
	Calls  *dispatch.Dispatcher
	Meter  *metrics.Metrics
	Events *event.Bus
	Audit  *audit.Recorder
	Log    zerolog.Logger
}

// AddDeadLetter implements dispatch.DeadLetters: it counts the letter, tells whoever listens, and has it written down.
func (d *DeadLetters) AddDeadLetter(l call.DeadLetter, sent call.ID) {
	d.Meter.DeadLetter(string(l.Outcome))
	d.Events.Publish(event.Of(l.Session), event.Error,
		fmt.Sprintf("A call of %s is a dead letter: its outcome is %s", l.Tool, l.Outcome), map[string]any{
			"deadLetter": string(l.ID), "tool": l.Tool, "outcome": string(l.Outcome), "attempts": l.Attempts,
		})
	d.Store.AddDeadLetter(l, sent)
}

// Settled hears that the end of a call came late.
func (d *DeadLetters) Settled(l call.DeadLetter) {
	d.Meter.DeadLetterSettled(string(l.LateOutcome))
	d.Log.Info().Str("correlationId", string(l.ID)).Str("tool", l.Tool).Str("outcome", string(l.LateOutcome)).
		Msg("the end of a dead letter's call came late")
	d.Events.Publish(event.Of(l.Session), event.Error,
		fmt.Sprintf("The outcome of a call of %s became known late: %s", l.Tool, l.LateOutcome), map[string]any{
			"deadLetter": string(l.ID), "tool": l.Tool, "lateOutcome": string(l.LateOutcome),
		})
	d.Audit.Note(call.Entry{
		Kind: call.EntryCall, Session: l.Session, Tool: l.Tool, Profile: l.Profile, TabID: l.TabID, CallID: l.ID,
		Outcome: string(l.LateOutcome),
		Detail:  "The outcome became known late, after the client had been told that it was unknown",
	})
}

// Recovered hears what became of a call that an earlier relay had left open.
func (d *DeadLetters) Recovered(c call.Record) {
	d.Audit.Note(call.Entry{
		Kind: call.EntryCall, Session: c.Session, Tool: c.Tool, ProfileID: c.ProfileID, TabID: c.TabID, CallID: c.ID,
		Outcome: string(c.State), Detail: "An earlier relay ended while the call ran; this is what is known of it now",
	})
}

// Letter is a dead letter as clients see it.
type Letter struct {
	ID         call.ID         `json:"id"` // the call's correlation id
	Time       time.Time       `json:"time"`
	Tool       string          `json:"tool"`
	Client     string          `json:"client"`
	Profile    string          `json:"profile,omitempty"`
	TabID      int             `json:"tabId,omitempty"`
	Outcome    call.State      `json:"outcome"` // as the client was told
	Attempts   int             `json:"attempts"`
	Code       string          `json:"code,omitempty"`
	Message    string          `json:"message,omitempty"`
	Deeds      string          `json:"deeds,omitempty"`     // what it was to do, as far as the page said so
	Arguments  json.RawMessage `json:"arguments,omitempty"` // redacted
	Failure    json.RawMessage `json:"error,omitempty"`
	Replayable bool            `json:"replayable"`
	Asks       bool            `json:"asks"`               // replaying it asks a person first
	Because    string          `json:"because,omitempty"`  // why it cannot be replayed
	Resolved   *time.Time      `json:"resolved,omitempty"` // when the true end came, late
	Late       call.State      `json:"lateOutcome,omitempty"`
	LateOutput json.RawMessage `json:"lateOutput,omitempty"`
	LateError  json.RawMessage `json:"lateError,omitempty"`
	ReplayOf   call.ID         `json:"replayOf,omitempty"`
	Replayed   call.ID         `json:"replayed,omitempty"` // the last call that repeated it
}

// Letters is a page of them, the newest first.
type Letters struct {
	Letters    []Letter `json:"letters"`
	NextCursor call.ID  `json:"nextCursor,omitempty"`
}

// View is a letter with everything; brief leaves out what makes lists long.
func (d *DeadLetters) View(l *call.DeadLetter, brief bool) Letter {
	v := Letter{
		ID: l.ID, Time: l.Created.UTC(), Tool: l.Tool, Client: l.Session.Client, Profile: l.Profile, TabID: l.TabID,
		Outcome: l.Outcome, Attempts: l.Attempts,
		Deeds: l.Deeds, Late: l.LateOutcome, ReplayOf: l.ReplayOf, Replayed: l.Replayed,
	}
	var said struct{ Code, Message string }
	if json.Unmarshal(l.Failure, &said) == nil {
		v.Code, v.Message = said.Code, said.Message
	}
	if !l.Resolved.IsZero() {
		at := l.Resolved.UTC()
		v.Resolved = &at
	}
	t, problem := d.Replayable(l)
	v.Replayable, v.Because = problem == nil, ""
	if problem != nil {
		v.Because = problem.Message
	} else {
		v.Asks = !t.ReadOnly
	}
	if !brief {
		v.Arguments, v.Failure, v.LateOutput, v.LateError = l.Arguments, l.Failure, l.LateOutput, l.LateFailure
	}
	return v
}

// Replayable finds the tool of a letter that can be replayed.
func (d *DeadLetters) Replayable(l *call.DeadLetter) (*registry.Tool, *fault.Error) {
	t, ok := d.Tools.Snapshot().Find(l.Tool)
	switch {
	case !ok:
		return nil, fault.New(fault.NotFoundCode, "The tool "+l.Tool+" is not offered any more, so the call cannot "+
			"be repeated", fault.WithOutcome(fault.NotExecuted),
			fault.WithHint("Enable or add its plugin again."))
	case l.Redacted:
		return nil, fault.New(fault.ValidationError, "The call cannot be repeated as it was: credentials or "+
			"what it was to type were left out of its arguments, or they were too large to keep or went with an "+
			"earlier relay",
			fault.WithHint("Call "+l.Tool+" itself, with its arguments."))
	}
	return t, nil
}

// ownerOf is whose results and letters a session sees: its client's, or all when it is the person. A bounded session
// sees those of its own calls; programs without a name share one, and are told apart by their connections.
func ownerOf(s call.Session) call.Owner {
	switch {
	case policy.IsPerson(s):
		return call.Owner{}
	case s.Bounds != nil:
		return call.Owner{Client: s.Client, Session: s.ID}
	case s.Client == call.Unnamed:
		attachment, _, _ := strings.Cut(s.ID, "/")
		return call.Owner{Client: s.Client, Session: attachment}
	}
	return call.Owner{Client: s.Client}
}

// mayRead reports whether a session may see what a call of another one left.
func mayRead(asks, left call.Session) bool {
	of := ownerOf(asks)
	return (of.Client == "" || of.Client == left.Client) &&
		(of.Session == "" || of.Session == left.ID || strings.HasPrefix(left.ID, of.Session+"/"))
}

// List is a page of the letters of a client, or of all for the person, that came before one.
func (d *DeadLetters) List(ctx context.Context, s call.Session, before call.ID, limit int) (Letters, *fault.Error) {
	list, err := d.Store.DeadLetters(ctx, ownerOf(s), before, limit+1)
	switch {
	case errors.Is(err, store.ErrNoDeadLetter):
		return Letters{}, fault.New(fault.ValidationError, "The cursor is for a dead letter that no longer exists",
			fault.WithHint("List from the beginning, without a cursor."))
	case err != nil:
		return Letters{}, unreadable(err)
	}
	page := Letters{Letters: []Letter{}}
	for i := range list {
		if i == limit {
			page.NextCursor = list[i-1].ID
			break
		}
		page.Letters = append(page.Letters, d.View(&list[i], true))
	}
	return page, nil
}

// Find is one letter of a client, or of any for the person.
func (d *DeadLetters) Find(ctx context.Context, s call.Session, id call.ID) (*call.DeadLetter, *fault.Error) {
	l, found, err := d.Store.DeadLetter(ctx, id)
	if err != nil {
		return nil, unreadable(err)
	}
	if !found || !mayRead(s, l.Session) {
		return nil, fault.New(fault.NotFoundCode, "There is no dead letter with the id "+fault.Excerpt(string(id)),
			fault.WithOutcome(fault.NotExecuted),
			fault.WithHint("List them; they are kept for a week."))
	}
	return &l, nil
}

func unreadable(err error) *fault.Error {
	return fault.New(fault.InternalError, "The dead letters could not be read", fault.WithCause(err),
		fault.WithOutcome(fault.NotExecuted), fault.WithRetryable(true),
		fault.WithHint("Repeat the call; `tabrelay doctor` looks at the database."))
}

// Replay repeats a call: with an id of its own, that of who asks, and everything a first call would meet.
func (d *DeadLetters) Replay(ctx context.Context, l *call.DeadLetter, c call.Call) (*call.Result, *fault.Error) {
	again := call.Call{
		ID: call.NewID(), Session: c.Session, Tool: l.Tool, Arguments: l.Arguments, Progress: c.Progress,
		Log: c.Log, MaxBytes: c.MaxBytes, Ask: c.Ask, ReplayOf: l.ID,
		Note: c.Note, Consent: c.Consent,
	}
	again.Confirm = func(ctx context.Context, asked bool) error {
		if c.Confirm != nil {
			if err := c.Confirm(ctx, asked); err != nil {
				return err
			}
		}
		d.Log.Info().Str("correlationId", string(again.ID)).Str("replayOf", string(l.ID)).Str("tool",
			l.Tool).Str("client", c.Session.Client).Msg("a dead letter is replayed")
		d.Store.MarkReplayed(l.ID, again.ID)
		return nil
	}
	return d.Calls.Do(ctx, again)
}
