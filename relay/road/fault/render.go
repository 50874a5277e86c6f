package fault

import (
	"encoding/json"
	"strconv"
	"strings"

	"tabrelay/relay/lib/rawjson"
)

// block is the JSON at the end of a rendered failure. Failures of a page have the first four fields only.
type block struct {
	Code         Code     `json:"code"`
	Category     Category `json:"category,omitempty"`
	Retryable    bool     `json:"retryable"`
	RetryAfterMs *int64   `json:"retryAfterMs,omitempty"`

	Outcome       Outcome `json:"outcome,omitempty"`
	Reason        Reason  `json:"reason,omitempty"`
	TimeoutMs     int64   `json:"timeoutMs,omitempty"`
	CorrelationID string  `json:"correlationId,omitempty"`
	SessionValid  *bool   `json:"sessionValid,omitempty"`
}

// details is the second text item of a failure, with what the first does not say: models see text, not _meta. A page's
// error has its outcome there, its type where its category does not say the same, and its hint and data.
type details struct {
	Outcome  Outcome         `json:"outcome,omitempty"`
	Attempts int             `json:"attempts,omitempty"` // when there was more than one
	Type     Type            `json:"type,omitempty"`
	Hint     string          `json:"hint,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
}

const (
	headerStart = "[ERROR "
	nextStep    = "Next: "
	suggestion  = "Suggestion: "
	fence       = "```"
)

// Text renders the failure as the text items of a tool result. Whatever a page sent, exactly one line of the first
// item starts with "[ERROR ", and it is the first; exactly one fenced block exists, it is last, and it parses to
// the validated fields. A second item follows where it says what the first does not, and one with what had been done
// before, where there is such.
func (e *Error) Text() []string {
	b := e.block()
	var text strings.Builder
	text.WriteString(b.header())
	text.WriteByte(' ')
	text.WriteString(orDefault(Sanitize(e.Message), noMessage))
	for _, line := range e.steps() {
		text.WriteByte('\n')
		text.WriteString(line)
	}
	text.WriteString("\n\n" + fence + "json\n" + string(rawjson.MustEncode(b)) + "\n" + fence)
	items := []string{text.String()}
	if second := e.details(); second != nil {
		items = append(items, string(rawjson.MustEncode(second)))
	}
	if e.Before != "" {
		items = append(items, e.Before)
	}
	return items
}

// Plain is the failure for a model that reads no more than one text, without JSON around it. Whatever a page sent,
// exactly one line starts with "[ERROR ", and it is the first.
func (e *Error) Plain() string {
	b := e.block()
	b.Outcome = e.Outcome
	parts := append([]string{b.header() + " " + orDefault(Sanitize(e.Message), noMessage)}, e.steps()...)
	if more := e.details(); more != nil {
		more.Outcome = ""
		if text := string(rawjson.MustEncode(more)); text != "{}" {
			parts = append(parts, text)
		}
	}
	if e.Before != "" {
		parts = append(parts, e.Before)
	}
	return strings.Join(parts, "\n")
}

// details is what the first item does not say; nil: nothing.
func (e *Error) details() *details {
	if !e.FromPage && e.Attempts <= 1 {
		return nil
	}
	var t details
	if e.Attempts > 1 {
		t.Attempts = e.Attempts
	}
	if e.FromPage {
		t.Outcome, t.Hint, t.Data = e.Outcome, e.Hint, e.Data
		if e.Before != "" {
			t.Data = e.Facts
		}
		if e.Type != e.Category.kind() {
			t.Type = e.Type
		}
	}
	return &t
}

// block collects the fields to show. A code is repaired here once more, because a header that cannot be parsed
// would break the contract for good.
func (e *Error) block() block {
	b := block{
		Code: Code(repairCode(string(e.Code))), Category: e.Category,
		Retryable: e.Retryable, RetryAfterMs: e.RetryAfterMs,
	}
	if !e.FromPage {
		b.Outcome, b.Reason, b.TimeoutMs = e.Outcome, e.Reason, e.TimeoutMs
		b.CorrelationID, b.SessionValid = e.CorrelationID, e.SessionValid
	}
	return b
}

func (b block) header() string {
	parts := []string{"code=" + string(b.Code)}
	if b.Category != "" {
		parts = append(parts, "category="+string(b.Category))
	}
	parts = append(parts, "retryable="+strconv.FormatBool(b.Retryable))
	if b.RetryAfterMs != nil {
		parts = append(parts, "retryAfterMs="+strconv.FormatInt(*b.RetryAfterMs, 10))
	}
	if b.Outcome != "" {
		parts = append(parts, "outcome="+string(b.Outcome))
	}
	return headerStart + strings.Join(parts, " ") + "]"
}

// steps are the lines that say what to do next. A page's error has none: its text is exactly its own.
func (e *Error) steps() []string {
	if e.FromPage {
		return nil
	}
	prefix, from := nextStep, e.Hint
	if strings.TrimSpace(e.Suggestion) != "" {
		prefix, from = suggestion, e.Suggestion
	}
	steps := lines(from)
	for i, line := range steps {
		steps[i] = prefix + line
	}
	return steps
}
