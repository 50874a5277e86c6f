package call

import (
	"regexp"
	"testing"
	"testing/synctest"
	"time"
)

// Ids of calls sort by the time they were made at, as the indexes of the database want it, and none comes twice.
func TestIDsFollowTime(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{32}$`)
	synctest.Test(t, func(t *testing.T) {
		seen := map[ID]bool{}
		for last := ID(""); len(seen) < 3000; time.Sleep(time.Millisecond) {
			first, second := NewID(), NewID()
			for _, id := range []ID{first, second} {
				if !form.MatchString(string(id)) || seen[id] || id <= last {
					t.Fatalf("%s came after %s", id, last)
				}
				seen[id] = true
			}
			last = max(first, second)
		}
	})
}
