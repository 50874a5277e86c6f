package provider_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/capability/delegation/provider/providertest"
	"tabrelay/relay/road/fault"
)

const html = "<!doctype html><title>Sign in to the network</title>"

// failures are those that every wire has.
var failures = []struct {
	name       string
	step       providertest.Step
	code       fault.Code
	retryable  bool
	retryAfter int64
}{
	{"400", providertest.Step{Status: 400}, codes.ProviderBadRequest, false, 0},
	{"401", providertest.Step{Status: 401}, codes.ProviderAuth, false, 0},
	{"403", providertest.Step{Status: 403}, codes.ProviderAuth, false, 0},
	{"404", providertest.Step{Status: 404}, codes.ProviderBadRequest, false, 0},
	{"408", providertest.Step{Status: 408}, codes.ProviderError, true, 0},
	{"409", providertest.Step{Status: 409, Body: "{}"}, codes.ProviderUnknown, false, 0},
	{"413", providertest.Step{Status: 413}, codes.ProviderBadRequest, false, 0},
	{"418", providertest.Step{Status: 418, Body: "short and stout"}, codes.ProviderUnknown, false, 0},
	{"422", providertest.Step{Status: 422}, codes.ProviderBadRequest, false, 0},
	{"429", providertest.Step{Status: 429}, fault.RateLimited, true, 0},
	{"429 in seconds", providertest.Step{Status: 429, Header: http.Header{"Retry-After": {"7"}}},
		fault.RateLimited, true, 7000},
	{"429 in milliseconds", providertest.Step{Status: 429,
		Header: http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"250"}}}, fault.RateLimited, true, 250},
	{"429 until a date that passed", providertest.Step{Status: 429,
		Header: http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:28:00 GMT"}}}, fault.RateLimited, true, 0},
	{"429 with nonsense", providertest.Step{Status: 429, Header: http.Header{"Retry-After": {"soon"}}},
		fault.RateLimited, true, 0},
	{"500", providertest.Step{Status: 500}, codes.ProviderError, true, 0},
	{"502 with a page", providertest.Step{Status: 502, Body: html, Header: http.Header{"Content-Type": {"text/html"}}},
		codes.ProviderError, true, 0},
	{"503 in seconds", providertest.Step{Status: 503, Header: http.Header{"Retry-After": {"1.5"}}},
		codes.ProviderError, true, 1500},
	{"529", providertest.Step{Status: 529}, codes.ProviderError, true, 0},
	{"redirect", providertest.Step{Status: 307, Header: http.Header{"Location": {"http://elsewhere.test/"}}},
		codes.ProviderUnknown, false, 0},
	{"204", providertest.Step{Status: 204}, codes.ProviderUnknown, false, 0},
	{"a page", providertest.Step{Status: 200, Body: html}, codes.ProviderUnknown, false, 0},
	{"nothing", providertest.Step{Status: 200, Body: " \n"}, codes.ProviderUnreachable, true, 0},
	{"garbage", providertest.Step{Status: 200, Body: "{\"a\""}, codes.ProviderUnknown, false, 0},
	{"garbage amid the stream", providertest.Step{Text: "well", Garbage: "{nothing"}, codes.ProviderUnknown, false, 0},
	{"another type amid the stream", providertest.Step{Text: "well", Garbage: "7"}, codes.ProviderUnknown, false, 0},
	{"the stream ends early", providertest.Step{Text: "well", Ends: true}, codes.ProviderUnreachable, true, 0},
	{"the connection is cut", providertest.Step{Text: "well", Cut: true}, codes.ProviderUnreachable, true, 0},
	{"the connection is cut amid a call", providertest.Step{Cut: true,
		Calls: []provider.ToolCall{{ID: "a", Name: "x", Arguments: []byte(`{"a":1}`)}}},
		codes.ProviderUnreachable, true, 0},
	{"nonsense of a failure amid the stream", providertest.Step{ErrorEvent: "strange"},
		codes.ProviderUnknown, false, 0},
}

// ofKind are failures in the words of one wire.
var ofKind = map[provider.Kind]map[string]fault.Code{
	provider.OpenAI: {"server_error": codes.ProviderError, "rate_limit_exceeded": fault.RateLimited,
		"insufficient_quota": fault.RateLimited, "invalid_request_error": codes.ProviderBadRequest},
	provider.Anthropic: {"overloaded_error": codes.ProviderError, "api_error": codes.ProviderError,
		"timeout_error": codes.ProviderError, "rate_limit_error": fault.RateLimited,
		"authentication_error": codes.ProviderAuth, "permission_error": codes.ProviderAuth,
		"invalid_request_error": codes.ProviderBadRequest, "not_found_error": codes.ProviderBadRequest,
		"request_too_large": codes.ProviderBadRequest},
	provider.Gemini: {"UNAVAILABLE": codes.ProviderError, "INTERNAL": codes.ProviderError,
		"DEADLINE_EXCEEDED": codes.ProviderError, "RESOURCE_EXHAUSTED": fault.RateLimited,
		"UNAUTHENTICATED": codes.ProviderAuth, "PERMISSION_DENIED": codes.ProviderAuth,
		"INVALID_ARGUMENT": codes.ProviderBadRequest, "NOT_FOUND": codes.ProviderBadRequest,
		"FAILED_PRECONDITION": codes.ProviderBadRequest},
}

func TestEveryFailureIsKnown(t *testing.T) {
	each(t, func(t *testing.T, kind provider.Kind) {
		for _, test := range failures {
			t.Run(test.name, func(t *testing.T) {
				s := providertest.New(t, kind, test.step)
				_, failed := s.Provider().Complete(t.Context(), ask("x"))
				check(t, s, failed, test.code, test.retryable)
				var after int64
				if failed.RetryAfterMs != nil {
					after = *failed.RetryAfterMs
				}
				if after != test.retryAfter {
					t.Errorf("retry after %d ms, want %d", after, test.retryAfter)
				}
			})
		}
		for word, code := range ofKind[kind] {
			t.Run(word, func(t *testing.T) {
				s := providertest.New(t, kind, providertest.Step{Text: "well", ErrorEvent: word})
				_, failed := s.Provider().Complete(t.Context(), ask("x"))
				again := code == fault.RateLimited || code == codes.ProviderError
				check(t, s, failed, code, again && word != "insufficient_quota")
			})
		}
	})
}

// check wants a failure, after one request.
func check(t *testing.T, s *providertest.Server, failed *fault.Error, code fault.Code, retryable bool) {
	t.Helper()
	if failed == nil {
		t.Fatal("no failure")
	}
	if failed.Code != code || failed.Retryable != retryable || failed.ProviderID != string(s.Kind) {
		t.Errorf("%s retryable=%v provider=%q: %s; want %s %v", failed.Code, failed.Retryable, failed.ProviderID,
			failed.Message, code, retryable)
	}
	if !strings.HasPrefix(failed.Message, "Provider "+string(s.Kind)+" ") || failed.Hint == "" {
		t.Errorf("says %q, %q", failed.Message, failed.Hint)
	}
	if s.HTTPCalls() != 1 {
		t.Errorf("%d HTTP calls", s.HTTPCalls())
	}
}

func TestRetryAfterMayBeADate(t *testing.T) {
	each(t, func(t *testing.T, kind provider.Kind) {
		date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
		s := providertest.New(t, kind, providertest.Step{Status: 429, Header: http.Header{"Retry-After": {date}}})
		_, failed := s.Provider().Complete(t.Context(), ask("x"))
		if failed == nil || failed.RetryAfterMs == nil {
			t.Fatalf("%+v", failed)
		}
		if ms := *failed.RetryAfterMs; ms < 3_000_000 || ms > 3_600_000 {
			t.Errorf("in %d ms", ms)
		}
	})
}

// TestNoFailureTellsASecret has the key, whole and masked, a folder and a stack where providers could quote them.
func TestNoFailureTellsASecret(t *testing.T) {
	each(t, func(t *testing.T, kind provider.Kind) {
		const words = "Incorrect key " + providertest.Key +
			" or test*****6789 in /home/ada/.config/keys\u202e\\nat f (x.js:1:2)"
		s := providertest.New(t, kind, providertest.Step{Status: 401,
			Body: fmt.Sprintf(`{"error": {"message": "%s%s"}}`, words, strings.Repeat(" long", 1000))})
		_, failed := s.Provider().Complete(t.Context(), ask("x"))
		if failed == nil || !strings.Contains(failed.Message, "Incorrect key") || len(failed.Message) > 400 {
			t.Fatalf("%v", failed)
		}
		for _, secret := range []string{providertest.Key, "6789", "/home/ada", "\u202e", "\n"} {
			if strings.Contains(failed.Message, secret) {
				t.Errorf("%q has %q", failed.Message, secret)
			}
		}
	})
}

func TestAnAddressWithoutAServer(t *testing.T) {
	each(t, func(t *testing.T, kind provider.Kind) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = listener.Close()
		p, err := provider.New(provider.Config{ID: "local", Kind: kind, BaseURL: "http://" + listener.Addr().String(),
			Models: []string{"m"}})
		if err != nil {
			t.Fatal(err)
		}
		_, failed := p.Complete(t.Context(), ask("x"))
		if failed == nil || failed.Code != codes.ProviderUnreachable ||
			failed.Message != "Provider local could not be reached: connection refused" {
			t.Errorf("%v", failed)
		}
	})
}

// TestARequestIsGivenUp when its context ends, in the middle of an answer: the server sees the connection close.
func TestARequestIsGivenUp(t *testing.T) {
	reason := fault.New(fault.Cancelled, "The person stopped it")
	each(t, func(t *testing.T, kind provider.Kind) {
		for _, test := range []struct {
			name  string
			cause error
			code  fault.Code
		}{
			{"by the person", reason, fault.Cancelled}, {"by somebody", errors.New("enough"), fault.Cancelled},
		} {
			t.Run(test.name, func(t *testing.T) {
				s := providertest.New(t, kind, providertest.Step{Text: "one two three", Holds: true})
				ctx, cancel := context.WithCancelCause(t.Context())
				r := ask("x")
				r.Text = func(string) { cancel(test.cause) }
				_, failed := s.Provider().Complete(ctx, r)
				if failed == nil || failed.Code != test.code {
					t.Fatalf("%v", failed)
				}
				if test.cause == error(reason) && failed != reason {
					t.Errorf("%v is not the cause", failed)
				}
				if !errors.Is(failed, test.cause) {
					t.Errorf("%v does not have the cause", failed)
				}
				s.Close() // waits for the handler
				if s.Gone() != 1 {
					t.Error("the server still answers")
				}
			})
		}
	})
}

// TestWhatWasTakenIsCounted also when the answer breaks off; Anthropic counts the input at once.
func TestWhatWasTakenIsCounted(t *testing.T) {
	s := providertest.New(t, provider.Anthropic, providertest.Step{Text: "well", Cut: true,
		Usage: provider.Usage{InputTokens: 50, CachedTokens: 20}})
	done, failed := s.Provider().Complete(t.Context(), ask("x"))
	check(t, s, failed, codes.ProviderUnreachable, true)
	if done.Usage.InputTokens != 50 || done.Usage.CachedTokens != 20 || done.Message.Text != "" {
		t.Errorf("%+v", done)
	}
}

func TestADeadlinePasses(t *testing.T) {
	each(t, func(t *testing.T, kind provider.Kind) {
		s := providertest.New(t, kind, providertest.Step{Text: "one two three", Holds: true})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, failed := s.Provider().Complete(ctx, ask("x"))
		check(t, s, failed, fault.TimeoutCode, true)
	})
}
