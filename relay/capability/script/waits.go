package script

import (
	"slices"
	"strings"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/policy"
)

// waits are the calls of a script that wait for a person. Whoever sent the script hears of all of them whenever one
// begins or ends, and now and then meanwhile: an answer to one does not hide that another waits.
type waits struct {
	mu   lock.Mutex
	open []*waiting // in the order in which they were asked

	telling lock.Mutex // whoever holds it tells progress
}

// waiting is a call that waits.
type waiting struct{ message string }

// where says where a person answers, whatever they are asked.
const where = ". The person answers in tabrelay's side panel, or in a terminal with: tabrelay permit pending"

// text is what all of them wait for, as far as they have said so. The caller holds the lock.
func (w *waits) text() string {
	var said []string
	for _, one := range w.open {
		if one.message != "" {
			said = append(said, one.message)
		}
	}
	if len(said) == 0 {
		return ""
	}
	return answerable(strings.Join(said, "; "))
}

// progress tells who waits for the script something.
func (r *run) progress(p call.Progress) {
	if r.asked.Progress == nil {
		return
	}
	r.waits.telling.Lock()
	defer r.waits.telling.Unlock()
	r.asked.Progress(p)
}

// waiting is what a call does when it begins to wait for a person, and with what it hears of that.
func (r *run) waiting() (paused func() (resume func()), asking func(message string)) {
	one := &waiting{}
	paused = func() func() {
		resume := r.clock.pause()
		r.waits.begin(one)
		return func() {
			r.waits.end(one, r.progress)
			resume()
		}
	}
	return paused, func(message string) { r.waits.say(one, message, r.progress) }
}

// answerable is what a person is asked, and where they answer while they can.
func answerable(message string) string {
	if strings.HasPrefix(message, policy.Allowed) {
		return message
	}
	return message + where
}

// begin notes that a call waits from now on.
func (w *waits) begin(one *waiting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one.message = ""
	w.open = append(w.open, one)
}

// say notes what a call waits for. Of several the first one's steps tell of all. That a call is allowed is told as its
// end.
func (w *waits) say(one *waiting, message string, tell func(call.Progress)) {
	if strings.HasPrefix(message, policy.Allowed) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	known := one.message != ""
	one.message = message
	if !known || w.open[0] == one {
		tell(call.Progress{Message: w.text()})
	}
}

// end notes that a call does not wait any more, and tells of those that still do.
func (w *waits) end(one *waiting, tell func(call.Progress)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.open, one)
	if i < 0 {
		return
	}
	message := "No question to the person is open any more"
	if w.open = slices.Delete(w.open, i, i+1); len(w.open) > 0 {
		message = w.text()
	}
	if message != "" {
		tell(call.Progress{Message: message})
	}
}
