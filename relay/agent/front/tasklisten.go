package front

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
)

// maxTaskIDs bounds the tasks of which one subscription hears.
const maxTaskIDs = 100

// taskIDs are the tasks of which a subscription wants to hear, nil when it names none.
func (f *Front) taskIDs(m *message, meta *requestMeta) (ids []string, fail *fault.Error) {
	members, _ := rawjson.Members(m.param("notifications"))
	raw := rawjson.Get(members, "taskIds")
	switch {
	case raw == nil || f.options.Tasks == nil:
		return nil, nil
	case !meta.hasTasks():
		return nil, noTasks("The request subscribes to tasks, and does not say that its client supports them")
	case json.Unmarshal(raw, &ids) != nil || len(ids) > maxTaskIDs:
		return nil, fault.New(fault.InvalidParams, "The taskIds are not a list of 100 texts at the most")
	}
	return ids, nil
}

// watchTasks lets c hear of those of the tasks that are its client's, beginning with how they are now, and returns
// which ones these are.
func (f *Front) watchTasks(ctx context.Context, p *peer, c *listener, ids []string) (watched []string, stop func()) {
	var running []*task
	for _, id := range ids {
		k, t, fail := f.findTask(ctx, p, id)
		switch {
		case fail != nil:
			continue
		case k != nil:
			running = append(running, k)
			k.watch(c)
		default:
			c.outbox.add(noteOf(id, func() taskMembers { return membersOf(*t, nil, time.Now()) }))
		}
		watched = append(watched, id)
	}
	return watched, func() {
		for _, k := range running {
			k.unwatch(c)
		}
	}
}

func (k *task) watch(c *listener) {
	k.mu.Lock()
	if k.watchers == nil {
		k.watchers = map[*listener]struct{}{}
	}
	k.watchers[c] = struct{}{}
	k.mu.Unlock()
	c.outbox.add(k.note())
}

func (k *task) unwatch(c *listener) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.watchers, c)
}

// tell lets those who watch the task hear how it is now.
func (k *task) tell() {
	k.mu.Lock()
	watchers := slices.Collect(maps.Keys(k.watchers))
	k.mu.Unlock()
	for _, c := range watchers {
		c.outbox.add(k.note())
	}
}

func (k *task) note() notification {
	return noteOf(k.kept.ID, func() taskMembers { return k.members(time.Now()) })
}

// noteOf tells of a task as it is when the notification is sent, which is what tasks/get would answer then.
func noteOf(id string, as func() taskMembers) notification {
	return notification{key: "task " + id, method: "notifications/tasks", task: as}
}

// acknowledged adds to the acknowledgement of a subscription which tasks it will hear of; mcp-go does not know them.
// Any other notification stays as it is.
func acknowledged(n mcp.JSONRPCNotification, note []byte, ids []string) []byte {
	if ids == nil || n.Method != mcp.MethodNotificationSubscriptionsAcknowledged {
		return note
	}
	members, _ := rawjson.Members(note)
	replace(members, "params", func(params []rawjson.Member) []rawjson.Member {
		replace(params, "notifications", func(all []rawjson.Member) []rawjson.Member {
			return append(all, rawjson.Make("taskIds", rawjson.MustEncode(ids)))
		})
		return params
	})
	return rawjson.Join(members)
}
