package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// ConfirmWord is the word that a person types at a terminal to allow a change.
const ConfirmWord = "yes"

// Change is something that lets agents do more, as the person reads it before they allow it.
type Change struct {
	Title       string            `json:"title"`             // what would be done: “Set a rule: default is auto”
	Command     string            `json:"command,omitempty"` // that makes the change
	Differences []call.Difference `json:"differences"`
	Text        string            `json:"text,omitempty"` // more lines to read

	// ShownElsewhere: the panel shows the same question as an approval of its own, so that a terminal may answer it,
	// too.
	ShownElsewhere bool `json:"-"`
}

// NewChange makes a change. Invisible characters are removed from its texts, which may come from anywhere.
func NewChange(title, command string, differences ...call.Difference) *Change {
	c := &Change{Title: fault.Sanitize(title), Command: fault.Sanitize(command), Differences: []call.Difference{}}
	for _, d := range differences {
		c.Differences = append(c.Differences,
			call.Difference{What: fault.Sanitize(d.What), Before: fault.Sanitize(d.Before),
				After: fault.Sanitize(d.After)})
	}
	return c
}

// WithText sets Text, and returns the change.
func (c *Change) WithText(lines ...string) *Change {
	for i, line := range lines {
		lines[i] = fault.Sanitize(line)
	}
	c.Text = strings.Join(lines, "\n")
	return c
}

// Digest is a hash of what is shown: a confirmation with it holds for nothing else.
func (c *Change) Digest() string {
	text, _ := json.Marshal(c) // strings always encode
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Lines are the change as a terminal shows it.
func (c *Change) Lines() []string {
	lines := []string{c.Title}
	for _, d := range c.Differences {
		lines = append(lines, "  "+line(d))
	}
	if c.Text != "" {
		lines = append(lines, strings.Split(c.Text, "\n")...)
	}
	return lines
}

// String is the change in one line.
func (c *Change) String() string {
	if len(c.Differences) == 0 {
		return c.Title
	}
	return c.Title + ": " + c.difference()
}

func (c *Change) difference() string {
	var list []string
	for _, d := range c.Differences {
		list = append(list, line(d))
	}
	return strings.Join(list, "; ")
}

func line(d call.Difference) string { return d.What + ": " + d.Before + " → " + d.After }

// Kinds of changes that are shown to the person.
const (
	ChangeAsked  = "asked"  // somebody waits for an answer
	ChangeConfig = "config" // config.json was changed, and this part of it is not in effect
	ChangeStart  = "start"  // the last start let agents do more than the one before
)

// PendingChange is a change that waits for the person, or that they should see.
type PendingChange struct {
	ID   string `json:"id"` // config and start are those of their kind: there is one each
	Kind string `json:"kind"`
	*Change
	Digest string     `json:"digest"`
	From   string     `json:"from"` // who asks for it, in words
	Asked  time.Time  `json:"asked"`
	Until  *time.Time `json:"until,omitempty"` // when it ends by itself
	Aside  bool       `json:"aside,omitempty"` // the person has deferred it until the next start
}

// Changes lists the changes that wait for the person, or that they should see, the oldest first; what the configuration
// brought is at the end.
func (p *Policy) Changes() []PendingChange {
	list := []PendingChange{}
	for _, one := range p.waiting() {
		if c := one.change; c != nil {
			until := one.until.UTC()
			list = append(list, PendingChange{ID: one.id, Kind: ChangeAsked, Change: c, Digest: c.Digest(),
				From: one.from, Asked: one.asked.UTC(), Until: &until})
		}
	}
	return append(append(list, p.rights.Load().shown()...), p.toAcknowledge().shown()...)
}

// Request is who asks for a change.
type Request struct {
	Session   call.Session
	Confirmed string // the digest of the change that a person confirmed at a terminal; empty: none
	Asked     func() // called when the person is asked in the panel; may be nil
}

// Unconfirmed is the error of a change that a person has to confirm at a terminal first.
type Unconfirmed struct{ Change *Change }

func (u *Unconfirmed) Error() string {
	return "This lets agents do more, so a person has to confirm it, and nothing was changed: " + u.Change.String()
}

// Confirm returns once a change may be made, and who allowed it. Every change that lets agents do more comes through
// here; a nil change lets them do nothing more. Requests of the panel count as confirmed. For all others, while a panel
// is open, the person is asked there. Without one, a request of the command line needs the digest of the change that a
// person confirmed at its terminal. Errors are an *[Unconfirmed] or a *[fault.Error].
func (p *Policy) Confirm(ctx context.Context, c *Change, r Request) (by string, err error) {
	switch {
	case c == nil || r.Session.Via == call.ViaPanel:
		return Answerer(r.Session), nil
	case !c.ShownElsewhere && p.options.PanelsOpen != nil && p.options.PanelsOpen():
		if failure := p.askPanel(ctx, c, r); failure != nil {
			return "", failure
		}
		return ByPanel, nil
	case r.Session.Via == call.ViaSocket && r.Confirmed == c.Digest():
		p.RecordWidening(r.Session, c, "allowed", ByTerminal)
		return ByTerminal, nil
	}
	return "", &Unconfirmed{c}
}

// Answerer names a person by the way they came.
func Answerer(s call.Session) string {
	if s.Via == call.ViaPanel {
		return ByPanel
	}
	return ByTerminal
}

// askPanel asks in the panels that are open, and waits.
func (p *Policy) askPanel(ctx context.Context, c *Change, r Request) *fault.Error {
	one := &pending{change: c, from: "a program on this computer"}
	if failure := p.add(one, admitChange); failure != nil {
		p.RecordWidening(r.Session, c, "not asked", ByRelay)
		return failure
	}
	p.changed(TopicApprovals)
	if r.Asked != nil {
		r.Asked()
	}
	d, unanswered := p.wait(ctx, one, func() {})
	said, by, failure := "allowed", d.By, (*fault.Error)(nil)
	switch {
	case unanswered == endsLate:
		message := "Nobody answered in tabrelay's panel within " + p.options.Config.Approvals.Timeout.String()
		said, failure = "not answered in time", fault.New(fault.ApprovalTimeout, message+", so nothing was changed",
			fault.WithHint("Look at the panel and run it again; or close the panel, and confirm in a terminal."))
	case unanswered == endsClosed:
		said, failure = "ended by the relay's end", shuttingDown()
	case unanswered != "" || ctx.Err() != nil:
		said, failure = "withdrawn",
			fault.New(fault.Cancelled, "Nobody waits for the answer any more, so nothing was changed")
	case !d.Allow:
		said, failure = "denied",
			fault.New(fault.ApprovalDenied, "The person did not allow it in tabrelay's panel, so nothing was changed")
	}
	if failure != nil && said != "denied" {
		by = ByRelay
	}
	p.RecordWidening(r.Session, c, said, by)
	return failure
}

func admitChange(open map[string]*pending) *fault.Error {
	n := 0
	for _, other := range open {
		if other.change != nil {
			n++
		}
	}
	if n < maxChanges {
		return nil
	}
	return fault.New(fault.Overloaded, fmt.Sprintf("%d changes wait for an answer in tabrelay's panel already, "+
		"so nothing was changed", n), fault.WithHint("Answer those first."))
}

// RecordWidening records in the audit log a request for a change that lets agents do more, and how it was decided.
func (p *Policy) RecordWidening(s call.Session, c *Change, said, by string) {
	p.options.Log.Info().Str("change", c.String()).Str("decision", said).Str("by", by).
		Msg("a change that lets agents do more")
	p.record(call.Entry{Kind: call.EntryWidening, Session: s, Decision: said, DecidedBy: by, Detail: c.String()})
}

// AnswerChange describes an answer that is given at a terminal as a change, because a person has to confirm it there;
// nil: it allows nothing, or nothing with that id is open.
func (p *Policy) AnswerChange(id string, s call.Session, profileID string, d call.Decision) *Change {
	switch {
	case !d.Allow || s.Via == call.ViaPanel:
		return nil
	case id == ChangeConfig || id == ChangeStart:
		return p.rights.Load().change(id)
	case id == ChangeLost:
		return p.toAcknowledge().lost
	}
	waiting := slices.Concat(p.Pending(profileID), p.Missed(profileID))
	i := slices.IndexFunc(waiting, func(q call.Approval) bool { return q.ID == id })
	if i < 0 {
		return nil
	}
	q, lasts := waiting[i], d.For
	if lasts == "" {
		lasts = q.Choices[0]
	}
	switch {
	case q.Missed:
		lasts = "the next time"
	case lasts == "always" && q.Origin != "":
		lasts = "always on " + q.Origin
	}
	c := NewChange("Allow "+q.Tool+" for "+q.Client+" ("+lasts+")", "").WithText(strings.Split(Text(q), "\n")...)
	c.ShownElsewhere = true
	return c
}
