package delegation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// keeper keeps transcripts in memory.
type keeper struct {
	mu        sync.Mutex
	kept      []Transcript
	forgotten []string
}

func (k *keeper) KeepTranscript(t Transcript) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = append(k.kept, t)
}

func (k *keeper) ForgetTranscript(session string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forgotten = append(k.forgotten, session)
}

// messages are those of the turn that was kept last.
func (k *keeper) messages(t *testing.T) (list []provider.Message) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kept) == 0 {
		t.Fatal("nothing is kept")
	}
	if err := json.Unmarshal(k.kept[len(k.kept)-1].Messages, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// newKept makes sessions that keep transcripts if they are to.
func newKept(t *testing.T, keep bool, a Agent, answer func(context.Context, call.Call) (*call.Result, *fault.Error)) (
	*Sessions, *keeper, agentconfig.Limits) {
	t.Helper()
	k, limits := &keeper{}, agentconfig.Section.Of(config.Default()).Limits
	limits.KeepTranscripts = keep
	s := NewSessions(Options{MaxTimeout: time.Minute, Tools: &fakeTools{run: answer}, Transcripts: k})
	s.Configure([]*Member{{Agent: a}}, limits)
	t.Cleanup(s.Shutdown)
	return s, k, limits
}

// A transcript has what was asked, called, returned and answered, without what looks like a credential.
func TestTranscriptOfAModel(t *testing.T) {
	b := newBench(t, nil, calls("wiki__edit", `{"password":"hunter2","text":"x"}`), says("Done."), hangs)
	s, k, limits := newKept(t, true, b.model, answers("token=abcdefgh12345678 and text"))
	v := created(t, s, "")
	errand := Errand{Text: "Sign in with password=hunter2"}
	if _, failure := s.Prompt(t.Context(), client, v.ID, errand); failure != nil {
		t.Fatal(failure)
	}
	said := fmt.Sprintf("%+v", k.messages(t))
	raw := string(k.kept[0].Messages)
	if m := k.messages(t); len(m) != 4 || m[3].Text != "Done." || !strings.Contains(raw, `"text":"x"`) ||
		!strings.Contains(m[2].Results[0].Text, "and text") {
		t.Errorf("kept is %s", said)
	}
	if strings.Contains(raw, "hunter2") || strings.Contains(raw, "abcdefgh") {
		t.Errorf("a credential is kept: %s", raw)
	}
	if one := k.kept[0]; one.Session != v.ID || one.Agent != "reader" || one.Client != client.Client || one.Turn != 1 ||
		one.Ended != "end_turn" || one.At.IsZero() {
		t.Errorf("kept is %+v", one)
	}
	_, failure := s.Prompt(t.Context(), client, v.ID, Errand{Text: "again", Timeout: 10 * time.Millisecond})
	if failure == nil || len(k.kept) != 2 || k.kept[1].Ended != string(failure.Code) || len(k.messages(t)) != 1 {
		t.Errorf("%v; kept are %+v", failure, k.kept)
	}
	s.Close(client, v.ID, Closed)
	if len(k.forgotten) != 0 {
		t.Error("it is forgotten although it is to be kept")
	}
	v = created(t, s, "")
	_, _ = s.Prompt(t.Context(), client, v.ID, Errand{Text: "x", Timeout: 10 * time.Millisecond})
	limits.KeepTranscripts = false
	s.Configure(s.Members(), limits)
	s.Close(client, v.ID, Closed)
	if len(k.forgotten) != 1 || k.forgotten[0] != v.ID {
		t.Errorf("forgotten are %v, not the session that ended when nothing was to be kept", k.forgotten)
	}
}

// Of a program prompt and answer are known; what is too long is left out; without the setting nothing is kept.
func TestTranscriptBounds(t *testing.T) {
	answer := "short"
	agent := &scripted{id: "echo", prompt: func(_ context.Context, s *Session, _ Prompt) (Answer, *fault.Error) {
		for range 3 {
			s.Turn().note(provider.Message{Role: provider.User, Text: strings.Repeat("x", mostKept/2)})
		}
		return Answer{Text: answer, StopReason: "end_turn"}, nil
	}}
	for _, keep := range []bool{false, true} {
		s, k, _ := newKept(t, keep, agent, nil)
		v := created(t, s, "")
		if _, failure := s.Prompt(t.Context(), client, v.ID, Errand{Text: "x"}); failure != nil {
			t.Fatal(failure)
		}
		s.Close(client, v.ID, Closed)
		if !keep {
			if len(k.kept)+len(k.forgotten) != 0 {
				t.Errorf("kept although it is not to be: %v, %v", k.kept, k.forgotten)
			}
			continue
		}
		m := k.messages(t)
		if len(m) != 5 || !strings.Contains(m[3].Text, "for lack of space: 1)") || m[4].Text != answer {
			t.Errorf("%d messages are kept, the last ones %v", len(m), m[len(m)-1])
		}
	}
}
