package fault

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/lib/called"
)

// Option changes a failure that New makes.
type Option func(*Error)

// New makes a failure that the relay raises itself. Everything the options do not say comes from the code's row.
// The message is one sentence for people and models: what failed.
func New(code Code, message string, opts ...Option) *Error {
	row, ok := Lookup(code)
	if !ok {
		row = rows[InternalError]
	}
	e := &Error{
		Code: code, Category: row.Category, Source: row.Source, Class: row.Class, Type: row.Type,
		Message: orDefault(plain(message), row.Situation), Hint: called.In(row.Hint), Retryable: row.Retryable,
		Outcome: row.Outcome,
	}
	for _, opt := range opts {
		opt(e)
	}
	e.RPCCode = e.RPC()
	return e
}

// CallEnded is the failure of a call whose context ended before a page got it. when is a part of the sentence, such as
// "before it was sent".
func CallEnded(ctx context.Context, when string) *Error {
	return New(Cancelled, "The call ended "+when, WithOutcome(NotExecuted), WithCause(context.Cause(ctx)))
}

// RPC is the number for clients that want one; it follows from the source.
func (e *Error) RPC() int { return e.Source.Number() }

// ProtocolNumber is the JSON-RPC error code of a failure that is answered as a protocol error, in the era of
// 2026-07-28 (modern) or before. A failure that belongs into a tool result has none: it gets -32603, as a bug would.
func (e *Error) ProtocolNumber(modern bool) int {
	row := rows[e.Code]
	number := row.Legacy
	if modern {
		number = row.Modern
	}
	if number == 0 {
		return -32603
	}
	return number
}

// WithOutcome says whether the action happened, where the place that raises the failure knows better than the table.
func WithOutcome(o Outcome) Option { return func(e *Error) { e.Outcome = o } }

// WithHint replaces the next step; lines are separated by \n. Commands of this program in it become those that the
// person has.
func WithHint(hint string) Option { return func(e *Error) { e.Hint = called.In(plainLines(hint)) } }

// WithSuggestion adds the tool's own advice after a timeout, which is shown in place of the hint. It may be empty.
func WithSuggestion(advice string) Option {
	return func(e *Error) { e.Suggestion = plainLines(advice) }
}

// WithRetryAfter says when to try again, and makes the failure retryable.
func WithRetryAfter(d time.Duration) Option {
	return func(e *Error) {
		ms := min(max(ceil(d, time.Millisecond), 0), maxRetryAfterMs)
		e.Retryable, e.RetryAfterMs = true, &ms
	}
}

// WithRetryable says whether the agent may try again.
func WithRetryable(b bool) Option { return func(e *Error) { e.Retryable = b } }

// AlreadyWaited says that the relay need not try again on its own: what is missing was waited for.
func AlreadyWaited() Option { return func(e *Error) { e.AlreadyWaited = true } }

// WithCause keeps the error behind the failure, for logs.
func WithCause(err error) Option { return func(e *Error) { e.Err = err } }

// WithTab says where the call ran; a tab id of 0 or an empty profile means none.
func WithTab(id int, profile string) Option {
	return func(e *Error) { e.TabID, e.Profile = id, profile }
}

// WithSession names the session with an agent that the failure belongs to, and says whether it can go on.
func WithSession(id string, valid bool) Option {
	return func(e *Error) { e.SessionID, e.SessionValid = id, &valid }
}

// WithProvider names the provider of models that failed.
func WithProvider(id string) Option { return func(e *Error) { e.ProviderID = id } }

// WithSource replaces the source, and with it the number.
func WithSource(s Source) Option { return func(e *Error) { e.Source = s } }

// WithType replaces the finer kind, where one code covers several.
func WithType(t Type) Option { return func(e *Error) { e.Type = t } }

// WithLocation says where a resource is now.
func WithLocation(uri string) Option { return func(e *Error) { e.Location = Sanitize(uri) } }

// WithConsoleTail adds the end of the page's console, without what looks like a credential.
func WithConsoleTail(tail string) Option {
	return func(e *Error) { e.ConsoleTail = ConsoleLines(tail) }
}

// WithData adds facts as a JSON object.
func WithData(raw json.RawMessage) Option { return func(e *Error) { e.Data = plainData(raw) } }

// WithReason says which clock ran out, and how the clocks were set.
func WithReason(r Reason, timeout, longest time.Duration, progressExtends bool) Option {
	return func(e *Error) {
		e.Reason = r
		e.TimeoutMs, e.TimeoutSecs = ceil(timeout, time.Millisecond), ceil(timeout, time.Second)
		e.MaxTimeoutMs, e.MaxTimeoutSecs = ceil(longest, time.Millisecond), ceil(longest, time.Second)
		e.ProgressExtendsTimeout = &progressExtends
	}
}

// TimedOut makes the TIMEOUT of a clock that ran out, worded as agents know it. The suggestion is the tool's
// timeoutHint and may be empty.
func TimedOut(r Reason, timeout, longest time.Duration, progressExtends bool, suggestion string,
	opts ...Option) *Error {
	message := "Tool timed out after " + seconds(timeout)
	switch r {
	case Idle:
		message += " (no progress reported)"
	case MaxExceeded:
		message = "Tool exceeded maximum runtime of " + seconds(longest)
	}
	all := append([]Option{WithReason(r, timeout, longest, progressExtends), WithSuggestion(suggestion)}, opts...)
	return New(TimeoutCode, message, all...)
}

// seconds writes 30s, 2.5s or 0.05s: always seconds, never minutes.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(time.Millisecond).Seconds(), 'f', -1, 64) + "s"
}

func ceil(d, unit time.Duration) int64 { return int64((d + unit - 1) / unit) }

// maxRetryAfterMs is one day: longer than any agent waits, and far from every integer's edge.
const maxRetryAfterMs = 86_400_000

func orDefault(text, otherwise string) string {
	if strings.TrimSpace(text) == "" {
		return otherwise
	}
	return text
}
