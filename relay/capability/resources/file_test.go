package resources

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tabrelay/relay/road/fault"
)

// shelf is a folder with files, beside a folder that is nobody's business.
func shelf(t *testing.T) (root, outside string) {
	t.Helper()
	base := t.TempDir()
	root, outside = filepath.Join(base, "shared"), filepath.Join(base, "shared-not")
	for _, folder := range []string{filepath.Join(root, "sub", "deep"), outside} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		filepath.Join(root, "note.md"): "# note", filepath.Join(root, "sub", "deep", "x.json"): "{}",
		filepath.Join(root, "empty"):       "",
		filepath.Join(root, "a#b %41.txt"): "odd name", filepath.Join(root, "bytes.bin"): "\x00\x01",
		filepath.Join(root, "bom.txt"):   "\ufefftext",
		filepath.Join(outside, "secret"): "secret",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"link": filepath.Join(outside, "secret"), "inner": "note.md", "dirlink": outside, "loop": "loop", "up": "..",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	return root, outside
}

func TestFilesAndFoldersAreReadBelowARoot(t *testing.T) {
	root, _ := shelf(t)
	s := set(t, Options{Roots: []string{root}, FileBytes: 100})
	at := fileURI(root)
	for path, want := range map[string]string{
		"/note.md": "# note", "/sub/deep/x.json": "{}", "/empty": "", "//note.md": "# note", "/./note.md": "# note",
		"/sub%2Fdeep/x.json": "{}",
		"/a%23b%20%2541.txt": "odd name", "/bom.txt": "text",
		"/sub/": "deep/\n",
		"/sub":  "deep/\n",
		"/": "a#b %41.txt (8 bytes)\nbom.txt (7 bytes)\nbytes.bin (2 bytes)\nempty (0 bytes)\nnote.md (6 " +
			"bytes)\nsub/\n",
		"": "a#b %41.txt (8 bytes)\nbom.txt (7 bytes)\nbytes.bin (2 bytes)\nempty (0 bytes)\nnote.md (6 " +
			"bytes)\nsub/\n",
		"/sub/.": "deep/\n",
	} {
		contents, failure := read(t, s, at+path)
		if failure != nil || contents[0].Text != want {
			t.Errorf("%s: %q, %v", path, contents, failure)
		}
	}
	if contents, _ := read(t, s, at+"/bytes.bin"); !bytes.Equal(contents[0].Blob, []byte{0, 1}) {
		t.Errorf("bytes are %+v", contents)
	}
	list, _ := s.List(t.Context(), session)
	if len(list) != 2 || list[1].URI != at+"/" || list[1].MIMEType != folderType {
		t.Errorf("listed: %+v", list)
	}
}

func TestFilesThatAreNotRead(t *testing.T) {
	root, outside := shelf(t)
	s := set(t, Options{Roots: []string{root}, FileBytes: 100})
	if err := os.WriteFile(filepath.Join(root, "big"), bytes.Repeat([]byte("a"), 101), 0o644); err != nil {
		t.Fatal(err)
	}
	at := fileURI(root)
	denied, missing := fault.TypePermissionDenied, fault.TypeNotFound
	for uri, kind := range map[string]fault.Type{
		at + "/../shared-not/secret":        denied,
		at + "/%2e%2e/shared-not/secret":    denied,
		at + "/..%2fshared-not/secret":      denied,
		at + "/sub/../note.md":              denied, // no reason to write it so
		fileURI(outside) + "/secret":        denied,
		fileURI(outside) + "/no-such-thing": denied,
		"file:///etc/passwd":                denied,
		"file:///no/such/file":              denied,
		"file:///":                          denied,
		"file://localhost/etc/passwd":       denied,
		at + "-not/secret":                  denied,
		at + "/link":                        denied,
		at + "/inner":                       denied,
		at + "/dirlink/secret":              denied,
		at + "/dirlink":                     denied,
		at + "/loop":                        denied,
		at + "/up/shared/note.md":           denied,
		at + "/none":                        missing,
		at + "/%252e%252e/note.md":          missing,
		at + "/note.md/more":                missing,
		at + "/*":                           missing,
		at + "/big":                         fault.TypeOutputTooLarge,
	} {
		code := fault.ResourceUnreadable
		if kind == missing {
			code = fault.ResourceNotFound
		}
		failure := wantFault(t, s, uri, code, kind)
		if strings.Contains(failure.Message+failure.Hint, root) {
			t.Errorf("%s: the failure tells a path: %s", uri, failure.Message)
		}
	}
	exists, not := wantFault(t, s, fileURI(outside)+"/secret", fault.ResourceUnreadable, denied),
		wantFault(t, s, fileURI(outside)+"/none", fault.ResourceUnreadable, denied)
	if exists.Message != not.Message || exists.Hint != not.Hint {
		t.Error("an answer tells whether a file outside exists")
	}
	wantFault(t, set(t, Options{}), at+"/note.md", fault.ResourceUnreadable, denied)
}

// A name that is now a file and now a link to a secret, while it is read over and over.
func TestSwappedFiles(t *testing.T) {
	root, outside := shelf(t)
	s := set(t, Options{Roots: []string{root}})
	for _, swapped := range []string{"file", "folder"} {
		name := filepath.Join(root, "swap-"+swapped)
		target, path := filepath.Join(outside, "secret"), "/swap-file"
		if swapped == "folder" {
			target, path = outside, "/swap-folder/secret"
		}
		stop := make(chan struct{})
		var swapping sync.WaitGroup
		swapping.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_ = os.Symlink(target, name)
				_ = os.Remove(name)
				if swapped == "file" {
					_ = os.WriteFile(name, []byte("harmless"), 0o644)
				} else {
					_ = os.Mkdir(name, 0o755)
				}
				_ = os.Remove(name)
			}
		})
		for range 3000 {
			contents, _ := s.Read(t.Context(), session, fileURI(root)+path, nil)
			if len(contents) > 0 && contents[0].Text == "secret" {
				t.Error("a link was followed")
				break
			}
		}
		close(stop)
		swapping.Wait()
	}
}

func TestFolderWithManyEntries(t *testing.T) {
	root := t.TempDir()
	for i := range listedEntries + 5 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	contents, failure := read(t, set(t, Options{Roots: []string{root}}), fileURI(root))
	if failure != nil || !strings.HasSuffix(contents[0].Text, "[there are more than 1000 entries]\n") ||
		strings.Count(contents[0].Text, "\n") != listedEntries+1 {
		t.Errorf("%v, %d lines", failure, strings.Count(contents[0].Text, "\n"))
	}
}

func TestWatchedFiles(t *testing.T) {
	root, _ := shelf(t)
	s := set(t, Options{Roots: []string{root}})
	told := make(chan struct{}, 10)
	stop, failure := s.Watch(session, fileURI(root)+"/note.md", func() { told <- struct{}{} })
	if failure != nil {
		t.Fatal(failure)
	}
	replacement := filepath.Join(root, "note.md.new")
	if err := os.WriteFile(replacement, []byte("newer"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(replacement, filepath.Join(root, "note.md")); err != nil {
		t.Fatal(err)
	}
	<-told
	stop()
	if _, failure := s.Watch(session, fileURI(root)+"/link", func() {}); failure == nil {
		t.Error("a link can be watched")
	}
	if _, failure := s.Watch(session, fileURI(root)+"/none", func() {}); failure == nil ||
		failure.Code != fault.ResourceNotFound {
		t.Errorf("a file that is not there can be watched: %v", failure)
	}
}
