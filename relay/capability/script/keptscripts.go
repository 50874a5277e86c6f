package script

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// scriptsPath has the scripts that the person keeps, and topic is what side panels look at.
const (
	scriptsPath = "/api/v1/scripts"
	topic       = "scripts"
)

// Kept is a script that the person keeps under a name. Commands may run exactly this text, with exactly these args and
// the tools that it names as they were then, without the question about scripts.
type Kept struct {
	Name   string          `json:"name"`
	Kept   time.Time       `json:"kept"`
	Ran    *time.Time      `json:"ran,omitempty"` // when a command began to run it last
	Uses   string          `json:"uses"`          // its tools and their sites, in words, as the person read them
	Script string          `json:"script,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	// Changed is whether a tool that it names is another one since, or gone: the person is asked about it again.
	Changed bool `json:"changed,omitempty"`
}

// KeptScripts is the answer of GET /api/v1/scripts, without the texts.
type KeptScripts struct {
	Scripts []Kept `json:"scripts"`
}

const keptTable = `CREATE TABLE kept_scripts (
	name    TEXT PRIMARY KEY,
	binding TEXT NOT NULL,    -- SHA-256 of the script, its args and the tools that it names
	kept    INTEGER NOT NULL, -- microseconds since 1970
	uses    TEXT NOT NULL,
	script  TEXT NOT NULL,
	args    TEXT NOT NULL
);`

// keptRan adds when a script ran last, in microseconds since 1970; 0: never.
const keptRan = `ALTER TABLE kept_scripts ADD COLUMN ran INTEGER NOT NULL DEFAULT 0;`

// keptTools adds the names of its tools, as JSON; empty: a script that was kept before does not say.
const keptTools = `ALTER TABLE kept_scripts ADD COLUMN tools TEXT NOT NULL DEFAULT '';`

const (
	addKept  = `INSERT INTO kept_scripts VALUES (?, ?, ?, ?, ?, ?, 0, ?)`
	findKept = `SELECT kept, ran, uses, script, args FROM kept_scripts WHERE name = ?`
	listKept = `SELECT json_group_array(json_object('name', name, 'kept', kept, 'ran', ran, 'uses', uses,
		'binding', binding, 'script', script, 'args', args, 'tools', tools))
		FROM (SELECT * FROM kept_scripts ORDER BY name)`
	countKept  = `SELECT count(*) FROM kept_scripts`
	findBound  = `SELECT name FROM kept_scripts WHERE binding = ? ORDER BY name LIMIT 1`
	noteBound  = `UPDATE kept_scripts SET ran = ? WHERE binding = ?`
	forgetKept = `DELETE FROM kept_scripts WHERE name = ?`
)

func (s *Scripts) routes() []httpapi.Route {
	return []httpapi.Route{
		{Pattern: "GET " + scriptsPath, Access: httpapi.Person, Handler: httpapi.Answers(s.list)},
		{Pattern: "POST " + scriptsPath, Access: httpapi.Person, Handler: httpapi.Answers(s.keep)},
		{Pattern: "GET " + scriptsPath + "/{name}", Access: httpapi.Person, Handler: httpapi.Answers(s.show)},
		{Pattern: "DELETE " + scriptsPath + "/{name}", Access: httpapi.Person, Handler: httpapi.Answers(s.forget)},
	}
}

func (s *Scripts) list(_ http.ResponseWriter, req *http.Request) (any, *httpapi.Refusal) {
	all, err := store.Read(req.Context(), s.core.Store, func(tx store.Tx) ([]Kept, error) {
		var found string
		var rows []struct {
			Name, Uses, Binding, Script, Args, Tools string
			Kept, Ran                                int64
		}
		if err := tx.Row(listKept, nil, &found); err != nil {
			return nil, err
		}
		err := json.Unmarshal([]byte(found), &rows)
		list := make([]Kept, 0, len(rows))
		r := run{Scripts: s, asked: call.Call{Session: call.Session{Client: config.LocalClient, Via: call.ViaSocket}}}
		r.look()
		for _, row := range rows {
			r.args = arguments{Script: row.Script, Args: json.RawMessage(row.Args)}
			list = append(list, Kept{Name: row.Name, Uses: row.Uses, Kept: at(row.Kept), Ran: ran(row.Ran),
				Changed: r.changedSince(row.Tools, row.Binding)})
		}
		return list, err
	})
	if err != nil {
		return nil, unreadable(err)
	}
	return KeptScripts{all}, nil
}

// at is a time as it is stored.
func at(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

func ran(micros int64) *time.Time {
	if micros == 0 {
		return nil
	}
	when := at(micros)
	return &when
}

func (s *Scripts) show(_ http.ResponseWriter, req *http.Request) (any, *httpapi.Refusal) {
	k, err := s.find(req.Context(), req.PathValue("name"))
	switch {
	case err != nil:
		return nil, unreadable(err)
	case k == nil:
		return nil, notKept(req)
	}
	return k, nil
}

// find reads the script of a name; nil: none is kept under it.
func (s *Scripts) find(ctx context.Context, name string) (*Kept, error) {
	return store.Read(ctx, s.core.Store, func(tx store.Tx) (*Kept, error) {
		var since, last int64
		var args string
		k := Kept{Name: name}
		err := tx.Row(findKept, []any{name}, &since, &last, &k.Uses, &k.Script, &args)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		}
		k.Kept, k.Ran, k.Args = at(since), ran(last), json.RawMessage(args)
		return &k, err
	})
}

func (s *Scripts) forget(_ http.ResponseWriter, req *http.Request) (any, *httpapi.Refusal) {
	k, err := s.find(req.Context(), req.PathValue("name"))
	if err == nil && k != nil {
		_, err = store.Read(req.Context(), s.core.Store, func(tx store.Tx) (bool, error) {
			return true, tx.Exec(forgetKept, k.Name)
		})
	}
	switch {
	case err != nil:
		return nil, unreadable(err)
	case k == nil:
		return nil, notKept(req)
	}
	sender := httpapi.Sender(req.Context())
	s.decided(call.Entry{Session: sender, Decision: "forgotten", DecidedBy: policy.Answerer(sender),
		Detail: "The kept script " + k.Name})
	return struct{}{}, nil
}

// decided writes down what happened to a kept script, and shows it to side panels.
func (s *Scripts) decided(e call.Entry) {
	e.At, e.Kind, e.Tool = time.Now(), call.EntryDecision, toolName
	s.core.Audit(e)
	s.core.Changed(topic)
}

// keep answers POST /api/v1/scripts: a name, a script and its args. The person confirms it, having read all of it.
func (s *Scripts) keep(w http.ResponseWriter, req *http.Request) (any, *httpapi.Refusal) {
	var k Kept
	failure := httpapi.ReadBody(w, req, &k, `{"name": "orders", "script": "1 + 1"}`)
	if failure == nil {
		failure = s.keepable(&k)
	}
	if failure != nil {
		return nil, httpapi.NewRefusal(http.StatusBadRequest, failure)
	}
	// Both are checked again when it is stored: others may keep scripts while the person reads this one.
	room := func(tx store.Tx) (*httpapi.Refusal, error) { return s.room(tx, k.Name) }
	if refused, err := store.Read(req.Context(), s.core.Store, room); err != nil {
		return nil, unreadable(err)
	} else if refused != nil {
		return nil, refused
	}
	r := &run{Scripts: s, asked: call.Call{Session: httpapi.Sender(req.Context())}, limits: *s.settings.Load(),
		args: arguments{Script: k.Script, Args: k.Args}}
	names, failure := r.read(req.Context())
	if failure == nil {
		k.Uses = cmp.Or(r.note(names, false, math.MaxInt), "It uses no tools.")
		if fault.Sanitize(k.Uses) != k.Uses {
			failure = fault.New(fault.InvalidRequest, "The tools of the script and their sites are more than can be "+
				"shown to you, so the script cannot be kept", fault.WithHint("Keep several scripts that do less."))
		}
	}
	switch {
	case failure != nil && failure.Code == fault.Overloaded:
		return nil, httpapi.NewRefusal(http.StatusTooManyRequests, failure)
	case failure != nil:
		return nil, httpapi.NewRefusal(http.StatusBadRequest, failure)
	}
	by, denied := s.core.Confirm(w, req, k.change(r.binding(names)))
	if denied != nil {
		return nil, denied
	}
	refused, err := store.Read(req.Context(), s.core.Store, func(tx store.Tx) (*httpapi.Refusal, error) {
		if refused, err := room(tx); refused != nil || err != nil {
			return refused, err
		}
		return nil, tx.Exec(addKept, k.Name, r.binding(names), time.Now().UnixMicro(), k.Uses, k.Script, string(k.Args),
			string(rawjson.MustEncode(append([]string{}, names...))))
	})
	switch {
	case err != nil:
		return nil, unreadable(err)
	case refused != nil:
		return nil, refused
	}
	s.decided(call.Entry{Session: r.asked.Session, Decision: "kept", DecidedBy: by,
		Detail: "The script " + k.Name + ". " + k.Uses})
	return struct{}{}, nil
}

// room says why no script can be kept under a name; nil when one can.
func (s *Scripts) room(tx store.Tx, name string) (*httpapi.Refusal, error) {
	var other string
	switch err := tx.Row(`SELECT name FROM kept_scripts WHERE name = ?`, []any{name}, &other); {
	case err == nil:
		return nameTaken(name), nil
	case !errors.Is(err, sql.ErrNoRows):
		return nil, err
	}
	var n int
	if err := tx.Row(countKept, nil, &n); err != nil {
		return nil, err
	}
	if n >= s.settings.Load().Kept {
		return httpapi.NewRefusal(http.StatusConflict, fault.New(fault.InvalidRequest,
			fmt.Sprintf("%d scripts are kept already (scripts.kept)", n),
			fault.WithHint("tabrelay scripts lists them, and tabrelay scripts forget NAME forgets one"))), nil
	}
	return nil, nil
}

// keepable checks what is to be kept. What the person cannot read as it is cannot be kept.
func (s *Scripts) keepable(k *Kept) *fault.Error {
	if len(k.Args) == 0 {
		k.Args = json.RawMessage("null")
	}
	if !call.SessionName.MatchString(k.Name) {
		return fault.New(fault.InvalidRequest, "The name of a kept script is 1 to 64 letters, digits, ., _ or -",
			fault.WithHint("Choose another name."))
	}
	if most := s.settings.Load().ScriptBytes; len(k.Script)+len(k.Args) > most {
		return fault.New(fault.InputTooLarge, fmt.Sprintf("The script and its args have %d bytes; at most %d are kept "+
			"(scripts.scriptBytes)", len(k.Script)+len(k.Args), most))
	}
	for i, line := range append(shownLines(k.Script), string(k.Args)) {
		if fault.Sanitize(line) != line {
			return fault.New(fault.InvalidRequest, fmt.Sprintf("Line %d of the script, or its args, cannot be "+
				"shown to you as it is, so the script cannot be kept", i+1),
				fault.WithHint("Write it in lines of at most 8000 bytes, without characters that cannot be seen and "+
					"without three backticks in a row."))
		}
	}
	return nil
}

// shownLines are the lines of a script as the person reads them.
func shownLines(script string) []string {
	return strings.Split(strings.NewReplacer("\t", "  ", "\r\n", "\n").Replace(script), "\n")
}

// change is the keeping as the person confirms it: with the whole script, and bound to what its tools are now.
func (k *Kept) change(binding string) *policy.Change {
	lines := []string{k.Uses,
		"Commands run it without the question about scripts, until a plugin that it uses changes."}
	if string(k.Args) != "null" {
		lines = append(lines, "args: "+string(k.Args))
	}
	lines = append(lines, "Script:")
	for _, line := range shownLines(k.Script) {
		lines = append(lines, "| "+line) // so that nothing in it passes for a line of ours
	}
	lines = append(lines, "SHA-256 of the script, its args and its tools: "+binding)
	return policy.NewChange("Keep a script as "+k.Name, "", call.Difference{What: "script " + k.Name, Before: "none",
		After: "kept"}).WithText(lines...)
}

// read finds out which tools the script names, without running it. A script that may reach others cannot be kept.
func (r *run) read(ctx context.Context) (names []string, f *fault.Error) {
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(errEnded)
	if f = r.enter(); f != nil {
		return nil, f
	}
	defer r.running.Add(-1)
	if err := r.open(); err != nil {
		return nil, fault.New(fault.InternalError, "The process that runs scripts does not start",
			fault.WithCause(err))
	}
	defer r.process.Close()
	defer context.AfterFunc(r.ctx, r.process.Close)()
	uses, end, f := r.firstWord()
	switch {
	case f != nil:
		return nil, f
	case end != nil:
		return nil, fault.New(scriptFailed, "The script is no program")
	case uses.Other:
		return nil, fault.New(fault.InvalidRequest, "The script may use tools that its text does not show, so it "+
			"cannot be kept", fault.WithHint("Name each tool as tools.<plugin>.<toolName> or browser.<tool>, without "+
			"eval, Function and constructor."))
	}
	names, _ = r.uses(uses, r.look())
	for _, one := range names {
		if r.tools[one].Page != nil {
			return nil, fault.New(fault.InvalidRequest, one+" is registered by a page, which can change it at any "+
				"time, so a script that uses it cannot be kept")
		}
	}
	return names, nil
}

// binding is what the person approves with a script: its text, its args, and the tools that it names, with the content
// of their plugins and their sites.
func (r *run) binding(names []string) string {
	names = slices.Sorted(slices.Values(names))
	of := make([][]any, 0, len(names))
	for _, one := range names {
		t, hash := r.tools[one], ""
		if t.Plugin != nil {
			hash = t.Plugin.Hash
		}
		of = append(of, []any{one, hash, t.ReadOnly, sitesOf(t)})
	}
	sum := sha256.Sum256(rawjson.MustEncode([]any{r.args.Script, r.args.Args, of}))
	return hex.EncodeToString(sum[:])
}

// changedSince reports whether a script is bound to something else by now than when it was kept with these tools.
func (r *run) changedSince(tools, binding string) bool {
	var names []string
	if json.Unmarshal([]byte(tools), &names) != nil {
		return false // it does not say which
	}
	for _, one := range names {
		if r.tools[one] == nil {
			return true
		}
	}
	return r.binding(names) != binding
}

// keptAs returns the name under which the person keeps exactly this script, for the commands that they and their shells
// give; empty: they do not.
func (r *run) keptAs(names []string) string {
	if s := r.asked.Session; s.Client != config.LocalClient || s.Via != call.ViaSocket {
		return ""
	}
	name, err := store.Read(r.ctx, r.core.Store, func(tx store.Tx) (name string, err error) {
		err = tx.Row(findBound, []any{r.binding(names)}, &name)
		return name, err
	})
	if err != nil { // without an answer of the store, the person is asked
		return ""
	}
	return name
}

// noteRun writes down that a kept script begins to run. unasked: it may change something, and the question about it was
// left out.
func (r *run) noteRun(name string, names []string, unasked bool) {
	r.core.Store.Later("cannot note that a kept script ran", func(tx store.Tx) error {
		return tx.Exec(noteBound, time.Now().UnixMicro(), r.binding(names))
	})
	if !unasked {
		r.core.Changed(topic)
		return
	}
	r.decided(call.Entry{Session: r.asked.Session, CallID: r.asked.ID, Decision: "allowed as the kept script " + name,
		DecidedBy: "rule", Detail: "The script was run without a question. " + r.note(names, false, mostShown)})
}

func notKept(req *http.Request) *httpapi.Refusal {
	return httpapi.NewRefusal(http.StatusNotFound, fault.New(fault.NotFoundCode,
		"No script is kept as "+fault.Excerpt(req.PathValue("name")), fault.WithHint("tabrelay scripts lists them")))
}

func nameTaken(name string) *httpapi.Refusal {
	return httpapi.NewRefusal(http.StatusConflict, fault.New(fault.InvalidRequest,
		"A script is kept as "+name+" already", fault.WithHint("tabrelay scripts forget "+name+" forgets it")))
}

func unreadable(err error) *httpapi.Refusal {
	return httpapi.NewRefusal(http.StatusInternalServerError, fault.New(fault.InternalError,
		"The kept scripts cannot be read or changed", fault.WithCause(err)))
}
