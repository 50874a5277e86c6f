package script

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/store"
)

// tables are the scripts that their agents gave an id.
var tables = &store.Tables{Capability: name, Prune: prune, Migrations: []string{
	`CREATE TABLE scripts (
		session TEXT NOT NULL,
		id      TEXT NOT NULL,
		hash    TEXT NOT NULL,    -- SHA-256 of the script and its args
		began   INTEGER NOT NULL, -- microseconds since 1970
		calls   TEXT NOT NULL,    -- its ledger as JSON, as far as it changes something
		answer  BLOB,             -- as JSON; NULL while it runs
		PRIMARY KEY (session, id)
	);
	CREATE INDEX scripts_by_time ON scripts (began);`,
	keptTable, keptRan, keptTools,
}}

const (
	findScript   = `SELECT hash, calls, answer FROM scripts WHERE session = ? AND id = ?`
	addScript    = `INSERT INTO scripts VALUES (?, ?, ?, ?, '[]', NULL)`
	updateCalls  = `UPDATE scripts SET calls = ? WHERE session = ? AND id = ?`
	removeScript = `DELETE FROM scripts WHERE session = ? AND id = ?`
	updateAnswer = `UPDATE scripts SET answer = ? WHERE session = ? AND id = ?`
	// Of each session the last 1000 stay, so that none takes those of another; one that runs is not too old.
	oldScripts = `DELETE FROM scripts WHERE began < ? OR answer IS NOT NULL AND rowid IN (SELECT rowid FROM
		(SELECT rowid, row_number() OVER (PARTITION BY session ORDER BY began DESC) AS n FROM scripts) WHERE n > 1000)`
)

func prune(tx store.Tx, oldest time.Time) error { return tx.Exec(oldScripts, oldest.UnixMicro()) }

// kept has each script that has an id run once in its session, also where the relay was restarted meanwhile.
type kept struct {
	store *store.Store
	mu    lock.Mutex
	first map[key]*first // those that run
}

// key names a script.
type key struct{ session, id string }

// first is the run of a script that others wait for.
type first struct {
	hash   string
	done   chan struct{}
	answer saved // once done is closed
}

// saved is how a script ended.
type saved struct {
	Output    json.RawMessage `json:"output,omitempty"`
	Content   []call.Content  `json:"content,omitempty"`
	Untrusted bool            `json:"untrusted,omitempty"`
	Failure   *fault.Error    `json:"failure,omitempty"`
	Before    string          `json:"before,omitempty"` // of the failure
}

// again is what the answer to a script that was sent again says of itself.
const again = "This is the answer to the first script with this id: it did not run again."

// once runs a script, or answers as the first one with its id did.
func (k *kept) once(ctx context.Context, r *run) (*call.Result, *fault.Error) {
	at, hash := key{r.asked.Session.ID, r.args.ID}, hashOf(r.args)
	k.mu.Lock()
	if one := k.first[at]; one != nil {
		k.mu.Unlock()
		return one.await(ctx, hash)
	}
	one := &first{hash: hash, done: make(chan struct{})}
	k.first[at] = one
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		delete(k.first, at)
		k.mu.Unlock()
		close(one.done)
	}()
	known, answer, failure := k.begin(ctx, r, at, hash)
	if known || failure != nil {
		one.answer = answer
		if failure != nil {
			one.answer = saved{Failure: failure}
			return nil, failure
		}
		return answer.again()
	}
	r.record = func(list calls) {
		text := string(rawjson.MustEncode(list))
		k.store.Later("the calls of a script", func(tx store.Tx) error {
			return tx.Exec(updateCalls, text, at.session, at.id)
		})
	}
	result, failure := r.do(ctx)
	one.answer = save(result, failure)
	if failure != nil && r.mayComeAgain(failure) {
		k.forget(at)
	} else {
		k.end(at, one.answer)
	}
	return result, failure
}

// begin finds the first script with an id, or notes that this is it.
func (k *kept) begin(ctx context.Context, r *run, at key, hash string) (known bool, answer saved, f *fault.Error) {
	var was struct{ hash, calls string }
	var text []byte
	known, err := store.Read(ctx, k.store, func(tx store.Tx) (bool, error) {
		err := tx.Row(findScript, []any{at.session, at.id}, &was.hash, &was.calls, &text)
		if !errors.Is(err, sql.ErrNoRows) {
			return true, err
		}
		tx.PruneSoon()
		return false, tx.Exec(addScript, at.session, at.id, hash, time.Now().UnixMicro())
	})
	switch {
	case err != nil:
		return false, answer, fault.New(fault.InternalError, "The id of the script cannot be kept, so it was not run",
			fault.WithOutcome(fault.NotExecuted), fault.WithCause(err))
	case !known:
		return false, answer, nil
	case was.hash != hash:
		return true, answer, taken()
	case text != nil:
		if err := json.Unmarshal(text, &answer); err != nil {
			return true, answer, fault.New(fault.InternalError, "The first answer of the script cannot be read",
				fault.WithCause(err))
		}
		if answer.Failure != nil {
			answer.Failure.Before = answer.Before
		}
		return true, answer, nil
	}
	return true, answer, r.interrupted(was.calls)
}

// interrupted is how a script ended that an earlier relay ran, and did not end.
func (r *run) interrupted(ledger string) *fault.Error {
	var list calls
	if err := json.Unmarshal([]byte(ledger), &list); err != nil {
		return fault.New(fault.ShuttingDown, "The relay ended while the script ran", fault.WithOutcome(fault.Unknown),
			fault.WithRetryable(false), fault.WithCause(err))
	}
	r.ledger.mu.Lock()
	for i := range list {
		r.ledger.entries = append(r.ledger.entries, &list[i])
	}
	r.ledger.mu.Unlock()
	return r.failed(fault.New(fault.ShuttingDown, "The relay ended while the script ran, and was started again",
		fault.WithHint("Send the script with another id to run it.")))
}

func (k *kept) end(at key, answer saved) {
	text := rawjson.MustEncode(answer)
	k.store.Later("the answer of a script", func(tx store.Tx) error {
		return tx.Exec(updateAnswer, []byte(text), at.session, at.id)
	})
}

// mayComeAgain reports whether a script that failed has its id once more: nothing of it began, and the person has not
// refused it.
func (r *run) mayComeAgain(failure *fault.Error) bool {
	return failure.Outcome == fault.NotExecuted && !failure.Ours(fault.ApprovalDenied) && !r.ledger.began()
}

// forget lets a script have its id once more: nothing of it began. A relay that ends before that is on disk finds a
// script without calls, which it answers with what that did.
func (k *kept) forget(at key) {
	k.store.Later("a script that did not begin", func(tx store.Tx) error {
		return tx.Exec(removeScript, at.session, at.id)
	})
}

// await waits for the first script with an id, and answers as it did.
func (f *first) await(ctx context.Context, hash string) (*call.Result, *fault.Error) {
	if f.hash != hash {
		return nil, taken()
	}
	select {
	case <-f.done:
		return f.answer.again()
	case <-ctx.Done():
		return nil, fault.CallEnded(ctx, "while the first script with its id ran")
	}
}

func taken() *fault.Error {
	return fault.New(fault.ValidationError, "Another script of this session has had this id",
		fault.WithOutcome(fault.NotExecuted), fault.WithHint("Give each script an id of its own."))
}

func save(result *call.Result, failure *fault.Error) saved {
	if failure != nil {
		return saved{Failure: failure, Before: failure.Before, Untrusted: failure.Untrusted}
	}
	return saved{Output: result.Output, Content: result.Content, Untrusted: result.Meta.Untrusted}
}

// again answers as the first script did.
func (s saved) again() (*call.Result, *fault.Error) {
	if s.Failure != nil {
		failure := *s.Failure
		failure.Before, failure.Untrusted = s.Before, s.Untrusted
		failure.Warnings = append([]string{again}, failure.Warnings...)
		return nil, &failure
	}
	return &call.Result{Output: s.Output, Content: s.Content, Meta: call.Meta{Untrusted: s.Untrusted},
		Warnings: []string{again}}, nil
}

// hashOf tells scripts apart.
func hashOf(a arguments) string {
	sum := sha256.Sum256(rawjson.MustEncode([]any{a.Script, a.Args}))
	return hex.EncodeToString(sum[:])
}
