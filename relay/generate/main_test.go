package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFilesAreFresh(t *testing.T) {
	for name, text := range outputs {
		got, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Errorf("%v; run: go generate ./relay/road/fault", err)
		} else if string(got) != text() {
			t.Errorf("%s is stale; run: go generate ./relay/road/fault", name)
		}
	}
}
