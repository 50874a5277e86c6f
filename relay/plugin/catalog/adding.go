package catalog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/install"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
)

// AddTime is how long adding a plugin may take, with what has to be fetched for it.
const AddTime = 5 * time.Minute

// maxSource bounds what a person writes to say where a plugin is.
const maxSource = 1000

// Addition is the progress of adding a plugin, or its result.
type Addition struct {
	From    string       `json:"from"`
	Began   time.Time    `json:"began"`
	Step    string       `json:"step,omitempty"`   // the current step; empty once it has ended
	Plugin  string       `json:"plugin,omitempty"` // its name, once it was added
	State   review.State `json:"state,omitempty"`  // of its review
	Notes   []string     `json:"notes"`            // warnings of its build
	Problem string       `json:"problem,omitempty"`
	Hint    string       `json:"hint,omitempty"`
}

// adding is the one plugin that is being added, or was added last.
type adding struct {
	Addition
	cancel context.CancelCauseFunc
	done   chan struct{}
}

var (
	errStopped = errors.New("you stopped it, and nothing was added")
	errClosing = errors.New("the relay stops, and nothing was added")
)

// Adding returns the plugin that is being added, or the last result; nil when there is none or the person dismissed it.
func (c *Catalog) Adding() *Addition {
	c.addingLock.Lock()
	defer c.addingLock.Unlock()
	if c.adding == nil {
		return nil
	}
	a := c.adding.Addition
	return &a
}

// Add starts adding a plugin in the background: from is a folder, a tarball or the name of a package. Its code does not
// run before the person has reviewed it.
func (c *Catalog) Add(from string) *fault.Error {
	source, failure := sourceFor(from, string(c.options.Home))
	if failure != nil {
		return failure
	}
	c.addingLock.Lock()
	defer c.addingLock.Unlock()
	switch {
	case c.addingClosed:
		return stopping()
	case c.adding != nil && c.adding.Step != "":
		return fault.New(fault.Overloaded, "The plugin from "+fault.Excerpt(c.adding.From)+" is still being added",
			fault.WithHint("Wait for it, or stop it."))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	a := &adding{cancel: cancel, done: make(chan struct{}), Addition: Addition{
		From: review.Legible(from), Began: time.Now().UTC(), Step: "Looking at " + review.Legible(from),
		Notes: []string{},
	}}
	c.adding = a
	go c.add(ctx, a, source)
	return nil
}

// StopAdding cancels the addition that runs and waits for its end, or dismisses the result of the last one.
func (c *Catalog) StopAdding() {
	c.addingLock.Lock()
	a := c.adding
	c.addingLock.Unlock()
	if a == nil {
		return
	}
	a.cancel(errStopped)
	<-a.done
	c.addingLock.Lock()
	if c.adding == a {
		c.adding = nil
	}
	c.addingLock.Unlock()
	c.options.Changed(event.TopicAddition)
}

// closeAdding cancels the addition that runs and refuses others.
func (c *Catalog) closeAdding() {
	c.addingLock.Lock()
	c.addingClosed = true
	a := c.adding
	c.addingLock.Unlock()
	if a != nil {
		a.cancel(errClosing)
		<-a.done
	}
}

func (c *Catalog) add(ctx context.Context, a *adding, source install.Source) {
	defer close(a.done)
	defer a.cancel(nil)
	ctx, end := context.WithTimeoutCause(ctx, AddTime, errors.New("it took longer than "+AddTime.String()+
		", and nothing was added"))
	defer end()
	if err := c.options.Home.Create(); err != nil {
		c.finishAdding(ctx, a, nil, nil, err)
		return
	}
	shipped, err := ShippedNames()
	if err != nil {
		c.finishAdding(ctx, a, nil, nil, err)
		return
	}
	source.Shipped, source.GitBytes = shipped, c.options.Config.PluginSources.GitBytes
	p, found, err := install.Add(ctx, c.options.Home.Plugins(), source, func(what string) func() {
		c.updateAddition(a, func() { a.Step = review.Legible(what) })
		return func() {}
	})
	c.finishAdding(ctx, a, p, found, err)
}

// finishAdding stores the result of an addition. It reads the plugin first, so that its review can be shown with it.
func (c *Catalog) finishAdding(ctx context.Context, a *adding, p *plugin.Plugin, found []build.Diagnostic, err error) {
	var failure *fault.Error
	if err == nil {
		_, failure = c.Reload()
	}
	notes := []string{}
	for _, d := range found {
		if d.Warning {
			notes = append(notes, review.Legible(d.String()))
		}
	}
	var state review.State
	if p != nil {
		list, _ := c.Reviews()
		if i := slices.IndexFunc(list, func(s ReviewStatus) bool { return s.Plugin == p.Manifest.Name }); i >= 0 {
			state = list[i].State
		}
	}
	c.updateAddition(a, func() {
		a.Step, a.Notes = "", notes
		switch {
		case err != nil && ctx.Err() != nil:
			a.Problem = context.Cause(ctx).Error()
		case err != nil:
			a.Problem, a.Hint = review.Legible(err.Error()), review.Legible(fault.HintOf(err))
		case failure != nil:
			a.Problem, a.Hint = failure.Message, failure.Hint
		default:
			a.Plugin, a.State = p.Manifest.Name, state
		}
		c.options.Log.Info().Str("from", a.From).Str("plugin", a.Plugin).Str("problem", a.Problem).
			Msg("a plugin was added from the panel, or was to be")
	})
}

func (c *Catalog) updateAddition(a *adding, change func()) {
	c.addingLock.Lock()
	change()
	c.addingLock.Unlock()
	c.options.Changed(event.TopicAddition)
}

// sourceFor checks the source that a person typed in the panel. A relative path is refused: the relay's working
// directory is not one that they know.
func sourceFor(from, home string) (s install.Source, failure *fault.Error) {
	refuse := func(message, hint string) (install.Source, *fault.Error) {
		return s, fault.New(fault.InvalidRequest, message, fault.WithHint(hint))
	}
	from = strings.TrimSpace(from)
	if rest, ok := strings.CutPrefix(from, "~/"); ok {
		if person, err := os.UserHomeDir(); err == nil {
			from = filepath.Join(person, rest)
		}
	}
	s = install.Source{From: from, Dir: home}
	const whole = "Write the whole path, beginning with / or ~/."
	switch {
	case from == "":
		return refuse("There is nothing to add", "Write a folder, a tarball, or the name of a package.")
	case len(from) > maxSource || strings.ContainsFunc(from, func(r rune) bool { return r < ' ' }):
		return refuse("That is neither a path nor the name of a package", whole)
	case !filepath.IsAbs(from) && (strings.HasPrefix(from, ".") || strings.HasPrefix(from, "~") ||
		strings.HasSuffix(from, "/") || strings.HasSuffix(from, ".tgz") || strings.HasSuffix(from, ".tar.gz")):
		return refuse("The path "+fault.Excerpt(from)+" is relative, and the relay does not know to which folder",
			whole)
	case !filepath.IsAbs(from) && s.IsFolder(): // a folder of that name where the relay was started
		s.From = "npm:" + from
	}
	if filepath.IsAbs(from) {
		if _, err := os.Stat(from); err != nil {
			return refuse("There is nothing at "+fault.Excerpt(from), "Look at the spelling. "+whole)
		}
	}
	return s, nil
}
