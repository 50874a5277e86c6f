package hubtest

import (
	"context"
	"net/http"

	"tabrelay/relay/hub"
	"tabrelay/relay/wire"
)

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
