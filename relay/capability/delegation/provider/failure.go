package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/fault"
)

const (
	maxRefusal = 64 << 10 // of the body of a refusal that is read
	maxWords   = 300      // of a provider's own words that are passed on
)

// answered is a failure in a provider's own words: the body of a refusal, or an event amid a stream.
type answered struct {
	status  int      // 0: none was said
	words   []string // its names for what is wrong
	message string
	retry   time.Duration // 0: none was said
}

func (a *answered) Error() string { return a.message }

// trouble is the member "error" of all three wires.
type trouble struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Status  string          `json:"status"`
	Code    json.RawMessage `json:"code"` // a number or a name
	Details []struct {
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"` // of google.rpc.RetryInfo: "12s"
	} `json:"details"`
}

// UnmarshalJSON accepts a text as well, which some compatible servers send.
func (t *trouble) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &t.Message) == nil {
		return nil
	}
	type plain trouble
	return json.Unmarshal(raw, (*plain)(t))
}

func (t *trouble) answered() *answered {
	a := &answered{message: t.Message}
	a.words = append(a.words, t.Type, t.Status)
	if status, err := strconv.Atoi(strings.Trim(string(t.Code), `"`)); err == nil {
		a.status = status
	} else {
		a.words = append(a.words, strings.Trim(string(t.Code), `"`))
	}
	for _, d := range t.Details {
		a.words = append(a.words, d.Reason)
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil && delay > 0 {
			a.retry = delay
		}
	}
	return a
}

// byWord are the providers' names for failures. They say more than the status: a wrong key of Gemini is a 400.
var byWord = map[string]fault.Code{
	"API_KEY_INVALID": codes.ProviderAuth, "UNAUTHENTICATED": codes.ProviderAuth,
	"PERMISSION_DENIED": codes.ProviderAuth, "authentication_error": codes.ProviderAuth,
	"permission_error": codes.ProviderAuth, "invalid_api_key": codes.ProviderAuth,

	"RESOURCE_EXHAUSTED": fault.RateLimited, "rate_limit_error": fault.RateLimited,
	"rate_limit_exceeded": fault.RateLimited, "insufficient_quota": fault.RateLimited,

	"UNAVAILABLE": codes.ProviderError, "INTERNAL": codes.ProviderError, "DEADLINE_EXCEEDED": codes.ProviderError,
	"overloaded_error": codes.ProviderError, "api_error": codes.ProviderError, "timeout_error": codes.ProviderError,
	"server_error": codes.ProviderError,

	"INVALID_ARGUMENT": codes.ProviderBadRequest, "FAILED_PRECONDITION": codes.ProviderBadRequest,
	"NOT_FOUND": codes.ProviderBadRequest, "invalid_request_error": codes.ProviderBadRequest,
	"not_found_error": codes.ProviderBadRequest, "request_too_large": codes.ProviderBadRequest,
}

// codeOf is the kind of a refusal: by its status, and where that says little, by its words.
func codeOf(a *answered) fault.Code {
	for _, word := range a.words {
		if byWord[word] == codes.ProviderAuth {
			return codes.ProviderAuth
		}
	}
	switch s := a.status; {
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		return codes.ProviderAuth
	case s == http.StatusTooManyRequests:
		return fault.RateLimited
	case s == http.StatusBadRequest, s == http.StatusNotFound, s == http.StatusUnprocessableEntity,
		s == http.StatusRequestEntityTooLarge:
		return codes.ProviderBadRequest
	case s >= 500, s == http.StatusRequestTimeout:
		return codes.ProviderError
	}
	for _, word := range a.words {
		if code, known := byWord[word]; known {
			return code
		}
	}
	return codes.ProviderUnknown
}

// refused is the failure of a response that is no 200.
func (c *client) refused(ctx context.Context, response *http.Response) *fault.Error {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	if err != nil && ctx.Err() != nil {
		return c.ended(ctx)
	}
	a := &answered{}
	var refusal struct {
		Error   *trouble `json:"error"`
		Message string   `json:"message"` // FastAPI's and others'
	}
	if strings.HasPrefix(strings.TrimSpace(string(body)), "[") { // Gemini sends a list when it was to stream
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	if json.Unmarshal(body, &refusal) == nil {
		a.message = refusal.Message
		if refusal.Error != nil {
			a = refusal.Error.answered()
		}
	}
	a.status = response.StatusCode
	return c.said(a, response.Header)
}

// said is the failure that a provider answered with.
func (c *client) said(a *answered, header http.Header) *fault.Error {
	sentence := "answered with a failure"
	if a.status != 0 {
		sentence = fmt.Sprintf("answered with status %d", a.status)
	}
	if a.message != "" {
		sentence += ": " + clip.Bytes(fault.Sanitize(c.withoutKey(a.message)), maxWords)
	}
	code := codeOf(a)
	if slices.Contains(a.words, "insufficient_quota") { // waiting does not help
		return c.fail(code, sentence, fault.WithRetryable(false),
			fault.WithHint("Ask the person to check the plan and the billing of the provider's account."))
	}
	var opts []fault.Option
	if code == fault.RateLimited || code == codes.ProviderError {
		if after := retryAfter(header, time.Now()); after > 0 {
			a.retry = after
		}
		if a.retry > 0 {
			opts = append(opts, fault.WithRetryAfter(a.retry))
		}
	}
	return c.fail(code, sentence, opts...)
}

// retryAfter is how long a provider wants to be left alone; 0: it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// unreached is the failure of a request that got no response.
func (c *client) unreached(ctx context.Context, err error) *fault.Error {
	if ctx.Err() != nil {
		return c.ended(ctx)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	why := clip.Bytes(c.withoutKey(withoutAddress(err)), maxWords)
	return c.fail(codes.ProviderUnreachable, "could not be reached: "+why, fault.WithCause(err))
}

// withoutAddress is why a connection failed, without the address: where providers are is not for the callers of agents.
func withoutAddress(err error) string {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return lookup.Err
	}
	var failed *net.OpError
	for errors.As(err, &failed) {
		err = failed.Err
	}
	return strings.TrimPrefix(err.Error(), "connect: ")
}

// broken is the failure of an answer that began well.
func (c *client) broken(ctx context.Context, err error, header http.Header) *fault.Error {
	var a *answered
	switch {
	case ctx.Err() != nil:
		return c.ended(ctx)
	case errors.As(err, &a):
		return c.said(a, header)
	case errors.Is(err, errPage):
		return c.fail(codes.ProviderUnknown, err.Error(),
			fault.WithHint(`Ask the person whether the provider's "baseUrl" is right.`))
	case errors.Is(err, errGarbage):
		return c.fail(codes.ProviderUnknown, err.Error())
	}
	return c.fail(codes.ProviderUnreachable, "ended its answer early", fault.WithCause(err))
}

// ended is the failure of a request whose context ended: the cause if that is a failure.
func (c *client) ended(ctx context.Context) *fault.Error {
	if cause, ok := errors.AsType[*fault.Error](context.Cause(ctx)); ok {
		return cause
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return c.fail(fault.TimeoutCode, "did not answer in time", fault.WithRetryable(true),
			fault.WithHint("Repeat the request with a longer timeout, or ask for less at once."),
			fault.WithCause(context.Cause(ctx)))
	}
	return c.fail(fault.Cancelled, "was not waited for: the request was cancelled",
		fault.WithCause(context.Cause(ctx)))
}

// fail makes the failure of a request; the sentence begins with the provider's id.
func (c *client) fail(code fault.Code, sentence string, opts ...fault.Option) *fault.Error {
	e := fault.New(code, "Provider "+c.ID+" "+sentence, opts...)
	e.ProviderID = c.ID
	return e
}

// masked is what providers quote of a key: its ends, with stars between.
var masked = lazyregexp.New(`\S*\*{3,}\S*`)

// withoutKey takes the key out of a text, masked or not.
func (c *client) withoutKey(text string) string {
	if c.Key != "" {
		text = strings.ReplaceAll(text, c.Key, "[redacted]")
	}
	return masked.ReplaceAllString(text, "[redacted]")
}
