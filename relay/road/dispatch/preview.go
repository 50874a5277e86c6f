package dispatch

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/deed"
	"tabrelay/relay/road/fault"
)

// previewTime is how long a page may take to say what a call would do.
const previewTime = 10 * time.Second

// preview asks the page what an act of the browser's tools would do, for the question to the person. The page does
// nothing. An act that cannot be done fails here, before anybody is asked.
func (r *run) preview(at *call.Target) *fault.Error {
	allowed := r.allowedAt(at) // of the deeds until now
	r.deeds = call.Deeds{}
	t := r.tool
	if !t.Acts || t.Develops || at == nil {
		return nil
	}
	if !deed.InPage(t.Spec.Name) {
		r.deeds = deed.OfTab(t.Spec.Name, r.args)
		return nil
	}
	q := r.invocation()
	q.CorrelationID, q.ID, q.Write = r.call.ID, call.NewID(), false
	q.Timeout, q.MaxTimeout = min(q.Timeout, previewTime), min(q.MaxTimeout, previewTime)
	q.MaxBytes, q.ConsoleTailBytes, q.ProgressPattern, q.Started = 0, 0, "", func() {}
	q.Arguments = withPageOptions(r.args, map[string]any{"preview": true})
	q.Sites = previewSites(r.sites(at))
	defer r.Browser.Leave(q.ID, true)
	reply, failure := r.Browser.Send(r.clock.ctx, *at, q)
	if failure != nil {
		failure.Outcome = fault.NotExecuted // a preview changes nothing, however it ended
		if site, ok := closedSiteOf(failure); ok {
			if refused := r.refuseSite(at, site); refused != nil {
				return refused
			}
		}
		return r.withoutWords(at, allowed, q, failure)
	}
	deeds, ok := deed.Of(t.Spec.Name, r.args, reply.Output, at.Origin)
	if !ok {
		return fault.New(fault.AdapterNotReady, "The extension did not say what the call would do",
			fault.WithOutcome(fault.NotExecuted), fault.WithHint("Ask the person to update tabrelay's extension."))
	}
	r.deeds = deeds
	return nil
}

// previewSites returns sites with those that the person is yet to be asked about open: only they are shown the preview.
func previewSites(sites *call.Sites) *call.Sites {
	if sites == nil {
		return nil
	}
	return sites.Each(openIfAsked)
}

func openIfAsked(state call.SiteState) call.SiteState {
	if state == call.SiteAsk {
		return call.SiteOpen
	}
	return state
}

// withoutWords is the failure of a preview as far as the agent may hear of it. A page says why an act cannot be done in
// its own words, such as what else there is, and nobody was asked yet whether the agent may have them: they are for who
// may act or look there without a question. Where frames were shown the preview on top of that, it is tried without
// them.
func (r *run) withoutWords(at *call.Target, allowed bool, q call.Invocation, failure *fault.Error) *fault.Error {
	if !failure.FromPage || r.Policy == nil {
		return failure
	}
	known := r.knownSites(at)
	if allowed {
		known.Origins[at.Origin] = call.SiteOpen
	}
	if known.Of(at.Origin) == call.SiteOpen {
		if !known.Asks() {
			return failure
		}
		q.ID, q.Sites = call.NewID(), &known
		defer r.Browser.Leave(q.ID, true)
		_, again := r.Browser.Send(r.clock.ctx, *at, q)
		if again != nil && again.FromPage && again.Code != codeSiteClosed {
			again.Outcome = fault.NotExecuted
			return again
		}
	}
	unsaid := fault.New(fault.ValidationError, "The page cannot do this call as it stands; why is not told, because "+
		"this session may not read the page without the person's permission", fault.WithTab(at.TabID, at.Profile),
		fault.WithOutcome(fault.NotExecuted), fault.WithHint("Look at the page first, with "+looker+": the person is "+
			"asked then. Name what you find there."))
	if gone[failure.Code] && deed.Refers(r.args) {
		unsaid.Code, unsaid.Category = failure.Code, fault.NotFound // of what this session was told before
	}
	return unsaid
}

// allowedAt reports whether the call may run at a target without a question, or the person has answered it.
func (r *run) allowedAt(at *call.Target) bool {
	if r.Policy == nil || at == nil {
		return false
	}
	says, failure := r.Policy.Allow(r.access(at))
	return failure == nil && !says.Ask
}

// gone are the codes with which a page says that a reference means nothing any more, or another thing.
var gone = map[fault.Code]bool{"REF_GONE": true, "DOCUMENT_CHANGED": true, "FRAME_GONE": true,
	fault.TargetChanged: true}

// knownSites says where the call may act, or its session may look, without a question.
func (r *run) knownSites(at *call.Target) call.Sites {
	acting := r.Policy.Sites(r.access(at))
	if own := r.sites(at); own != nil {
		acting = *own
	}
	tool, ok := r.Tools.Snapshot().Find(looker)
	if !ok || !r.mayCall(tool) {
		return acting
	}
	reading := r.Policy.Sites(r.accessOf(tool, at))
	return combine(acting, reading, func(own, read call.SiteState) call.SiteState {
		if own == call.SiteAsk && read == call.SiteOpen {
			return call.SiteOpen
		}
		return own
	})
}

// withPageOptions adds the member "_" to the arguments of a browser's tool: options of the relay for the page. An agent
// cannot set it, because the schemas of the tools do not allow it.
func withPageOptions(arguments json.RawMessage, told map[string]any) json.RawMessage {
	members, ok := rawjson.Members(arguments)
	if !ok || len(told) == 0 {
		return arguments
	}
	return rawjson.Join(append(members, rawjson.Make("_", rawjson.MustEncode(told))))
}

// withConsent returns the arguments with what the person has allowed: to act on sensitive fields, and on exactly the
// targets that they were shown.
func (r *run) withConsent() json.RawMessage {
	told := map[string]any{}
	if r.consent.sensitive {
		told["sensitive"] = true
	}
	if r.deeds.Targets != nil && (r.consent.given() || r.consent.sensitive || len(r.consent.sites) > 0) {
		told["agreed"] = r.deeds.Targets
	}
	return withPageOptions(r.args, told)
}

// intended returns the sentences of the preview that the person was shown; empty: there was no preview, or one that
// took for ordinary a field that has turned out to be sensitive.
func (r *run) intended() string {
	if r.consent.redact && !r.deeds.Secret {
		return ""
	}
	return strings.Join(r.deeds.Sentences, "; ")
}

// auditDetail is what the call did, for the audit log: the preview, or else what the page says was acted on.
func (r *run) auditDetail(f *fault.Error) string {
	if intended := r.intended(); intended != "" || r.tool == nil || !r.tool.Browses {
		return intended
	}
	if f != nil {
		return stepsOf(r.args, f)
	}
	on := actedOn(r.reply)
	switch len(on) {
	case 0:
		return ""
	case 1:
		return "The page calls what was acted on: " + on[0]
	}
	for i := range on {
		on[i] = strconv.Itoa(i+1) + ". " + on[i]
	}
	return "The page calls what was acted on: " + strings.Join(on, "; ")
}

// stepsOf is what became of each step of an act that failed in its page, and what was acted on; empty for any other
// failure, whose message says all.
func stepsOf(arguments json.RawMessage, f *fault.Error) string {
	var act struct {
		Steps []struct {
			Tool string `json:"tool"`
		} `json:"steps"`
	}
	if json.Unmarshal(arguments, &act) != nil || len(act.Steps) < 2 || !strings.HasPrefix(f.Message, "Step ") {
		return ""
	}
	var told struct {
		Done []struct {
			On string `json:"on"`
		} `json:"done"`
	}
	if json.Unmarshal(unquoteJSON(f.Data), &told) != nil {
		told.Done = nil
	}
	said := make([]string, len(act.Steps))
	for i, step := range act.Steps {
		became := "not tried"
		switch {
		case i < len(told.Done):
			became = "done"
			if on := told.Done[i].On; on != "" {
				became += " to what the page calls " + clip.Runes(fault.Sanitize(on), maxFieldText)
			}
		case i == len(told.Done):
			became = "failed"
		}
		said[i] = strconv.Itoa(i+1) + ". " + clip.Runes(fault.Sanitize(step.Tool), maxFieldText) + ": " + became
	}
	return strings.Join(said, "; ")
}

// unquoteJSON returns the JSON in a JSON string; anything else stays as it is.
func unquoteJSON(data json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return json.RawMessage(text)
	}
	return data
}

// actedOn is what an act says that it was done to, for each of its steps, by role and name.
func actedOn(reply *call.Reply) (on []string) {
	type step struct {
		On string `json:"on"`
	}
	var told struct {
		step
		Steps []step `json:"steps"`
	}
	if reply == nil || json.Unmarshal(reply.Output, &told) != nil {
		return nil
	}
	for _, one := range append([]step{told.step}, told.Steps...) {
		if one.On != "" {
			on = append(on, clip.Runes(fault.Sanitize(one.On), maxFieldText))
		}
	}
	return on
}
