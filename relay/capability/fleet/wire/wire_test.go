package wire

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

const anID = "0123456789abcdef0123456789abcdef"

func aCall() Request {
	return Request{V: 1, ID: anID, Tool: "shop__read", WaitMs: 1000,
		Caller: &Caller{Person: "carol", Agent: "claude", Machine: "box", Session: anID}}
}

// What was decoded is within the bounds, whatever was sent; and what is within them survives.
func FuzzDecodeRequest(f *testing.F) {
	f.Add("call", Encode(aCall(), []byte(`{"what":"tea"}`)))
	f.Add("cancel", Encode(Request{V: 1, ID: anID, Life: anID, Caller: aCall().Caller}, nil))
	f.Add("tools", []byte(`{"v":1,"known":"ab"}`))
	f.Add("call", []byte(`{"v":1,"v":1}`))
	f.Add("call", []byte("{\"V\":1}\n[]"))
	f.Fuzz(func(t *testing.T, op string, data []byte) {
		r, payload, err := DecodeRequest(Op(op), data)
		if err != nil {
			return
		}
		if r.V != Version || len(data) > MaxMessage || len(payload) > 0 && !json.Valid(payload) {
			t.Fatalf("%q is taken as %+v", data, r)
		}
		if Op(op) != OpTools && (r.Caller == nil || !IsAgent(r.Caller.Person) || !IsAgent(r.Caller.Agent) ||
			len(r.ID) != 32) {
			t.Fatalf("%q is taken as %+v", data, r)
		}
		if Op(op) == OpCall && (r.WaitMs <= 0 || r.WaitMs > MaxWait || r.TimeoutMs < 0 || r.TimeoutMs > MaxWait) {
			t.Fatalf("%q may take %d ms", data, r.WaitMs)
		}
		again, same, err := DecodeRequest(Op(op), Encode(r, payload))
		if err != nil || !bytes.Equal(same, payload) || again.Tool != r.Tool {
			t.Fatalf("%q does not survive: %v", data, err)
		}
	})
}

// No answer of a node, whatever it is, makes a gateway say what there is not.
func FuzzDecodeOutcome(f *testing.F) {
	f.Add(EncodeOutcome(&call.Result{Output: []byte(`{"a":1}`), Structured: true}, nil))
	f.Add(EncodeOutcome(nil, fault.New(fault.TabNotFound, "gone")))
	f.Add([]byte(`{"failure":{"code":"NOPE","outcome":"done","message":"\u0007"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		result, failure, err := DecodeOutcome(data)
		switch {
		case err != nil:
		case (result == nil) == (failure == nil):
			t.Fatalf("%q is neither", data)
		case failure == nil:
		default:
			if _, known := fault.Lookup(failure.Code); !known && !failure.FromPage {
				t.Fatalf("%q has the code %s", data, failure.Code)
			}
			if o := failure.Outcome; o != fault.NotExecuted && o != fault.Executed && o != fault.Unknown {
				t.Fatalf("%q has the outcome %s", data, o)
			}
		}
	})
}

// A reply is within its bounds, and what it says of leases has nothing in it that nobody sees.
func FuzzDecodeReply(f *testing.F) {
	f.Add([]byte(`{"v":1,"kind":"waits","before":2,"lease":{"profile":"Work","holder":"bob/claude@team","waiting":1}}`))
	f.Add([]byte(`{"v":1,"kind":"turn"}`))
	f.Add([]byte(`{"v":1,"kind":"waits","before":-1,"lease":{"holder":"\u202e"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, _, err := DecodeReply(data)
		if err != nil {
			return
		}
		if r.V != Version || r.Before < 0 || r.Before > MaxQueue+1 || r.Bytes < 0 || r.Bytes > MaxAnswer {
			t.Fatalf("%q is taken as %+v", data, r)
		}
		soundLeases(t, data, r.Lease)
	})
}

// So is the entry of a node.
func FuzzDecodeEntry(f *testing.F) {
	f.Add([]byte(`{"v":1,"node":"ann","life":"` + anID + `","version":"1","tools":"","plugins":[],` +
		`"profiles":["Work"],"running":1,"leases":[{"profile":"Work","holder":"bob/claude@team","waiting":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := DecodeEntry("ann", data)
		if err != nil {
			return
		}
		if e.V != Version || e.Node != "ann" || len(e.Profiles) > maxProfiles || len(e.Leases) > maxProfiles {
			t.Fatalf("%q is taken as %+v", data, e)
		}
		for i := range e.Leases {
			soundLeases(t, data, &e.Leases[i])
		}
	})
}

func soundLeases(t *testing.T, data []byte, l *Lease) {
	t.Helper()
	if l != nil && (l.Waiting < 0 || l.Waiting > MaxQueue || l.Profile != fault.Sanitize(l.Profile) ||
		l.Holder != fault.Sanitize(l.Holder)) {
		t.Fatalf("%q has the lease %+v", data, l)
	}
}

// A node's entry is its own, and an address leads to this machine or is encrypted.
func TestWhatIsRefused(t *testing.T) {
	for _, text := range []string{`{}`, `{"v":2,"node":"ann","life":"` + anID + `"}`,
		`{"v":1,"node":"bob","life":"` + anID + `"}`, `{"v":1,"node":"ann","life":"1"}`,
		`{"v":1,"node":"ann","life":"` + anID + `","more":1}`, strings.Repeat(" ", MaxEntry+1)} {
		if _, err := DecodeEntry("ann", []byte(text)); err == nil {
			t.Errorf("the entry %.60s is taken", text)
		}
	}
	for address, fine := range map[string]bool{"nats://127.0.0.1:4222": true, "nats://localhost:4222": true,
		"nats://[::1]:4222": true, "tls://nats.example.org:4222": true, "nats://nats.example.org:4222": false,
		"nats://10.0.0.1:4222": false, "nats://127.0.0.1.evil.example:4222": false,
		"tls://ann:pw@nats.example:4222": false,
		"ws://127.0.0.1:4222":            false, "tls://nats.example.org": false, "": false,
		"tls://a:1,nats://b:2": false, "tls://a:1,tls://b:2": true, "nats://127.0.0.1:1,nats://127.0.0.1:2": true,
		"tls://a:1,": false, "tls://a:1, tls://b:2": false, strings.Repeat("tls://a:1,", 15) + "tls://a:1": true,
		strings.Repeat("tls://a:1,", 16) + "tls://a:1": false} {
		if (CheckURL(address) == nil) != fine {
			t.Errorf("%s: %t", address, !fine)
		}
	}
	for _, name := range []string{"", "A", "a.b", "a*", ">", "-a", "a-", strings.Repeat("a", 33)} {
		if IsName(name) {
			t.Errorf("%q is a name", name)
		}
	}
	for host, name := range map[string]string{"Ann's Laptop.local": "ann-s-laptop", "": "node", "…": "node",
		strings.Repeat("a", 40): strings.Repeat("a", 32)} {
		if NameOf(host) != name {
			t.Errorf("%q becomes %q", host, NameOf(host))
		}
	}
}

// Credentials that others can read, or that are none, are refused before anything is sent.
func TestCredentialsAreLookedAt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	for text, mode := range map[string]os.FileMode{"SUAM": 0o600, "not a key": 0o600,
		"-----BEGIN NATS USER JWT-----\nx": 0o644} {
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if err := (Peer{Credentials: config.KeySource{File: file}}).CheckCredentials(); err == nil {
			t.Errorf("%q with mode %v is taken", text, mode)
		}
	}
}
