package wire

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func readVector(t *testing.T) (transcript Transcript, secret, relayProof, extensionProof string) {
	t.Helper()
	raw, err := os.ReadFile("testdata/proof.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Secret, Address, ExtensionID, ProfileID, ExtensionNonce, RelayNonce string
		Hello, Relay, RelayProof, ExtensionProof                            string
		Protocol                                                            int
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return Transcript{
		Protocol: v.Protocol, Address: v.Address, ExtensionID: v.ExtensionID, ProfileID: v.ProfileID,
		ExtensionNonce: v.ExtensionNonce, RelayNonce: v.RelayNonce, Hello: []byte(v.Hello), Relay: []byte(v.Relay),
	}, v.Secret, v.RelayProof, v.ExtensionProof
}

func TestProofVector(t *testing.T) {
	transcript, secret, relay, extension := readVector(t)
	if !transcript.Verify(secret, RelayRole, relay) || !transcript.Verify(secret, ExtensionRole, extension) {
		t.Error("the worked example does not verify")
	}
	spec, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{secret, relay, extension} {
		if !strings.Contains(string(spec), text) {
			t.Errorf("PROTOCOL.md does not show %s", text)
		}
	}
}

func TestPairingVector(t *testing.T) {
	raw, err := os.ReadFile("testdata/pairing.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Code, Secret, Address, ExtensionID, ProfileID, ExtensionNonce, RelayNonce string
		Hello, Relay, RelayProof, ExtensionProof, Sealed                          string
		Protocol                                                                  int
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	transcript := Transcript{
		Protocol: v.Protocol, Address: v.Address, ExtensionID: v.ExtensionID, ProfileID: v.ProfileID,
		ExtensionNonce: v.ExtensionNonce, RelayNonce: v.RelayNonce, Hello: []byte(v.Hello), Relay: []byte(v.Relay),
	}
	if !transcript.Verify(v.Code, PairingRelayRole, v.RelayProof) ||
		!transcript.Verify(v.Code, PairingExtensionRole, v.ExtensionProof) {
		t.Error("the worked example does not verify")
	}
	if sealed, err := transcript.Seal(v.Code, v.Secret); err != nil || sealed != v.Sealed {
		t.Errorf("sealed: %s, %v", sealed, err)
	}
	if opened, err := transcript.Seal(v.Code, v.Sealed); err != nil || opened != v.Secret {
		t.Errorf("opened: %s, %v", opened, err)
	}
	for _, bad := range []string{"", v.Code[1:], v.Secret} {
		if _, err := transcript.Proof(bad, PairingRelayRole); err == nil {
			t.Errorf("a proof was made with the string %q", bad)
		}
	}
	if _, err := transcript.Proof(v.Code, RelayRole); err == nil {
		t.Error("a one-time string served as the secret")
	}
	spec, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{v.Code, v.RelayProof, v.ExtensionProof, v.Sealed} {
		if !strings.Contains(string(spec), text) {
			t.Errorf("PROTOCOL.md does not show %s", text)
		}
	}
}

func TestProofCoversEverything(t *testing.T) {
	original, secret, relay, extension := readVector(t)
	changes := map[string]func(*Transcript){
		"protocol":        func(t *Transcript) { t.Protocol = 2 },
		"address":         func(t *Transcript) { t.Address = "127.0.0.1:7718" },
		"extension":       func(t *Transcript) { t.ExtensionID = strings.Repeat("a", 32) },
		"profile":         func(t *Transcript) { t.ProfileID = strings.Repeat("0", 32) },
		"extension nonce": func(t *Transcript) { t.ExtensionNonce = strings.Repeat("3", 64) },
		"relay nonce":     func(t *Transcript) { t.RelayNonce = strings.Repeat("3", 64) },
		"hello":           func(t *Transcript) { t.Hello = append(t.Hello[:len(t.Hello):len(t.Hello)], ' ') },
		"relay":           func(t *Transcript) { t.Relay = append(t.Relay[:len(t.Relay):len(t.Relay)], ' ') },
	}
	for name, change := range changes {
		changed := original
		change(&changed)
		if changed.Verify(secret, RelayRole, relay) {
			t.Errorf("a proof for another %s verifies", name)
		}
	}
	if original.Verify(secret, RelayRole, extension) || original.Verify(secret, ExtensionRole, relay) {
		t.Error("a proof verifies in the other role")
	}
	if original.Verify(strings.Repeat("0", 64), RelayRole, relay) {
		t.Error("a proof verifies under another secret")
	}
}

func TestProofNeedsASecret(t *testing.T) {
	original, secret, _, _ := readVector(t)
	for _, bad := range []string{"", secret[:62], secret + "00", strings.Repeat("z", 64)} {
		if _, err := original.Proof(bad, RelayRole); err == nil {
			t.Errorf("a proof was made with the secret %q", bad)
		}
		if original.Verify(bad, RelayRole, "") {
			t.Errorf("the empty proof verifies under %q", bad)
		}
	}
}

func TestNegotiateChoosesTheHighestSharedVersion(t *testing.T) {
	tests := []struct {
		name             string
		relay, extension Range
		want             int
		refusal          string
	}{
		{"same", Range{1, 1}, Range{1, 1}, 1, ""},
		{"highest of both", Range{1, 4}, Range{2, 3}, 3, ""},
		{"extension reaches further", Range{1, 2}, Range{2, 9}, 2, ""},
		{"extension too old", Range{2, 3}, Range{1, 1}, 0, "update the extension"},
		{"extension too new", Range{1, 1}, Range{2, 3}, 0, "update the tabrelay program"},
		{"no range", Range{1, 1}, Range{}, 0, "reinstall the extension"},
		{"range upside down", Range{1, 3}, Range{3, 1}, 0, "reinstall the extension"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, refusal := Negotiate(tt.relay, tt.extension)
			if got != tt.want || (refusal == "") != (tt.refusal == "") || !strings.Contains(refusal, tt.refusal) {
				t.Errorf("got version %d, refusal %q", got, refusal)
			}
		})
	}
}
