package async

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestChangesAreMadeOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue()
		defer q.Close()
		var order []int // only changes touch it
		var callers sync.WaitGroup
		for i := range 10 {
			callers.Go(func() {
				time.Sleep(time.Duration(i) * time.Second)
				if err := q.Do(func() { time.Sleep(time.Minute); order = append(order, i) }); err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		if len(order) != 10 || order[0] != 0 {
			t.Errorf("made %v", order)
		}
	})
}

func TestCloseWaitsForTheChangeThatIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, made := NewQueue(), false
		begun := make(chan struct{})
		go func() { _ = q.Do(func() { close(begun); time.Sleep(time.Second); made = true }) }() // it was accepted
		<-begun
		q.Close()
		q.Close()
		if err := q.Do(func() { t.Error("it was made after the end") }); !made || !errors.Is(err, ErrClosed) {
			t.Errorf("made %t, then %v", made, err)
		}
	})
}
