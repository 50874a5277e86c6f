package throttle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

var budget = Budget{Burst: 3, Every: time.Second, Pause: 2 * time.Second}

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []int
		f := New(budget, func(slowed int) { told = append(told, slowed) })
		begin := time.Now()
		for range 3 {
			if f.Note(t.Context()) {
				t.Error("a failure within the budget was slowed down")
			}
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("the budget took %s", took)
		}
		if !f.Note(t.Context()) || time.Since(begin) != budget.Pause {
			t.Errorf("beyond it: %s", time.Since(begin))
		}
		if f.Note(t.Context()) { // two seconds brought two more
			t.Error("the budget does not grow again")
		}
		if len(told) != 1 || told[0] != 1 {
			t.Errorf("told %v", told)
		}
	})
}

func TestToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []int
		f := New(Budget{Burst: 0, Every: time.Hour, Pause: time.Second}, func(slowed int) { told = append(told, slowed) })
		for range 100 { // one each second
			f.Note(t.Context())
		}
		if len(told) != 2 || told[0] != 1 || told[1] != 60 {
			t.Errorf("told %v", told)
		}
	})
}

func TestPauseEndsWithTheSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Budget{Burst: 0, Every: time.Hour, Pause: time.Hour}, func(int) {})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if !f.Note(ctx) || time.Since(begin) != time.Second {
			t.Errorf("it waited %s for a sender who left", time.Since(begin))
		}
	})
}
