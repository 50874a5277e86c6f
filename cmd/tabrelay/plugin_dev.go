package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/lib/async"
	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/install"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
)

// reconnectInterval is the pause before a session tries again to reach a relay.
const reconnectInterval = time.Second

func (a *app) pluginDev() *cobra.Command {
	var replace string
	cmd := &cobra.Command{
		Use:  "dev [FOLDER]",
		Args: cobra.MaximumNArgs(1), Short: "Work on a plugin: each save is live in the open tabs, and its calls are " +
			"shown",
		Long: "Builds the plugin, offers it, and builds it again after each change: the next call runs what was " +
			"saved, while calls\n" +
			"under way finish with the code they began with. A change that does not build leaves the tools as they " +
			"were. A " +
			"folder that\n" +
			"was not added is offered only until this command ends.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			dir, err := pluginFolder(args)
			if err != nil {
				return err
			}
			if _, ok := join.Running(ctx, a.home); !ok {
				return errNotRunning()
			}
			source := sourceOf(dir, "")
			if err := replacing(&source, "dev", replace); err != nil {
				return err
			}
			tuneGC(true)
			d := &devSession{app: a, dir: dir, source: source, shown: make(chan *plugin.Plugin, 1),
				endApproval: func() {}}
			return d.run(ctx)
		},
	}
	cmd.Flags().StringVar(&replace, "replace", "", replaceUsage)
	return cmd
}

// devSession is one run of `plugin dev`.
type devSession struct {
	*app
	dir     string
	source  install.Source      // says which plugin of the program it may replace
	current *plugin.Plugin      // what is offered; nil before the first good build
	added   bool                // the folder was added by this session
	shown   chan *plugin.Plugin // the last good build, for followCalls

	token       string // by which the relay recognizes this session once it was confirmed
	approved    bool   // builds run without a review
	unconfirmed bool   // the person did not confirm that
	endApproval func() // ends the relay's approval of the current build
}

func (d *devSession) run(ctx context.Context) error {
	// Watching ends by itself when the folder is gone; following the calls then has to end, too.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var following sync.WaitGroup
	following.Go(func() { d.followCalls(ctx) })
	err := build.Watch(ctx, d.dir, build.Options{}, func(b build.Result) {
		d.noteBuild(d.dir, "", b.Err)
		d.printWarnings(b.Diagnostics)
		if b.Err == nil {
			d.publish(ctx, b)
			return
		}
		d.noteFailure(b.Err)
		if d.current != nil {
			d.notef("The tools stay as they were.\n")
		}
	})
	cancel()
	defer d.endApproval()
	if d.current != nil && d.added {
		// ctx has ended, but the plugin still has to be removed.
		err = errors.Join(err, d.removeAdded(context.WithoutCancel(ctx)))
	}
	following.Wait()
	return err
}

// removeAdded stops offering a folder that this session added.
func (d *devSession) removeAdded(ctx context.Context) error {
	name := d.current.Manifest.Name
	if err := build.Remove(d.home.Plugins(), name); err != nil {
		return err
	}
	keep := shellWord(d.dir)
	if d.source.Replace != "" {
		keep = "--replace " + name + " " + keep
	}
	d.notef("%s is not offered any more. To keep it: tabrelay plugin add %s\n", name, keep)
	return d.reloadPlugins(ctx, name)
}

// publish makes a build the one that the next call runs.
func (d *devSession) publish(ctx context.Context, b build.Result) {
	if d.current != nil && d.current.Hash == b.Plugin.Hash {
		d.notef("Nothing changed for the page.\n")
		return
	}
	if err := d.source.PermitFolder(d.home.Plugins(), b.Plugin); err != nil {
		d.notef("error: %v\n", err)
		if hint := fault.HintOf(err); hint != "" {
			d.notef("Next: %s\n", hint)
		}
		return
	}
	began := time.Now()
	m := b.Plugin.Manifest
	if d.current != nil && d.current.Manifest.Name != m.Name && d.added {
		if err := build.Remove(d.home.Plugins(), d.current.Manifest.Name); err != nil {
			d.notef("problem: %v\n", err)
		}
	}
	if d.approved {
		d.approveBuild(ctx, b.Plugin) // before the relay finds it, so that the tools are there all the time
	}
	added, err := build.Register(d.home.Plugins(), b.Plugin)
	if err != nil {
		d.notef("error: %v\n", err)
		return
	}
	d.reload(ctx, m.Name)
	took := b.Took + time.Since(began)
	if !d.approved {
		d.approveBuild(ctx, b.Plugin) // after it, so that a person is shown what the relay found
		if d.approved {
			d.reload(ctx, m.Name)
		} else {
			d.noteReview(ctx, b.Plugin)
		}
	}
	took = took.Round(time.Millisecond) // without the time the person took to answer
	if d.current == nil {
		pages := cmp.Or(strings.Join(m.URLPatterns, " "), "the pages you configure")
		d.notef("%s: %s on %s, in %s. Each save is live; Ctrl-C ends.\n", m.Name, plural(len(m.Tools), "tool"), pages,
			took)
	} else {
		d.notef("%s: live in %s%s\n", m.Name, took, indented(build.Compare(d.current, b.Plugin)...))
	}
	d.current, d.added = b.Plugin, d.added || added
	select {
	case <-d.shown: // an older one that was not read
	default:
	}
	d.shown <- b.Plugin
}

func (d *devSession) reload(ctx context.Context, name string) {
	if err := d.reloadPlugins(ctx, name); err != nil {
		d.notef("problem: the relay did not accept it: %v\n", err)
	}
}

// indented puts each on a line of its own.
func indented(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("\n  " + line)
	}
	return b.String()
}

// followCalls shows the calls of the plugin until ctx ends, in one relay after the other.
func (d *devSession) followCalls(ctx context.Context) {
	var p *plugin.Plugin
	select {
	case p = <-d.shown:
	case <-ctx.Done():
		return
	}
	for running := true; ctx.Err() == nil; {
		err := d.printCalls(ctx, &p)
		if ctx.Err() == nil && running {
			d.notef("problem: calls are not shown: %v\n", err)
		}
		if !async.Sleep(ctx, reconnectInterval) {
			return
		}
		if _, running = join.Running(ctx, d.home); running {
			d.notef("Calls are shown again.\n")
		}
	}
}

// printCalls shows the calls of the plugin until the relay ends; p is its last good build.
func (d *devSession) printCalls(ctx context.Context, p **plugin.Plugin) error {
	err := d.stream(ctx, "/api/v1/calls", func(_, data string) error {
		select {
		case *p = <-d.shown:
		default:
		}
		var e eventEntry
		if json.Unmarshal([]byte(data), &e) == nil && e.Data["plugin"] == (*p).Manifest.Name {
			d.notef("%s  %s\n", e.Time.Local().Format("15:04:05.000"), e.Message)
			d.printPlace(ctx, *p, e.Data["at"])
		}
		return nil
	})
	return cmp.Or(err, fmt.Errorf("the relay ended"))
}

// printPlace shows where in the author's sources an error came from. at are its places in what was injected, from the
// innermost on; the first in the author's own files counts.
func (d *devSession) printPlace(ctx context.Context, p *plugin.Plugin, at any) {
	places, _ := at.([]any)
	var inSDK string
	for _, at := range places {
		one, _ := at.(string)
		place, ok := d.place(ctx, p, one)
		if file, of := build.OfSDK(place.File); ok && of {
			inSDK = cmp.Or(inSDK, file)
		} else if ok {
			d.notef("  %s\n%s", place.Place(), indentedFrame(place))
			return
		}
	}
	if inSDK != "" {
		d.notef("  in the SDK (%s). None of your lines is in the stack, as happens where a promise is not "+
			"awaited.\n", inSDK)
	}
}

func indentedFrame(d build.Diagnostic) string {
	if d.Frame == "" {
		return ""
	}
	return d.Frame + "\n"
}

// place is where in the sources of a build the place of a failure is; there is none when the call ran another build.
func (d *devSession) place(ctx context.Context, p *plugin.Plugin, at string) (place build.Diagnostic, ok bool) {
	s, err := d.relayStatus(ctx)
	if err != nil {
		return place, false
	}
	injected, err := os.ReadFile(filepath.Join(s.Extension.Folder, "adapters", build.InjectedFile(at)))
	if err != nil {
		return place, false
	}
	return build.SourcePlace(p, injected, at)
}

// approveBuild lets a build run without a review, because its author watches the session. A person confirms that once;
// each later build of the session then counts as reviewed while it runs. Without that nothing is approved.
func (d *devSession) approveBuild(ctx context.Context, p *plugin.Plugin) {
	if d.unconfirmed {
		return
	}
	ctx, end := context.WithCancel(ctx)
	begun := make(chan error, 1)
	go d.holdApproval(ctx, p, begun)
	if err := <-begun; err != nil {
		d.unconfirmed = true // the person is not asked again at each save
		if !errors.Is(err, errNoTerminal) && ctx.Err() == nil {
			d.notef("problem: builds do not run without a review: %v\n", err)
		}
		end()
		return // the approval of an earlier build stays
	}
	endEarlier := d.endApproval
	d.endApproval, d.approved = end, true
	endEarlier() // only now, so that one of the builds is approved at any moment
}

// holdApproval keeps a request open for which the relay approves a build, until ctx ends, with one relay after the
// other. begun receives the result of the first request.
func (d *devSession) holdApproval(ctx context.Context, p *plugin.Plugin, begun chan<- error) {
	path, decision := "/api/v1/reviews/"+url.PathEscape(p.Manifest.Name)+"/dev", httpapi.Decision{Hash: p.Hash}
	for first := true; first || ctx.Err() == nil; first = false { // begun is waited for, also when ctx has ended
		header := http.Header{"Accept": {"text/plain"}, httpapi.DevelopHeader: {d.token}}
		res, err := d.sendConfirmed(ctx, http.MethodPost, path, decision, header, d.confirmHere)
		if err == nil {
			d.token = res.Header.Get(httpapi.DevelopHeader)
		}
		if first {
			begun <- err
		}
		if err == nil {
			if !first {
				_ = d.reloadPlugins(ctx, "") // the new relay read the folder before this approval; its log has problems
			}
			_, _ = io.Copy(io.Discard, res.Body) // until either side ends it
			_ = res.Body.Close()                 // only read from
		} else if first {
			return
		}
		async.Sleep(ctx, reconnectInterval)
	}
}

// noteReview says so when the relay does not run a build because nobody reviewed it.
func (a *app) noteReview(ctx context.Context, p *plugin.Plugin) {
	s, err := a.sheet(ctx, p.Manifest.Name)
	if err != nil || s.Hash != p.Hash || s.State != review.Waiting && s.State != review.Refused {
		return // the relay, or the next build, reports other problems
	}
	a.notef("problem: nobody reviewed this build. %s\n", offNotice(s))
	a.notef("Next: review it in the side panel, or in a terminal: tabrelay plugin review %s; "+
		"or run plugin dev in a terminal, which lets each save run\n", p.Manifest.Name)
}
