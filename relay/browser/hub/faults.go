package hub

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// refusal is what an extension was told when it was not let in.
type refusal struct {
	code    fault.Code
	message string
	at      time.Time
}

// refusalTime is how long a refusal explains that nobody is connected. A refused extension tries again every minute.
const refusalTime = 3 * time.Minute

// recently is how long a profile that went away counts as on its way back.
const recently = time.Minute

const openWindow = "Ask the person to open a window of that profile."

// reloadExtension is what helps where a browser runs and its extension alone is away.
const reloadExtension = "That browser runs, and its extension is away: ask the person to press Reload on the card of " +
	"the extension at chrome://extensions."

// startHint is how a profile comes back: the person starts its browser, where that is one that tabrelay starts and that
// has ended.
func (h *Hub) startHint(b *browser) string {
	if h.cfg.StartCommand == nil {
		return openWindow
	}
	switch command := h.cfg.StartCommand(b.id); {
	case command == "":
		return openWindow
	case h.ended(b):
		return "Ask the person to run `" + command + "`, which starts it again."
	}
	return reloadExtension
}

// absent says why no browser is connected, as far as a relay can know.
func (h *Hub) absent() *fault.Error {
	if r := h.refusal.Load(); r != nil && time.Since(r.at) < refusalTime {
		return fault.New(r.code, r.message)
	}
	var last *browser
	var left time.Time
	for _, b := range h.all() {
		if at := b.lastSeen(); at.After(left) {
			last, left = b, at
		}
	}
	switch {
	case last != nil && !last.connected() && h.ended(last):
		return fault.New(fault.BrowserNotRunning, fmt.Sprintf("The browser %q, which tabrelay started, has ended",
			last.label()),
			fault.WithHint(h.startHint(last)+" Then repeat the call."))
	case last != nil && time.Since(left) <= recently:
		return fault.New(fault.WorkerAsleep, fmt.Sprintf("The browser %q went away within the last minute and is not "+
			"back yet", last.label()))
	case last != nil:
		failure := fault.New(fault.BrowserNotRunning, fmt.Sprintf("No browser is connected; %q was the last, %s ago",
			last.label(), ago(left)))
		if hint := h.startHint(last); hint == reloadExtension {
			fault.WithHint(hint + " Then repeat the call.")(failure)
		}
		return failure
	case len(h.cfg.Known) > 0 || len(h.all()) > 0:
		return fault.New(fault.ExtensionNotConnected, "No browser has connected since the relay started "+
			ago(h.started)+" ago")
	}
	failure := fault.New(fault.ExtensionNotInstalled, "No browser with the tabrelay extension has ever connected")
	if h.cfg.InstallHint != "" {
		fault.WithHint(h.cfg.InstallHint)(failure)
	}
	return failure
}

// ago is how long ago t was, as people say it.
func ago(t time.Time) string {
	d := time.Since(t)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

// neverSent is the failure of a call whose connection ended before its frame left.
func neverSent(b *browser) *fault.Error {
	return fault.New(fault.ExtensionLost, "The link to the browser was lost before the call was sent", b.at(0),
		fault.WithOutcome(fault.NotExecuted), fault.WithRetryable(true),
		fault.WithHint("Nothing happened: the call can be repeated."))
}

// neverStarted is the failure of a call that the extension has proven never to have started.
func neverStarted(b *browser, f *flight) *fault.Error {
	return fault.New(fault.ExtensionLost, "The link to the browser was lost before the tool started", b.at(f.tabID),
		fault.WithOutcome(fault.NotExecuted), fault.WithRetryable(true),
		fault.WithHint("The tool never started, so the call can be repeated."))
}

// outdated is the failure of a call for which the extension would have to keep to the rules about sites.
func outdated(b *browser) *fault.Error {
	return fault.New(fault.VersionMismatch, fmt.Sprintf("The extension in the browser %q is older than this relay, "+
		"and "+
		"does not know which sites a call may not touch", b.label()), b.at(0), fault.WithOutcome(fault.NotExecuted),
		fault.WithHint("Ask the person to run `tabrelay up`, and to press Reload on the card of the extension at "+
			"chrome://extensions. Until then no tool that reads or uses any page runs in this browser."))
}

// tabClosed is the extension's word for a tab that was closed under a call. Agents read TAB_NOT_FOUND, which is what
// they can act on; the outcome says the rest.
const tabClosed = "TAB_CLOSED"

// closedFault is the failure of a call whose tab was closed.
func closedFault(b *browser, f *flight, message string, outcome fault.Outcome) *fault.Error {
	options := []fault.Option{b.at(f.tabID), fault.WithOutcome(outcome)}
	if outcome != fault.NotExecuted {
		options = append(options, fault.WithHint("The action may have happened: check in another tab before "+
			"repeating it."))
	}
	return fault.New(fault.TabNotFound, message, options...)
}

// lostFault is the failure of a call whose end nobody knows. reason is what the extension says of it, a code or empty.
func lostFault(b *browser, f *flight, reason string) *fault.Error {
	unknown := fault.WithOutcome(fault.Unknown)
	if reason == tabClosed {
		return closedFault(b, f, "The tab was closed while the link to the browser was lost", fault.Unknown)
	}
	switch code := fault.Code(reason); code {
	case fault.TabChanged:
		return fault.New(code, "The tab went to another page while the link to the browser was lost", b.at(f.tabID),
			unknown)
	case fault.TabUnresponsive:
		return fault.New(code, "The page does not answer since the link to the browser was lost", b.at(f.tabID),
			unknown)
	}
	return fault.New(fault.ExtensionLost, "The link to the browser was lost after the call was sent, and its end "+
		"could not be learned",
		b.at(f.tabID), unknown)
}

// endedFault is the failure of a call that was sent to a browser whose process ended before it said what became of the
// call.
func endedFault(b *browser, f *flight) *fault.Error {
	return fault.New(fault.ExtensionLost,
		fmt.Sprintf("The browser %q, which tabrelay started, ended after the call was sent", b.label()), b.at(f.tabID),
		fault.WithOutcome(fault.Unknown),
		fault.WithHint(b.hub.startHint(b)+" Read the page before repeating the action."))
}

// abandonedFault is the failure of a call that its caller gave up.
func abandonedFault(b *browser, f *flight) *fault.Error {
	return fault.New(fault.Cancelled, "The call was abandoned while it ran", b.at(f.tabID),
		fault.WithOutcome(fault.Unknown))
}

func tooLargeToSend(size, limit int) *fault.Error {
	return fault.New(fault.InputTooLarge, fmt.Sprintf("The arguments have %d bytes; what is sent to a browser may "+
		"have %d", size, limit))
}

// withTail adds the console tail to a failure.
func withTail(e *fault.Error, tail string) *fault.Error {
	if tail != "" {
		fault.WithConsoleTail(tail)(e)
	}
	return e
}

// notConnected is the failure of a call whose profile is not here. known are the profiles of that name, here those that
// are connected.
func notConnected(name string, known, here []candidate) *fault.Error {
	message := fmt.Sprintf("The browser profile %q is not connected", name)
	if len(known) == 1 && !known[0].b.lastSeen().IsZero() {
		message += "; it was, " + ago(known[0].b.lastSeen()) + " ago"
	}
	hint := openWindow
	if len(known) == 1 {
		hint = known[0].b.hub.startHint(known[0].b)
	}
	if len(here) > 0 {
		hint += " Connected: " + names(here, false) + "."
	}
	return fault.New(fault.ProfileNotConnected, message, fault.WithHint(hint))
}

// noTab is the failure of a call whose site has no tab.
func noTab(r *call.Selector, in string) *fault.Error {
	return fault.New(fault.TabNotFound, "No open tab belongs to "+r.Plugin+in, fault.WithHint(openHint(r)))
}

// openHint says how to get a tab of the site.
func openHint(r *call.Selector) string {
	switch {
	case len(r.Matches) > 0:
		hint := "Open a page that matches " + patterns(r.Matches) + " with browser__open_tab"
		if r.OpenURL != "" {
			hint += ", such as " + r.OpenURL
		}
		return hint + ", then repeat the call."
	}
	return "It works on no pages yet: ask the person to say where, as tabrelay plugin list shows, then repeat the call."
}

// patterns are match patterns in a sentence, the first of them where there are many.
func patterns(list []string) string {
	const most = 4
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" or one of %d more patterns", len(list)-most)
	}
	return strings.Join(list, " or ")
}

// elsewhere is the failure of a call whose tab shows a page of another site.
func (s *search) elsewhere(t target) *fault.Error {
	if s.hides(t.tab) {
		return fault.New(fault.PermissionDenied, fmt.Sprintf("Tab %d is one that agents may not see", t.tab.ID),
			t.b.at(t.tab.ID), fault.WithOutcome(fault.NotExecuted), fault.WithHint("Do not look for a way around it. "+
				"The person decides that by rules about sites, and by `tabs.urlPatterns` and "+
				"`tabs.excludePatterns` in config.json."))
	}
	message := fmt.Sprintf("Tab %d shows %s, which does not belong to %s", t.tab.ID, shown(t.tab.origin), s.r.Plugin)
	return fault.New(fault.TabChanged, message, t.b.at(t.tab.ID), fault.WithOutcome(fault.NotExecuted),
		fault.WithHint(openHint(s.r)))
}

// hides reports whether a failure may not say what a tab shows: its site is off, or it is a page that the browser's own
// tools, which work on every other, are kept from.
func (s *search) hides(t *tab) bool {
	return s.r.Hides != nil && s.r.Hides(t.origin) || s.r.InFront && t.origin != "" && !s.where.rule.Matches(t.URL)
}

// shown is an origin in a sentence.
func shown(origin string) string { return cmp.Or(origin, "another page") }

// lost is the failure of a call whose session's tab is gone, and with it every other tab of the same origin there:
// those of another origin, or in another profile, may be of another account, so they have to be named.
func (s *search) lost(b *browser, last lastTab) *fault.Error {
	if len(s.of(b)) == 0 && len(b.tabs.Load().of(s.where)) > 0 {
		return s.bounds.refuse(0)
	}
	tab := b.tabs.Load().get(last.tabID)
	if tab != nil && !s.hides(tab) && s.where.rule.Matches(tab.URL) && s.bounds.cover(tab) {
		message := fmt.Sprintf("Tab %d, where this agent worked before, shows %s now, and not %s",
			tab.ID, shown(tab.origin), shown(last.origin))
		hint := fmt.Sprintf("That may be another account. Pass tabId %d to go on there, or open %s in the browser.",
			tab.ID, shown(last.origin))
		return fault.New(fault.TabChanged, message, b.at(tab.ID), fault.WithOutcome(fault.NotExecuted),
			fault.WithHint(hint))
	}
	failure := noTab(s.r, fmt.Sprintf(" in the browser profile %q, where this agent worked before", b.label()))
	if of := slices.DeleteFunc(slices.Clone(s.of(b)), s.hides); len(of) > 0 {
		message := fmt.Sprintf("The tab with %s, where this agent worked before, is gone", shown(last.origin))
		hint := fmt.Sprintf("Open %s in the browser. Or pass tabId %d to work with %s, which may be another account.",
			shown(last.origin), of[0].ID, shown(of[0].origin))
		failure = fault.New(fault.TabNotFound, message, b.at(0), fault.WithHint(hint))
	}
	var others []candidate
	for _, c := range s.connected() {
		if c.b != b && len(c.b.tabs.Load().of(s.where)) > 0 {
			others = append(others, c)
		}
	}
	if len(others) > 0 {
		failure.Hint += " Other profiles have one; pass `profile` to work there: " + names(others, false) + "."
	}
	return failure
}

// away is the failure of a call whose session works in a profile that is not here. A profile that is gone has not been
// waited for, so others that are on their way are as good an offer as those that are here.
func (h *Hub) away(id, label string, waited bool) *fault.Error {
	var others []candidate
	for _, c := range h.candidates() {
		if c.is == present || c.is == onWay && !waited && c.b.id != id {
			others = append(others, c)
		}
	}
	if len(others) == 0 {
		return h.absent()
	}
	hint := openWindow
	if b := h.find(id); b != nil {
		hint = h.startHint(b)
	}
	return fault.New(fault.ProfileNotConnected,
		fmt.Sprintf("The browser profile %q, where this agent worked before, is not connected", label),
		fault.WithTab(0, label),
		fault.WithHint(hint+" To work in another one, pass `profile`: "+names(others, false)+"."))
}

// names lists profiles, with their ids where labels do not tell them apart.
func names(list []candidate, ids bool) string {
	count := map[string]int{}
	for _, c := range list {
		count[c.b.label()]++
	}
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = fmt.Sprintf("%q", c.b.label())
		if ids || count[c.b.label()] > 1 {
			texts[i] = fmt.Sprintf("%q (%s)", c.b.id, c.b.label())
		}
	}
	return strings.Join(texts, ", ")
}

// owned is the failure of a call whose tab another session has.
func (h *Hub) owned(r *call.Selector, t target, owner *Owner) *fault.Error {
	since := ", which is about to work there"
	if !owner.Since.IsZero() {
		since = ", which has worked there for " + ago(owner.Since)
	}
	message := fmt.Sprintf("Tab %d belongs to %s%s", t.tab.ID, owner.to(r.Session), since)
	return fault.New(fault.TabOwned, message, t.b.at(t.tab.ID), fault.WithOutcome(fault.NotExecuted),
		fault.WithHint(h.wayOut(r, t)), fault.WithRetryAfter(h.leases.wait(owner)))
}

// wait is how long it takes until a tab is free whose owner makes no more calls.
func (o *leases) wait(owner *Owner) time.Duration {
	if owner.free <= 0 { // a call is on its way
		return o.idle
	}
	return owner.free
}

// to names an owner to somebody else: by its client, and where that is theirs too, as another session of it.
func (w *Owner) to(s call.Session) string {
	_, session, named := strings.Cut(w.Session, call.NamedSession)
	switch {
	case w.Client == s.Client && w.Agent != "":
		return fmt.Sprintf("the agent %q of this client (%s)", w.Agent, w.Client)
	case w.Client == s.Client && named:
		return fmt.Sprintf("the session %q of this client (%s)", session, w.Client)
	case w.Client == s.Client:
		return fmt.Sprintf("another session of this client (%s)", w.Name)
	}
	return fmt.Sprintf("the client %q", w.Name)
}

// wayOut says what somebody can do who was refused a tab.
func (h *Hub) wayOut(r *call.Selector, t target) string {
	release := "tabrelay tabs release " + strconv.Itoa(t.tab.ID)
	if len(withPresence(h.candidates(), present)) > 1 {
		release += " --profile " + t.b.id
	}
	others := h.unowned(r, t)
	switch {
	case len(others) > 0:
		return "Pass another tabId: nobody else works in " + strings.Join(others, ", ") +
			". Or ask the person to release this one (`" + release + "`)."
	case r.OpenURL != "":
		return "Open " + r.OpenURL + " in a new tab and pass its tabId, or ask the person to release this one (`" +
			release + "`)."
	}
	return "Ask the person to release it (`" + release + "`)."
}

// unowned are a few other tabs of the same site and profile where nobody else works.
func (h *Hub) unowned(r *call.Selector, t target) (ids []string) {
	where, err := h.sites.of(r)
	if err != nil {
		return nil
	}
	bounds, failure := boundsOf(r.Session)
	if failure != nil {
		return nil
	}
	for _, tab := range sameOrigin(bounds.only(t.b.tabs.Load().of(where)), t.tab.origin) {
		standing := h.leases.standing(r.Session, tabRef{t.b.id, tab.ID})
		if tab.ID != t.tab.ID && standing != taken && len(ids) < 5 {
			ids = append(ids, strconv.Itoa(tab.ID))
		}
	}
	return ids
}
