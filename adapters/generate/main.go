// Command generate builds the shipped plugins into dist: every folder here that has a package.json, and the browser's
// own tools, which are part of the extension.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/plugin"
)

func main() {
	log.SetFlags(0)
	if err := run("."); err != nil {
		log.Fatal("adapters: ", err)
	}
}

// run builds every plugin under dir into dir/dist, and leaves nothing there that is no longer built.
func run(dir string) error {
	before, err := filepath.Glob(filepath.Join(dir, "dist", "*", "manifest.json"))
	if err != nil {
		return err
	}
	for _, file := range before {
		if err := os.RemoveAll(filepath.Dir(file)); err != nil {
			return err
		}
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", "package.json"))
	if err != nil {
		return err
	}
	outputs := map[string]string{} // by source
	for _, file := range found {
		outputs[filepath.Dir(file)] = filepath.Base(filepath.Dir(file))
	}
	own := filepath.Join(dir, "..", "extension", "src", "browser")
	outputs[own], outputs[filepath.Join(own, "dev")] = plugin.Browser, plugin.OptIn
	for source, name := range outputs {
		if err := generate(source, filepath.Join(dir, "dist", name)); err != nil {
			return err
		}
	}
	return nil
}

func generate(source, out string) error {
	options := build.Options{Out: out, Shipped: true}
	_, warnings, err := build.Build(context.Background(), source, options)
	for _, w := range warnings {
		fmt.Fprintf(os.Stderr, "%s: %v\n", source, w)
	}
	if err != nil {
		return err
	}
	return os.Remove(filepath.Join(options.Out, "adapter.js.map")) // nobody looks for it in the binary
}
