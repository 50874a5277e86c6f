package httpapi

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/audit"
	"tabrelay/relay/state/store"
)

// auditDefault is how many entries one page has when nobody says.
const auditDefault = 100

// AuditPage is a page of the audit log.
type AuditPage struct {
	Entries []audit.Row `json:"entries"`
	Next    int64       `json:"next,omitempty"` // more: pass it as before, or as after when that was given
	// Unwritten is how many newer entries wait for a database that cannot be written.
	Unwritten int `json:"unwritten,omitempty"`
}

// showAudit answers GET /api/v1/audit with a page, or with the whole as JSON Lines or CSV. An agent sees what is its
// own.
func (a *API) showAudit(w http.ResponseWriter, req *http.Request) {
	query := req.URL.Query()
	format := query.Get("format")
	query.Del("format")
	filter, err := audit.ParseFilter(query, time.Now())
	if err == nil && format != "" && format != "json" && format != "jsonl" && format != "csv" {
		err = errors.New("format is not json, jsonl or csv")
	}
	if err != nil {
		Refuse(w, http.StatusBadRequest, malformed(err.Error()))
		return
	}
	session := Sender(req.Context())
	if filter = ownEntries(filter, session); filter.Limit < 0 {
		Reply(w, http.StatusOK, AuditPage{Entries: []audit.Row{}})
		return
	}
	log, unwritten, failure := a.openAudit(req.Context())
	if failure != nil {
		Refuse(w, http.StatusInternalServerError, failure)
		return
	}
	defer log.Close() // only read from
	switch format {
	case "jsonl":
		w.Header().Set("Content-Type", "application/jsonl")
		err = ExportAudit(req.Context(), log, filter, w, format)
	case "csv":
		w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
		w.Header().Set("Content-Disposition", `attachment; filename="tabrelay-audit.csv"`)
		err = ExportAudit(req.Context(), log, filter, w, format)
	default:
		var page AuditPage
		if page, err = PageOfAudit(req.Context(), log, filter); err == nil {
			if policy.IsPerson(session) { // how many there are of others is not an agent's business
				page.Unwritten = unwritten
			}
			Reply(w, http.StatusOK, page)
			return
		}
		Refuse(w, http.StatusInternalServerError, unreadableAudit(err))
		return
	}
	if err != nil {
		a.Log.Warn().Err(err).Msg("an export of the audit log ended early")
		panic(http.ErrAbortHandler) // whoever reads it is to see that it is not whole
	}
}

// ownEntries narrows a filter to what a client may see. A Limit below 0 selects nothing.
func ownEntries(f audit.Filter, s call.Session) audit.Filter {
	if policy.IsPerson(s) {
		return f
	}
	if f.Client != "" && f.Client != s.Client {
		f.Limit = -1
	}
	f.Client = s.Client
	return f
}

// verifyAudit answers GET /api/v1/audit/verify.
func (a *API) verifyAudit(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	log, _, failure := a.openAudit(req.Context())
	if failure != nil {
		return nil, NewRefusal(http.StatusInternalServerError, failure)
	}
	defer log.Close() // only read from
	report, err := log.Verify(req.Context())
	if err != nil {
		return nil, NewRefusal(http.StatusInternalServerError, unreadableAudit(err))
	}
	return report, nil
}

// openAudit opens the log for reading, with everything in it that has happened by now. When the database cannot be
// written, as on a full disk, it can still be read: it says how many entries are missing then.
func (a *API) openAudit(ctx context.Context) (log *store.AuditReader, unwritten int, failure *fault.Error) {
	var waiting *audit.UnwrittenError
	switch err := a.Audit.Flush(ctx); {
	case errors.As(err, &waiting):
		unwritten = waiting.Entries
	case err != nil:
		return nil, 0, unreadableAudit(err)
	}
	log, err := store.OpenAudit(ctx, a.Home.Database())
	if err != nil {
		return nil, 0, unreadableAudit(err)
	}
	return log, unwritten, nil
}

func unreadableAudit(err error) *fault.Error {
	return fault.New(fault.InternalError, "The audit log could not be read", fault.WithCause(err),
		fault.WithOutcome(fault.NotExecuted), fault.WithRetryable(true),
		fault.WithHint("Repeat the request; `tabrelay doctor` looks at the database."))
}

// PageOfAudit reads one page.
func PageOfAudit(ctx context.Context, log *store.AuditReader, f audit.Filter) (page AuditPage, err error) {
	limit := cmp.Or(f.Limit, auditDefault)
	f.Limit = limit + 1
	page.Entries = []audit.Row{}
	err = log.Each(ctx, f, func(r *audit.Row) error {
		if len(page.Entries) == limit {
			page.Next = page.Entries[limit-1].N
			return nil
		}
		page.Entries = append(page.Entries, *r)
		return nil
	})
	return page, err
}

// ExportAudit writes what a filter selects as jsonl or csv, the oldest first; of the newest, if it has a limit.
func ExportAudit(ctx context.Context, log *store.AuditReader, f audit.Filter, w io.Writer, format string) error {
	if f.Limit > 0 && !f.Oldest {
		return exportNewest(ctx, log, f, w, format)
	}
	f.Oldest = true
	write, end := auditWriter(w, format)
	if err := log.Each(ctx, f, write); err != nil {
		return err
	}
	return end()
}

// exportNewest turns the newest rows round. There are at most audit.MostRows.
func exportNewest(ctx context.Context, log *store.AuditReader, f audit.Filter, w io.Writer, format string) error {
	var rows []audit.Row
	if err := log.Each(ctx, f, func(r *audit.Row) error { rows = append(rows, *r); return nil }); err != nil {
		return err
	}
	write, end := auditWriter(w, format)
	for i := len(rows) - 1; i >= 0; i-- {
		if err := write(&rows[i]); err != nil {
			return err
		}
	}
	return end()
}

func auditWriter(w io.Writer, format string) (write func(*audit.Row) error, end func() error) {
	if format == "csv" {
		c := audit.NewCSV(w)
		return c.Write, c.Close
	}
	return func(r *audit.Row) error { return audit.JSONL(w, r) }, func() error { return nil }
}

// AuditReader reads the audit log.
type AuditReader = store.AuditReader

// AuditLog is the log in a database, for reading it whether a relay runs there or not.
func AuditLog(ctx context.Context, database string) (*AuditReader, error) {
	return store.OpenAudit(ctx, database)
}
