package recording

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/capability"
	"tabrelay/relay/capability/recording/draft"
	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/trial"
	"tabrelay/relay/road/plugin"
)

const (
	recordingsPath = "/api/v1/recordings"
	// recordingTime is how long a recording lasts at the most, unless told otherwise.
	recordingTime = 10 * time.Minute
	// lastWord is how long the browser may take to tell the rest of a recording that was ended.
	lastWord = 15 * time.Second
)

// newCommand is `tabrelay plugin record`.
func newCommand(t capability.Terminal) *cobra.Command {
	var n Order
	var span time.Duration
	var dir string
	cmd := t.WithJSON(&cobra.Command{
		Use: "record NAME", Args: cobra.ExactArgs(1),
		Short: "Record what you do in a tab, and write a draft plugin from it",
		Long: "Opens an address (--url), or takes an open tab (--tab), and records the requests of its pages while " +
			"you " +
			"do there\n" +
			"what agents should be able to do. Enter or Ctrl-C ends it. Each request becomes a tool of a draft " +
			"plugin " +
			"in the folder\n" +
			"NAME, with a fixture. Passwords, cookies, tokens and the texts you entered are left out. See " +
			"docs/plugin-record.md.",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			dir = cmp.Or(dir, name)
			if (n.URL == "") == (n.TabID == 0) {
				return t.Usage("--url https://app.example/ opens it in a new tab; --tab ID takes one that is open, "+
					"and `tabrelay tabs` lists these", "say what to record")
			}
			if span < time.Second || span > longest {
				return t.Usage("", "--for is not between 1s and %v", longest)
			}
			if err := plugin.CheckName(name); err != nil {
				return t.Usage("", "%v", err)
			}
			if err := draft.Folder(dir); err != nil {
				return t.Usage("", "%v", err)
			}
			n.Seconds = int(span.Seconds())
			r := &session{Terminal: t, name: name, dir: dir}
			return r.run(cmd.Context(), n)
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&n.URL, "url", "", "address to open in a new tab")
	flags.IntVar(&n.TabID, "tab", 0, "id of an open tab")
	flags.StringVar(&n.Profile, "profile", "", "name or id of the browser profile, where several are connected")
	flags.DurationVar(&span, "for", recordingTime, "how long at the most")
	flags.StringVar(&dir, "dir", "", "folder to write (default: NAME)")
	return cmd
}

// session is one run of `plugin record`. What was recorded is in its memory and nowhere else.
type session struct {
	capability.Terminal
	name, dir string
	began     Begun
	events    []json.RawMessage
	others    map[string]int
}

func (r *session) run(ctx context.Context, n Order) error {
	// Ctrl-C ends the recording, and not the reading of what it still has to tell.
	reading, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	stream, err := r.Stream(reading, http.MethodPost, recordingsPath, n, "application/x-ndjson")
	if err != nil {
		return err
	}
	defer stream.Close() // only read from
	lines := json.NewDecoder(stream)
	var first Line
	if err := lines.Decode(&first); err != nil || first.Began == nil {
		return r.Failed("tabrelay logs shows why", "the recording did not begin: %w", cmp.Or(err, io.ErrUnexpectedEOF))
	}
	r.began = *first.Began
	entered := r.Entered() // an Enter of before, while a question was open, does not end what begins now
	r.Notef("Recording tab %d, %s. Do there what agents should be able to do; Enter or Ctrl-C ends it.\n",
		r.began.TabID, r.began.origin())
	over := make(chan struct{})
	defer close(over)
	go r.endWhenTold(ctx, reading, entered, over, abandon)
	ended, err := r.read(lines)
	if err != nil {
		r.Notef("problem: the recording broke off: %v\n", err)
	}
	if text := endings[ended]; text != "" {
		r.Notef("%s\n", text)
	}
	return r.write(context.WithoutCancel(ctx))
}

// endings says why a recording ended that the person did not end.
var endings = map[string]string{
	"time":   "The time limit was reached; --for sets a longer one.",
	"size":   "The recording has reached 16 MiB and ended. What came before is used; record the rest separately.",
	"closed": "The tab was closed.",
	"left":   "The tab went to another site, where nothing is recorded.",
	"panel":  "The recording was ended in the side panel.",
	"everything": "“Stop everything” ended the recording. The draft is made from what was seen until then; it is " +
		"kept nowhere else.",
	"lost":      "The browser lost its connection to the relay, and ended the recording.",
	"abandoned": "The browser was no longer asked for requests, and ended the recording.",
}

// endWhenTold ends the recording when the person presses Enter or Ctrl-C.
func (r *session) endWhenTold(ctx, reading context.Context, entered, over <-chan struct{}, abandon func()) {
	select {
	case <-entered:
	case <-ctx.Done():
	case <-over:
		return
	}
	path := fmt.Sprintf("%s/%s/%d", recordingsPath, url.PathEscape(r.began.ProfileID), r.began.TabID)
	if err := r.Request(reading, http.MethodDelete, path, nil, new(json.RawMessage)); err != nil {
		abandon()
		return
	}
	select {
	case <-over:
	case <-time.After(lastWord):
		abandon()
	}
}

// read takes what happens in the tab, and shows each request.
func (r *session) read(lines *json.Decoder) (ended string, err error) {
	for {
		var line Line
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			return "", nil
		} else if err != nil {
			return "", err
		}
		for _, event := range line.Events {
			r.show(event)
		}
		r.events = append(r.events, line.Events...)
		if line.Others != nil {
			r.others = line.Others
		}
		if line.Error != nil {
			return "", r.Failed("", "%s", line.Error.Message)
		}
		if line.Ended != "" {
			return line.Ended, nil
		}
	}
}

// show prints a request, without its query, which may have anything.
func (r *session) show(event json.RawMessage) {
	var e struct{ Kind, Method, URL string }
	if json.Unmarshal(event, &e) != nil || e.Kind != "request" {
		return
	}
	if u, err := url.Parse(e.URL); err == nil {
		r.Notef("  %s %s\n", e.Method, draft.Shown(u))
	}
}

// write makes the draft, builds it and runs its tests.
func (r *session) write(ctx context.Context) error {
	d, err := draft.Make(draft.Read(r.events), r.name, r.began.origin())
	if d != nil {
		r.noteLeft(d)
	}
	if err != nil {
		return r.Failed("do the task again while the recording runs; what a page has loaded before is not seen: "+
			"reload it", "%w", err)
	}
	if err := d.Write(r.dir, r.name); err != nil {
		return err
	}
	p, found, err := build.Build(ctx, r.dir, build.Options{})
	if err != nil {
		return err
	}
	for _, d := range append(found, build.Check(p)...) {
		if d.Warning {
			r.Notef("%s\n", d)
		}
	}
	passed, total, err := r.test(ctx, p)
	if err != nil {
		return err
	}
	folder := r.ShellWord(r.dir)
	r.Notef("%s: %s in %s\n", r.name, plural(len(p.Manifest.Tools), "tool"),
		filepath.Join(r.dir, "src", "index.ts"))
	if passed == total {
		r.Notef("%d of %d fixtures pass: tabrelay plugin test %s\n", passed, total, folder)
	} else {
		r.Notef("%d of %d fixtures pass without a browser; for all of them: tabrelay plugin test --browser %s\n",
			passed, total, folder)
	}
	r.Notef("It is a draft: read it, say in each description what the tool is for, and leave out what nobody needs.\n")
	r.Notef("Next: tabrelay plugin dev %s\n", folder)
	if r.JSON() {
		names := []string{}
		for _, t := range p.Manifest.Tools {
			names = append(names, t.Name)
		}
		return r.PrintJSON(recorded{Folder: r.dir, Tools: names, Left: append([]draft.Left{}, d.Left...),
			Others: r.others})
	}
	return nil
}

// recorded is what came of a recording, for programs.
type recorded struct {
	Folder string         `json:"folder"`
	Tools  []string       `json:"tools"`
	Left   []draft.Left   `json:"left"`
	Others map[string]int `json:"others,omitempty"`
}

// noteLeft says what did not become a tool.
func (r *session) noteLeft(d *draft.Draft) {
	for _, left := range d.Left {
		where := strings.Join(left.Of, ", ")
		if where != "" {
			where = ": " + where
		}
		r.Notef("Left out %s, %s%s\n", plural(left.Requests, "request"), left.Why, where)
	}
	var files int
	var elsewhere []string
	for what, n := range r.others {
		if strings.Contains(what, "://") {
			elsewhere = append(elsewhere, what)
		} else {
			files += n
		}
	}
	if files > 0 {
		r.Notef("Left out %s for files, pictures, sockets and the like\n", plural(files, "request"))
	}
	if len(elsewhere) > 0 {
		slices.Sort(elsewhere)
		r.Notef("Left out requests to other origins: %s\n", strings.Join(elsewhere, ", "))
	}
}

// test runs the fixtures that need no browser.
func (r *session) test(ctx context.Context, p *plugin.Plugin) (passed, total int, err error) {
	fixtures, err := trial.Read(r.dir, p)
	if err != nil {
		return 0, 0, err
	}
	for i := range fixtures {
		result := trial.Run(ctx, p, &fixtures[i])
		for _, problem := range result.Problems {
			r.Notef("problem: fixtures/%s.json: %s\n", result.Name, problem)
		}
		if len(result.Problems) == 0 && result.NeedsPage == "" {
			passed++
		}
	}
	return passed, len(fixtures), nil
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
