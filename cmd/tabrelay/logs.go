package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
)

func (a *app) logs() *cobra.Command {
	var follow bool
	var lines int
	cmd := &cobra.Command{
		Use: "logs", Short: "Show the relay's log",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 0 {
				return usage("--limit is negative")
			}
			var out io.Writer = a.out
			if !a.json {
				out = logWriter(a.out)
			}
			return a.showLog(cmd.Context(), out, lines, follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with new lines")
	cmd.Flags().BoolVar(&a.json, "json", false, "print the lines as they are: JSON")
	limitFlag(cmd, &lines, 100, "how many of the last lines to show")
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
	t := &logTail{file: file}
	defer t.close()
	text, err := io.ReadAll(file)
	if err != nil {
		return failed("cannot read the log: %w", err)
	}
	if err := t.write(out, lastLines(text, lines)); err != nil || !follow {
		return err
	}
	return a.followLog(ctx, out, t)
}

// logTail reads a file that grows.
type logTail struct {
	file    *os.File
	partial []byte // a line whose end was not written yet
}

func (t *logTail) close() { _ = t.file.Close() } // only read from

// write writes the complete lines of text, and keeps the rest.
func (t *logTail) write(out io.Writer, text []byte) error {
	t.partial = append(t.partial, text...)
	end := bytes.LastIndexByte(t.partial, '\n') + 1
	for line := range bytes.Lines(t.partial[:end]) {
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	t.partial = t.partial[end:]
	return nil
}

// followLog prints what is added until ctx is done.
func (a *app) followLog(ctx context.Context, out io.Writer, t *logTail) error {
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
			err = t.write(out, text)
		}
		if err != nil {
			return failed("cannot read the log: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if event.Name == a.home.Log() && event.Has(fsnotify.Create) {
				t.reopen(a.home.Log())
			}
		case err := <-watcher.Errors:
			return failed("cannot watch the log: %w", err)
		}
	}
}

// reopen continues with the new file after the log was rotated.
func (t *logTail) reopen(path string) {
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

// logWriter turns JSON lines into text. Other lines, such as those of a crash, pass unchanged.
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

// maxEventLine bounds one line of the stream.
const maxEventLine = 1 << 20

func (a *app) events() *cobra.Command {
	var follow bool
	var lines int
	cmd := &cobra.Command{
		Use: "events", Short: "Show recent events of the relay, and with -f new ones as they come",
		Long: "Show recent events of the relay, and with -f new ones as they come: browsers that connect and go, " +
			"failed calls,\n" +
			"retries, circuit breakers, questions to the person, clients that come and go. Events are kept in " +
			"memory only: after\n" +
			"a restart of the relay there are none.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 0 || lines > 500 {
				return usage("--limit is %d", lines).hinting("use a number from 0 to 500")
			}
			if follow {
				return a.followEvents(cmd.Context(), lines)
			}
			return a.recentEvents(cmd.Context(), lines)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with new events")
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON object on each line")
	limitFlag(cmd, &lines, 100, "how many of the last events to show")
	return cmd
}

// eventEntry is one event as the relay sends it.
type eventEntry struct {
	Time    time.Time      `json:"time"`
	Kind    string         `json:"kind"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data"`
}

func (a *app) recentEvents(ctx context.Context, lines int) error {
	var recent struct{ Events []json.RawMessage }
	if err := a.get(ctx, "/api/v1/events?once=1&recent="+strconv.Itoa(lines), &recent); err != nil {
		return err
	}
	for _, e := range recent.Events {
		if err := a.printEvent(e); err != nil {
			return err
		}
	}
	if len(recent.Events) == 0 {
		a.notef("Nothing has happened since the relay started.\n")
	}
	return nil
}

func (a *app) followEvents(ctx context.Context, lines int) error {
	err := a.stream(ctx, "/api/v1/events?recent="+strconv.Itoa(lines), func(kind, data string) error {
		if kind == "gap" {
			a.notef("… some events were missed: %s\n", data)
			return nil
		}
		return a.printEvent([]byte(data))
	})
	if err != nil || ctx.Err() != nil {
		return err
	}
	return failed("the relay ended").hinting("tabrelay up starts it")
}

// stream passes the server-sent events of the running relay to each, until the stream ends.
func (a *app) stream(ctx context.Context, path string, each func(kind, data string) error) error {
	res, err := a.send(ctx, http.MethodGet, path, nil, "text/event-stream")
	if err != nil {
		return err
	}
	defer res.Body.Close() // only read from
	scanner := bufio.NewScanner(res.Body)
	scanner.Buffer(nil, maxEventLine)
	kind := ""
	for scanner.Scan() {
		name, value, _ := strings.Cut(scanner.Text(), ": ")
		switch name {
		case "event":
			kind = value
		case "data":
			if err := each(kind, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *app) printEvent(text []byte) error {
	if a.json {
		_, err := fmt.Fprintf(a.out, "%s\n", text)
		return err
	}
	var e eventEntry
	if err := json.Unmarshal(text, &e); err != nil {
		return errUnreadable("an event of the relay", err)
	}
	a.printf("%s  %-12s %s\n", e.Time.Local().Format("15:04:05.000"), e.Kind, e.Message)
	return nil
}
