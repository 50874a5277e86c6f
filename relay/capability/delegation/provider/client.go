package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Kind is the wire that a provider speaks.
type Kind string

// The kinds. Ollama, vLLM, OpenRouter and many others speak OpenAI's Chat Completions.
const (
	OpenAI    Kind = "openai"
	Anthropic Kind = "anthropic"
	Gemini    Kind = "gemini"
)

// Config is one provider. Nothing else has a say in it: no variable of the environment, but those of a proxy.
type Config struct {
	ID       string
	Kind     Kind
	BaseURL  string   // empty: that of the kind
	Key      string   // may be empty when BaseURL is on this machine
	Models   []string // the first one answers where a request and Defaults name none
	Defaults Params
	Images   bool // all of its models see; false: as is known of the model
}

// wire is one way to put a request and to read the answer.
type wire interface {
	// origin is where the kind is spoken, unless a BaseURL says otherwise.
	origin() string
	// path is where a model is asked, below the base.
	path(base, model string) string
	// ask makes the request for a model. Params are merged.
	ask(r Request, model string) (question, error)
	// read reads a streamed answer up to its end. Its errors are an [*answered] failure, or those of a stream.
	read(s *stream, text func(string)) (Completion, error)
	// learns reports whether a refusal says how to ask this server, so that it is asked once more.
	learns(refusal *fault.Error) bool
}

// question is one request on a wire.
type question struct {
	model  string
	header http.Header
	body   object
}

// blindError says that a model is not known to see.
type blindError struct{ model string }

func (e *blindError) Error() string { return "the model " + e.model + " is not known to see any" }

// client is a Provider over HTTP.
type client struct {
	Config
	base string
	wire wire
	http *http.Client
}

// New makes a provider. It fails when something is missing, and asks nobody.
func New(c Config) (Provider, error) {
	if unset(c.Key) {
		c.Key = ""
	}
	w, name, err := wireOf(c)
	if err != nil {
		return nil, err
	}
	base := c.BaseURL
	if base == "" {
		base = w.origin()
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("the baseUrl of provider %q must be an http or https address without a password", c.ID)
	}
	if c.Key != "" && u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("the baseUrl of provider %q begins with http://, so whoever is on the way to %s could "+
			"read its key; use https://, or a tunnel that ends on this machine", c.ID, u.Hostname())
	}
	if c.Key == "" && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("%s provider requires \"apiKey\" credential", name)
	}
	return &client{Config: c, base: strings.TrimRight(base, "/"), wire: w, http: newHTTP()}, nil
}

func wireOf(c Config) (w wire, name string, err error) {
	switch c.Kind {
	case OpenAI:
		return &openAI{key: c.Key, sees: c.Images}, "OpenAI", nil
	case Anthropic:
		return &anthropic{key: c.Key}, "Anthropic", nil
	case Gemini:
		return &gemini{key: c.Key}, "Google Gemini", nil
	}
	return nil, "", fmt.Errorf("there is no kind of provider %q; use openai, anthropic or gemini", c.Kind)
}

// unset reports whether a key is a variable's name that nothing replaced.
func unset(key string) bool { return strings.HasPrefix(key, "${") && strings.HasSuffix(key, "}") }

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// newHTTP is a client that keeps to what it was told. A redirect is no answer: it would take the key elsewhere. The
// proxy of the environment is used, though never for this machine itself.
func newHTTP() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
			ForceAttemptHTTP2:   true,
			TLSHandshakeTimeout: 10 * time.Second,
			IdleConnTimeout:     90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Complete implements Provider.
func (c *client) Complete(ctx context.Context, r Request) (Completion, *fault.Error) {
	r.Params = Merge(r.Params, c.Defaults)
	if r.System == "" {
		r.System = given(r.Params.SystemPrompt)
	}
	if r.Text == nil {
		r.Text = func(string) {}
	}
	model := given(r.Params.Model)
	if model == "" && len(c.Models) > 0 {
		model = c.Models[0]
	}
	if model == "" {
		return Completion{}, c.fail(fault.ConfigError, "has no model to ask",
			fault.WithHint(`Name a model in the request, or ask the person to add "models" to the provider.`))
	}
	done, failed := c.ask(ctx, r, model)
	if failed != nil && c.wire.learns(failed) {
		done, failed = c.ask(ctx, r, model)
	}
	done.Model = cmp.Or(done.Model, model)
	return done, failed
}

func (c *client) ask(ctx context.Context, r Request, model string) (Completion, *fault.Error) {
	q, err := c.wire.ask(r, model)
	if blind, ok := errors.AsType[*blindError](err); ok {
		return Completion{}, c.fail(fault.ConfigError, "gets no pictures: "+blind.Error(), fault.WithHint(
			"Leave images out, or choose another model with runtimeParams.model. If this one sees, ask the person to "+
				"set providers."+c.ID+".images to true in config.json."))
	}
	if err != nil {
		return Completion{}, c.fail(codes.ProviderBadRequest, "cannot be asked that: "+err.Error())
	}
	return c.exchange(ctx, q, r.Text)
}

// exchange is one request and its answer.
func (c *client) exchange(ctx context.Context, q question, text func(string)) (Completion, *fault.Error) {
	body, err := json.Marshal(q.body)
	if err != nil {
		return Completion{}, c.fail(codes.ProviderBadRequest, "cannot be asked: "+err.Error())
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+c.wire.path(c.base, q.model),
		bytes.NewReader(body))
	if err != nil {
		return Completion{}, c.fail(codes.ProviderBadRequest, "cannot be asked: "+err.Error())
	}
	request.Header = q.header
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("User-Agent", "tabrelay")
	call.TraceOf(ctx).Each(request.Header.Set)
	response, err := c.http.Do(request)
	if err != nil {
		return Completion{}, c.unreached(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return Completion{}, c.refused(ctx, response)
	}
	s, err := newStream(response.Body)
	if err != nil {
		return Completion{}, c.broken(ctx, err, response.Header)
	}
	done, err := c.wire.read(s, text)
	if err != nil {
		return Completion{Usage: done.Usage, Model: done.Model}, c.broken(ctx, err, response.Header)
	}
	if id := requestID(response.Header); id != "" {
		done.RequestID = id
	}
	return settled(done), nil
}

// settled makes the reason for a stop agree with the message: some servers say "stop" after a tool call.
func settled(done Completion) Completion {
	done.Message.Role = Assistant
	switch {
	case len(done.Message.Calls) > 0 && (done.StopReason == EndTurn || done.StopReason == ""):
		done.StopReason = ToolUse
	case done.StopReason == "":
		done.StopReason = UnknownStop
	}
	return done
}

func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Request-Id"} {
		if id := h.Get(name); id != "" {
			return fault.Excerpt(id)
		}
	}
	return ""
}

// object is a JSON object that is being put together.
type object = map[string]any

// withSpecific lays the members of providerSpecific over those of body; null takes one away.
func withSpecific(body object, specific json.RawMessage) error {
	if len(specific) == 0 {
		return nil
	}
	var over map[string]json.RawMessage
	if err := json.Unmarshal(specific, &over); err != nil {
		return fmt.Errorf("providerSpecific must be an object")
	}
	for name, value := range over {
		if string(value) == "null" {
			delete(body, name)
			continue
		}
		body[name] = value
	}
	return nil
}

func errSpecific(name, must string) error {
	return fmt.Errorf("providerSpecific.%s must be %s", name, must)
}

// versioned is the version that paths begin with, unless the base has one already: people write both.
func versioned(base, version string) string {
	if last := base[strings.LastIndex(base, "/"):]; last == "/v1" || last == "/v1beta" {
		return ""
	}
	return version
}

// arguments are those of a call as an object, which is all that some servers take back. What a model wrote that is
// none is shown to it as it was.
func arguments(c ToolCall) json.RawMessage {
	var any map[string]json.RawMessage
	if len(bytes.TrimSpace(c.Arguments)) == 0 {
		return json.RawMessage("{}")
	}
	if json.Unmarshal(c.Arguments, &any) == nil && any != nil {
		return c.Arguments
	}
	wrapped, _ := json.Marshal(object{"unreadable": string(c.Arguments)})
	return wrapped
}

// inputSchema is that of a tool; every wire wants one.
func inputSchema(t Tool) json.RawMessage {
	if len(t.InputSchema) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.InputSchema
}

func given[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}
