package resources

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
)

func TestKeptResultsAndLetters(t *testing.T) {
	result, letter, strange := strings.Repeat("a", 32), strings.Repeat("b", 32), strings.Repeat("c", 32)
	keep := &shelves{
		result: call.StoredResult{ID: result, Session: session, Tool: "demo__list", MIMEType: "application/json",
			Data:    []byte(`[1,2]`),
			Created: time.Unix(1, 0)},
		letter: call.DeadLetter{ID: call.ID(letter), Session: session, Tool: "demo__write", Created: time.Unix(1, 0),
			Attempts: 3, Outcome: call.Unknown},
	}
	s := set(t, Options{Keep: keep})
	contents, failure := read(t, s, "result://"+result)
	if failure != nil || contents[0].Text != "[1,2]" || contents[0].MIMEType != "application/json" ||
		contents[0].Fresh != time.Hour || !strings.Contains(string(contents[0].Meta), "demo__list") {
		t.Errorf("result: %+v %v", contents, failure)
	}
	contents, failure = read(t, s, "deadletter://"+letter)
	if failure != nil || contents[0].Text != `{"id":"`+letter+`"}` || contents[0].Fresh != 0 {
		t.Errorf("letter: %+v %v", contents, failure)
	}
	list, _ := s.List(t.Context(), session)
	if len(list) != 2 || list[1].URI != "deadletter://"+letter || list[1].Title != "demo__write, 1970-01-01T00:00:01Z" {
		t.Errorf("listed: %+v", list)
	}
	for _, uri := range []string{"result://" + strange, "result://x", "result://" + result + "/x", "deadletter://" +
		strange, "deadletter://" + strings.ToUpper(letter)} {
		wantFault(t, s, uri, fault.ResourceNotFound, fault.TypeNotFound)
	}
	if _, failure := s.Read(t.Context(), call.Session{Client: "somebody else"}, "deadletter://"+
		letter, nil); failure == nil || failure.Code != fault.ResourceNotFound {
		t.Errorf("somebody else's letter: %v", failure)
	}
	if _, failure := s.Read(t.Context(), call.Session{Client: "somebody else"}, "result://"+
		result, nil); failure == nil || failure.Code != fault.ResourceNotFound {
		t.Errorf("somebody else's result: %v", failure)
	}
	keep.err = errors.New("SQLITE_IOERR /home/x/tabrelay.db")
	for _, uri := range []string{"result://" + result, "deadletter://" + letter} {
		if failure := wantFault(t, s, uri, fault.ResourceUnreadable,
			fault.TypeInternal); strings.Contains(failure.Message+failure.Hint, "SQLITE") {
			t.Errorf("the failure tells its cause: %s", failure.Message)
		}
	}
	if list, failure := s.List(t.Context(), session); failure != nil || len(list) != 1 {
		t.Errorf("one store that fails hides the rest: %v %v", list, failure)
	}
}

func TestRecentEvents(t *testing.T) {
	bus := new(event.Bus)
	for range recentEvents + 5 {
		bus.Publish(event.Of(session), event.Retry, "again", nil)
	}
	contents, failure := read(t, set(t, Options{Events: bus}), "events://recent")
	var answer struct{ Events []event.Event }
	if err := json.Unmarshal([]byte(contents[0].Text), &answer); failure != nil || err != nil ||
		len(answer.Events) != recentEvents || answer.Events[0].Seq != 5 {
		t.Errorf("%v %v, %d events", failure, err, len(answer.Events))
	}
	bus.Publish(event.OfPerson(), event.Connected, "a browser came", nil)
	bus.Publish(event.Of(call.Session{Client: "somebody else"}), event.Retry, "theirs", nil)
	contents, failure = read(t, set(t, Options{Events: bus}), "events://recent")
	if failure != nil || strings.Contains(contents[0].Text, "a browser came") ||
		strings.Contains(contents[0].Text, "theirs") {
		t.Errorf("%v, it reads what is not its own: %s", failure, contents[0].Text)
	}
}
