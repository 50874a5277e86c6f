package resources

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/state/config"
)

func init() { config.Attach(section) }

// settingsOf are those of a config.json.
func settingsOf(t *testing.T, text string) (Settings, error) {
	t.Helper()
	home := config.Home(t.TempDir())
	if err := os.WriteFile(home.Config(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(home)
	return section.Of(c), err
}

func TestSettingsAreReadFromFileAndEnvironment(t *testing.T) {
	t.Setenv("TABRELAY_RESOURCES_GIT_HOSTS", "git.example.org")
	r, err := settingsOf(t, `{"resources": {
  "file": {"roots": ["/srv/shared"]},
  "https": {"hosts": ["docs.example.org", "other.example.org:8443"]},
  "providers": {"note": {"command": ["notes", "--raw"], "timeoutMs": 500, "maxBytes": 1000}, "x-y": {"command": ["y"]}},
}}`)
	if err != nil {
		t.Fatal(err)
	}
	note := newProgram("note", r.Providers["note"], zerolog.Nop())
	if !slices.Equal(note.command, []string{"notes", "--raw"}) || note.timeout != 500*time.Millisecond ||
		note.maxBytes != 1000 || len(r.Providers) != 2 {
		t.Errorf("providers: %+v", r.Providers)
	}
	if len(r.Roots) != 1 || len(r.HTTPS.Hosts) != 2 || !slices.Equal(r.Git.Hosts, []string{"git.example.org"}) ||
		r.HTTPS.Timeout != 15*time.Second {
		t.Errorf("resources: %+v", r)
	}
}

func TestSettingsThatAreNotAllowed(t *testing.T) {
	for _, text := range []string{
		`{"file": {"roots": ["relative"]}}`,
		`{"https": {"hosts": ["https://example.org"]}}`,
		`{"https": {"hosts": ["*.example.org"]}}`,
		`{"https": {"hosts": ["user@example.org"]}}`,
		`{"https": {"hosts": ["example.org/path"]}}`,
		`{"https": {"hosts": ["example.org:123456"]}}`,
		`{"https": {"hosts": [""]}}`,
		`{"https": {"timeoutMs": 61000}}`,
		`{"providers": []}`,
		`{"providers": null}`,
		`{"providers": {"note": {}}}`,
		`{"providers": {"note": {"command": []}}}`,
		`{"providers": {"note": {"command": [""]}}}`,
		`{"providers": {"note": {"command": ["x"], "timeout": 5}}}`,
		`{"providers": {"note": {"command": ["x"], "timeoutMs": 5}}}`,
		`{"providers": {"note": {"command": ["x"], "maxBytes": 0}}}`,
		`{"providers": {"file": {"command": ["x"]}}}`,
		`{"providers": {"https": {"command": ["x"]}}}`,
		`{"providers": {"Note": {"command": ["x"]}}}`,
		`{"providers": {"no te": {"command": ["x"]}}}`,
	} {
		_, err := settingsOf(t, `{"resources": `+text+`}`)
		if err == nil || !strings.Contains(err.Error(), "resources.") || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
