package delegation

import (
	"cmp"
	"fmt"
	"time"

	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
)

// Transcripts keeps what agents were asked, did and answered, for the person. It does not wait for the disk.
type Transcripts interface {
	KeepTranscript(t Transcript)
	ForgetTranscript(session string)
}

// mostKept is how many bytes of text are kept of one turn, besides its answer.
const mostKept = 256 << 10

// said is what was said in a turn, as far as there is room for it. Turn.mu guards it.
type said struct {
	messages []provider.Message
	size     int
	leftOut  int
}

// note writes a message down if the turn is to be kept.
func (t *Turn) note(m provider.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.said
	if s == nil {
		return
	}
	size := len(m.Text)
	for _, c := range m.Calls {
		size += len(c.Name) + len(c.Arguments)
	}
	for _, r := range m.Results {
		size += len(r.Name) + len(r.Text)
	}
	if s.leftOut > 0 || s.size+size > mostKept {
		s.leftOut++
		return
	}
	s.size += size
	s.messages = append(s.messages, m)
}

// forPerson is a message as it is kept: without what looks like a credential, and without pictures.
func forPerson(m provider.Message) provider.Message {
	kept := provider.Message{Role: m.Role, Text: fault.Redact(m.Text)}
	if n := len(m.Images); n > 0 {
		kept.Text += notKept(n)
	}
	for _, c := range m.Calls {
		c.Arguments, _ = fault.RedactArguments(c.Arguments)
		kept.Calls = append(kept.Calls, c)
	}
	for _, r := range m.Results {
		r.Text = fault.Redact(r.Text)
		if n := len(r.Images); n > 0 {
			r.Text += notKept(n)
		}
		r.Images = nil
		kept.Results = append(kept.Results, r)
	}
	return kept
}

func notKept(pictures int) string { return fmt.Sprintf("\n(pictures that are not kept: %d)", pictures) }

// keep keeps a turn that has ended, if it was written down.
func (s *Sessions) keep(e *entry, t *Turn, began time.Time, r Reply, failure *fault.Error) {
	t.mu.Lock()
	said := t.said
	t.said = nil // an agent that goes on is not heard any more
	t.mu.Unlock()
	if said == nil {
		return
	}
	prompt := provider.Message{Role: provider.User, Text: clip.Bytes(t.prompt.Text, mostKept), Images: t.prompt.Images}
	kept := []provider.Message{forPerson(prompt)}
	for _, m := range said.messages {
		kept = append(kept, forPerson(m))
	}
	if said.leftOut > 0 {
		kept = append(kept, provider.Message{Role: provider.User,
			Text: fmt.Sprintf("(messages not kept, for lack of space: %d)", said.leftOut)})
	}
	if last := kept[len(kept)-1]; r.Text != "" && last.Role != provider.Assistant {
		answer := provider.Message{Role: provider.Assistant, Text: clip.Bytes(r.Text, mostKept), Images: r.Images}
		kept = append(kept, forPerson(answer))
	}
	ended := r.StopReason
	if failure != nil {
		ended = string(failure.Code)
	}
	s.mu.Lock()
	e.kept = true
	s.mu.Unlock()
	s.options.Transcripts.KeepTranscript(Transcript{
		Session: e.ID, Agent: e.AgentID, Client: e.Asker.Client, Turn: t.number, At: began,
		Ended: cmp.Or(ended, provider.UnknownStop), Messages: rawjson.MustEncode(kept),
	})
}

// forget forgets what was kept of a session that ends, if nothing is to be kept any more.
func (s *Sessions) forget(e *entry) {
	s.mu.Lock()
	unwanted := e.kept && !s.limits.KeepTranscripts
	s.mu.Unlock()
	if unwanted {
		s.options.Transcripts.ForgetTranscript(e.ID)
	}
}
