package call

import "time"

// Step is what the extension had done with a call at a time.
type Step string

// The steps, in the order of a call. A tool of the browser's own may ask several documents.
const (
	StepPrepared Step = "prepared" // the document has the adapter
	StepRecorded Step = "recorded" // the write is recorded
	StepAsked    Step = "asked"    // the document was asked
	StepStarted  Step = "started"  // its handler started
	StepEnded    Step = "ended"    // and ended
	StepAnswered Step = "answered" // the document's answer came
	StepSent     Step = "sent"     // the outcome is sent
)

// StepTime says when a step happened, by the clock of the extension.
type StepTime struct {
	Step Step   `json:"step"`
	Us   int64  `json:"us"`             // microseconds since the call came
	What string `json:"what,omitempty"` // which part of a tool of the browser's own
}

// Timing says when an attempt of a call was where.
type Timing struct {
	Sent     time.Time // its frame was queued for the browser
	Answered time.Time // its outcome was read
	Steps    []StepTime
}

// maxSteps bounds what is read of an extension's steps; the schema of the frame has the same.
const maxSteps = 200

// Each yields the steps with their times by the relay's clock. How long the frames took each way is not known: what the
// extension did not use is halved. Steps that are unknown, out of order or outside of the attempt are left out.
func (t Timing) Each(yield func(at time.Time, s StepTime) bool) {
	steps := t.Steps[:min(len(t.Steps), maxSteps)]
	if len(steps) == 0 {
		return
	}
	last := time.Duration(steps[len(steps)-1].Us) * time.Microsecond
	whole := t.Answered.Sub(t.Sent)
	if last < 0 || last > whole { // its clock was changed, or is not one
		return
	}
	came := t.Sent.Add((whole - last) / 2)
	before := int64(0)
	if !yield(came, StepTime{}) {
		return
	}
	for _, s := range steps {
		if s.Us < before || s.Us > last.Microseconds() {
			continue
		}
		before = s.Us
		if !yield(came.Add(time.Duration(s.Us)*time.Microsecond), s) {
			return
		}
	}
}
