package script

import (
	"testing"
	"time"

	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// A session that keeps very many scripts pushes out its own oldest ones, and neither those of others nor one that runs.
func TestKeptScriptsOfASessionAreItsOwnLimit(t *testing.T) {
	db := openStore(t, config.Home(t.TempDir()))
	begin := time.Now().Add(-time.Hour)
	_, err := store.Read(t.Context(), db, func(tx store.Tx) (none struct{}, err error) {
		add := func(session string, id, minute int, answer any) {
			if err == nil {
				err = tx.Exec(`INSERT INTO scripts VALUES (?, ?, 'h', ?, '[]', ?)`, session, id,
					begin.Add(time.Duration(minute)*time.Second).UnixMicro(), answer)
			}
		}
		add("few", 1, 0, "{}")
		add("many", 0, 0, nil) // it runs
		for n := 1; n <= 1100; n++ {
			add("many", n, n, "{}")
		}
		if err == nil {
			err = prune(tx, begin.Add(-time.Hour))
		}
		return none, err
	})
	if err != nil {
		t.Fatal(err)
	}
	for question, want := range map[string]int{
		`SELECT count(*) FROM scripts WHERE session = 'few'`:                         1,
		`SELECT count(*) FROM scripts WHERE session = 'many' AND answer IS NULL`:     1,
		`SELECT count(*) FROM scripts WHERE session = 'many' AND id = '1100'`:        1,
		`SELECT count(*) FROM scripts WHERE session = 'many' AND id = '100'`:         0,
		`SELECT count(*) FROM scripts WHERE answer IS NOT NULL AND session = 'many'`: 1000,
	} {
		got, err := store.Read(t.Context(), db, func(tx store.Tx) (n int, err error) {
			err = tx.Row(question, nil, &n)
			return n, err
		})
		if err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", question, got, err, want)
		}
	}
}
