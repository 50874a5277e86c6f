package relay

import (
	"context"
	"encoding/json"
	"tabrelay/relay/builtin"

	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/fault"
	"tabrelay/relay/front"
	"tabrelay/relay/hub"
	"tabrelay/relay/match"
	"tabrelay/relay/resource"
)

// newResources makes what agents can read.
func (r *Relay) newResources() *resource.Set {
	c := r.config.Resources
	programs := map[string]resource.Program{}
	for scheme, p := range c.Providers {
		programs[scheme] = resource.Program{Command: p.Command, Timeout: p.Timeout, Bytes: p.MaxBytes}
	}
	outside := func(o config.Outside) resource.Outside {
		return resource.Outside{Hosts: o.Hosts, Timeout: o.Timeout, Bytes: int64(o.MaxBytes)}
	}
	set := resource.New(resource.Options{
		Browser: openTabs{r.hub}, PageChars: r.config.MaxBytes, Readable: r.readable(), Policy: r.policy,
		Audit: r.audit.Record, Keep: kept{r}, Events: &r.events,
		Roots: c.File.Roots, FileBytes: int64(c.File.MaxBytes), Web: outside(c.HTTPS), Git: outside(c.Git),
		Providers: programs,
		Log:       r.part("resource"), Asker: func(ctx context.Context) func(context.Context,
			call.Question) (call.Answer, error) {
			return front.AskerFrom(ctx).Question()
		},
	})
	for _, problem := range set.Problems() {
		r.Log.Warn().Msg(problem)
	}
	return set
}

// readable decides by its address whether a page may be read.
func (r *Relay) readable() func(string) bool {
	c := r.config.Resources.Tabs
	rule, err := match.NewRule(c.URLPatterns, c.ExcludePatterns)
	if err != nil { // the configuration has checked them
		r.Log.Error().Err(err).Msg("no page can be read as a resource")
		return func(string) bool { return false }
	}
	return rule.Matches
}

// openTabs shows the hub's tabs to the resources.
type openTabs struct{ hub *hub.Hub }

func (o openTabs) Tabs() []resource.Tab {
	list := []resource.Tab{}
	for _, t := range o.hub.Tabs() {
		list = append(list, resource.Tab{ProfileID: t.ProfileID, Profile: t.Profile, ID: t.ID, URL: t.URL,
			Title: t.Title, Active: t.Active && t.Focused, Discarded: t.Discarded})
	}
	return list
}

func (o openTabs) Trouble() *fault.Error { return o.hub.Trouble() }

func (o openTabs) Command(ctx context.Context, profile, name string, params any) (json.RawMessage, *fault.Error) {
	return o.hub.Command(ctx, profile, name, params)
}

func (o openTabs) OnTabs(listener func(resource.TabNews)) (stop func()) {
	return o.hub.OnTabs(func(n hub.TabNews) {
		listener(resource.TabNews{ProfileID: n.ProfileID, TabID: n.TabID, Page: n.Page, Console: n.Console})
	})
}

// kept shows what the relay has kept to the resources.
type kept struct{ relay *Relay }

func (k kept) Result(ctx context.Context, id string) (call.StoredResult, bool, error) {
	return k.relay.store.Result(ctx, id)
}

func (k kept) Letters(ctx context.Context, s call.Session, limit int) ([]call.DeadLetter, error) {
	return k.relay.store.DeadLetters(ctx, builtin.OwnerOf(s), "", limit)
}

func (k kept) Letter(ctx context.Context, s call.Session, id call.ID) (view any, found bool, err error) {
	l, failure := k.relay.own.Letters.Find(ctx, s, id)
	switch {
	case failure == nil:
		return k.relay.own.Letters.View(l, false), true, nil
	case failure.Code == fault.NotFoundCode:
		return nil, false, nil
	}
	return nil, false, failure
}
