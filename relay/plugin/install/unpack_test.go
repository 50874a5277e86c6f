package install

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestUnpackWritesFilesThatCannotBeRun(t *testing.T) {
	into := t.TempDir()
	tarball := pack(t, file{name: "package/package.json", content: "{}"},
		file{name: "package/src/deep/a.ts", content: "a"}, file{name: "package/src", kind: tar.TypeDir})
	if err := Unpack(bytes.NewReader(tarball), into); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"package.json": "{}", "src/deep/a.ts": "a"} {
		got, err := os.ReadFile(filepath.Join(into, name))
		if err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
		if info, err := os.Stat(filepath.Join(into, name)); err != nil || info.Mode().Perm()&0o111 != 0 {
			t.Errorf("%s can be run: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files []file
		want  string
	}{
		"a path above":           {[]file{{name: "package/../../evil"}}, "leads elsewhere"},
		"a path above the first": {[]file{{name: "../evil/x"}}, "leads elsewhere"},
		"an absolute path":       {[]file{{name: "/etc/passwd"}}, "not in a folder"},
		"an absolute one inside": {[]file{{name: "package//etc/passwd"}}, "leads elsewhere"},
		"a drive":                {[]file{{name: "package/C:/x"}}, "drive"},
		"a backslash":            {[]file{{name: `package/..\..\x`}}, "drive"},
		"a control character":    {[]file{{name: "package/a\nb"}}, "not allowed in file names"},
		"a name with a dot last": {[]file{{name: "package/a./b"}}, "leave out"},
		"a long path":            {[]file{{name: "package/" + strings.Repeat("a/", 200) + "b"}}, "more than 240"},
		"a symbolic link": {[]file{{name: "package/x", kind: tar.TypeSymlink, link: "/etc"}},
			"link or a device"},
		"a hard link": {[]file{{name: "package/x", kind: tar.TypeLink, link: "/etc/passwd"}},
			"link or a device"},
		"a device":            {[]file{{name: "package/x", kind: tar.TypeChar}}, "link or a device"},
		"the same file twice": {[]file{{name: "package/a"}, {name: "other/A"}}, "twice"},
		"a file as a folder":  {[]file{{name: "package/a"}, {name: "package/a/b"}}, "cannot be written"},
		"nothing":             {nil, "no files"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			into := filepath.Join(parent, "into")
			if err := os.Mkdir(into, 0o755); err != nil {
				t.Fatal(err)
			}
			err := Unpack(bytes.NewReader(pack(t, c.files...)), into)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Unpack = %v, want %q", err, c.want)
			}
			if left, err := os.ReadDir(parent); err != nil || len(left) != 1 {
				t.Errorf("outside of the folder there is %v, %v", left, err)
			}
		})
	}
	if err := Unpack(strings.NewReader("plain"), t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "not a gzipped tarball") {
		t.Errorf("what is no tarball: %v", err)
	}
	half := pack(t, file{name: "package/a", content: "whole"})
	if err := Unpack(bytes.NewReader(half[:len(half)-12]), t.TempDir()); err == nil {
		t.Error("half a tarball was taken")
	}
}

// Taken are as many files as may be but one, without writing ten thousand.
func TestUnpackRefusesTooManyFiles(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	u := &unpacking{root: root, reader: tar.NewReader(strings.NewReader("")), taken: map[string]bool{}}
	for i := range maxFiles - 1 {
		u.taken[strconv.Itoa(i)] = true
	}
	if err := u.take(&tar.Header{Typeflag: tar.TypeReg, Name: "package/last"}); err != nil {
		t.Fatal(err)
	}
	err = u.take(&tar.Header{Typeflag: tar.TypeReg, Name: "package/more"})
	if err == nil || !strings.Contains(err.Error(), "more than 10000 files") {
		t.Errorf("take = %v", err)
	}
}

// FuzzEntryPath: whatever a path says, it stays below the folder, and is written the one way there is.
func FuzzEntryPath(f *testing.F) {
	for _, seed := range []string{"package/a", "package/../a", "./package/a/b", "/a", "a", "package/", "p/a/./b",
		"p/..", "p/\x00", `p\a`, "p/con", "../p/a", "p/a.", "p//a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := entryPath(name)
		if err != nil {
			return
		}
		if !fs.ValidPath(got) || got == "." || !filepath.IsLocal(filepath.FromSlash(got)) ||
			strings.ContainsAny(got, "\\:\x00") {
			t.Errorf("entryPath(%q) = %q", name, got)
		}
	})
}

// FuzzUnpack: no tarball writes outside of its folder, or leaves a link in it.
func FuzzUnpack(f *testing.F) {
	f.Add(pack(f, file{name: "package/a", content: "a"}))
	f.Add(pack(f, file{name: "package/a", kind: tar.TypeSymlink, link: ".."}, file{name: "package/a/b", content: "a"}))
	f.Fuzz(func(t *testing.T, tarball []byte) {
		parent := t.TempDir()
		into := filepath.Join(parent, "into")
		if err := os.Mkdir(into, 0o755); err != nil {
			t.Fatal(err)
		}
		_ = Unpack(bytes.NewReader(tarball), into) // whether it is refused does not matter
		err := filepath.WalkDir(parent, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && path != parent && !strings.HasPrefix(path, into) || err == nil &&
				entry.Type()&fs.ModeType&^fs.ModeDir != 0 {
				return errors.New(path)
			}
			return err
		})
		if err != nil {
			t.Errorf("there is something that may not be: %v", err)
		}
	})
}
