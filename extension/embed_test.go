package extension

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

type manifest struct {
	ManifestVersion       int             `json:"manifest_version"`
	Key                   string          `json:"key"`
	MinimumChromeVersion  string          `json:"minimum_chrome_version"`
	Permissions           []string        `json:"permissions"`
	OptionalPermissions   []string        `json:"optional_permissions"`
	HostPermissions       []string        `json:"host_permissions"`
	ExternallyConnectable json.RawMessage `json:"externally_connectable"`
	WebAccessible         json.RawMessage `json:"web_accessible_resources"`
	ContentScripts        json.RawMessage `json:"content_scripts"`
}

func readManifest(t *testing.T) manifest {
	t.Helper()
	data, err := os.ReadFile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// Chrome's id of an extension is the first half of the SHA-256 of its public key, written with the letters a to p.
func TestIDIsThatOfTheManifestKey(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString(readManifest(t).Key)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(key)
	var id strings.Builder
	for _, b := range sum[:16] {
		id.WriteByte('a' + b>>4)
		id.WriteByte('a' + b&15)
	}
	if id.String() != ID {
		t.Errorf("the key gives %s, ID says %s", id.String(), ID)
	}
}

// The permissions a person is asked for at install time are a promise; more are asked for when first needed.
func TestManifestAsksForNoMoreThanPromised(t *testing.T) {
	m := readManifest(t)
	want := []string{"scripting", "storage", "alarms", "tabs", "favicon", "webNavigation", "webRequest",
		"declarativeNetRequestWithHostAccess", "sidePanel"}
	if diff := cmp.Diff(want, m.Permissions); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
	optional := []string{"cookies", "downloads", "notifications", "offscreen", "tabGroups"}
	if diff := cmp.Diff(optional, m.OptionalPermissions); diff != "" {
		t.Errorf("optional_permissions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"<all_urls>"}, m.HostPermissions); diff != "" {
		t.Errorf("host_permissions (-want +got):\n%s", diff)
	}
}

func TestManifestClosesEveryDoor(t *testing.T) {
	m := readManifest(t)
	if m.ManifestVersion != 3 {
		t.Errorf("manifest_version is %d", m.ManifestVersion)
	}
	var connectable map[string][]string
	if err := json.Unmarshal(m.ExternallyConnectable, &connectable); err != nil {
		t.Fatal(err)
	}
	// With no id at all Chrome shows a warning on the extension's card. What would connect from outside is heard by
	// nobody anyway.
	if diff := cmp.Diff(map[string][]string{"ids": {ID}}, connectable); diff != "" {
		t.Errorf("externally_connectable lets someone in: %s", m.ExternallyConnectable)
	}
	if m.WebAccessible != nil {
		t.Errorf("web pages can load %s", m.WebAccessible)
	}
}

func TestFilesWithoutABuildSayHowToBuild(t *testing.T) {
	empty := fstest.MapFS{"dist/.gitkeep": {}}
	if _, err := built(empty); err == nil || !strings.Contains(err.Error(), "go generate ./extension") {
		t.Errorf("error is %v", err)
	}
	if hash := hashIn(empty); hash != "" {
		t.Errorf("hash of nothing is %q", hash)
	}
}

func TestBuiltFilesAreWholeAndKnowTheirHash(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"manifest.json", "worker.js", "bridge.js", "late.js", "tap.js", "page-main.js",
		"panel.html", "panel.js", "panel.css", "icons/128.png"} {
		if _, err := fs.Stat(files, name); err != nil {
			t.Error(err)
		}
	}
	worker, err := fs.ReadFile(files, "worker.js")
	if err != nil {
		t.Fatal(err)
	}
	hash := BundleHash()
	if len(hash) != 64 || !strings.Contains(string(worker), hash) {
		t.Errorf("worker.js does not carry the bundle's hash %q", hash)
	}
}
