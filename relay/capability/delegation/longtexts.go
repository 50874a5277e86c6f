package delegation

import (
	"slices"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
)

const (
	mostTexts     = 50       // long answers that are kept for those who read on
	mostTextBytes = 32 << 20 // of them together
)

// longTexts keeps the last long answers, of sessions that have ended too.
type longTexts struct {
	mu   lock.Mutex
	list []longText // the oldest first
}

type longText struct {
	session, agent, text string
	asker                call.Session
	untrusted            bool
}

func (l *longTexts) keep(session string, asker call.Session, agent, text string, untrusted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(one longText) bool { return one.session == session })
	l.list = append(l.list, longText{session, agent, text, asker, untrusted})
	size := 0
	for _, one := range l.list {
		size += len(one.text)
	}
	for len(l.list) > 1 && (len(l.list) > mostTexts || size > mostTextBytes) {
		size -= len(l.list[0].text)
		l.list = slices.Delete(l.list, 0, 1)
	}
}

// read is a piece of a text, for the client that has asked for it.
func (l *longTexts) read(session string, asker call.Session, offset int) (a answer, known bool) {
	l.mu.Lock()
	i := slices.IndexFunc(l.list, func(one longText) bool { return one.session == session && owns(asker, one.asker) })
	if i < 0 {
		l.mu.Unlock()
		return a, false
	}
	one := l.list[i]
	l.mu.Unlock()
	offset = min(offset, len(one.text))
	shown := shown{SessionID: one.session, Text: piece(one.text[offset:], mostAnswer-1<<10)}
	value := map[string]any{"sessionId": one.session, "agentId": one.agent, "text": shown.Text, "textOffset": offset,
		"textBytes": len(one.text)}
	if end := offset + len(shown.Text); end < len(one.text) {
		value["more"] = shown.rest(end, len(one.text))
	}
	return answer{value: value, untrusted: one.untrusted}, true
}
