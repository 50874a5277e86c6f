package dispatch_test

import (
	"context"
	"errors"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
)

// What has a type is what its type says; patterns are for errors of the link that have none, fatal ones first; and what
// nothing knows stays a bug. A page's words never decide.
func TestOrderOfClassification(t *testing.T) {
	untyped := func(text string) *fault.Error {
		return fault.New(fault.InternalError, "The link failed", fault.WithCause(errors.New(text)),
			fault.WithOutcome(fault.Unknown))
	}
	thrown, _ := fault.FromPage([]byte(`{"code":"INTERNAL_ERROR","category":"internal","retryable":false,` +
		`"message":"ECONNRESET, Authentication failed"}`))
	for name, tt := range map[string]struct {
		failure *fault.Error
		class   fault.Class
		source  fault.Source
	}{
		"typed, though its words match": {fault.New(fault.TabNotFound, "ECONNRESET",
			fault.WithCause(errors.New("Authentication failed"))), fault.Tool, fault.SourceUpstream},
		"a page's words": {thrown, fault.Tool, fault.SourceUpstream},
		"fatal by pattern": {untyped("remote: Authentication failed"), fault.Fatal,
			fault.SourceTransport},
		"transient by pattern": {untyped("read: ECONNRESET"), fault.Transient, fault.SourceTransport},
		"both patterns": {untyped("ECONNRESET after Authentication failed"), fault.Fatal,
			fault.SourceTransport},
		"no pattern": {untyped("something new"), fault.Tool, fault.SourceInternal},
		"the message alone does not count": {fault.New(fault.InternalError, "ECONNRESET"), fault.Tool,
			fault.SourceInternal},
	} {
		p := page(func(context.Context, call.Invocation) (*call.Reply, *fault.Error) { return nil, tt.failure })
		once := func(o *dispatch.Options) { o.Retry.MaxAttempts = 1 }
		bench(t, p, once, func(t *testing.T, do func(tool, arguments string) *fault.Error) {
			got := do("demo__write", `{}`)
			if got.Class != tt.class || got.Source != tt.source || got.RPCCode != tt.source.Number() ||
				got.Code != tt.failure.Code {
				t.Errorf("%s: %s %s %s %d", name, got.Code, got.Class, got.Source, got.RPCCode)
			}
		})
	}
}
