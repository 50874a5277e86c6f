package relay

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/program/connect"
	"tabrelay/relay/program/httpapi"
)

// The side panel connects a client of this machine by the file that the person has read, and no other, and disconnects
// it. Who did it is in the audit log.
func TestPanelConnectsClients(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the folder of a person is not taken from HOME there")
	}
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": "", "CLAUDE_CONFIG_DIR": "",
		"CODEX_HOME": ""} {
		t.Setenv(name, value)
	}
	file := filepath.Join(home, ".cursor", "mcp.json")
	const before = "{\"mcpServers\": {}}\n"
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	r, end := w.relay()
	b := dialIn(t, r)
	ask := func(method, path, body string, status int) hubtest.Response {
		t.Helper()
		answer, err := b.Ask(t.Context(), method, "/api/v1/installed-clients"+path, json.RawMessage(body))
		if err != nil || answer.Status != status {
			t.Fatalf("%s %s: %d %s, %v", method, path, answer.Status, answer.Body, err)
		}
		return answer
	}
	cursor := func(answer hubtest.Response) (found connect.State) {
		t.Helper()
		var v httpapi.InstalledView
		if err := json.Unmarshal(answer.Body, &v); err != nil || len(v.Clients) != len(connect.Clients) {
			t.Fatalf("%s: %v", answer.Body, err)
		}
		for _, one := range v.Clients {
			switch {
			case one.Name == "cursor":
				found = one
			case one.Found || one.Connected:
				t.Errorf("not there: %+v", one)
			}
		}
		return found
	}
	if got := cursor(ask("GET", "", "", http.StatusOK)); !got.Found || got.Connected || got.File != file {
		t.Errorf("found: %+v", got)
	}
	named := func(file string) string { return `{"file": ` + strconv.Quote(file) + `}` }
	for _, refused := range []struct {
		path, body string
		status     int
	}{
		{"/cursor", `{}`, http.StatusConflict}, {"/cursor", named("/etc/passwd"), http.StatusConflict},
		{"/cursor", `{"file": 1}`, http.StatusBadRequest},
		{"/nobody", named(file), http.StatusNotFound}, {"/..%2fcursor", named(file), http.StatusNotFound},
	} {
		ask("POST", refused.path, refused.body, refused.status)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != before || len(r.secrets.Clients()) != 0 {
		t.Errorf("it was changed: %s, %v", text, err)
	}
	if got := cursor(ask("POST", "/cursor", named(file), http.StatusOK)); !got.Connected {
		t.Errorf("connected: %+v", got)
	}
	env, err := connect.Here()
	if err != nil {
		t.Fatal(err)
	}
	client, _ := connect.Find("cursor")
	entry, _, err := client.Entry(env)
	if name, ok := r.secrets.Verify(entry.Token); err != nil || !ok || name != "cursor" ||
		entry.Home != string(r.Home) {
		t.Errorf("the entry is %+v: %v", entry, err)
	}
	if got := cursor(ask("DELETE", "/cursor", "", http.StatusOK)); got.Connected {
		t.Errorf("disconnected: %+v", got)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != before || len(r.secrets.Clients()) != 0 {
		t.Errorf("not all of it was undone: %s, %v", text, err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask("POST", "/cursor", named(file), http.StatusConflict); !strings.Contains(string(got.Body),
		"is not JSON") || !strings.Contains(string(got.Body), "repair the file") {
		t.Errorf("a broken file: %s", got.Body)
	}
	end()
	var said []string
	for _, row := range w.auditRows() {
		if row.Client == "cursor" {
			said = append(said, row.DecidedBy+": "+row.Detail)
		}
	}
	if got := strings.Join(said, "\n"); len(said) != 2 || !strings.Contains(got, "panel") {
		t.Errorf("the log says %q", said)
	}
}
