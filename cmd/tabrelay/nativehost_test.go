package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/extension"
	"tabrelay/relay/program/nativehost"
	"tabrelay/relay/state/config"
)

// askNative runs the program as a browser does for an extension, with one message.
func askNative(t *testing.T, origin, message string) (answer nativehost.Answer, code int) {
	t.Helper()
	in := binary.NativeEndian.AppendUint32(nil, uint32(len(message)))
	var out, errOut bytes.Buffer
	code = run([]string{origin, "--parent-window=0"}, bytes.NewReader(append(in, message...)), &out, &errOut)
	if out.Len() < 4 {
		t.Fatalf("%s: no answer, exit code %d, %s", message, code, errOut.String())
	}
	if err := json.Unmarshal(out.Bytes()[4:], &answer); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	return answer, code
}

func TestNativeHostTellsOnlyTheExtensionWhereTheRelayIs(t *testing.T) {
	home := config.Home(filepath.Join(t.TempDir(), "home"))
	t.Setenv("TABRELAY_HOME", string(home))
	own := nativehost.Origin(extension.ID)

	if answer, code := askNative(t, own, `{"type":"find"}`); code != 0 || answer.Problem != nil ||
		answer.Secret != "" || answer.Running || answer.Version == "" || home.Exists() {
		t.Errorf("before there is anything: %+v, exit code %d", answer, code)
	}
	if err := home.Create(); err != nil {
		t.Fatal(err)
	}
	secrets, err := config.OpenSecrets(home)
	if err != nil {
		t.Fatal(err)
	}
	if answer, _ := askNative(t, own, `{"type":"find"}`); answer.Secret != secrets.Pairing() ||
		answer.Address != "127.0.0.1:7717" || answer.Running {
		t.Errorf("without a relay: %+v", answer)
	}
	other := strings.Repeat("a", 32)
	for message, want := range map[string]string{
		`{"type":"find"}`:  "may not ask",
		`{"type":"start"}`: "may not ask",
	} {
		answer, _ := askNative(t, nativehost.Origin(other), message)
		if answer.Secret != "" || answer.Problem == nil || !strings.Contains(answer.Problem.Message, want) ||
			answer.Problem.Hint == "" {
			t.Errorf("another extension's %s: %+v", message, answer)
		}
	}
	for _, message := range []string{`{"type":"stop"}`, `{}`, `null`, `[]`, "{"} {
		if answer, _ := askNative(t, own, message); answer.Secret != "" || answer.Problem == nil {
			t.Errorf("%s: %+v", message, answer)
		}
	}
	if err := os.WriteFile(home.Config(), []byte(`{"extensionIds": ["`+other+`"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if answer, _ := askNative(t, nativehost.Origin(other), `{"type":"find"}`); answer.Secret != secrets.Pairing() {
		t.Errorf("an extension that the configuration allows: %+v", answer)
	}
	if err := os.WriteFile(home.Config(), []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	if answer, _ := askNative(t, own, `{"type":"find"}`); answer.Secret != "" || answer.Problem == nil {
		t.Errorf("with a broken configuration: %+v", answer)
	}
}
