package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tabrelay/relay/plugin/review"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/store"
)

// ErrStale is the cause of a failure to decide about a content that is another one by now.
var ErrStale = errors.New("the plugin has changed")

func noPlugin(name string) *fault.Error {
	return fault.New(fault.ResourceNotFound, "There is no plugin "+fault.Excerpt(name)+" to review",
		fault.WithHint("`tabrelay plugin list` lists the plugins. Those that come with tabrelay need no review, and "+
			"those "+
			"that are broken cannot be reviewed."))
}

// Stale says that a plugin has changed since a person looked at it.
func Stale(name string) *fault.Error {
	return fault.New(fault.InvalidRequest, "The plugin "+name+" has changed since you looked at it, so nothing was "+
		"decided",
		fault.WithCause(ErrStale), fault.WithHint("Look at it again, and then decide."))
}

func stopping() *fault.Error {
	return fault.New(fault.ShuttingDown, "The relay is stopping, so nothing was changed")
}

// Sheet is what a person should see of a plugin now.
func (c *Catalog) Sheet(name string) (review.Sheet, *fault.Error) {
	f := c.current.Load().onDisk[name]
	if f == nil {
		return review.Sheet{}, noPlugin(name)
	}
	var before *review.Content
	var reviewed *review.Reviewed
	err := c.changes.Do(func() {
		if before = c.reviews.lastAccepted(name); before != nil {
			one := c.reviews.decided[content{name, before.Plugin.Hash}]
			reviewed = &review.Reviewed{Hash: one.Hash, At: one.Created.UTC(), By: one.By}
		}
	})
	if err != nil {
		return review.Sheet{}, stopping()
	}
	s := review.New(review.Read(f.plugin), before)
	s.Source, s.State, s.Reviewed, s.Serving = review.Legible(f.source), f.state, reviewed, f.serving
	return s, nil
}

// Content is one state of one plugin, by the hash of it.
type Content struct{ Plugin, Hash string }

// Decide is DecideAll for one plugin.
func (c *Catalog) Decide(name, hash string, verdict store.Verdict, by string, s call.Session) (ReviewStatus,
	*fault.Error) {
	answer, failure := c.DecideAll([]Content{{name, hash}}, verdict, by, s)
	if failure != nil {
		return ReviewStatus{}, failure
	}
	return answer[0], nil
}

// DecideAll writes down what a person decided about the contents that lie in the folders of plugins, offers what may
// run then, and says how far each plugin is. When one of the contents is not the one they looked at, nothing changes.
func (c *Catalog) DecideAll(chosen []Content, verdict store.Verdict, by string, s call.Session) (answer []ReviewStatus,
	failure *fault.Error) {
	err := c.changes.Do(func() {
		for _, one := range chosen {
			if failure = c.isCurrent(one); failure != nil {
				return
			}
		}
		for _, one := range chosen {
			if failure = c.decide(one.Plugin, one.Hash, verdict, by); failure != nil {
				break // what was written down before stays so
			}
			c.recordReview(s, one.Plugin, one.Hash, string(verdict), by)
		}
		if published := c.publishAgain(); failure == nil {
			failure = published
		}
	})
	if err != nil {
		failure = stopping()
	}
	if failure != nil {
		return nil, failure
	}
	c.options.Changed(event.TopicReviews)
	list, _ := c.Reviews()
	for _, one := range chosen {
		status := ReviewStatus{Plugin: one.Plugin, Hash: one.Hash} // if it went meanwhile
		if i := slices.IndexFunc(list, func(r ReviewStatus) bool { return r.Plugin == one.Plugin }); i >= 0 {
			status = list[i]
		}
		answer = append(answer, status)
	}
	return answer, nil
}

// isCurrent fails when a content is not the one in its plugin's folder.
func (c *Catalog) isCurrent(one Content) *fault.Error {
	f := c.current.Load().onDisk[one.Plugin]
	switch {
	case f == nil:
		return noPlugin(one.Plugin)
	case f.plugin.Hash != one.Hash:
		return Stale(one.Plugin)
	}
	return nil
}

func (c *Catalog) decide(name, hash string, verdict store.Verdict, by string) *fault.Error {
	f := c.current.Load().onDisk[name]
	v := &c.reviews
	one := store.Review{Plugin: name, Hash: hash, Created: time.Now(), By: by, Verdict: verdict}
	var packed []byte
	var err error
	if verdict == store.Accepted {
		packed, err = review.Read(f.plugin).Pack()
	}
	if err == nil {
		err = v.store.AddReview(context.Background(), one, packed)
	}
	if err != nil {
		return fault.New(fault.InternalError, "The review could not be saved: "+err.Error(),
			fault.WithHint("`tabrelay doctor` looks at the disk and the database."))
	}
	v.decided[content{name, hash}] = one
	if verdict == store.Accepted {
		v.kept[name] = hash
	} else if v.kept[name] == hash {
		delete(v.kept, name)
	}
	return nil
}

// publishAgain publishes the plugins that exist now, with the settings that are in effect. Only changes call it.
func (c *Catalog) publishAgain() *fault.Error {
	if err := c.publish(c.current.Load().config); err != nil {
		return c.refuse(fault.RegistryError, err)
	}
	return nil
}

// Develop lets one content of a plugin run while its author works on it, until end is called; run names their run of
// `plugin dev`.
func (c *Catalog) Develop(name, hash, run, by string, session call.Session) (end func(), failure *fault.Error) {
	s := &devRun{content: content{name, hash}, run: run}
	v := &c.reviews
	err := c.changes.Do(func() {
		v.devRuns = append(v.devRuns, s)
		c.recordReview(session, name, hash, "accepted while plugin dev runs", by)
	})
	if err != nil {
		return nil, stopping()
	}
	return func() {
		_ = c.changes.Do(func() { // a relay that stops knows nothing of it when it starts
			v.devRuns = slices.DeleteFunc(v.devRuns, func(other *devRun) bool { return other == s })
			_ = c.publishAgain() // which tells what is wrong itself
		})
	}, nil
}

// Develops reports whether a run of `plugin dev` is one that was confirmed for a plugin, and is not over.
func (c *Catalog) Develops(name, run string) (does bool) {
	_ = c.changes.Do(func() { // a relay that stops serves nothing any more
		does = slices.ContainsFunc(c.reviews.devRuns, func(s *devRun) bool {
			return s.content.plugin == name &&
				s.run == run
		})
	})
	return does
}

// recordReview writes what a person decided about a plugin into the audit log.
func (c *Catalog) recordReview(s call.Session, plugin, hash, decision, by string) {
	c.options.Audit(call.Entry{
		At: time.Now(), Kind: call.EntryReview, Session: s, Plugin: plugin, Decision: decision, DecidedBy: by,
		Detail: fmt.Sprintf("content %s of the plugin %s", hash, plugin),
	})
}
