package build

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func init() { maps.Copy(ways, moreWays) }

// spoken is what a build says and makes of a plugin's folder, without the place of that folder.
func spoken(t *testing.T, dir string) string {
	t.Helper()
	p, found, err := Build(t.Context(), dir, Options{})
	said := fmt.Sprint(found, err)
	if p != nil {
		manifest, _ := p.Manifest.Encode()
		said += fmt.Sprintf("%s%s%s%s", manifest, p.Adapter, p.PreScript, p.SourceMap)
	}
	return strings.ReplaceAll(said, filepath.Dir(dir), "DIR")
}

// A build says and makes the same whether or not there is a file where a way leads: nobody learns from it what is on
// the machine.
func TestBuildTellsNothingOfOutside(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there, gone := outside(t, way), outside(t, way)
			top := filepath.Dir(gone)
			entries, err := os.ReadDir(top)
			for _, e := range entries {
				if e.Name() != "plugin" {
					err = errors.Join(err, os.RemoveAll(filepath.Join(top, e.Name())))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if with, without := spoken(t, there), spoken(t, gone); with != without {
				t.Errorf("with the file: %s\nwithout it: %s", with, without)
			}
		})
	}
}

// A file that becomes a link while a build runs is read as the file, or refused.
func TestBuildReadsNoLinkThatComesMeanwhile(t *testing.T) {
	dir := outside(t, "-- src/index.ts --\nimport s from './here.json';\nUSE\n-- src/here.json --\n{\"a\": 1}")
	here, kept, link := filepath.Join(dir, "src/here.json"), filepath.Join(dir, "kept"), filepath.Join(dir, "link")
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			select {
			case <-stop:
				done <- nil
				return
			default: // a rename puts either in place of the other at once
				err = errors.Join(os.WriteFile(kept, []byte(`{"a": 1}`), 0o600), os.Rename(kept, here),
					os.Symlink("../../secret.json", link), os.Rename(link, here))
			}
		}
		done <- err
	}()
	b, err := NewBuilder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for range 20 {
		p, found, err := b.Build(t.Context(), Options{Out: "-"})
		said := fmt.Sprint(found, err)
		if p != nil {
			said += fmt.Sprintf("%s%s", p.Adapter, p.SourceMap)
		}
		if strings.Contains(said, "5ECRET") {
			t.Fatalf("it got out: %s", said)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
