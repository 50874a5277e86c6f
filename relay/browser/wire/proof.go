package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"tabrelay/relay/lib/random"
)

// Role is who proves.
type Role string

// The two roles. They make the two proofs of one handshake different, so that neither can be sent back.
const (
	RelayRole     Role = "relay"
	ExtensionRole Role = "extension"
)

// The roles of a handshake that is about a one-time string, which is its key. The secret is sealed in the third.
const (
	PairingRelayRole     Role = "pairing relay"
	PairingExtensionRole Role = "pairing extension"
	pairingSecretRole    Role = "pairing secret"
)

// secretBytes is the size of a pairing secret and of a nonce, codeBytes that of a one-time string.
const (
	secretBytes = 32
	codeBytes   = 16
)

// keyOf reads the key of a role: the pairing secret, or a one-time string.
func keyOf(role Role, text string) ([]byte, error) {
	size, what := secretBytes, "pairing secret"
	switch role {
	case PairingRelayRole, PairingExtensionRole, pairingSecretRole:
		size, what = codeBytes, "pairing string"
	}
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != size {
		return nil, fmt.Errorf("the %s is not %d hexadecimal digits", what, 2*size)
	}
	return key, nil
}

// Transcript is everything a proof covers: who talks to whom, where, and the two frames they opened with.
// A proof made for another address, profile, version or connection does not verify.
type Transcript struct {
	Protocol       int
	Address        string // host and port as the extension dialled them
	ExtensionID    string
	ProfileID      string
	ExtensionNonce string
	RelayNonce     string
	Hello          []byte // the two frames, byte for byte
	Relay          []byte
}

// Proof is HMAC-SHA256 over the transcript and the role, keyed by the secret, as 64 hexadecimal digits.
// The secret is 64 hexadecimal digits itself; for a pairing role it is a one-time string of 32.
func (t Transcript) Proof(secret string, role Role) (string, error) {
	key, err := keyOf(role, secret)
	if err != nil {
		return "", err
	}
	hellos := sha256.New()
	hellos.Write(t.Hello)
	hellos.Write([]byte{'\n'})
	hellos.Write(t.Relay)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.Join([]string{
		Subprotocol, string(role), strconv.Itoa(t.Protocol), t.Address, t.ExtensionID, t.ProfileID,
		t.ExtensionNonce, t.RelayNonce, hex.EncodeToString(hellos.Sum(nil)),
	}, "\n")))
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// Verify reports whether proof is the one of that role. It takes as long for a wrong proof as for the right one.
func (t Transcript) Verify(secret string, role Role, proof string) bool {
	want, err := t.Proof(secret, role)
	return err == nil && hmac.Equal([]byte(want), []byte(proof))
}

// Seal hides the pairing secret from whoever does not know the one-time string, and opens it again: it is combined by
// exclusive or with HMAC-SHA256 over this transcript, which is used for nothing else and never again.
func (t Transcript) Seal(code, secret string) (string, error) {
	plain, err := keyOf(RelayRole, secret)
	if err != nil {
		return "", err
	}
	pad, err := t.Proof(code, pairingSecretRole)
	if err != nil {
		return "", err
	}
	with, err := hex.DecodeString(pad)
	if err != nil {
		return "", err
	}
	for i := range plain {
		plain[i] ^= with[i]
	}
	return hex.EncodeToString(plain), nil
}

// NewNonce makes a nonce.
func NewNonce() string { return random.Hex(secretBytes) }

// NewID makes a call id, an epoch or a one-time string.
func NewID() string { return random.Hex(secretBytes / 2) }
