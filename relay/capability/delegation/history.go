package delegation

import (
	"fmt"
	"slices"

	"tabrelay/relay/capability/delegation/provider"
)

// history is the messages of a conversation, bounded by tokens. Tokens are estimated: four bytes of text are one, and a
// picture is a thousand; what a provider measured for the last request corrects that.
type history struct {
	most     int // tokens of a request
	messages []provider.Message
	factor   float64 // from the estimate to what was measured; 0: nothing was
}

const (
	bytesPerToken  = 4
	tokensPerImage = 1000
	tokensPerPart  = 4 // what is around a message, a call or a result
)

// tokens estimates how many tokens so many bytes are.
func tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

func messageTokens(m provider.Message) int {
	n := tokensPerPart + tokens(len(m.Text)+len(m.Provider)) + tokensPerImage*len(m.Images)
	for _, c := range m.Calls {
		n += tokensPerPart + tokens(len(c.Name)+len(c.Arguments))
	}
	for _, r := range m.Results {
		n += tokensPerPart + tokens(len(r.Name)+len(r.Text)) + tokensPerImage*len(r.Images)
	}
	return n
}

func (h *history) add(m provider.Message) { h.messages = append(h.messages, m) }

// copy is the same conversation, which can go on without this one.
func (h *history) copy() history {
	c := *h
	c.messages = slices.Clone(h.messages)
	return c
}

// raw is the estimate as it is without what was measured.
func (h *history) raw() (n int) {
	for _, m := range h.messages {
		n += messageTokens(m)
	}
	return n
}

// estimate is how many tokens the messages are.
func (h *history) estimate() int { return h.corrected(h.raw()) }

func (h *history) corrected(n int) int {
	if h.factor == 0 {
		return n
	}
	return int(float64(n) * h.factor)
}

// measured corrects the estimate by what the last request took, besides overhead for what is no message. It is called
// before anything is added.
func (h *history) measured(input, overhead int) {
	if estimated := h.raw() + overhead; input > 0 && estimated > 0 {
		h.factor = min(max(float64(input)/float64(estimated), 0.25), 4)
	}
}

// shortResult is how long a result is at the most that is kept, in bytes.
const shortResult = 300

// fit makes room where the conversation is too long, until a quarter is free: the oldest answers of tools go first, of
// each of which a line remains, then the oldest turns, then the oldest calls of this turn. A call and its answer are
// never parted, and what is asked now stays.
func (h *history) fit(overhead int) {
	if h.corrected(h.raw()+overhead) <= h.most {
		return
	}
	aim := h.most * 3 / 4
	fits := func() bool { return h.corrected(h.raw()+overhead) <= aim }
	for i := 0; i < len(h.messages)-1 && !fits(); i++ { // not the last answers: they have not been read
		h.shorten(i)
	}
	for !fits() && h.dropTurn() {
	}
	for !fits() && h.dropCalls() {
	}
	if last := len(h.messages) - 1; !fits() && last >= 0 {
		h.shorten(last)
	}
}

// shorten leaves of the answers in a message a line each.
func (h *history) shorten(i int) {
	m := &h.messages[i]
	if !slices.ContainsFunc(m.Results, isLong) {
		return
	}
	m.Results = slices.Clone(m.Results)
	for j := range m.Results {
		r := &m.Results[j]
		if isLong(*r) {
			r.Text = fmt.Sprintf("(The answer of %s, %d bytes, is left out to make room. Call it again if it is "+
				"needed.)", r.Name, len(r.Text))
			r.Images = nil
		}
	}
}

func isLong(r provider.ToolResult) bool { return len(r.Text) > shortResult || len(r.Images) > 0 }

// isPrompt reports whether a message begins a turn.
func isPrompt(m provider.Message) bool { return m.Role == provider.User && len(m.Results) == 0 }

// leftOut stands before the first turn that is left.
const leftOut = "(Earlier turns of this conversation are left out to make room.)\n\n"

// dropTurn leaves out the oldest turn, unless it is the one that goes on.
func (h *history) dropTurn() bool {
	if len(h.messages) == 0 {
		return false
	}
	next := slices.IndexFunc(h.messages[1:], isPrompt)
	if next < 0 {
		return false
	}
	h.messages = slices.Clone(h.messages[next+1:])
	h.messages[0].Text = leftOut + h.messages[0].Text
	return true
}

// dropCalls leaves out the oldest calls of the turn with their answers, unless they are the last ones.
func (h *history) dropCalls() bool {
	at := slices.IndexFunc(h.messages, func(m provider.Message) bool { return len(m.Calls) > 0 })
	if at < 0 || at+2 >= len(h.messages) {
		return false
	}
	h.messages = slices.Delete(slices.Clone(h.messages), at, at+2)
	return true
}
