package handover

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/road/untrusted"
)

const (
	toolName = "relay__ask_person"
	waitTool = "browser__wait"
)

const description = "Hands the page to the person for what only they can do (sign in, captcha, second factor, a " +
	"decision), waits, and answers with how it ended and a look at the page. It allows you nothing."

const input = `{"type":"object","properties":{` +
	`"why":{"type":"string","minLength":1,"maxLength":500,"description":"What they have to do."},` +
	`"tabId":{"type":"integer"},` +
	`"until":{"type":"object","description":"Ends it, too. One of them.","properties":{` +
	`"text":{"type":"string","minLength":1,"maxLength":200,"description":"Displayed."},` +
	`"gone":{"type":"string","minLength":1,"maxLength":200,"description":"Text."},` +
	`"url":{"type":"string","minLength":1,"maxLength":500,"description":"Part of it."},` +
	`"signedIn":{"const":true,"description":"Says the site's plugin."}},` +
	`"minProperties":1,"maxProperties":1,"additionalProperties":false},` +
	`"timeoutMs":{"type":"integer","minimum":1000}},"required":["why"],"additionalProperties":false}`

// arguments are those of the tool.
type arguments struct {
	Why       string          `json:"why"`
	TabID     int             `json:"tabId"`
	Until     json.RawMessage `json:"until"`
	TimeoutMs int64           `json:"timeoutMs"`
}

const (
	longest   = time.Hour // as long as a setting may say
	tellEvery = 5 * time.Second
	lookTime  = 5 * time.Second // kept of the call's own time for the look at its end
	mostWhy   = 500
	mostTitle = 80
)

func (d *desk) tools() []registry.Tool {
	no, yes := false, true
	return []registry.Tool{{
		Name: toolName, Group: Group, Unqueued: true, ForClients: true, Task: true, Run: d.call,
		Spec: plugin.Tool{
			Name: toolName, DisplayName: "Ask the person to do it", Description: description,
			InputSchema: json.RawMessage(input),
			Annotations: plugin.Annotations{ReadOnlyHint: &yes, IdempotentHint: &no, OpenWorldHint: &no},
			TimeoutMs:   int(longest.Milliseconds()),
		},
	}}
}

// call carries a call of the tool out: it opens a request and waits until that has ended.
func (d *desk) call(ctx context.Context, c call.Call, raw json.RawMessage) (*call.Result, *fault.Error) {
	var args arguments
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, fault.New(fault.ValidationError, "The arguments cannot be read: "+err.Error())
	}
	at, failure := d.tab(ctx, c, args.TabID)
	if failure != nil {
		return nil, failure
	}
	if at == nil && args.Until != nil {
		return nil, fault.New(fault.ValidationError, "until is about a page, and no tab is named",
			fault.WithHint("Pass the tabId of the page, which browser__list_tabs lists."))
	}
	limits := d.settings.Load()
	if failure := d.open.admit(c.Session.Client, c.Session.ID, limits.PerHour); failure != nil {
		return nil, failure
	}
	var until condition
	if args.Until != nil {
		if until, failure = d.condition(ctx, c, at, args.Until); failure != nil {
			return nil, failure
		}
	}
	left := limits.Time
	if args.TimeoutMs > 0 {
		left = min(left, call.Timeout(args.TimeoutMs))
	}
	if end, bounded := ctx.Deadline(); bounded {
		left = min(left, max(0, time.Until(end)-lookTime))
	}
	one, failure := d.open.add(view(c.Session, args.Why, until.words, at, left), c.Session.ID)
	if failure != nil {
		return nil, failure
	}
	d.Changed(topic)
	defer d.Changed(topic)
	how := d.wait(ctx, c, one, until.await, left)
	if failure := failed(ctx, how); failure != nil {
		return nil, failure
	}
	return d.answer(ctx, c, one.view.TabID, how), nil
}

// view is what the person is shown of a request.
func view(s call.Session, why, until string, at *hub.Tab, left time.Duration) View {
	v := View{
		Client: s.Client, Called: policy.Called(s), Why: untrusted.Name(why, mostWhy),
		Until: until, Deadline: time.Now().Add(left).UTC(),
	}
	if at != nil {
		v.ProfileID, v.Profile, v.TabID, v.Origin = at.ProfileID, at.Profile, at.ID, at.Origin()
		v.Title = untrusted.Name(at.Title, mostTitle)
	}
	return v
}

// tab is the one that a request is about, as every call of the browser's tools finds its own: the one that is named,
// else the one where the session works, else the one in front. The call that finds it reads nothing of the page. Nil:
// there is none, and none was named.
func (d *desk) tab(ctx context.Context, c call.Call, id int) (*hub.Tab, *fault.Error) {
	args := map[string]any{"gone": random.Hex(8)} // which no page shows
	if id != 0 {
		args["tabId"] = id
	}
	found, failure := d.Tools.Do(ctx, call.Call{ID: call.NewID(), Session: c.Session, Tool: waitTool,
		Arguments: rawjson.MustEncode(args), Ask: c.Ask})
	if failure != nil {
		if id == 0 {
			return nil, nil
		}
		return nil, failure
	}
	for _, t := range d.Browsers.Tabs() {
		if t.ID == found.Meta.TabID && t.ProfileID == found.Meta.ProfileID {
			return &t, nil
		}
	}
	return nil, fault.New(fault.TabNotFound, fmt.Sprintf("Tab %d was closed", found.Meta.TabID),
		fault.WithOutcome(fault.NotExecuted), fault.WithHint("Pass a `tabId` that browser__list_tabs lists."))
}

// wait waits for the end of a request.
func (d *desk) wait(ctx context.Context, c call.Call, one *request, until func(context.Context) bool,
	left time.Duration) ending {
	waiting, over := context.WithCancelCause(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer over(call.ErrAnswered)
	if until != nil {
		beside.Go(func() {
			if until(waiting) {
				d.open.end(seen, is(one.view.ID))
			}
		})
	}
	if c.Ask != nil {
		beside.Go(func() { d.askClient(waiting, c, one.view) })
	}
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	late := time.NewTimer(left)
	defer late.Stop()
	for began := time.Now(); ; {
		if c.Progress != nil {
			c.Progress(call.Progress{Progress: time.Since(began).Seconds(), Message: fmt.Sprintf(
				"Waiting for the person (%d s left)", int((left - time.Since(began)).Round(time.Second).Seconds()))})
		}
		select {
		case how := <-one.ended:
			return how
		case <-tick.C:
		case <-late.C:
			d.open.end(nobody, is(one.view.ID))
		case <-ctx.Done():
			d.open.end(clientLeft, is(one.view.ID))
		}
	}
}

// askClient asks in the agent's own program, too, where that can ask.
func (d *desk) askClient(ctx context.Context, c call.Call, v View) {
	where := ""
	if v.Origin != "" {
		where = " At " + v.Origin + " in your browser."
	}
	said, err := c.Ask(ctx, call.Question{
		Message: fmt.Sprintf("%s needs your hand: “%s”%s Accept once it is done, decline if you cannot.", v.Client,
			v.Why, where),
		Schema: json.RawMessage(`{"type":"object","properties":{}}`),
	})
	if err != nil {
		return
	}
	switch said.Action {
	case "accept":
		d.decide(v.ID, done, c.Session, policy.ByClient)
	case "decline":
		d.decide(v.ID, cannot, c.Session, policy.ByClient)
	}
}

// failed is why a request has no answer.
func failed(ctx context.Context, how ending) *fault.Error {
	switch how {
	case nobody:
		return fault.New(fault.ApprovalTimeout, "Nobody did what the person was asked for in time",
			fault.WithOutcome(fault.NotExecuted),
			fault.WithHint("The person may not be there. End the errand and say what is missing, or ask again later."))
	case stopped:
		return fault.New(fault.PermissionDenied, "Every agent was stopped", fault.WithOutcome(fault.NotExecuted))
	case relayStops:
		return fault.New(fault.ShuttingDown, "The relay stopped while the person was asked",
			fault.WithOutcome(fault.NotExecuted))
	case clientLeft:
		if ctx.Err() != nil {
			return fault.CallEnded(ctx, "while the person was asked")
		}
		return fault.New(fault.Cancelled, "The session has ended", fault.WithOutcome(fault.NotExecuted))
	}
	return nil
}

// endWords tell an agent how a request ended.
var endWords = map[ending]string{
	done:      "The person says that it is done.",
	seen:      "What was awaited came.",
	cannot:    "The person says that they cannot, or will not, do it. Do not ask for the same again.",
	tabClosed: "The tab was closed.",
}

// answer is how a request ended, and a look at its page.
func (d *desk) answer(ctx context.Context, c call.Call, tabID int, how ending) *call.Result {
	text := func(words string) call.Content {
		return rawjson.MustEncode(map[string]string{"type": "text", "text": words})
	}
	result := &call.Result{
		Output:  rawjson.MustEncode(map[string]string{"ended": string(how)}),
		Content: []call.Content{text(endWords[how])},
	}
	if tabID == 0 || how == tabClosed {
		return result
	}
	look, failure := d.Tools.Do(ctx, call.Call{ID: call.NewID(), Session: c.Session,
		Tool: "browser__snapshot", Arguments: rawjson.MustEncode(map[string]int{"tabId": tabID}), Ask: c.Ask})
	if failure != nil {
		result.Warnings = append(result.Warnings, "The page was not looked at: "+failure.Message)
		return result
	}
	result.Meta.Untrusted = true
	if len(look.Content) > 0 {
		result.Content = append(result.Content, look.Content...)
		return result
	}
	var words string
	if json.Unmarshal(look.Output, &words) != nil {
		words = string(look.Output)
	}
	result.Content = append(result.Content, text(words))
	return result
}

// advice names the tool after a failure of a page's tool that ends where a person signs in, solves a captcha or has
// rights that the account lacks. A rule of the person's that forbids a call is nothing that they are to be asked to do
// by hand.
func advice(f *fault.Error) string {
	if !f.FromPage || f.Category != fault.Auth && f.Code != fault.PermissionDenied &&
		!strings.Contains(string(f.Code), "CAPTCHA") {
		return ""
	}
	args := `{"why":"…"}`
	switch {
	case f.TabID != 0 && f.Code == fault.AuthError && f.Outcome == fault.NotExecuted: // as the plugin's signIn fails
		args = fmt.Sprintf(`{"why":"…","tabId":%d,"until":{"signedIn":true}}`, f.TabID)
	case f.TabID != 0:
		args = fmt.Sprintf(`{"why":"…","tabId":%d}`, f.TabID)
	}
	return "Next: the person can do it by hand: " + toolName + " " + args
}
