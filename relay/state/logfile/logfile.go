// Package logfile writes the relay's log: JSON lines into one file, with the one before it kept, and onto whatever else
// watches. Nobody who logs waits for a disk or a terminal.
package logfile

import (
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"tabrelay/relay/lib/lock"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/diode"
)

const (
	logBytes   = 10 << 20               // of relay.log, before the file becomes relay.log.1
	logBacklog = 4096                   // lines that wait to be written; more are dropped, and counted
	lastLines  = 200 * time.Millisecond // for whoever watches to read the last lines
)

// Log is the relay's log. Writing to it never blocks: a terminal or pipe that nobody reads must not stop a relay.
type Log struct {
	zerolog.Logger
	file  *rotating
	queue diode.Writer   // of the file
	shown []diode.Writer // of whoever else watches
}

// Open opens the log at path for lines of at least the given level, and shows them on others too.
func Open(path, level string, others ...io.Writer) (*Log, error) {
	least, err := zerolog.ParseLevel(level)
	if err != nil {
		return nil, fmt.Errorf("logging.level: %w", err)
	}
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	l := &Log{file: file, queue: queue(file)}
	writers := []io.Writer{l.queue}
	for _, w := range others {
		q := queue(struct{ io.Writer }{w}) // whoever watches is not ours to close
		l.shown, writers = append(l.shown, q), append(writers, q)
	}
	l.Logger = zerolog.New(zerolog.MultiLevelWriter(writers...)).Level(least).With().Timestamp().Logger()
	return l, nil
}

// queue lets lines wait for w. Those that find no room are lost, and w is told how many.
func queue(w io.Writer) diode.Writer {
	return diode.NewWriter(w, logBacklog, 0, func(lost int) {
		here := zerolog.New(w)
		here.Warn().Int("lines", lost).Msg("log lines were dropped: they came faster than they could be written")
	})
}

// Capture sends what libraries log through the standard library here too, and the last words of a process that
// panics. It concerns the whole process.
func (l *Log) Capture() {
	_ = debug.SetCrashOutput(l.file.file, debug.CrashOptions{}) // where that is not possible, stderr has to do
	zerolog.ErrorHandler = func(error) {}                       // a line that cannot be written has nowhere else to go
	log.SetFlags(0)
	log.SetOutput(debugLines{l.Logger})
	slog.SetDefault(slog.New(zerolog.NewSlogHandler(l.Logger)))
}

// Close writes what waits. Nothing may be logged after it.
func (l *Log) Close() error {
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		for _, q := range l.shown {
			_ = q.Close() // as below, it is the writer's own error that counts, and there is nobody to tell
		}
	}()
	select {
	case <-shown:
	case <-time.After(lastLines): // somebody stopped reading
	}
	return l.queue.Close() // and with it the file
}

// rotating is a file that makes room for itself.
type rotating struct {
	path string

	mu   lock.Mutex // guards the rest
	file *os.File
	size int64
}

func openFile(path string) (*rotating, error) {
	f := &rotating{path: path}
	if err := f.open(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *rotating) open() error {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("cannot open the log: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("cannot look at the log: %w", err), file.Close())
	}
	f.file, f.size = file, info.Size()
	return nil
}

// Write appends one line.
func (f *rotating) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size+int64(len(line)) > logBytes {
		if err := f.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(line)
	f.size += int64(n)
	return n, err
}

// rotate puts the full file aside and begins a new one.
func (f *rotating) rotate() error {
	if err := errors.Join(f.file.Close(), os.Rename(f.path, f.path+".1")); err != nil {
		return errors.Join(err, f.open())
	}
	return f.open()
}

// Close closes the file.
func (f *rotating) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}

// Quiet is for what libraries say, such as an HTTP server of connections that went wrong: anybody can cause it,
// so it is no warning.
func Quiet(l zerolog.Logger) *log.Logger { return log.New(debugLines{l}, "", 0) }

// debugLines logs what is written to it.
type debugLines struct{ log zerolog.Logger }

func (d debugLines) Write(line []byte) (int, error) {
	d.log.Debug().Msg(strings.TrimSpace(string(line)))
	return len(line), nil
}
