package relay

import (
	"fmt"
	"slices"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/launch"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
)

// linkChanged handles an event of a browser's connection: it updates known profiles, notices and metrics, and publishes
// it.
func (r *Relay) linkChanged(e hub.Event) {
	who := map[string]any{"profile": e.Profile, "profileId": e.ProfileID}
	switch e.Kind {
	case hub.Connected:
		if err := r.claimManaged(e.ProfileID, e.Profile); err != nil {
			r.Log.Warn().Err(err).Msg("cannot note which profile a managed browser has; its end will be noticed late")
		}
		if err := r.store.ProfileSeen(r.base, e.ProfileID, e.Profile); err != nil {
			r.Log.Warn().Err(err).Msg("cannot note that a profile connected")
		}
		r.panels.Changed(event.TopicProfiles)
		r.events.Publish(event.OfPerson(), event.Connected, fmt.Sprintf("The browser profile %q connected", e.Profile),
			who)
	case hub.Paired:
		r.note(e)
		r.events.Publish(event.OfPerson(), event.Session, "An extension was given the pairing secret for a one-time "+
			"string", who)
	case hub.Renamed:
		if err := r.store.ProfileSeen(r.base, e.ProfileID, e.Profile); err != nil {
			r.Log.Warn().Err(err).Msg("cannot note the name of a profile")
		}
		r.panels.Changed(event.TopicTabs, event.TopicApprovals, event.TopicRunning, event.TopicProfiles)
	case hub.Disconnected:
		r.panels.Changed(event.TopicProfiles)
		r.events.Publish(event.OfPerson(), event.Disconnected,
			fmt.Sprintf("The browser profile %q is not connected any more", e.Profile), who)
		if !r.stopping() {
			who = map[string]any{"profile": e.Profile, "profileId": e.ProfileID,
				"waitMs": r.config.ReconnectWait.Milliseconds()}
			r.events.Publish(event.OfPerson(), event.Reconnecting,
				fmt.Sprintf("Calls for %q wait up to %s for it to come back", e.Profile, r.config.ReconnectWait), who)
		}
	case hub.Refused:
		r.meter.LinkRefused()
		r.note(e)
		who["code"] = e.Code
		r.events.Publish(event.OfPerson(), event.Fatal, "An extension was refused until something changes: "+
			e.Message, who)
	case hub.Corrupted:
		r.note(e)
		r.events.Publish(event.OfPerson(), event.Error, fmt.Sprintf("The browser profile %q: %s", e.Profile, e.Message),
			who)
	default:
		r.note(e)
	}
}

// claimManaged notes which managed browser it is that a profile connected from, if it is one. One with a name has it
// for the label of a profile that is new. `tabrelay up` starts the one without a name only where no browser is
// connected, or only those with names, so the first other one to connect is that one.
func (r *Relay) claimManaged(id, label string) error {
	known, err := r.store.Profiles(r.base)
	if err != nil {
		return err
	}
	isNew := !slices.ContainsFunc(known, func(p call.Profile) bool { return p.ID == id })
	var nameless *launch.Managed
	claimed := []string{id}
	for _, name := range r.Home.Browsers() {
		m, runs := launch.Running(r.Home.Browser(name))
		switch {
		case !runs:
		case m.Profile == id:
			return nil
		case name != "" && name == label && (isNew || m.Profile == ""):
			return m.Claim(id)
		case name == "" && m.Profile == "":
			nameless = m
		default:
			claimed = append(claimed, m.Profile)
		}
	}
	others := slices.ContainsFunc(r.hub.Browsers(), func(b hub.Browser) bool {
		return b.Connected && !slices.Contains(claimed, b.ProfileID)
	})
	if nameless == nil || others {
		return nil
	}
	return nameless.Claim(id)
}

// managedEnded reports whether a profile is that of a managed browser whose process is gone.
func (r *Relay) managedEnded(profile string) bool {
	return slices.ContainsFunc(r.Home.Browsers(), func(name string) bool {
		return launch.Ended(r.Home.Browser(name), profile)
	})
}

// startCommand is what starts the managed browser of a profile; empty: it is that of none.
func (r *Relay) startCommand(profile string) string {
	for _, name := range r.Home.Browsers() {
		switch {
		case profile == "" || launch.ProfileOf(r.Home.Browser(name)) != profile:
		case name == "":
			return "tabrelay up"
		default:
			return "tabrelay up --profile " + name
		}
	}
	return ""
}

// note adds an event to the notices of the status.
func (r *Relay) note(e hub.Event) {
	r.notices.Add(event.Notice{Time: e.Time, Kind: string(e.Kind), Profile: e.Profile, Code: e.Code,
		Message: e.Message})
}

// tabsChanged has panels refresh tabs and plugins when a tab shows another page, and ends the questions about a tab
// that is closed.
func (r *Relay) tabsChanged(n hub.TabNews) {
	if n.Closed || n.TabID == 0 {
		r.policy.TabsGone(n.ProfileID)
		r.attached.tabGone(n.ProfileID, n.TabID)
	}
	if n.Page || n.TabID == 0 {
		r.panels.Changed(event.TopicTabs, event.TopicPlugins)
	}
}

// stopping reports whether the relay was asked to end.
func (r *Relay) stopping() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// sessionEnded ends what capabilities do for a session, and releases what it owns.
func (r *Relay) sessionEnded(session string) {
	r.attached.sessionEnded(session)
	r.releaseSession(session)
}

// releaseSession releases the tabs of a session, and drops the grants that were for this session.
func (r *Relay) releaseSession(session string) {
	for _, of := range r.hub.SessionLeft(session) {
		if !r.stopping() { // the next relay takes it over
			r.store.ForgetLastTabs(of)
		}
	}
	r.policy.Forget(func(g policy.Grant) bool { return hub.Within(g.Session, session) })
}

// tellApproval publishes an event about an approval, and has panels count their pending approvals anew.
func (r *Relay) tellApproval(of *call.Session, message string, data map[string]any) {
	owner := event.OfPerson()
	if of != nil {
		owner = event.Of(*of)
	}
	r.events.Publish(owner, event.Approval, message, data)
	r.panels.Changed(event.TopicApprovals)
}

// notice tells the person something about the configuration.
func (r *Relay) notice(message string) {
	r.notices.Add(event.Notice{Time: time.Now(), Kind: "config", Message: message})
}

// pluginProblem tells clients what is wrong with a plugin. While the relay starts there is no front, and no client.
func (r *Relay) pluginProblem(p registry.Problem) {
	if r.front != nil {
		r.front.Log("warning", "tabrelay", map[string]any{"code": fault.RegistryError, "plugin": p.Plugin,
			"message": p.Reason})
	}
}

// configRefused tells clients and publishes an event that a reload failed.
func (r *Relay) configRefused(f *fault.Error, public *catalog.Refusal) {
	r.meter.ErrorRaised(f.Class, f.Source, f.Code)
	r.events.Publish(event.OfPerson(), event.Error, public.Reason,
		map[string]any{"code": public.Code, "source": string(f.Source)})
	r.front.Log("error", "tabrelay", map[string]any{"code": f.Code, "message": public.Reason, "hint": f.Hint})
}

// openPages is what is openPages in the browsers, as lists of tools adapt to it.
type openPages struct{ hub *hub.Hub }

// Site reports whether a tab shows a page of a site.
func (o openPages) Site(s *registry.Site) bool { return o.hub.HasTab(s.Matches, s.Excludes) }

// Profiles counts the connected browser profiles.
func (o openPages) Profiles() (n int) {
	for _, b := range o.hub.Browsers() {
		if b.Connected {
			n++
		}
	}
	return n
}

// OnChange calls changed when a tab shows another page, and when a browser connects or disconnects.
func (o openPages) OnChange(changed func()) (stop func()) {
	return o.hub.OnTabs(func(n hub.TabNews) {
		if n.Page || n.TabID == 0 {
			changed()
		}
	})
}

// tellFollowers publishes console lines and uncaught errors of a plugin to its developers.
func (r *Relay) tellFollowers(f *wire.Followed) {
	if !r.trail.Heard() {
		return
	}
	data := map[string]any{
		"plugin": f.Plugin, "tool": f.Plugin + "__" + f.Tool, "correlationId": string(f.ID),
	}
	said := fault.ConsoleLines(f.Text)
	if f.What == wire.ConsoleLine {
		r.trail.Publish(event.OfPerson(), event.Console, f.Plugin+"__"+f.Tool+" console: "+said, data)
		return
	}
	data["at"], data["kind"] = fault.Places(f.Places), string(f.What)
	r.trail.Publish(event.OfPerson(), event.Uncaught, uncaught(f)+": "+said, data)
}

// uncaught says when an uncaught error came, relative to the last call of the plugin. The call that caused it is not
// known: a timer, a listener or a promise does not say who made it.
func uncaught(f *wire.Followed) string {
	if f.What == wire.EarlyError {
		return "error of " + f.Plugin + ", before its first call in the document"
	}
	what := "late error of " + f.Plugin
	if f.What == wire.Rejection {
		what = "late error of " + f.Plugin + ", in a promise that nobody awaits"
	}
	tool := f.Plugin + "__" + f.Tool
	if f.AfterMs == nil {
		return fmt.Sprintf("%s, outside of the handler while %s runs", what, tool)
	}
	return fmt.Sprintf("%s, %s after %s had ended", what, time.Duration(*f.AfterMs)*time.Millisecond, tool)
}
