package front

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite what the server says in testdata")

// TestConversationsGoAsRecorded plays what clients say in testdata/{stdio,http}/*.txtar and compares what the server
// says.
//
// A file is a list of sections. On stdio, "client" is lines that are sent at once, and "server" what came back until
// nothing more happened. Over HTTP, "client NAME" is a request, and "server NAME" what its response has said since it
// was last looked at. "event" makes something else happen: see (*conversation).event. $SESSION stands for the last
// session id that was given out, $CURSOR, $STATE, $TASK and $ASKED for the last nextCursor, requestState, taskId and
// id of a request of the server.
func TestConversationsGoAsRecorded(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		files, err := filepath.Glob("testdata/" + transport + "/*.txtar")
		if err != nil || len(files) == 0 {
			t.Fatal("no conversations", err)
		}
		for _, file := range files {
			t.Run(transport+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				archive, err := txtar.ParseFile(file)
				if err != nil {
					t.Fatal(err)
				}
				got := &txtar.Archive{Comment: archive.Comment, Files: slices.Clone(archive.Files)}
				synctest.Test(t, func(t *testing.T) { play(t, transport, got) })
				if *update {
					if err := os.WriteFile(file, txtar.Format(got), 0o666); err != nil {
						t.Fatal(err)
					}
				} else if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
					t.Errorf("the server says something else (-want +got); run with -update to accept\n%s", diff)
				}
			})
		}
	}
}

// talker is one transport of a conversation.
type talker interface {
	say(name, text string)
	heard(name string) string
	hangUp()
}

// conversation plays one file.
type conversation struct {
	t       *testing.T
	fixture *fixture
	talker  talker
	words   map[string]string // what the server gave out last
}

// given finds what a client has to repeat later.
var given = map[string]*regexp.Regexp{
	"$CURSOR": regexp.MustCompile(`"nextCursor":"([^"]*)"`),
	"$STATE":  regexp.MustCompile(`"requestState":"([^"]*)"`),
	"$TASK":   regexp.MustCompile(`"taskId":"([^"]*)"`),
	"$ASKED":  regexp.MustCompile(`"id":"([^"]*)","method"`),
}

// heard is what the server said, with what differs from run to run replaced by its name.
func (c *conversation) heard(name string) string {
	text := c.talker.heard(name)
	for word, pattern := range given {
		if found := pattern.FindAllStringSubmatch(text, -1); found != nil {
			c.words[word] = found[len(found)-1][1]
		}
		if value := c.words[word]; value != "" {
			text = strings.ReplaceAll(text, value, word)
		}
	}
	return text
}

func (c *conversation) say(name, text string) {
	for word, value := range c.words {
		text = strings.ReplaceAll(text, word, value)
	}
	c.talker.say(name, text)
}

func play(t *testing.T, transport string, archive *txtar.Archive) {
	o := Options{MaxBody: 2000, MaxLine: 2000, Views: newViews(string(archive.Comment))}
	if strings.Contains(string(archive.Comment), "\nwith tasks\n") {
		o.Tasks = newTaskMemory()
	}
	if strings.Contains(string(archive.Comment), "\nwith browsers\n") {
		o.Open = newPages()
	}
	c := &conversation{t: t, words: map[string]string{}, fixture: newFixture(t, o)}
	if transport == "stdio" {
		c.talker = newLineTalker(t, c.fixture.front, string(archive.Comment))
	} else {
		c.talker = &httpTalker{t: t, handler: c.fixture.front.Handler(), open: map[string]*httpExchange{}}
	}
	for i, section := range archive.Files {
		kind, name, _ := strings.Cut(section.Name, " ")
		switch kind {
		case "client":
			c.say(name, string(section.Data))
		case "event":
			c.event(strings.TrimSpace(string(section.Data)))
		case "server":
			c.settle()
			archive.Files[i].Data = []byte(c.heard(name))
		default:
			t.Fatalf("section %q", section.Name)
		}
	}
	c.settle()
	c.talker.hangUp()
	if err := c.fixture.front.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// settle waits until nothing moves, and then once more after the short waits of the transport.
func (c *conversation) settle() {
	synctest.Wait()
	time.Sleep(settleTime)
	synctest.Wait()
}

func (c *conversation) event(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "add-tool":
		c.fixture.addTool(c.t, rest)
	case "open", "close":
		c.fixture.front.options.Open.(*pages).show(rest, verb == "open")
	case "profiles":
		c.fixture.front.options.Open.(*pages).connect(len(strings.Fields(rest)))
	case "hide":
		c.fixture.front.options.Views.(*views).hide(rest)
	case "touch":
		c.settle()
		what, want, _ := strings.Cut(rest, " ")
		if n := c.fixture.touch(what); want != "" && want != fmt.Sprint(n) {
			c.t.Errorf("%d listen to %s, want %s", n, what, want)
		}
	case "log":
		level, words, _ := strings.Cut(rest, " ")
		c.fixture.front.Log(level, "registry", map[string]string{"message": words})
	case "pass":
		d, err := time.ParseDuration(rest)
		if err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(d)
	case "release":
		close(c.fixture.released)
	case "hang-up":
		c.talker.hangUp()
	case "shutdown":
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
		defer cancel()
		if err := c.fixture.front.Shutdown(ctx); err != nil {
			c.t.Log(err)
		}
	case "disconnect":
		c.settle()
		c.talker.(*httpTalker).open[rest].cancel()
	case "close-input":
		c.talker.(*lineTalker).once.Do(func() { _ = c.talker.(*lineTalker).in.Close() })
	case "calls":
		c.settle()
		if got := c.fixture.namedCalls(5, 6); got != rest {
			c.t.Errorf("calls %s, want %s", got, rest)
		}
	case "cancelled":
		c.settle()
		c.fixture.mu.Lock()
		defer c.fixture.mu.Unlock()
		if got := fmt.Sprint(c.fixture.causes); got != rest {
			c.t.Errorf("calls ended with %s, want %s", got, rest)
		}
	default:
		c.t.Fatalf("event %q", line)
	}
}
