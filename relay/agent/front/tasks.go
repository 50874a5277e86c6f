package front

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/road/call"
)

// Tasks is the extension of MCP by which a call goes on behind the answer to its request (2026-07-28, SEP-2663).
const Tasks = "io.modelcontextprotocol/tasks"

// TaskStore keeps tasks, for a client that comes back later and for the next relay. The errors of KeepTask are
// call.ErrTooManyTasks and those of the disk.
type TaskStore interface {
	KeepTask(ctx context.Context, t call.Task) error // returns once Task finds it
	TaskMoved(t call.Task)                           // does not wait
	EndTask(ctx context.Context, t call.Task) error
	ForgetTask(id string) // does not wait
	Task(ctx context.Context, id string) (t call.Task, found bool, err error)
}

const (
	// promptly is how long a call of a tool that takes long may take and still be answered as any other: what refuses
	// it, and questions that come before it begins, need no task.
	promptly = 100 * time.Millisecond

	// How long a task is kept, from its creation on. It is never less than half of that after its end: while it runs
	// the time grows. A call that runs until only one keepTask is left of maxTask is ended.
	keepTask = time.Hour
	maxTask  = 24 * time.Hour

	pollInterval = time.Second            // what clients are told
	saveInterval = 200 * time.Millisecond // between two states of one task that are written down
	taskPatience = 2 * time.Second        // how long tasks may go on after Shutdown has begun, for their end to be kept
	maxSteps     = 100                    // of one task
	maxStep      = 500                    // runes of one
	noStep       = "The call goes on."
)

// errTaskTooLong is the cause of the end of a task's call that ran for most of maxTask.
var errTaskTooLong = errors.New("the task ran for as long as one may")

// task is work that goes on although its request has its answer.
type task struct {
	front   *Front
	request *resumable
	x       *exchange // stands for the request; nothing is sent through it
	overdue *time.Timer

	mu        lock.Mutex // guards the rest
	kept      call.Task
	open      []openInput    // what the client is asked for
	used      map[string]int // how often a key was wanted
	cancelled bool           // by its client
	watchers  map[*listener]struct{}
	saving    *time.Timer // nil: nothing has changed that is not written down
}

// endTasks ends the calls of all tasks.
func (f *Front) endTasks(cause error) {
	for _, k := range f.tasks.Range {
		k.(*task).request.cancel(cause)
	}
}

// taskOwner is who may ask for the tasks of a session: the client, whichever way it comes next time. One without a name
// is known by its attachment only, and so is a bounded session.
func taskOwner(s call.Session) string {
	if s.Client == call.Unnamed || s.Client == "" || s.Bounds != nil {
		return "session " + s.ID
	}
	return "client " + s.Client
}

// mayBeTask reports whether a call whose tool takes long may go on as a task: its client has said in this very request
// that it has tasks.
func (f *Front) mayBeTask(p *peer, meta *requestMeta) bool {
	return f.options.Tasks != nil && meta.hasTasks() && p.session.Bounds == nil
}

func (meta *requestMeta) hasTasks() bool {
	return meta.modern && meta.Capabilities != nil && meta.Capabilities.Extensions[Tasks] != nil
}

// goOn makes a task of the work that a round trip waits for, unless it is not that any more.
func (r *resumable) goOn(t *roundTrip) {
	f := r.front
	steps, waits := r.said(t)
	if !waits {
		return
	}
	now := time.Now()
	k := &task{front: f, request: r, used: map[string]int{}, kept: call.Task{
		ID: random.Hex(16), Owner: r.tasksOf, CallID: t.x.callID, Tool: t.x.tool, State: call.TaskWorking, Created: now,
		Updated: now, Expires: now.Add(maxTask + keepTask),
	}}
	k.begin(steps)
	k.x = &exchange{modern: true, cancel: r.cancel, log: t.x.log, tool: t.x.tool, callID: t.x.callID}
	if f.enter(k.x) != nil {
		return // the relay is stopping
	}
	if err := f.options.Tasks.KeepTask(context.Background(), k.kept); err != nil {
		f.leave(k.x)
		f.options.Log.Warn().Err(err).Str("tool", k.kept.Tool).Msg("a call became no task: its client waits for it")
		return
	}
	k.overdue = time.AfterFunc(maxTask-keepTask, func() { r.cancel(errTaskTooLong) })
	f.tasks.Store(k.kept.ID, k)
	created, handed := r.handOver(t, k)
	if !handed {
		k.leave()
		f.options.Tasks.ForgetTask(k.kept.ID)
		return
	}
	defer close(t.answered)
	t.x.respond(created)
	if t.x.isCancelled() {
		k.cancel() // nobody knows of it
	}
}

// said is what the work has said of itself, if t is the round trip that waits for it.
func (r *resumable) said(t *roundTrip) (steps []string, waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.steps), r.round == t
}

// begin notes what the work has said until now.
func (k *task) begin(steps []string) {
	k.kept.Steps, k.kept.Message = steps, noStep
	if len(steps) > 0 {
		k.kept.Message = steps[len(steps)-1]
	}
}

// handOver lets k have the work in place of t, and returns the answer for t. It reports whether t still waited for it.
func (r *resumable) handOver(t *roundTrip, k *task) (created response, handed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.round != t || !t.detach() {
		return response{}, false
	}
	r.round, r.task = nil, k
	k.begin(r.steps)
	return k.created(t.x), true
}

// asTask is the task that the work has become, nil when it has not.
func (r *resumable) asTask() *task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.task
}

// leave ends what goOn began.
func (k *task) leave() {
	k.overdue.Stop()
	k.front.tasks.Delete(k.kept.ID)
	k.front.leave(k.x)
}

// saidToTask notes a step of work that may go on as a task, and reports whether it does.
func (r *resumable) saidToTask(step call.Progress) bool {
	if r.tasksOf == "" {
		return false
	}
	said := strings.TrimSpace(clip.Runes(step.Message, maxStep))
	r.mu.Lock()
	k := r.task
	if k == nil && said != "" {
		r.steps = withStep(r.steps, said)
	}
	r.mu.Unlock()
	if k != nil && said != "" {
		k.report(said)
	}
	return k != nil
}

func withStep(steps []string, said string) []string {
	if steps = append(steps, said); len(steps) > maxSteps {
		steps = slices.Delete(steps, 0, 1)
	}
	return steps
}

// report notes a step of the call.
func (k *task) report(said string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept.Updated, k.kept.Message, k.kept.Steps = time.Now(), said, withStep(k.kept.Steps, said)
	if k.saving == nil {
		k.saving = time.AfterFunc(saveInterval, k.save)
	}
}

// save writes down how far the task is.
func (k *task) save() {
	k.mu.Lock()
	k.saving = nil
	kept := k.kept
	kept.Steps = slices.Clone(kept.Steps)
	k.mu.Unlock()
	if kept.State == call.TaskWorking {
		k.front.options.Tasks.TaskMoved(kept)
		k.tell()
	}
}

// cancel ends the call because the client wants that. A call that has ended is not changed by it.
func (k *task) cancel() {
	k.mu.Lock()
	k.cancelled = true
	k.mu.Unlock()
	k.request.cancel(call.ErrCancelled)
}

// finish notes how the call ended, and keeps that.
func (k *task) finish(how answer) {
	defer k.tell()
	defer k.leave()
	end := endOf(how(k.x))
	k.mu.Lock()
	if k.saving != nil {
		k.saving.Stop()
		k.saving = nil
	}
	k.kept.Updated, k.open = time.Now(), nil
	k.kept.State, k.kept.Message, k.kept.Result = end.state(k.cancelled), end.message(), end.json()
	k.kept.Expires = k.kept.Created.Add(timeToLive(k.kept, k.kept.Updated))
	kept := k.kept
	k.mu.Unlock()
	if err := k.front.options.Tasks.EndTask(context.Background(), kept); err != nil {
		k.front.options.Log.Error().Err(err).Str("correlationId", string(kept.CallID)).
			Msg("the end of a task is lost, because it cannot be kept")
	}
}

// timeToLive is how long a task is kept from its creation on.
func timeToLive(t call.Task, now time.Time) time.Duration {
	return min(now.Sub(t.Created).Truncate(keepTask/2)+keepTask, maxTask)
}
