package nativehost

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows/registry"

	"tabrelay/relay/state/config"
)

// On Windows a browser finds the host in the registry. The keys of the test are its own.
func TestRegistryNamesTheManifest(t *testing.T) {
	home := config.Home(filepath.Join(t.TempDir(), "Jörg 日本"))
	place := Place{Browser: "test", File: filepath.Join(home.NativeHost(), Name+".json"), key: `Software\tabrelay-test`}
	t.Cleanup(func() { _ = registry.DeleteKey(registry.CURRENT_USER, place.key) }) // already gone unless it failed
	host := Host{Home: home, Executable: `C:\Program Files\100%\tabrelay.exe`, Extensions: []string{id}}
	if changed, err := host.Register([]Place{place}, false); err != nil || len(changed) != 1 {
		t.Fatal(changed, err)
	}
	key, err := registry.OpenKey(registry.CURRENT_USER, place.key, registry.QUERY_VALUE)
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	if file, _, err := key.GetStringValue(""); err != nil || file != place.File || !place.known() {
		t.Errorf("the registry names %q, %v", file, err)
	}
	script, err := os.ReadFile(host.program())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"chcp 65001 >nul\r\n", `set "TABRELAY_HOME=` + string(home) + "\"\r\n",
		`"C:\Program Files\100%%\tabrelay.exe" %*` + "\r\n"} {
		if !strings.Contains(string(script), line) {
			t.Errorf("the browser starts %q, without %q", script, line)
		}
	}
	if changed, err := host.Register([]Place{place}, false); err != nil || len(changed) != 0 {
		t.Errorf("registering it again changes %v, %v", changed, err)
	}
	if err := place.retract(); err != nil {
		t.Fatal(err)
	}
	if _, err := registry.OpenKey(registry.CURRENT_USER, place.key, registry.QUERY_VALUE); !errors.Is(err,
		registry.ErrNotExist) || place.known() {
		t.Errorf("the key is still there: %v", err)
	}
	if err := place.retract(); err != nil {
		t.Errorf("taking it out twice: %v", err)
	}
}
