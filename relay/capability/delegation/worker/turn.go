package worker

import (
	"context"
	"strings"
	"sync"

	acp "github.com/coder/acp-go-sdk"

	"tabrelay/relay/capability/delegation/picture"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

const (
	maxText  = 10 << 20 // bytes of a turn's answer
	maxSteps = 64       // that are queued for whoever is told; more are left out
	maxWords = 200      // characters of a step
)

// turn is what a program said in one turn so far.
type turn struct {
	ctx    context.Context // of who prompted
	stop   context.CancelFunc
	permit func(context.Context, Permission) bool
	ask    func(context.Context, call.Question) (call.Answer, error)
	steps  chan string
	open   sync.WaitGroup // questions

	mu     lock.Mutex // guards the rest
	answer strings.Builder
	drawn  picture.List
	broken bool // something came between two pieces of the text
	long   bool // the text is longer than is kept
	over   bool
	acted  bool // it said that it calls a tool, or asked for leave to
	titles map[acp.ToolCallId]string
}

func newTurn(ctx context.Context, one Turn) *turn {
	t := &turn{permit: one.Permit, ask: one.Ask, steps: make(chan string, maxSteps),
		titles: map[acp.ToolCallId]string{}}
	t.ctx, t.stop = context.WithCancel(ctx)
	return t
}

// end ends the turn for whoever prompted: afterwards the person is asked for nothing, and nobody is told anything.
func (t *turn) end() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.stop()
	t.open.Wait()
}

// outcome is what is known of a turn that did not end well. A program of the Agent Client Protocol tells of the tools
// that it calls, its own too; of others nobody knows what they do.
func (t *turn) outcome(speaks dialect) fault.Outcome {
	_, tells := speaks.(acpDialect)
	t.mu.Lock()
	defer t.mu.Unlock()
	if tells && !t.acted {
		return fault.NotExecuted
	}
	return fault.Unknown
}

// reply is what the program answered so far.
func (t *turn) reply(stopReason string) Reply {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Reply{Text: t.answer.String(), Images: t.drawn.All(), StopReason: stopReason}
}

// update takes one thing that the program says it does.
func (t *turn) update(u *acp.SessionUpdate) {
	switch {
	case u.AgentMessageChunk != nil:
		t.add(t.words(&u.AgentMessageChunk.Content))
	case u.ToolCall != nil:
		t.step(u.ToolCall.ToolCallId, u.ToolCall.Title, string(u.ToolCall.Status))
	case u.ToolCallUpdate != nil:
		title, status := "", ""
		if c := u.ToolCallUpdate; c.Title != nil {
			title = *c.Title
		}
		if c := u.ToolCallUpdate; c.Status != nil {
			status = string(*c.Status)
		}
		t.step(u.ToolCallUpdate.ToolCallId, title, status)
	case u.Plan != nil:
		for _, entry := range u.Plan.Entries {
			if entry.Status == acp.PlanEntryStatusInProgress {
				t.tell("Plan: " + entry.Content)
			}
		}
	}
}

// words are the text of a piece of an answer. Of what is no text, its place is marked.
func (t *turn) words(b *acp.ContentBlock) string {
	switch {
	case b.Text != nil:
		return b.Text.Text
	case b.ResourceLink != nil:
		return b.ResourceLink.Uri
	case b.Image != nil:
		return t.draw(b.Image)
	case b.Audio != nil:
		return "[audio]"
	}
	return "[resource]"
}

// draw takes a picture of the answer, and returns what stands in its place.
func (t *turn) draw(b *acp.ContentBlockImage) string {
	p, err := picture.Read(b.MimeType, b.Data)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		err = t.drawn.Add(p)
	}
	return picture.Mark(len(t.drawn.All()), err)
}

func (t *turn) add(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answer.Len()+len(text) > maxText {
		t.long = true
		return
	}
	if t.broken && t.answer.Len() > 0 {
		t.answer.WriteString("\n\n") // another message of the program
	}
	t.broken = false
	t.answer.WriteString(text)
}

// step notes a call of a tool that the program makes, of its own or of ours.
func (t *turn) step(id acp.ToolCallId, title, status string) {
	t.mu.Lock()
	t.broken, t.acted = true, true
	if title == "" {
		title = t.titles[id]
	} else if len(t.titles) < maxSteps*16 {
		t.titles[id] = title
	}
	t.mu.Unlock()
	if title == "" || status == "" {
		return
	}
	t.tell(title + " (" + strings.ReplaceAll(status, "_", " ") + ")")
}

// tell queues a step for whoever is told. It does not wait: one that is left out is no loss.
func (t *turn) tell(step string) {
	t.mu.Lock()
	over := t.over
	t.mu.Unlock()
	if over {
		return
	}
	select {
	case t.steps <- clip.Runes(fault.Plain(step), maxWords):
	default:
	}
}

// tooLong reports whether the program answered more than is kept.
func (t *turn) tooLong() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.long
}

// permitted asks the person for what the program wants to do, unless the turn is over.
func (t *turn) permitted(ctx context.Context, p Permission) bool {
	if t.permit == nil {
		return false
	}
	t.mu.Lock()
	t.acted = t.acted || !t.over
	t.mu.Unlock()
	allowed := false
	t.asking(ctx, func(ctx context.Context) { allowed = t.permit(ctx, p) })
	return allowed && t.ctx.Err() == nil
}

// asking asks something, unless the turn is over: with that the context of ask ends, which end waits for.
func (t *turn) asking(ctx context.Context, ask func(context.Context)) {
	t.mu.Lock()
	if t.over {
		t.mu.Unlock()
		return
	}
	t.open.Add(1)
	t.mu.Unlock()
	defer t.open.Done()
	ctx, done := context.WithCancel(ctx)
	defer done()
	defer context.AfterFunc(t.ctx, done)()
	ask(ctx)
}
