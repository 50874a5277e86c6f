package dispatch

import (
	"context"
	"errors"

	"tabrelay/relay/road/breaker"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Policy decides what may run.
type Policy interface {
	// Allow says whether a call may run, and why. It is cheap. The place is empty before a page's tool knows its tab:
	// then only a failure counts.
	Allow(a call.Access) (says call.Verdict, failure *fault.Error)
	// Ask waits until a person has said whether a call may run; what they approved is for Access.Approved. client asks
	// through the caller, nil when that cannot; tell hears what goes on meanwhile.
	Ask(
		ctx context.Context, a call.Access, client func(context.Context, call.Question) (call.Answer, error),
		tell func(message string),
	) (call.Binding, *fault.Error)
	// Sites is what a call may do with the documents of each origin, whatever its tab shows.
	Sites(a call.Access) call.Sites
	// BindingOf returns the binding that approves a exactly as it is. It asks nobody: the caller must know that the
	// person allowed it (Call.Consent).
	BindingOf(a call.Access) call.Binding
}

// consent is what a person has allowed for this call.
type consent struct {
	approved  call.Binding // zero: they were not asked
	confirmed bool         // call.Call.Confirm has returned without an error
	redact    bool         // it acts on sensitive fields: what it types is not recorded
	sensitive bool         // they allowed it to act on sensitive fields (sensitive.go)

	// What they allowed where the call loads an address of another site than its tab shows (address.go).
	address call.Binding
	from    string // the origin that the tab showed then

	sites map[string]call.Binding // of frames that it may touch, too, by origin (closed.go)
}

func (c *consent) given() bool { return c.approved != call.Binding{} }

// checkPermission refuses what is off, before anything waits for it.
func (r *run) checkPermission() (failure *fault.Error) {
	if failure = r.checkAddressSpelling(); failure == nil && r.Policy != nil {
		r.verdict, failure = r.Policy.Allow(r.access(nil))
	}
	return failure
}

// access is the call as the policy sees it.
func (r *run) access(at *call.Target) call.Access {
	t := r.tool
	opens, origin := r.loadedAddress()
	if t.Run != nil && origin != "" {
		at = &call.Target{Origin: origin}
	}
	a := r.plainAccess(at)
	a.Arguments, a.Opens, a.Approved, a.Deeds = r.args, opens, r.consent.approved, r.deeds
	if t.Acts {
		a.Recorded = redactTypedText(r.args)
	} else if t.Browses {
		a.Recorded = redactMember(r.args, "value")
	}
	return a
}

// plainAccess is the call as the policy sees it, but for what is known of its arguments and what the person answered.
func (r *run) plainAccess(at *call.Target) call.Access {
	t := r.tool
	a := call.Access{
		ID: r.call.ID, Session: r.call.Session, Tool: t.Name, Title: t.Spec.DisplayName,
		Description: t.Spec.Description, Plugin: t.Group, ReadOnly: t.ReadOnly, Idempotent: t.Idempotent,
		BuiltIn: t.Plugin == nil, At: at, Note: r.call.Note, Reason: r.call.Reason,
	}
	if hint := t.Spec.Annotations.DestructiveHint; hint != nil {
		a.Destructive, a.Additive = *hint, !*hint
	}
	if t.Page != nil {
		a.OfPage, a.At = true, inFrame(at, t.Page.Origin)
	}
	if p := t.Plugin; p != nil {
		a.PluginTitle, a.Hash, a.Shipped = p.Manifest.DisplayName, p.Hash, p.Shipped
	}
	return a
}

// checkTabOrigin refuses a tool that a frame registered when the origin of the tab's page is off.
func (r *run) checkTabOrigin(at call.Target) *fault.Error {
	around := r.access(&at)
	around.At = &at
	_, failure := r.Policy.Allow(around)
	return failure
}

// inFrame is where a page's tool runs: the document that registers it may be one in a frame, of another origin than the
// tab's page.
func inFrame(at *call.Target, origin string) *call.Target {
	if at == nil || at.Origin == origin {
		return at
	}
	frame := *at
	frame.Origin, frame.Within = origin, at.Origin
	return &frame
}

// permit checks whether the call may run at a target; nil for the relay's own tools. Where the person has to decide, it
// asks and waits. asked then tells the caller to resolve the target and call permit again, because the tab may show
// another page by now: the approval holds only for the page that it was given for.
func (r *run) permit(at *call.Target) (asked bool, failure *fault.Error) {
	if r.Policy != nil {
		r.verdict, failure = r.Policy.Allow(r.access(at))
		if failure == nil && r.tool.Page != nil && at != nil && at.Origin != r.tool.Page.Origin {
			failure = r.checkTabOrigin(*at)
		}
		if failure == nil {
			if asked, failure = r.permitAddress(at); asked {
				return true, failure
			}
		}
		switch {
		case failure != nil:
			r.refused = true // asking again would get the same
			return false, failure
		case !r.verdict.Ask, r.addressAllowed(at):
		case r.call.Consent && !r.consent.given():
			r.consent.approved = r.Policy.BindingOf(r.access(at))
		default:
			return true, r.askPerson(at)
		}
	}
	if r.call.Confirm == nil || r.consent.confirmed {
		return false, nil
	}
	return true, r.ask(func(ctx context.Context) *fault.Error {
		err := r.call.Confirm(ctx, r.consent.given())
		r.consent.confirmed = err == nil
		return asFault(err)
	})
}

// askPerson asks whether the call may run, with what it would do.
func (r *run) askPerson(at *call.Target) *fault.Error {
	if failure := r.preview(at); failure != nil {
		return failure
	}
	if r.deeds.Secret {
		return r.askAboutSensitiveField(at, "")
	}
	return r.ask(func(ctx context.Context) (failure *fault.Error) {
		r.consent.approved, failure = r.Policy.Ask(ctx, r.access(at), r.call.Ask, r.tellAsked)
		return failure
	})
}

// tellAsked tells the caller how the waiting for a person goes.
func (r *run) tellAsked(message string) {
	if r.call.Asking != nil {
		r.call.Asking(message)
		return
	}
	r.reports.announce(message)
}

// ask calls person, which asks the person, while the call holds no position, turn or slot, so that later calls of the
// session pass it, and while its clocks are stopped. Afterwards the tool may be gone.
func (r *run) ask(person func(context.Context) *fault.Error) *fault.Error {
	r.reportToBreaker(breaker.Nothing)
	r.ticket.Leave()
	defer r.noteAsking()()
	resume := r.clock.pause()
	r.clock.hold()
	defer func() {
		r.clock.release()
		resume()
	}()
	failure := person(r.clock.ctx)
	if failure == nil {
		failure = r.checkStillOffered()
	}
	r.refused = failure != nil // whoever said no is not asked again
	return failure
}

// checkStillOffered fails when the tool was removed since it was found.
func (r *run) checkStillOffered() *fault.Error {
	snapshot := r.Tools.Snapshot()
	if _, ok := snapshot.Find(r.call.Tool); ok {
		return nil
	}
	if failure := snapshot.Withheld(r.call.Tool); failure != nil {
		return failure
	}
	return fault.New(fault.UnknownTool, "The tool "+r.call.Tool+" was removed meanwhile")
}

// asFault returns the fault in an error of call.Call.Confirm.
func asFault(err error) *fault.Error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return fault.New(fault.InternalError, "The call was not let in", fault.WithOutcome(fault.NotExecuted),
		fault.WithCause(err))
}
