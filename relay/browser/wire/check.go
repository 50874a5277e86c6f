package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tabrelay/relay/road/call"
)

// The kinds, and what Go's types leave open of each schema. Values that a newer extension may add are not checked
// where ignoring them is safe.

func (*Hello) Kind() Kind     { return "hello" }
func (*Relay) Kind() Kind     { return "relay" }
func (*Proof) Kind() Kind     { return "proof" }
func (*Paired) Kind() Kind    { return "paired" }
func (*Welcome) Kind() Kind   { return "welcome" }
func (*Refuse) Kind() Kind    { return "refuse" }
func (*Plugins) Kind() Kind   { return "plugins" }
func (*Tabs) Kind() Kind      { return "tabs" }
func (*TabUpdate) Kind() Kind { return "tab" }
func (*TabClosed) Kind() Kind { return "tabclosed" }
func (*Call) Kind() Kind      { return "call" }
func (*Started) Kind() Kind   { return "started" }
func (*Progress) Kind() Kind  { return "progress" }
func (*Log) Kind() Kind       { return "log" }
func (*Outcome) Kind() Kind   { return "outcome" }
func (*Ack) Kind() Kind       { return "ack" }
func (*Cancel) Kind() Kind    { return "cancel" }
func (*Ask) Kind() Kind       { return "ask" }
func (*State) Kind() Kind     { return "state" }
func (*Command) Kind() Kind   { return "command" }
func (*Reply) Kind() Kind     { return "reply" }
func (*Console) Kind() Kind   { return "console" }
func (*Followed) Kind() Kind  { return "followed" }
func (*PageTools) Kind() Kind { return "pagetools" }
func (*Ping) Kind() Kind      { return "ping" }
func (*Pong) Kind() Kind      { return "pong" }
func (*Notice) Kind() Kind    { return "notice" }
func (*Renamed) Kind() Kind   { return "profile" }
func (*Panels) Kind() Kind    { return "panels" }
func (*Request) Kind() Kind   { return "request" }
func (*Response) Kind() Kind  { return "response" }
func (*News) Kind() Kind      { return "news" }
func (u *Unknown) Kind() Kind { return Kind(u.Type) }

// kinds makes an empty frame of each kind.
var kinds = map[Kind]func() Frame{
	"hello": func() Frame { return new(Hello) }, "relay": func() Frame { return new(Relay) },
	"proof": func() Frame { return new(Proof) }, "paired": func() Frame { return new(Paired) },
	"welcome": func() Frame { return new(Welcome) },
	"refuse":  func() Frame { return new(Refuse) }, "plugins": func() Frame { return new(Plugins) },
	"tabs": func() Frame { return new(Tabs) }, "tab": func() Frame { return new(TabUpdate) },
	"tabclosed": func() Frame { return new(TabClosed) }, "call": func() Frame { return new(Call) },
	"started": func() Frame { return new(Started) }, "progress": func() Frame { return new(Progress) },
	"log": func() Frame { return new(Log) }, "outcome": func() Frame { return new(Outcome) },
	"ack": func() Frame { return new(Ack) }, "cancel": func() Frame { return new(Cancel) },
	"ask": func() Frame { return new(Ask) }, "state": func() Frame { return new(State) },
	"command": func() Frame { return new(Command) }, "reply": func() Frame { return new(Reply) },
	"ping": func() Frame { return new(Ping) }, "pong": func() Frame { return new(Pong) },
	"notice": func() Frame { return new(Notice) }, "console": func() Frame { return new(Console) },
	"followed": func() Frame { return new(Followed) }, "pagetools": func() Frame { return new(PageTools) },
	"panels": func() Frame { return new(Panels) }, "request": func() Frame { return new(Request) },
	"response": func() Frame { return new(Response) },
	"news":     func() Frame { return new(News) }, "profile": func() Frame { return new(Renamed) },
}

func (f *Hello) check() error {
	if f.Protocol == (Range{}) {
		return errors.New("it has no protocol")
	}
	if err := isHex("epoch", f.Epoch, 32); err != nil {
		return err
	}
	if err := isHex("profile.id", f.Profile.ID, 32); err != nil {
		return err
	}
	return isHex("nonce", f.Nonce, 64)
}

func (f *Relay) check() error { return isHex("nonce", f.Nonce, 64) }
func (f *Proof) check() error { return isHex("proof", f.Proof, 64) }

func (f *Paired) check() error { return isHex("secret", f.Secret, 64) }

func (f *Welcome) check() error {
	if f.PingMs < 1 {
		return fmt.Errorf("pingMs is %d", f.PingMs)
	}
	return nil
}

func (f *Refuse) check() error { return nil }

func (f *Plugins) check() error {
	for _, p := range f.Plugins {
		if err := isHex("plugins.hash", p.Hash, 64); err != nil {
			return err
		}
	}
	return nil
}

func (f *Tabs) check() error {
	for _, t := range f.Tabs {
		if err := t.check(); err != nil {
			return err
		}
	}
	return nil
}

// Only tabs with web pages are told. An address of another kind would be shown to people and agents as one to open.
func (t *Tab) check() error {
	if t.ID < 0 || !strings.HasPrefix(t.URL, "https://") && !strings.HasPrefix(t.URL, "http://") {
		return fmt.Errorf("the url of tab %d is not one of a web page", t.ID)
	}
	return nil
}

func (f *TabUpdate) check() error { return f.Tab.check() }
func (f *TabClosed) check() error { return nil }

func (f *Call) check() error {
	if f.TimeoutMs < 1 || f.MaxTimeoutMs < 1 || f.MaxResultBytes < 1 {
		return fmt.Errorf("timeoutMs %d, maxTimeoutMs %d and maxResultBytes %d must be positive",
			f.TimeoutMs, f.MaxTimeoutMs, f.MaxResultBytes)
	}
	if f.Sites != nil {
		if err := checkSites(f.Sites); err != nil {
			return err
		}
	}
	return isHex("id", string(f.ID), 32)
}

func checkSites(s *call.Sites) error {
	isState := func(field string, state call.SiteState) error {
		return isOneOf(field, string(state), string(call.SiteOpen), string(call.SiteAsk), string(call.SiteOff))
	}
	for origin, state := range s.Origins {
		if err := isState("sites.origins."+origin, state); err != nil {
			return err
		}
	}
	if s.Within != nil {
		if err := isState("sites.within.rest", s.Within.Rest); err != nil {
			return err
		}
	}
	return isState("sites.rest", s.Rest)
}

func (f *Started) check() error  { return isHex("id", string(f.ID), 32) }
func (f *Progress) check() error { return isHex("id", string(f.ID), 32) }

func (f *Log) check() error {
	if err := isOneOf("level", f.Level, "debug", "info", "warning", "error"); err != nil {
		return err
	}
	return isHex("id", string(f.ID), 32)
}

func (f *Outcome) check() error {
	if err := isHex("id", string(f.ID), 32); err != nil {
		return err
	}
	switch f.Status {
	case Returned, Threw:
		return nil
	case Refused:
		if f.Refusal == nil {
			return fmt.Errorf("refused without refusal")
		}
		return isOneOf("refusal.outcome", f.Refusal.Outcome, "not_executed", "executed", "unknown")
	}
	return fmt.Errorf("unknown status %q", f.Status)
}

func (f *Ack) check() error {
	for _, id := range f.IDs {
		if err := isHex("ids", string(id), 32); err != nil {
			return err
		}
	}
	return nil
}

func (f *Cancel) check() error { return isHex("id", string(f.ID), 32) }

func (f *Ask) check() error {
	for _, c := range f.Calls {
		if err := isHex("calls.id", string(c.ID), 32); err != nil {
			return err
		}
	}
	return nil
}

func (f *State) check() error {
	if err := isOneOf("state", string(f.State), "not_started", "running", "finished", "unknown"); err != nil {
		return err
	}
	return isHex("id", string(f.ID), 32)
}

func (f *Command) check() error { return isHex("id", string(f.ID), 32) }
func (f *Reply) check() error   { return isHex("id", string(f.ID), 32) }
func (*Console) check() error   { return nil }
func (*PageTools) check() error { return nil }
func (f *Followed) check() error {
	if err := isOneOf("kind", string(f.What), string(ConsoleLine), string(LateError), string(Rejection),
		string(EarlyError)); err != nil {
		return err
	}
	if f.AfterMs != nil && *f.AfterMs < 0 {
		return errors.New("afterMs is negative")
	}
	return isHex("id", string(f.ID), 32)
}
func (*Ping) check() error     { return nil }
func (*Pong) check() error     { return nil }
func (f *Notice) check() error { return isOneOf("level", f.Level, "info", "warning", "error") }
func (*Unknown) check() error  { return nil }

// What a request may ask for is the relay's to say, with a response; here only what a header may hold.
func (f *Request) check() error {
	if f.Method == "" || len(f.Method) > maxMethodBytes || strings.Trim(f.Method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return fmt.Errorf("method must be at most %d capital letters, it has %d bytes", maxMethodBytes, len(f.Method))
	}
	if !strings.HasPrefix(f.Path, "/") {
		return fmt.Errorf("path does not begin with a slash")
	}
	return isHex("id", f.ID, 32)
}

func (f *Panels) check() error {
	if f.Open < 0 {
		return fmt.Errorf("open is %d", f.Open)
	}
	return nil
}

func (f *Renamed) check() error {
	if f.Label == "" {
		return fmt.Errorf("label is empty")
	}
	return nil
}

func (f *Response) check() error {
	if f.Status < 100 || f.Status > 599 {
		return fmt.Errorf("status is %d", f.Status)
	}
	return isHex("id", f.ID, 32)
}

func (f *News) check() error {
	if f.Waiting < 0 {
		return fmt.Errorf("waiting is %d", f.Waiting)
	}
	return nil
}

func isHex(field, text string, digits int) error {
	if len(text) != digits {
		return fmt.Errorf("%s must have %d hexadecimal digits, it has %d characters", field, digits, len(text))
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return fmt.Errorf("%s must be lower-case hexadecimal digits", field)
		}
	}
	return nil
}

func isOneOf(field, text string, allowed ...string) error {
	if slices.Contains(allowed, text) {
		return nil
	}
	return fmt.Errorf("%s must be one of %q, not %q", field, allowed, text)
}
