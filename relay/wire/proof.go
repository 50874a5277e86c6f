package wire

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
)

// Role is who proves.
type Role string

// The two roles. They make the two proofs of one handshake different, so that neither can be sent back.
const (
	RelayRole     Role = "relay"
	ExtensionRole Role = "extension"
)

// secretBytes is the size of a pairing secret and of a nonce.
const secretBytes = 32

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
// The secret is 64 hexadecimal digits itself.
func (t Transcript) Proof(secret string, role Role) (string, error) {
	key, err := hex.DecodeString(secret)
	if err != nil || len(key) != secretBytes {
		return "", errors.New("the pairing secret is not 64 hexadecimal digits")
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

// NewNonce makes a nonce.
func NewNonce() string { return randomHex(secretBytes) }

// NewID makes a call id or an epoch.
func NewID() string { return randomHex(secretBytes / 2) }

func randomHex(n int) string {
	raw := make([]byte, n)
	rand.Read(raw)
	return hex.EncodeToString(raw)
}
