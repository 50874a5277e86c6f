// Command outside holds one conversation with a relay through a client library that was not written for it, and prints
// what the library understood: the official Go SDK, or mcp-go's client.
//
// The conversation: list the tools, call one that answers with a structured result, one that fails, one that reports
// progress, cancel one, and hear that the list of tools changed. "waiting" is printed when the change may happen; the
// last line is the account, as JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"
)

// Account is what a client understood of the conversation.
type Account struct {
	Version    string    `json:"version"` // protocol version that was agreed on
	Tools      []string  `json:"tools"`
	Structured any       `json:"structured"`
	Failed     bool      `json:"failed"`
	Failure    []string  `json:"failure"` // text items of the failure
	Progress   []float64 `json:"progress"`
	Cancelled  string    `json:"cancelled"` // what the library says of the call it cancelled
	After      []string  `json:"after"`     // the tools, after their list changed
}

// Talker is one client library, connected.
type Talker interface {
	Version() string
	Tools(ctx context.Context) ([]string, error)
	// Call calls a tool; progress of the call goes to onProgress.
	Call(ctx context.Context, name string, arguments map[string]any, onProgress func(float64)) (Answer, error)
	// Changed yields when the server said that the tools changed.
	Changed() <-chan struct{}
	Close() error
}

// Answer is a tool's answer.
type Answer struct {
	Failed     bool
	Texts      []string
	Structured any
}

// Place is where the relay is: its binary, for a client on stdio, or its address and a token.
type Place struct{ Binary, URL, Token, Version string }

func main() {
	var place Place
	library := flag.String("library", "go-sdk", "go-sdk or mcp-go")
	flag.StringVar(&place.Binary, "binary", "", "the binary, to speak stdio with it")
	flag.StringVar(&place.URL, "url", "", "the relay's /mcp, to speak HTTP with it")
	flag.StringVar(&place.Token, "token", "", "the client's token, over HTTP")
	flag.StringVar(&place.Version, "protocol", "", "protocol version to ask for")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := run(ctx, *library, place); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, library string, place Place) error {
	dial := map[string]func(context.Context, Place) (Talker, error){"go-sdk": dialSDK, "mcp-go": dialMCPGo}[library]
	if dial == nil {
		return fmt.Errorf("there is no library %q", library)
	}
	talker, err := dial(ctx, place)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	account, err := converse(ctx, talker)
	if err != nil {
		return err
	}
	if err := talker.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(account)
}

func converse(ctx context.Context, t Talker) (a Account, err error) {
	a.Version = t.Version()
	if a.Tools, err = t.Tools(ctx); err != nil {
		return a, fmt.Errorf("list: %w", err)
	}
	hello, err := t.Call(ctx, "demo__hello", map[string]any{"name": "Ada"}, nil)
	if err != nil {
		return a, fmt.Errorf("call: %w", err)
	}
	a.Structured = hello.Structured
	failure, err := t.Call(ctx, "trouble__who_am_i", map[string]any{}, nil)
	if err != nil {
		return a, fmt.Errorf("a call that fails: %w", err)
	}
	a.Failed, a.Failure = failure.Failed, failure.Texts
	steps := make(chan float64, 16)
	if _, err = t.Call(ctx, "trouble__slow", map[string]any{"ms": 100, "steps": 5}, func(p float64) { steps <- p }); err != nil {
		return a, fmt.Errorf("a call with progress: %w", err)
	}
	for len(a.Progress) < 5 {
		select {
		case p := <-steps:
			a.Progress = append(a.Progress, p)
		case <-time.After(10 * time.Second): // a library may hand progress over after the result
			return a, fmt.Errorf("progress: only %v arrived", a.Progress)
		}
	}
	a.Cancelled = cancelOne(ctx, t)
	fmt.Println("waiting")
	for {
		select {
		case <-t.Changed():
		case <-ctx.Done():
			return a, fmt.Errorf("the change of the tools was not announced: %w", ctx.Err())
		}
		// A server may announce a change that was before this conversation, or one that this client does not see.
		if a.After, err = t.Tools(ctx); err != nil || !slices.Equal(a.After, a.Tools) {
			return a, err
		}
	}
}

// cancelOne cancels a call once it is under way, and returns what the library makes of it.
func cancelOne(ctx context.Context, t Talker) string {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	arguments := map[string]any{"ms": 20_000, "steps": 200, "note": "outside"}
	answer, err := t.Call(ctx, "trouble__slow", arguments, func(float64) { cancel() })
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("answered: %v", answer.Texts)
}

// bearer adds a token to every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
