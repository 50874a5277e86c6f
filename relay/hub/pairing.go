package hub

import (
	"context"
	"errors"
	"fmt"

	"tabrelay/relay/wire"
)

// Pairings are the one-time strings with which an extension that has no pairing.json gets the secret.
type Pairings interface {
	// Code is the string that is good now, as 32 hexadecimal digits; empty when there is none.
	Code() string
	// Use takes a string out of use. It reports whether it was good until then, which is true once for each.
	Use(code string) bool
}

// errPaired ends a connection that was made to get the secret.
var errPaired = errors.New("the extension was given the pairing secret")

// handOver gives an extension the secret that proved to know the one-time string, once it was proven to it that this
// relay does. The string is out of use before the secret leaves.
func (h *Hub) handOver(ctx context.Context, socket *Socket, transcript wire.Transcript) error {
	code := ""
	if h.cfg.Pairings != nil {
		code = h.cfg.Pairings.Code()
	}
	proof, err := transcript.Proof(code, wire.PairingRelayRole)
	if err != nil {
		return unpaired("No pairing string is good now: run `tabrelay pair` and paste what it prints within five minutes.")
	}
	proven, err := h.exchange(ctx, socket, transcript, proof, func(theirs string) bool { return transcript.Verify(code, wire.PairingExtensionRole, theirs) })
	if err != nil {
		return err
	}
	sealed, noSecretYet := transcript.Seal(code, h.cfg.Secret())
	switch {
	case !proven:
		return unpaired("The pairing string is not the one that `tabrelay pair` printed last.")
	case noSecretYet != nil:
		return unpaired(noSecret)
	case !h.cfg.Pairings.Use(code):
		return unpaired("The pairing string was used or ran out a moment ago: run `tabrelay pair` again.")
	}
	if err := socket.Write(mustEncode(&wire.Paired{Secret: sealed})); err != nil {
		return fmt.Errorf("send the secret: %w", err)
	}
	socket.Close(closePaired, "paired")
	return errPaired
}
