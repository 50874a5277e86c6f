package front

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// The methods of the extension.
const (
	methodTaskGet    = "tasks/get"
	methodTaskUpdate = "tasks/update"
	methodTaskCancel = "tasks/cancel"
)

func isTaskMethod(method string) bool {
	return method == methodTaskGet || method == methodTaskUpdate || method == methodTaskCancel
}

// serveTask answers one of the methods of the extension.
func (f *Front) serveTask(ctx context.Context, p *peer, x *exchange, m *message, meta *requestMeta) response {
	if !meta.hasTasks() {
		return f.failed(x, noTasks("The request does not say that its client supports tasks"), "")
	}
	id, ok := rawjson.Text(m.param("taskId"))
	if !ok {
		return x.errorResponse(fault.New(fault.InvalidParams,
			"The params of "+m.method+" have no taskId, or it is not a string"))
	}
	var answers map[string]json.RawMessage
	if m.method == methodTaskUpdate {
		var fail *fault.Error
		if answers, fail = readResponses(m); fail == nil && answers == nil {
			fail = fault.New(fault.InvalidParams, "The params of tasks/update have no inputResponses")
		}
		if fail != nil {
			return x.errorResponse(fail)
		}
	}
	k, t, fail := f.findTask(ctx, p, id)
	switch {
	case fail != nil:
		return x.errorResponse(fail)
	case m.method == methodTaskGet && k != nil:
		return f.renderTask(x, k.members(time.Now()))
	case m.method == methodTaskGet:
		return f.renderTask(x, membersOf(*t, nil, time.Now()))
	case k != nil && m.method == methodTaskUpdate:
		k.answer(answers)
	case k != nil:
		k.cancel()
	}
	return f.acknowledge(x)
}

// noTasks refuses what needs a client with tasks.
func noTasks(why string) *fault.Error {
	return fault.New(fault.ClientCapabilityMissing, why,
		fault.WithData(json.RawMessage(`{"requiredCapabilities":{"extensions":{"`+Tasks+`":{}}}}`)),
		fault.WithHint("Name the extension "+Tasks+" in the client capabilities of the request."))
}

// findTask finds a task of the peer's: one that runs, or one that has ended.
func (f *Front) findTask(ctx context.Context, p *peer, id string) (*task, *call.Task, *fault.Error) {
	owner := taskOwner(p.session)
	if running, _ := f.tasks.Load(id); running != nil && running.(*task).kept.Owner == owner {
		return running.(*task), nil, nil
	}
	t, found, err := f.options.Tasks.Task(ctx, id)
	if err != nil {
		return nil, nil, fault.New(fault.InternalError, "The task cannot be read", fault.WithCause(err))
	}
	if !found || t.Owner != owner {
		return nil, nil, fault.New(fault.InvalidParams, "There is no task "+clip.Runes(id, 40)+" of this client, or "+
			"it has expired", fault.WithHint("Call the tool again if its result is still needed."))
	}
	return nil, &t, nil
}

// acknowledge answers what has no result.
func (f *Front) acknowledge(x *exchange) response {
	b := append(appendID(nil, x.id), `,"result":{"_meta":{`...)
	return response{body: append(append(b, f.identity...), `},"resultType":"complete"}}`...)}
}

// created answers the request that has become a task.
func (k *task) created(x *exchange) response {
	b := append(appendID(nil, x.id), `,"result":{"_meta":{`...)
	b = append(append(b, k.front.identity...), `},"resultType":"task",`...)
	return response{body: append(appendTask(b, k.kept, string(call.TaskWorking), k.kept.Created), "}}"...)}
}

// taskMembers is a task as tasks/get answers it, without braces.
type taskMembers struct{ members, meta []byte }

// renderTask answers tasks/get.
func (f *Front) renderTask(x *exchange, t taskMembers) response {
	b := make([]byte, 0, len(t.members)+len(t.meta)+len(f.identity)+100)
	b = append(append(appendID(b, x.id), `,"result":{"_meta":{`...), f.identity...)
	b = append(append(b, t.meta...), `},"resultType":"complete",`...)
	return response{body: append(append(b, t.members...), "}}"...)}
}

// members is the task as it is now.
func (k *task) members(now time.Time) taskMembers {
	k.mu.Lock()
	defer k.mu.Unlock()
	return membersOf(k.kept, k.open, now)
}

// inputRequired is the status of a task that waits for its client.
const inputRequired = "input_required"

// membersOf encodes a task. Of one that was lost with an earlier relay is told what it had said until then; of one that
// its client cancelled, what it had done.
func membersOf(t call.Task, open []openInput, now time.Time) (m taskMembers) {
	status := string(t.State)
	switch {
	case t.State == call.TaskLost:
		status = string(call.TaskFailed)
		t.Result, t.Message = lost(t)
	case len(open) > 0:
		status, t.Message = inputRequired, "The call waits for an answer."
	}
	b := appendTask(nil, t, status, now)
	switch {
	case len(open) > 0:
		b = append(b, `,"inputRequests":{`...)
		for i, in := range open {
			b = in.append(appendComma(b, i), in.name)
		}
		b = append(b, '}')
	case t.State == call.TaskCompleted:
		b = append(append(b, `,"result":`...), t.Result...)
	case status == string(call.TaskFailed):
		b = append(append(b, `,"error":`...), t.Result...)
	case t.State == call.TaskCancelled:
		m.meta = append([]byte(`,"`+metaResult+`":`), t.Result...)
	}
	m.members = b
	return m
}

// metaResult is the member of _meta that has the end of a call whose task was cancelled: MCP has no place for it.
const metaResult = "tabrelay/result"

// appendTask encodes what every form of a task has.
func appendTask(b []byte, t call.Task, status string, now time.Time) []byte {
	b = rawjson.AppendText(append(b, `"taskId":`...), t.ID)
	b = append(append(append(b, `,"status":"`...), status...), '"')
	if t.Message != "" {
		b = rawjson.AppendText(append(b, `,"statusMessage":`...), t.Message)
	}
	b = appendTime(append(b, `,"createdAt":"`...), t.Created)
	b = appendTime(append(b, `","lastUpdatedAt":"`...), t.Updated)
	keep := t.Expires.Sub(t.Created)
	if t.State == call.TaskWorking {
		keep = timeToLive(t, now)
	}
	b = strconv.AppendInt(append(b, `","ttlMs":`...), keep.Milliseconds(), 10)
	return strconv.AppendInt(append(b, `,"pollIntervalMs":`...), pollInterval.Milliseconds(), 10)
}

func appendTime(b []byte, at time.Time) []byte {
	return at.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
}

// lost is the error of a task that ran when the relay ended, and its message.
func lost(t call.Task) (failure json.RawMessage, message string) {
	e := fault.New(fault.InternalError, "The relay ended while the task ran, so how it ended is not known",
		fault.WithOutcome(fault.Unknown),
		fault.WithHint("Its last steps are in data. Read the pages before anything that writes is repeated."),
		fault.WithData(rawjson.MustEncode(struct {
			Tool  string   `json:"tool"`
			Steps []string `json:"steps"`
		}{t.Tool, append([]string{}, t.Steps...)})))
	e.CorrelationID = string(t.CallID)
	return endOf(errorResponse(nil, e, true)).failure, e.Message
}

// taskEnd is how a call ended, as MCP has it: one of the two.
type taskEnd struct{ result, failure json.RawMessage }

// endOf takes a response apart.
func endOf(r response) taskEnd {
	members, _ := rawjson.Members(r.body)
	return taskEnd{rawjson.Get(members, "result"), rawjson.Get(members, "error")}
}

func (e taskEnd) json() json.RawMessage {
	if e.failure != nil {
		return e.failure
	}
	return e.result
}

// state is that of the task. A call that came to its end before it could be cancelled has its result.
func (e taskEnd) state(cancelled bool) call.TaskState {
	switch {
	case cancelled && (e.failure != nil || e.bad()):
		return call.TaskCancelled
	case e.failure != nil:
		return call.TaskFailed
	}
	return call.TaskCompleted
}

// bad reports whether the result is that of a failure.
func (e taskEnd) bad() bool {
	members, _ := rawjson.Members(e.result)
	return string(rawjson.Get(members, "isError")) == "true"
}

// message is one sentence for people; empty when the result says it all.
func (e taskEnd) message() string {
	failure := e.failure
	if failure == nil {
		members, _ := rawjson.Members(e.result)
		meta, _ := rawjson.Members(rawjson.Get(members, "_meta"))
		failure = rawjson.Get(meta, metaError)
	}
	members, _ := rawjson.Members(failure)
	text, _ := rawjson.Text(rawjson.Get(members, "message"))
	return clip.Runes(text, maxStep)
}

// checkTaskHeader compares the task that a request names with the header that repeats it, for those who route by it.
func checkTaskHeader(h http.Header, m *message) error {
	id, ok := rawjson.Text(m.param("taskId"))
	if !ok {
		return nil // which is refused for that
	}
	sent := h.Get(mcp.HeaderName)
	if name, ok := mcp.DecodeHeaderValue(sent); sent != "" && ok && name == id {
		return nil
	}
	return mcp.HeaderMismatchError{Header: mcp.HeaderName,
		Reason: "the header is missing, or is not the taskId of the request"}
}
