//go:build !race

package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Not with the race detector: unpacking as much as may be takes it half a minute, and there is one goroutine only.
func TestUnpackIsLimited(t *testing.T) {
	for name, c := range map[string]struct {
		tarball io.Reader
		want    string
	}{
		"a large file": {packZeros(t, maxFile+1), "more than 33554432"},
		"a bomb":       {packZeros(t, maxFile, maxFile, maxFile, maxFile), "unpacks to more than"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Unpack(c.tarball, t.TempDir()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Unpack = %v, want %q", err, c.want)
			}
		})
	}
}

// packZeros is a tarball of files that hold so many zeros. It is a row of gzip members, which read as one: a MiB is
// compressed once, however many there are.
func packZeros(t testing.TB, sizes ...int64) io.Reader {
	t.Helper()
	const mib = 1 << 20
	zeros := zip(t, make([]byte, mib))
	var members []io.Reader
	for i, size := range sizes {
		var header bytes.Buffer
		entry := &tar.Header{Name: fmt.Sprintf("package/%d", i), Typeflag: tar.TypeReg, Size: size}
		err := tar.NewWriter(&header).WriteHeader(entry)
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, bytes.NewReader(zip(t, header.Bytes())))
		for range size / mib {
			members = append(members, bytes.NewReader(zeros))
		}
		members = append(members, bytes.NewReader(zip(t, make([]byte, size%mib))))
	}
	return io.MultiReader(members...)
}

// zip is a gzip member.
func zip(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	if _, err := zipped.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
