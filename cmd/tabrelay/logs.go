package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
)

func (a *app) logs() *cobra.Command {
	var follow, asJSON bool
	var lines int
	cmd := &cobra.Command{
		Use: "logs", Short: "Show the relay's log", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 0 {
				return usage("--lines is negative")
			}
			var out io.Writer = a.out
			if !asJSON {
				out = logWriter(a.out)
			}
			return a.showLog(cmd.Context(), out, lines, follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with new lines")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the lines as they are: JSON")
	cmd.Flags().IntVarP(&lines, "lines", "n", 100, "how many of the last lines to show")
	return cmd
}

func (a *app) showLog(ctx context.Context, out io.Writer, lines int, follow bool) error {
	file, err := os.Open(a.home.Log())
	if errors.Is(err, fs.ErrNotExist) {
		return failed("there is no log yet: the relay has not run").hinting("tabrelay up starts it")
	}
	if err != nil {
		return failed("cannot open the log: %w", err)
	}
	t := &tail{file: file}
	defer t.close()
	text, err := io.ReadAll(file)
	if err != nil {
		return failed("cannot read the log: %w", err)
	}
	if err := t.put(out, lastLines(text, lines)); err != nil || !follow {
		return err
	}
	return a.followLog(ctx, out, t)
}

// tail is a file that grows. Half a line waits for its end.
type tail struct {
	file *os.File
	half []byte
}

func (t *tail) close() { _ = t.file.Close() } // only read from

// put writes the whole lines of text, and keeps the rest.
func (t *tail) put(out io.Writer, text []byte) error {
	t.half = append(t.half, text...)
	for {
		line, rest, whole := bytes.Cut(t.half, []byte("\n"))
		if !whole {
			return nil
		}
		t.half = rest
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
}

// followLog goes on until ctx is done.
func (a *app) followLog(ctx context.Context, out io.Writer, t *tail) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return failed("cannot watch the log: %w", err)
	}
	defer watcher.Close() // nothing was written
	if err := watcher.Add(filepath.Dir(a.home.Log())); err != nil {
		return failed("cannot watch the log: %w", err)
	}
	for {
		text, err := io.ReadAll(t.file)
		if err == nil {
			err = t.put(out, text)
		}
		if err != nil {
			return failed("cannot read the log: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if event.Name == a.home.Log() && event.Has(fsnotify.Create) {
				t.turn(a.home.Log())
			}
		case err := <-watcher.Errors:
			return failed("cannot watch the log: %w", err)
		}
	}
}

// turn goes on with the new file after the old one was put aside.
func (t *tail) turn(path string) {
	if next, err := os.Open(path); err == nil {
		t.close()
		t.file = next
	}
}

// lastLines is the end of text, n lines long.
func lastLines(text []byte, n int) []byte {
	at := len(text)
	if at > 0 && text[at-1] == '\n' {
		at--
	}
	for range n {
		if at = bytes.LastIndexByte(text[:at], '\n'); at < 0 {
			return text
		}
	}
	return text[at+1:]
}

// logWriter turns JSON lines into text. What is no JSON, such as a crash, passes as it is.
func logWriter(out io.Writer) io.Writer {
	console := zerolog.ConsoleWriter{Out: out, NoColor: true, TimeFormat: "2006-01-02 15:04:05.000"}
	return writerFunc(func(line []byte) (int, error) {
		if len(line) == 0 || line[0] != '{' {
			return out.Write(line)
		}
		return console.Write(line)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
