package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/join"
	"tabrelay/relay/pause"
	"tabrelay/relay/plugin"
)

// rejoinTime is how long a session waits before it looks whether a relay runs again.
const rejoinTime = time.Second

func (a *app) pluginDev() *cobra.Command {
	return &cobra.Command{
		Use: "dev [FOLDER]", Short: "Work on a plugin: each save is live in the open tabs, and its calls are shown", Args: cobra.MaximumNArgs(1),
		Long: "Builds the plugin, offers it, and builds it again after each change: the next call runs what was saved, while calls\n" +
			"under way end on what they began with. A change that does not build leaves the tools as they were. A folder that\n" +
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
			hurry(true)
			d := &development{app: a, dir: dir}
			return d.run(ctx)
		},
	}
}

// development is one session of working on a plugin.
type development struct {
	*app
	dir   string
	last  *plugin.Plugin // what is offered; nil before the first good build
	fresh bool           // the folder was added by this session
	seat  string         // by which the relay knows this session once it was confirmed
	alone bool           // nobody confirmed it
	end   func()         // of the relay's letting last run; nil when it does not
}

func (d *development) run(ctx context.Context) error {
	// Watching ends by itself when there is no such folder; following the calls ends with it.
	ctx, unfollow := context.WithCancel(ctx)
	defer unfollow()
	names := make(chan string, 1)
	var following sync.WaitGroup
	following.Go(func() { d.followCalls(ctx, names) })
	err := plugin.Watch(ctx, d.dir, plugin.Options{}, func(b plugin.Built) {
		d.noteBuild(d.dir, "", b.Err)
		d.warn(b.Diagnostics)
		if b.Err != nil {
			d.notef("error: %v\n", b.Err)
			if d.last != nil {
				d.notef("The tools stay as they were.\n")
			}
			return
		}
		d.offer(ctx, b, names)
	})
	unfollow()
	defer d.endVouching()
	if d.last != nil && d.fresh {
		name := d.last.Manifest.Name
		if gone := plugin.Remove(d.home.Plugins(), name); gone != nil {
			err = errors.Join(err, gone)
		} else {
			d.notef("%s is not offered any more. To keep it: tabrelay plugin add %s\n", name, d.dir)
			// The person ended it: what is left to do does not end with them.
			err = errors.Join(err, d.tellRelay(context.WithoutCancel(ctx), name))
		}
	}
	following.Wait()
	return err
}

// offer makes a build the one that the next call runs.
func (d *development) offer(ctx context.Context, b plugin.Built, names chan string) {
	if d.last != nil && d.last.Hash == b.Plugin.Hash {
		d.notef("Nothing changed for the page.\n")
		return
	}
	began := time.Now()
	if d.last != nil && d.last.Manifest.Name != b.Plugin.Manifest.Name && d.fresh {
		if err := plugin.Remove(d.home.Plugins(), d.last.Manifest.Name); err != nil {
			d.notef("problem: %v\n", err)
		}
	}
	d.vouch(ctx, b.Plugin)
	fresh, err := plugin.Enlist(d.home.Plugins(), b.Plugin)
	if err != nil {
		d.notef("error: %v\n", err)
		return
	}
	m := b.Plugin.Manifest
	if err := d.tellRelay(ctx, m.Name); err != nil {
		d.notef("problem: the relay did not take it: %v\n", err)
	}
	if d.end == nil {
		d.noteReview(ctx, b.Plugin)
	}
	took := b.Took + time.Since(began)
	if d.last == nil {
		pages := cmp.Or(strings.Join(m.URLPatterns, " "), "the pages you configure")
		d.notef("%s: %s on %s, in %s. Each save is live; Ctrl-C ends.\n", m.Name, counted(len(m.Tools), "tool"), pages, took.Round(time.Millisecond))
	} else {
		d.notef("%s: live in %s%s\n", m.Name, took.Round(time.Millisecond), indented(plugin.Compare(d.last, b.Plugin)))
	}
	d.last, d.fresh = b.Plugin, d.fresh || fresh
	select {
	case <-names: // an older one that nobody took
	default:
	}
	names <- m.Name
}

// indented puts each change on a line of its own.
func indented(changes []string) string {
	var b strings.Builder
	for _, change := range changes {
		b.WriteString("\n  " + change)
	}
	return b.String()
}

// followCalls shows the calls of the plugin until ctx ends, in one relay after the other.
func (d *development) followCalls(ctx context.Context, names chan string) {
	var name string
	select {
	case name = <-names:
	case <-ctx.Done():
		return
	}
	for there := true; ctx.Err() == nil; {
		switch err := d.calls(ctx, names, name); {
		case ctx.Err() != nil:
			return
		case there:
			d.notef("problem: calls are not shown: %v\n", err)
		}
		if !pause.For(ctx, rejoinTime) {
			return
		}
		_, running := join.Running(ctx, d.home)
		if there = running; running {
			d.notef("Calls are shown again.\n")
		}
	}
}

// calls shows those that one relay carries out.
func (d *development) calls(ctx context.Context, names chan string, name string) error {
	stream, err := d.stream(ctx, "/api/v1/calls")
	if err != nil {
		return err
	}
	defer stream.Close() // only read from
	scanner := bufio.NewScanner(stream)
	scanner.Buffer(nil, eventLine)
	for scanner.Scan() {
		text, ok := strings.CutPrefix(scanner.Text(), "data: ")
		if !ok {
			continue
		}
		select {
		case name = <-names: // it was renamed
		default:
		}
		var e news
		if json.Unmarshal([]byte(text), &e) == nil && e.Data["plugin"] == name {
			d.notef("%s  %s\n", e.Time.Local().Format("15:04:05.000"), e.Message)
		}
	}
	return fmt.Errorf("the relay ended")
}
