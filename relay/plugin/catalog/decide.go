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

// ErrStale is the cause of the failure when a plugin's content is not the one that the person decided about.
var ErrStale = errors.New("the plugin has changed")

func noPlugin(name string) *fault.Error {
	return fault.New(fault.ResourceNotFound, "There is no plugin "+fault.Excerpt(name)+" to review",
		fault.WithHint("`tabrelay plugin list` lists the plugins. Those that come with tabrelay need no review, and "+
			"those "+
			"that are broken cannot be reviewed."))
}

// Stale returns the failure that ErrStale is the cause of.
func Stale(name string) *fault.Error {
	return fault.New(fault.InvalidRequest, "The plugin "+name+" has changed since you looked at it, so nothing was "+
		"decided",
		fault.WithCause(ErrStale), fault.WithHint("Look at it again, and then decide."))
}

func stopping() *fault.Error {
	return fault.New(fault.ShuttingDown, "The relay is stopping, so nothing was changed")
}

// Sheet returns the review sheet of an added plugin.
func (c *Catalog) Sheet(name string) (review.Sheet, *fault.Error) {
	f := c.current.Load().onDisk[name]
	if f == nil {
		return review.Sheet{}, noPlugin(name)
	}
	var before *review.Content
	var reviewed *review.Reviewed
	err := c.changes.Do(func() {
		if before = c.reviews.lastAccepted(name); before != nil {
			one := c.reviews.decided[ContentID{name, before.Plugin.Hash}]
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

// ContentID identifies one content of a plugin.
type ContentID struct {
	Plugin string `json:"plugin"`
	Hash   string `json:"hash"`
}

// Decide is DecideAll for one plugin.
func (c *Catalog) Decide(name, hash string, verdict store.Verdict, by string, s call.Session) (ReviewStatus,
	*fault.Error) {
	answer, failure := c.DecideAll([]ContentID{{name, hash}}, verdict, by, s)
	if failure != nil {
		return ReviewStatus{}, failure
	}
	return answer[0], nil
}

// DecideAll records a person's verdict about contents, publishes what may run now, and returns the state of each
// plugin. When one of the contents is no longer that of its folder, nothing changes.
func (c *Catalog) DecideAll(chosen []ContentID, verdict store.Verdict, by string, s call.Session) (
	answer []ReviewStatus, failure *fault.Error) {
	err := c.changes.Do(func() {
		for _, one := range chosen {
			if failure = c.checkCurrent(one); failure != nil {
				return
			}
		}
		for _, one := range chosen {
			if failure = c.decide(one.Plugin, one.Hash, verdict, by); failure != nil {
				break // what was recorded before it stays
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
		status := ReviewStatus{Plugin: one.Plugin, Hash: one.Hash} // if it was removed meanwhile
		if i := slices.IndexFunc(list, func(r ReviewStatus) bool { return r.Plugin == one.Plugin }); i >= 0 {
			status = list[i]
		}
		answer = append(answer, status)
	}
	return answer, nil
}

// checkCurrent fails when a content is not the one in its plugin's folder.
func (c *Catalog) checkCurrent(one ContentID) *fault.Error {
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
	v.decided[ContentID{name, hash}] = one
	if verdict == store.Accepted {
		v.kept[name] = hash
	} else if v.kept[name] == hash {
		delete(v.kept, name)
	}
	return nil
}

// publishAgain publishes with the settings in effect. Only functions in changes call it.
func (c *Catalog) publishAgain() *fault.Error {
	if err := c.publish(c.current.Load().config); err != nil {
		return c.refuse(fault.RegistryError, err)
	}
	return nil
}

// Develop lets one build of a plugin run without a review, until end is called; run is the id of the run of `plugin
// dev`.
func (c *Catalog) Develop(name, hash, run, by string, session call.Session) (end func(), failure *fault.Error) {
	s := &devRun{content: ContentID{name, hash}, run: run}
	v := &c.reviews
	err := c.changes.Do(func() {
		v.devRuns = append(v.devRuns, s)
		c.recordReview(session, name, hash, "accepted while plugin dev runs", by)
	})
	if err != nil {
		return nil, stopping()
	}
	return func() {
		_ = c.changes.Do(func() { // fails only when the relay stops, and devRuns are not stored
			v.devRuns = slices.DeleteFunc(v.devRuns, func(other *devRun) bool { return other == s })
			_ = c.publishAgain() // reports its error
		})
	}, nil
}

// Develops reports whether a run of `plugin dev` was confirmed for a plugin and still goes on.
func (c *Catalog) Develops(name, run string) (does bool) {
	_ = c.changes.Do(func() { // when the relay stops, nothing is developed any more
		does = slices.ContainsFunc(c.reviews.devRuns, func(s *devRun) bool {
			return s.content.Plugin == name && s.run == run
		})
	})
	return does
}

// recordReview writes a verdict into the audit log.
func (c *Catalog) recordReview(s call.Session, plugin, hash, decision, by string) {
	c.options.Audit(call.Entry{
		At: time.Now(), Kind: call.EntryReview, Session: s, Plugin: plugin, Decision: decision, DecidedBy: by,
		Detail: fmt.Sprintf("content %s of the plugin %s", hash, plugin),
	})
}
