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

	"tabrelay/relay/fault"
	"tabrelay/relay/wire"
)

// helloBytes is the largest message a stranger may send.
const helloBytes = wire.MaxHeaderBytes

// notWelcome is why a handshake ended: what the extension is told, and with which code it is closed.
type notWelcome struct {
	code    fault.Code
	close   int
	message string
	quiet   bool // there were too many before it to tell of each
}

// Error implements error.
func (n *notWelcome) Error() string { return string(n.code) + ": " + n.message }

// admit upgrades a request that passed the door, shakes hands, and runs the connection to its end.
func (h *Hub) admit(w http.ResponseWriter, r *http.Request) {
	if !h.enter() {
		http.Error(w, "the relay is shutting down", http.StatusServiceUnavailable)
		return
	}
	defer h.done.Done()
	c := h.greet(w, r)
	if c == nil {
		return
	}
	c.log.Info().Str("chrome", c.hello.Chrome).Str("extension", c.hello.Extension).Msg("browser connected")
	h.tell(Event{Kind: Connected, ProfileID: c.b.id, Profile: c.b.label()})
	c.run()
}

// enter lets a connection in unless the hub is closing; Close waits for those inside.
func (h *Hub) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.done.Add(1)
	return true
}

// greet returns the connection when it stands, or nil after saying why not.
func (h *Hub) greet(w http.ResponseWriter, r *http.Request) *conn {
	socket, err := accept(w, r, helloBytes)
	if err != nil {
		h.cfg.Log.Warn().Err(err).Msg("the upgrade of an extension failed")
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), wire.HandshakeTime)
	defer cancel()
	defer h.greetings.enter(cancel, h.cfg.Greetings)()
	hello, err := h.prove(ctx, socket, r)
	if err == nil {
		socket.setLimit(h.cfg.FrameBytes)
		var c *conn
		if c, err = h.seat(ctx, socket, hello); err == nil {
			return c
		}
	}
	var no *notWelcome
	switch {
	case errors.Is(err, errPaired):
		h.cfg.Log.Info().Str("profile", hello.Profile.Label).Msg("an extension was paired with a one-time string")
		h.tell(Event{Kind: Paired, ProfileID: hello.Profile.ID, Profile: hello.Profile.Label, Message: "It was paired with a one-time string"})
	case errors.As(err, &no):
		no.quiet = no.close != closeDuplicate && h.failures.Note(ctx)
		h.turnAway(socket, hello, no)
	default:
		h.unwelcome.Do(func() { h.cfg.Log.Info().Err(err).Msg("the handshake of an extension was not finished") })
		socket.Drop()
	}
	return nil
}

// turnAway says why, and closes.
func (h *Hub) turnAway(socket *Socket, hello *wire.Hello, no *notWelcome) {
	event := Event{Kind: Refused, Code: string(no.code), Message: no.message}
	if hello != nil {
		event.ProfileID, event.Profile = hello.Profile.ID, hello.Profile.Label
	}
	// Who fails with a pasted string is told in the panel; whatever was wrong before is wrong still.
	if (no.close == closePairing || no.close == closeVersion) && (hello == nil || !hello.Pair) {
		h.refusal.Store(&refusal{code: no.code, message: no.message, at: time.Now()})
	}
	if !no.quiet {
		h.cfg.Log.Warn().Str("code", string(no.code)).Str("profile", event.Profile).Msg("extension refused: " + no.message)
	}
	_ = socket.Write(mustEncode(&wire.Refuse{Code: string(no.code), Message: no.message}))
	socket.Close(no.close, no.message)
	if !no.quiet {
		h.tell(event)
	}
}

// prove exchanges hello and proofs. It returns the hello of an extension that knows the secret.
func (h *Hub) prove(ctx context.Context, socket *Socket, r *http.Request) (*wire.Hello, error) {
	hello, rawHello, err := hear(ctx, socket)
	if err != nil {
		return nil, err
	}
	version, problem := wire.Negotiate(wire.Speaks, hello.Protocol)
	if problem != "" {
		return hello, &notWelcome{code: fault.VersionMismatch, close: closeVersion, message: problem}
	}
	answer := wire.Relay{Protocol: version, Relay: h.cfg.RelayVersion, Nonce: wire.NewNonce()}
	transcript := wire.Transcript{
		Protocol: version, Address: r.Host, ExtensionID: strings.TrimPrefix(r.Header.Get("Origin"), "chrome-extension://"),
		ProfileID: hello.Profile.ID, ExtensionNonce: hello.Nonce, RelayNonce: answer.Nonce,
		Hello: rawHello, Relay: mustEncode(&answer),
	}
	if hello.Pair {
		return hello, h.handOver(ctx, socket, transcript)
	}
	secret := h.cfg.Secret()
	proof, err := transcript.Proof(secret, wire.RelayRole)
	if err != nil {
		return hello, unpaired(noSecret)
	}
	proven, err := h.exchange(ctx, socket, transcript, proof, func(theirs string) bool { return transcript.Verify(secret, wire.ExtensionRole, theirs) })
	if err == nil && !proven {
		err = unpaired("The extension's pairing.json is not from this relay: run `tabrelay up`, then press Reload on the extension's card. One that came without the file needs a new string of `tabrelay pair`.")
	}
	return hello, err
}

const noSecret = "The relay has no pairing secret: run `tabrelay up`."

func unpaired(message string) *notWelcome {
	return &notWelcome{code: fault.PairingFailed, close: closePairing, message: message}
}

// exchange sends the relay's frame and proof, and reports whether the extension's proof is right.
func (h *Hub) exchange(ctx context.Context, socket *Socket, transcript wire.Transcript, proof string, right func(proof string) bool) (bool, error) {
	if err := socket.Write(transcript.Relay, mustEncode(&wire.Proof{Proof: proof})); err != nil {
		return false, fmt.Errorf("send proof: %w", err)
	}
	theirs, err := h.proofOf(ctx, socket)
	return err == nil && theirs != nil && right(theirs.Proof), err
}

// hear reads hello, and returns it with its bytes. Of one it does not understand it still looks whether another version
// of the protocol wrote it.
func hear(ctx context.Context, socket *Socket) (*wire.Hello, []byte, error) {
	heard, err := socket.Read(ctx)
	if err != nil && !skipped(err) {
		return nil, nil, fmt.Errorf("read hello: %w", err)
	}
	if err == nil {
		var frame wire.Frame
		frame, _, err = wire.Decode(heard)
		if hello, ok := frame.(*wire.Hello); ok && err == nil {
			return hello, bytes.Clone(heard), nil
		}
		if problem := otherVersion(heard); problem != "" {
			return nil, nil, &notWelcome{code: fault.VersionMismatch, close: closeVersion, message: problem}
		}
	}
	socket.Close(closeCorrupt, "the first frame is not a hello that can be understood")
	return nil, nil, errors.Join(errors.New("the first frame is not hello"), err)
}

// otherVersion is what to update, when that is why a hello was not understood.
func otherVersion(raw []byte) (problem string) {
	var stranger struct {
		Type     wire.Kind   `json:"type"`
		Protocol *wire.Range `json:"protocol"`
	}
	if json.Unmarshal(raw, &stranger) == nil && stranger.Type == "hello" && stranger.Protocol != nil {
		_, problem = wire.Negotiate(wire.Speaks, *stranger.Protocol)
	}
	return problem
}

// proofOf waits for the extension's proof; nil when it sends something else. The nonce that the proof must cover was sent
// a moment ago, on this connection only.
func (h *Hub) proofOf(ctx context.Context, socket *Socket) (*wire.Proof, error) {
	heard, err := socket.Read(ctx)
	switch {
	case skipped(err):
		return nil, nil
	case ctx.Err() != nil:
		return nil, errors.New("the extension did not prove the pairing in time")
	case CloseCode(err) != -1:
		return nil, fmt.Errorf("the extension does not accept this relay: %w", err)
	case err != nil:
		return nil, fmt.Errorf("read proof: %w", err)
	}
	frame, _, err := wire.Decode(heard)
	if proof, ok := frame.(*wire.Proof); ok && err == nil {
		return proof, nil
	}
	return nil, nil
}

// seat gives a proven extension the place of its profile. Where another connection has it, the epochs tell whether
// it is the same browser dialling again; if not, the one that answers keeps the place.
func (h *Hub) seat(ctx context.Context, socket *Socket, hello *wire.Hello) (*conn, error) {
	b := h.browserOf(hello.Profile.ID)
	select {
	case b.door <- struct{}{}:
		defer func() { <-b.door }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var old *conn
	b.peek(func(s *calls) { old = s.conn })
	if old != nil && old.hello.Epoch != hello.Epoch && old.answers(ctx) {
		return nil, &notWelcome{code: fault.PairingFailed, close: closeDuplicate, message: "Another browser with this profile id is connected; this one takes a fresh id."}
	}
	c := newConn(b, socket, *hello, h.cfg.Log.With().Str("profile", hello.Profile.Label).Logger())
	c.queue.insist(mustEncode(&wire.Welcome{
		Bundle: h.cfg.BundleHash, PingMs: h.cfg.PingEvery.Milliseconds(), GapMs: h.cfg.GapWait.Milliseconds(), StartMs: h.cfg.StartTime.Milliseconds(),
		Limits: wire.Limits{FrameBytes: h.cfg.FrameBytes, ResultBytes: wire.MaxResultBytes, StoredOutcomeBytes: wire.StoredOutcomeBytes},
	}))
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, errors.New("the relay is shutting down")
	}
	c.queue.insist(*h.plugins.Load())
	b.about.Store(hello)
	b.attach(c)
	h.mu.Unlock()
	if old != nil {
		old.stop(closeReplaced, "replaced by a newer connection of this profile")
	}
	h.refusal.Store(nil)
	h.countBrowsers()
	return c, nil
}
