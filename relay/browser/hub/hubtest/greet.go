package hubtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/wire"
)

// greet is the extension's side of the handshake.
func greet(ctx context.Context, socket *hub.Socket, o Options) (*wire.Welcome, error) {
	transcript, err := prove(ctx, socket, o, false, wire.ExtensionRole)
	if err != nil {
		return nil, err
	}
	welcome, err := expect[*wire.Welcome](ctx, socket, nil)
	if err != nil {
		return nil, err
	}
	return welcome, transcript.check(o.Secret, wire.RelayRole)
}

// proven is a handshake, with the relay's proof.
type proven struct {
	wire.Transcript
	relay string
}

func (p proven) check(secret string, role wire.Role) error {
	if !p.Verify(secret, role, p.relay) {
		return errors.New("the relay did not prove that it knows the secret")
	}
	return nil
}

// prove says hello and proves the secret, or the one-time string, of o.
func prove(ctx context.Context, socket *hub.Socket, o Options, pair bool, role wire.Role) (p proven, err error) {
	hello := &wire.Hello{
		Pair: pair, Protocol: o.Protocol, Extension: "0.0.0-test", Bundle: o.Bundle, Epoch: o.Epoch,
		Profile: wire.Profile{ID: o.ProfileID, Label: o.Label}, Chrome: "0", Nonce: wire.NewNonce(),
	}
	p.Transcript = wire.Transcript{
		Address: o.Address, ExtensionID: o.ExtensionID, ProfileID: o.ProfileID, ExtensionNonce: hello.Nonce,
		Hello: encode(hello, nil),
	}
	if err := socket.Write(p.Hello); err != nil {
		return p, fmt.Errorf("send hello: %w", err)
	}
	answer, err := expect[*wire.Relay](ctx, socket, &p.Relay)
	if err != nil {
		return p, err
	}
	p.Protocol, p.RelayNonce = answer.Protocol, answer.Nonce
	theirs, err := expect[*wire.Proof](ctx, socket, nil)
	if err != nil {
		return p, err
	}
	p.relay = theirs.Proof
	mine, err := p.Proof(o.Secret, role)
	if err != nil {
		return p, err
	}
	if err := socket.Write(encode(&wire.Proof{Proof: mine}, nil)); err != nil {
		return p, fmt.Errorf("send proof: %w", err)
	}
	return p, nil
}

// expect reads one frame that must be an F. A refusal is read to the close that follows it.
func expect[F wire.Frame](ctx context.Context, socket *hub.Socket, raw *[]byte) (F, error) {
	var none F
	message, err := socket.Read(ctx)
	if err != nil {
		if code := hub.CloseCode(err); code != -1 {
			return none, &Refused{CloseCode: code}
		}
		return none, fmt.Errorf("read %T: %w", none, err)
	}
	if raw != nil {
		*raw = bytes.Clone(message)
	}
	frame, _, err := wire.Decode(message)
	if err != nil {
		return none, err
	}
	if refuse, ok := frame.(*wire.Refuse); ok {
		_, err := socket.Read(ctx)
		return none, &Refused{Frame: refuse, CloseCode: hub.CloseCode(err)}
	}
	f, ok := frame.(F)
	if !ok {
		return none, fmt.Errorf("got %s instead of %T", frame.Kind(), none)
	}
	return f, nil
}

// Pair exchanges a one-time string, which is the Secret of opts, for the pairing secret.
func Pair(ctx context.Context, opts Options) (secret string, err error) {
	o := New(opts).opts
	socket, err := hub.Dial(ctx, o.Client, o.Address, http.Header{"Origin": {"chrome-extension://" + o.ExtensionID}})
	if err != nil {
		return "", err
	}
	defer socket.Drop()
	transcript, err := prove(ctx, socket, o, true, wire.PairingExtensionRole)
	if err != nil {
		return "", err
	}
	paired, err := expect[*wire.Paired](ctx, socket, nil)
	if err != nil {
		return "", err
	}
	if err := transcript.check(o.Secret, wire.PairingRelayRole); err != nil {
		return "", err
	}
	return transcript.Seal(o.Secret, paired.Secret)
}
