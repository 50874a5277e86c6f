// Command store packs the edition of the extension for the browsers' stores: what `extension/bundle -store` built, the
// adapters of the shipped plugins beside it, and a zip of all of it. The zip of a commit is always the same file.
package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tabrelay/adapters"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/road/plugin"
)

func main() {
	log.SetFlags(0)
	folder := flag.String("folder", "", "the built store edition, which gets the adapters")
	at := flag.Int64("time", 0, "seconds since 1970 that every file is said to be from")
	flag.Parse()
	if *folder == "" || flag.NArg() == 0 {
		log.Fatal("usage: store -folder FOLDER -time SECONDS FILE.zip ...")
	}
	if err := run(*folder, time.Unix(*at, 0).UTC(), flag.Args()); err != nil {
		log.Fatal("store: ", err)
	}
}

func run(folder string, at time.Time, archives []string) error {
	if err := addAdapters(folder); err != nil {
		return err
	}
	packed, err := pack(os.DirFS(folder), at)
	if err != nil {
		return err
	}
	for _, archive := range archives {
		if err := os.MkdirAll(filepath.Dir(archive), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(archive, packed, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// addAdapters puts the shipped plugins into the package, as the relay puts them into the folder that it writes.
func addAdapters(folder string) error {
	all, err := adapters.Files()
	if err != nil {
		return err
	}
	shipped, err := plugin.LoadFS(all)
	if err != nil {
		return err
	}
	files, err := catalog.Packaged(os.DirFS(folder), shipped)
	if err != nil {
		return err
	}
	for name, data := range files {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// pack makes a zip with the files in the order of their names, all with the same time and mode.
func pack(files fs.FS, at time.Time) ([]byte, error) {
	contents := map[string][]byte{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		contents[name], err = fs.ReadFile(files, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at}
		header.SetMode(0o644)
		w, err := archive.CreateHeader(header)
		if err == nil {
			_, err = w.Write(contents[name])
		}
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
	}
	err = archive.Close()
	return packed.Bytes(), err
}
