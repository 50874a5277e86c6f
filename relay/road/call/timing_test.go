package call

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestTimingIsPlacedInTheMiddle(t *testing.T) {
	sent := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	many := make([]StepTime, 300)
	for i := range many {
		many[i] = StepTime{Step: StepAsked, Us: int64(i)}
	}
	for _, c := range []struct {
		name  string
		took  time.Duration
		steps []StepTime
		want  []string
	}{
		{"what the extension did not use is halved", 10 * time.Millisecond,
			[]StepTime{{StepAsked, 1000, "act"}, {StepSent, 4000, ""}},
			[]string{"3ms ", "4ms asked act", "7ms sent"}},
		{"nothing was told", 10 * time.Millisecond, nil, nil},
		{"it took as long as the attempt", 4 * time.Millisecond, []StepTime{{StepSent, 4000, ""}},
			[]string{"0s ", "4ms sent"}},
		{"longer than the attempt", 3 * time.Millisecond, []StepTime{{StepSent, 4000, ""}}, nil},
		{"before the call came", 3 * time.Millisecond, []StepTime{{StepSent, -1, ""}}, nil},
		{"out of order", 10 * time.Millisecond,
			[]StepTime{{StepAsked, 2000, ""}, {StepStarted, 1000, ""}, {StepEnded, 9000, ""}, {StepSent, 4000, ""}},
			[]string{"3ms ", "5ms asked", "7ms sent"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for at, s := range (Timing{Sent: sent, Answered: sent.Add(c.took), Steps: c.steps}).Each {
				text := fmt.Sprintf("%s %s", at.Sub(sent), s.Step)
				if s.What != "" {
					text += " " + s.What
				}
				got = append(got, text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	n := 0
	for range (Timing{Sent: sent, Answered: sent.Add(time.Second), Steps: many}).Each {
		n++
	}
	if n != 1+maxSteps {
		t.Errorf("%d steps of %d are read", n-1, len(many))
	}
	for range (Timing{Sent: sent, Answered: sent.Add(time.Second), Steps: many}).Each {
		break
	}
}
