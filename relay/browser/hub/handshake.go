package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/called"
	"tabrelay/relay/road/fault"
)

// helloBytes is the largest message of an extension that has proven nothing yet.
const helloBytes = wire.MaxHeaderBytes

// Pairings are the one-time strings with which an extension that has no pairing.json gets the secret.
type Pairings interface {
	// Code is the string that is good now, as 32 hexadecimal digits; empty when there is none.
	Code() string
	// Use takes a string out of use. It reports whether it was good until then, which is true once for each.
	Use(code string) bool
}

// errPaired ends a connection that was made to get the secret.
var errPaired = errors.New("the extension was given the pairing secret")

// rejection is the error of a handshake that the relay refuses: the message for the extension, and the close code.
type rejection struct {
	code    fault.Code
	close   int
	message string
	quiet   bool // not logged: there were too many before it
}

// Error implements error.
func (n *rejection) Error() string { return string(n.code) + ": " + n.message }

const noSecret = "The relay has no pairing secret: run `tabrelay up`."

// otherRelay is the message for an extension that closes the connection on the relay's proof: it has another secret.
const otherRelay = "An extension does not accept this relay: it is paired with another one"

func pairingRejection(message string) *rejection {
	return &rejection{code: fault.PairingFailed, close: closePairing, message: called.In(message)}
}

func protocolRejection(problem string) *rejection {
	return &rejection{code: fault.VersionMismatch, close: closeVersion, message: called.In(problem)}
}

// admit upgrades a request that passed the guard, does the handshake, and runs the connection to its end.
func (h *Hub) admit(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	open := !h.closed
	if open {
		h.done.Add(1) // Close waits for it
	}
	h.mu.Unlock()
	if !open {
		http.Error(w, "the relay is shutting down", http.StatusServiceUnavailable)
		return
	}
	defer h.done.Done()
	socket, err := accept(w, r, helloBytes)
	if err != nil {
		h.cfg.Log.Warn().Err(err).Msg("the upgrade of an extension failed")
		return
	}
	c := (&handshake{hub: h, socket: socket, request: r}).run()
	if c == nil {
		return
	}
	c.log.Info().Str("chrome", c.hello.Chrome).Str("extension", c.hello.Extension).Msg("browser connected")
	h.emit(Event{Kind: Connected, ProfileID: c.b.id, Profile: c.b.label()})
	c.run()
}

// handshake authenticates one extension and the relay to each other. It is used by one goroutine.
type handshake struct {
	hub        *Hub
	socket     *Socket
	request    *http.Request
	hello      *wire.Hello // nil until it was heard
	transcript wire.Transcript
}

// run returns the connection when it is established, or nil after saying why not.
func (x *handshake) run() *conn {
	h := x.hub
	ctx, cancel := context.WithTimeout(context.Background(), wire.HandshakeTime)
	defer cancel()
	defer h.handshakes.enter(cancel, h.cfg.Handshakes)()
	err := x.prove(ctx)
	if err == nil {
		x.socket.setLimit(h.cfg.FrameBytes)
		var c *conn
		if c, err = x.attach(ctx); err == nil {
			return c
		}
	}
	var no *rejection
	switch {
	case errors.Is(err, errPaired):
		of := x.hello.Profile
		h.cfg.Log.Info().Str("profile", of.Label).Msg("an extension was paired with a one-time string")
		h.emit(Event{Kind: Paired, ProfileID: of.ID, Profile: of.Label,
			Message: "It was paired with a one-time string"})
	case errors.As(err, &no):
		no.quiet = no.close != closeDuplicate && h.failures.Note(ctx)
		x.refuse(no)
	default:
		h.rejectionLog.Do(func() { h.cfg.Log.Info().Err(err).Msg("the handshake of an extension was not finished") })
		x.socket.Drop()
	}
	return nil
}

// refuse sends the reason and closes the connection.
func (x *handshake) refuse(no *rejection) {
	h := x.hub
	event := Event{Kind: Refused, Code: string(no.code), Message: no.message}
	if x.hello != nil {
		event.ProfileID, event.Profile = x.hello.Profile.ID, x.hello.Profile.Label
	}
	// A failed pairing string is reported in the panel, and must not hide an earlier reason here.
	if (no.close == closePairing || no.close == closeVersion) && (x.hello == nil || !x.hello.Pair) {
		h.refusal.Store(&refusal{code: no.code, message: no.message, at: time.Now()})
	}
	if !no.quiet {
		h.cfg.Log.Warn().Str("code", string(no.code)).Str("profile", event.Profile).Msg("extension refused: " +
			no.message)
	}
	_ = x.socket.Write(mustEncode(&wire.Refuse{Code: string(no.code), Message: no.message}))
	x.socket.Close(no.close, no.message)
	if !no.quiet {
		h.emit(event)
	}
}

// prove exchanges hello and proofs. It fails unless the extension knows the secret.
func (x *handshake) prove(ctx context.Context) error {
	rawHello, err := x.readHello(ctx)
	if err != nil {
		return err
	}
	version, problem := wire.Negotiate(wire.Speaks, x.hello.Protocol)
	if problem != "" {
		return protocolRejection(problem)
	}
	answer := wire.Relay{Protocol: version, Relay: x.hub.cfg.RelayVersion, Nonce: wire.NewNonce()}
	x.transcript = wire.Transcript{
		Protocol: version, Address: x.request.Host,
		ExtensionID: strings.TrimPrefix(x.request.Header.Get("Origin"), "chrome-extension://"),
		ProfileID:   x.hello.Profile.ID, ExtensionNonce: x.hello.Nonce, RelayNonce: answer.Nonce,
		Hello: rawHello, Relay: mustEncode(&answer),
	}
	if x.hello.Pair {
		return x.pair(ctx)
	}
	secret := x.hub.cfg.Secret()
	proof, err := x.transcript.Proof(secret, wire.RelayRole)
	if err != nil {
		return pairingRejection(noSecret)
	}
	proven, err := x.exchange(ctx, proof, func(theirs string) bool {
		return x.transcript.Verify(secret, wire.ExtensionRole, theirs)
	})
	if err == nil && !proven {
		err = pairingRejection("The extension's pairing.json is not from this relay: run `tabrelay up`, then press " +
			"Reload on the extension's card. One that came without the file needs a new string of `tabrelay pair`.")
	}
	return err
}

// pair sends the secret to an extension after both have proven that they know the one-time string, which is used up
// before the secret is sent.
func (x *handshake) pair(ctx context.Context) error {
	code, pairings := "", x.hub.cfg.Pairings
	if pairings != nil {
		code = pairings.Code()
	}
	proof, err := x.transcript.Proof(code, wire.PairingRelayRole)
	if err != nil {
		return pairingRejection("No pairing string is valid now: run `tabrelay pair` and paste what it prints within " +
			"five minutes.")
	}
	proven, err := x.exchange(ctx, proof, func(theirs string) bool {
		return x.transcript.Verify(code, wire.PairingExtensionRole, theirs)
	})
	if err != nil {
		return err
	}
	sealed, noSecretYet := x.transcript.Seal(code, x.hub.cfg.Secret())
	switch {
	case !proven:
		return pairingRejection("The pairing string is not the one that `tabrelay pair` printed last.")
	case noSecretYet != nil:
		return pairingRejection(noSecret)
	case !pairings.Use(code):
		return pairingRejection("The pairing string was used or ran out a moment ago: run `tabrelay pair` again.")
	}
	if err := x.socket.Write(mustEncode(&wire.Paired{Secret: sealed})); err != nil {
		return fmt.Errorf("send the secret: %w", err)
	}
	x.socket.Close(closePaired, "paired")
	return errPaired
}

// readHello reads hello and returns its bytes. One that cannot be decoded is rejected with the version problem, if it
// is of a protocol version that is not supported.
func (x *handshake) readHello(ctx context.Context) (raw []byte, err error) {
	heard, err := x.socket.Read(ctx)
	if err != nil && !skipped(err) {
		return nil, fmt.Errorf("read hello: %w", err)
	}
	if err == nil {
		var frame wire.Frame
		frame, _, err = wire.Decode(heard)
		if hello, ok := frame.(*wire.Hello); ok && err == nil {
			x.hello = hello
			return bytes.Clone(heard), nil
		}
		var first struct {
			Type     wire.Kind   `json:"type"`
			Protocol *wire.Range `json:"protocol"`
		}
		if json.Unmarshal(heard, &first) == nil && first.Type == "hello" && first.Protocol != nil {
			if _, problem := wire.Negotiate(wire.Speaks, *first.Protocol); problem != "" {
				return nil, protocolRejection(problem)
			}
		}
	}
	x.socket.Close(closeCorrupt, "the first frame is not a hello that can be understood")
	return nil, errors.Join(errors.New("the first frame is not hello"), err)
}

// exchange sends the relay's frame and proof, and reports whether the extension's proof is right. The nonce that the
// proof must cover was sent a moment ago, on this connection only.
func (x *handshake) exchange(ctx context.Context, proof string, right func(proof string) bool) (bool, error) {
	if err := x.socket.Write(x.transcript.Relay, mustEncode(&wire.Proof{Proof: proof})); err != nil {
		return false, fmt.Errorf("send proof: %w", err)
	}
	heard, err := x.socket.Read(ctx)
	switch {
	case skipped(err):
		return false, nil
	case ctx.Err() != nil:
		return false, errors.New("the extension did not prove the pairing in time")
	case CloseCode(err) != -1 && CloseCode(err) != closeGoingAway:
		return false, pairingRejection(otherRelay)
	case err != nil:
		return false, fmt.Errorf("read proof: %w", err)
	}
	frame, _, err := wire.Decode(heard)
	theirs, ok := frame.(*wire.Proof)
	return ok && err == nil && right(theirs.Proof), nil
}

// attach makes the connection that of its profile. An older connection of the same epoch is replaced. One of another
// epoch may be another browser with a copy of the profile: it stays if it still answers.
func (x *handshake) attach(ctx context.Context) (*conn, error) {
	h, b := x.hub, x.hub.browserOf(x.hello.Profile.ID)
	select {
	case b.attaching <- struct{}{}:
		defer func() { <-b.attaching }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var old *conn
	b.peek(func(s *calls) { old = s.conn })
	if old != nil && old.hello.Epoch != x.hello.Epoch && old.answersPing(ctx) {
		return nil, &rejection{code: fault.PairingFailed, close: closeDuplicate,
			message: "Another browser with this profile id is connected; this one takes a fresh id."}
	}
	c := newConn(b, x.socket, *x.hello, h.cfg.Log.With().Str("profile", x.hello.Profile.Label).Logger())
	c.queue.putAlways(mustEncode(&wire.Welcome{
		Bundle: h.cfg.BundleHash, PingMs: h.cfg.PingEvery.Milliseconds(),
		GapMs: h.cfg.ReconnectWait.Milliseconds(), StartMs: h.cfg.StartTime.Milliseconds(),
		PageToolsOff: h.cfg.PageTools == nil, Command: called.Line(),
		Limits: wire.Limits{
			FrameBytes: h.cfg.FrameBytes, ResultBytes: wire.MaxResultBytes, StoredOutcomeBytes: wire.StoredOutcomeBytes,
		},
	}))
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, errors.New("the relay is shutting down")
	}
	c.queue.putAlways(*h.plugins.Load())
	b.about.Store(x.hello)
	b.attach(c)
	h.mu.Unlock()
	if old != nil {
		old.stop(closeReplaced, "replaced by a newer connection of this profile")
	}
	h.refusal.Store(nil)
	h.countBrowsers()
	return c, nil
}
