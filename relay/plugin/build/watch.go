package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"tabrelay/relay/road/plugin"
)

// settleTime is how long no file may change before a build, since editors write a file in several steps, and several
// files at once.
const settleTime = 30 * time.Millisecond

// Result is one build of a watched plugin.
type Result struct {
	Plugin      *plugin.Plugin // nil when it failed
	Diagnostics []Diagnostic
	Err         error
	Took        time.Duration
}

// Watch builds a plugin now and after each change of its sources, until the context ends. It reports every build,
// failed ones too. Its error is about watching, never about the plugin.
func Watch(ctx context.Context, dir string, opts Options, report func(Result)) error {
	b, err := NewBuilder(dir)
	if err != nil {
		return err
	}
	defer b.Close()
	b.reader.keepReady = true
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("files cannot be watched: %w", err)
	}
	defer func() { _ = watcher.Close() }()
	w := &watch{builder: b, opts: opts, watcher: watcher, report: report}
	if err := w.addFolders(); err != nil {
		return err
	}
	w.build(ctx)
	return w.run(ctx)
}

// watch belongs to the goroutine of Watch.
type watch struct {
	builder *Builder
	opts    Options
	watcher *fsnotify.Watcher
	report  func(Result)
}

// addFolders watches the plugin's folder and everything in src.
func (w *watch) addFolders() error {
	if err := w.watcher.Add(w.builder.dir); err != nil {
		return fmt.Errorf("the folder %s cannot be watched: %w", w.builder.dir, err)
	}
	if err := w.watcher.Add(filepath.Join(w.builder.dir, promptsFolder)); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the plugin's recipes cannot be watched: %w", err)
	}
	err := filepath.WalkDir(filepath.Join(w.builder.dir, "src"), func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile, or not there yet
		}
		if err != nil || !entry.IsDir() {
			return err
		}
		return w.watcher.Add(path)
	})
	if err != nil {
		return fmt.Errorf("the plugin's sources cannot be watched: %w", err)
	}
	return nil
}

func (w *watch) run(ctx context.Context) error {
	pause := time.NewTimer(0)
	pause.Stop()
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, ok := <-w.watcher.Events:
			if !ok {
				return nil
			}
			if w.affectsBuild(event) {
				pause.Reset(settleTime)
			}
		case err, ok := <-w.watcher.Errors:
			if !ok {
				return nil
			}
			// Events were lost, but a build reads the files as they are.
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				pause.Reset(settleTime)
				continue
			}
			return fmt.Errorf("watching the plugin's files failed: %w", err)
		case <-pause.C:
			w.build(ctx)
		}
	}
}

// affectsBuild reports whether an event may change the build. It also watches new folders in src.
func (w *watch) affectsBuild(event fsnotify.Event) bool {
	rel, err := filepath.Rel(w.builder.dir, event.Name)
	if err != nil || event.Op == fsnotify.Chmod {
		return false
	}
	rel = filepath.ToSlash(rel)
	if rel == packageFile || rel == "tsconfig.json" {
		return true
	}
	top, _, _ := strings.Cut(rel, "/")
	if top != "src" && top != promptsFolder {
		return false
	}
	if event.Has(fsnotify.Create) {
		_ = w.addFolders() // a folder that was removed meanwhile needs no watching
	}
	return true
}

func (w *watch) build(ctx context.Context) {
	start := time.Now()
	p, found, err := w.builder.Build(ctx, w.opts)
	if ctx.Err() == nil {
		w.report(Result{Plugin: p, Diagnostics: found, Err: err, Took: time.Since(start)})
	}
}
