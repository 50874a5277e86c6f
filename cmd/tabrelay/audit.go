package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/state/audit"
)

// auditOptions are the flags of `tabrelay audit`.
type auditOptions struct {
	filters map[string]*string // by the name of the flag
	limit   int
	format  string
	follow  bool
}

// auditPollInterval is how often `tabrelay audit -f` reads the log.
const auditPollInterval = 300 * time.Millisecond

// defaultAuditLimit is how many entries are shown without --limit.
const defaultAuditLimit = 50

func (a *app) audit() *cobra.Command {
	w := auditOptions{filters: map[string]*string{}}
	cmd := &cobra.Command{
		Use: "audit", Short: "Show who called and decided what",
		Long: "Show who called and decided what: the last entries of the audit log, the newest at the end. It works " +
			"whether the relay runs or not.\n" +
			"With --format jsonl or csv, all entries that the filters select are written to stdout.",
		Example: "  tabrelay audit --client claude-code --since 1h\n" +
			"  tabrelay audit --outcome not_executed --kind call\n" +
			"  tabrelay audit --format csv --since 7d > audit.csv",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.showAudit(cmd.Context(), &w) },
	}
	for _, filter := range []struct{ name, about string }{
		{"client", "of this client"}, {"agent", "of this agent, which acted for a client"},
		{"tool", "of this tool (full name)"}, {"plugin", "of this plugin"},
		{"origin", "in pages of this origin"},
		{"call", "of the call with this correlation id"}, {"outcome", "returned, not_executed, executed or unknown"},
		{"kind", strings.Join(audit.Kinds(), ", ")},
		{"since", "from then on: a time, a date, or how long ago (90m, 7d)"}, {"until", "before then"},
	} {
		w.filters[filter.name] = cmd.Flags().String(filter.name, "", filter.about)
	}
	cmd.Flags().IntVarP(&w.limit, "limit", "n", 0, "at most this many, the newest (default 50; exports have no limit)")
	cmd.Flags().StringVar(&w.format, "format", "", "jsonl or csv: export to stdout, the oldest first")
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON document")
	cmd.Flags().BoolVarP(&w.follow, "follow", "f", false, "go on with new entries")
	cmd.AddCommand(a.auditVerify())
	return cmd
}

// filter makes a filter of the flags.
func (w *auditOptions) filter(asJSON bool) (audit.Filter, error) {
	query := url.Values{}
	for name, value := range w.filters {
		if *value != "" {
			query.Set(name, *value)
		}
	}
	if w.limit != 0 {
		query.Set("limit", strconv.Itoa(w.limit))
	}
	f, err := audit.ParseFilter(query, time.Now())
	switch {
	case err != nil:
		return f, usage("%w", err).hinting("tabrelay audit --help")
	case w.format != "" && w.format != "jsonl" && w.format != "csv":
		return f, usage("--format is neither jsonl nor csv")
	case w.format != "" && asJSON:
		return f, usage("--json and --format cannot be used together")
	case w.follow && (w.format == "csv" || asJSON):
		return f, usage("-f works only with the table and with --format jsonl")
	}
	return f, nil
}

func (a *app) showAudit(ctx context.Context, w *auditOptions) error {
	filter, err := w.filter(a.json)
	if err != nil {
		return err
	}
	log, err := a.openAudit(ctx)
	if err != nil {
		return err
	}
	defer log.Close() // only read from
	if w.format != "" && !w.follow {
		return httpapi.ExportAudit(ctx, log, filter, a.out, w.format)
	}
	filter.Limit = cmp.Or(filter.Limit, defaultAuditLimit)
	page, err := httpapi.PageOfAudit(ctx, log, filter)
	if err != nil {
		return err
	}
	slices.Reverse(page.Entries)
	switch {
	case a.json:
		return a.printJSON(page)
	case len(page.Entries) == 0 && !w.follow:
		a.notef("No entry of the audit log matches these filters.\n")
		return nil
	}
	if err := a.printAudit(page.Entries, w.format); err != nil || !w.follow {
		return err
	}
	return a.followAudit(ctx, log, filter, page.Entries, w.format)
}

// followAudit prints what is added, until ctx ends.
func (a *app) followAudit(ctx context.Context, log *httpapi.AuditReader, f audit.Filter, shown []audit.Row,
	format string) error {
	f.Oldest, f.Before = true, 0
	if len(shown) > 0 {
		f.After = shown[len(shown)-1].N
	}
	again := time.NewTicker(auditPollInterval)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
		page, err := httpapi.PageOfAudit(ctx, log, f)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case len(page.Entries) == 0:
			continue
		}
		if err := a.printAudit(page.Entries, format); err != nil {
			return err
		}
		f.After = page.Entries[len(page.Entries)-1].N
	}
}

// openAudit opens the log of this home folder. A request makes a running relay write first what it has buffered.
func (a *app) openAudit(ctx context.Context) (*httpapi.AuditReader, error) {
	if _, err := os.Stat(a.home.Database()); errors.Is(err, fs.ErrNotExist) {
		return nil, failed("there is no audit log: no relay has run with the home folder %s",
			a.home).hinting("tabrelay up starts one")
	}
	join.EndTemporary(ctx, a.home)
	if _, ok := join.Running(ctx, a.home); ok {
		var page httpapi.AuditPage
		if err := a.get(ctx, "/api/v1/audit?limit=1", &page); err != nil {
			return nil, err
		}
		if page.Unwritten > 0 {
			a.notef("warning: audit entries not written yet: %d, because the database cannot be written; "+
				"tabrelay doctor says why\n", page.Unwritten)
		}
	}
	log, err := httpapi.AuditLog(ctx, a.home.Database())
	if err != nil {
		return nil, failed("the audit log cannot be read: %w", err).hinting("tabrelay doctor looks at the database")
	}
	return log, nil
}

func (a *app) printAudit(entries []audit.Row, format string) error {
	for i := range entries {
		e := &entries[i]
		if format == "jsonl" {
			if err := audit.JSONL(a.out, e); err != nil {
				return err
			}
			continue
		}
		a.printf("%s\n", auditLine(e))
	}
	return nil
}

// auditLine is one entry as text: when, who, what, where, how it ended and why.
func auditLine(e *audit.Row) string {
	who := cmp.Or(e.Client, "-")
	if e.Agent != "" {
		who = e.Agent + " for " + who
	}
	words := []string{e.At.Local().Format("2006-01-02 15:04:05.000"), fmt.Sprintf("%-8s", e.Kind), who}
	if e.Tool != "" {
		words = append(words, e.Tool)
	}
	if place := auditPlace(e); place != "" {
		words = append(words, "in "+place)
	}
	end := e.Outcome
	if e.Code != "" {
		end = e.Code + " (" + cmp.Or(e.Outcome, "not executed") + ")"
	}
	if end != "" {
		words = append(words, "-> "+end)
	}
	if e.Kind == "call" && e.DurationMs > 0 {
		words = append(words, strconv.FormatInt(e.DurationMs, 10)+" ms")
	}
	if e.Decision != "" {
		words = append(words, "["+e.Decision+", by "+cmp.Or(e.DecidedBy, "?")+"]")
	}
	if e.Arguments != "" && e.Arguments != "{}" && e.Kind != audit.KindAnchor {
		words = append(words, e.Arguments)
	}
	if e.Detail != "" {
		words = append(words, "- "+e.Detail)
	}
	return strings.Join(words, "  ")
}

func auditPlace(e *audit.Row) string {
	var words []string
	if e.Origin != "" {
		words = append(words, e.Origin)
	}
	if e.TabID != 0 {
		words = append(words, "tab "+strconv.FormatInt(e.TabID, 10))
	}
	if e.Profile != "" {
		words = append(words, "of "+e.Profile)
	}
	return strings.Join(words, " ")
}

func (a *app) auditVerify() *cobra.Command {
	var expect string
	cmd := &cobra.Command{
		Use: "verify", Short: "Check that nobody changed the audit log",
		Long: "Check that nobody changed the audit log: each entry has a hash over itself and the hash before it.\n" +
			"Somebody who can write to the database could also recompute all hashes. So note the last hash elsewhere " +
			"from time to time,\nand check with --expect that it is still there.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.checkAudit(cmd.Context(), expect) },
	}
	a.withJSON(cmd)
	cmd.Flags().StringVar(&expect, "expect", "", "NUMBER:HASH of an entry, as an earlier check or export gave it")
	return cmd
}

func (a *app) checkAudit(ctx context.Context, expect string) error {
	n, hash, err := parseExpected(expect)
	if err != nil {
		return err
	}
	log, err := a.openAudit(ctx)
	if err != nil {
		return err
	}
	defer log.Close() // only read from
	report, err := log.Verify(ctx)
	if err != nil {
		return err
	}
	if n > 0 && n > report.Removed {
		if err := checkExpected(ctx, log, &report, n, hash); err != nil {
			return err
		}
	}
	if a.json {
		err = a.printJSON(report)
	} else {
		a.printReport(&report)
	}
	if err == nil && !report.Whole {
		return failed("the audit log was changed").hinting("what it says about the time after the first problem " +
			"cannot be relied on; keep a copy of tabrelay.db for whoever looks into it")
	}
	return err
}

func parseExpected(text string) (n int64, hash string, err error) {
	if text == "" {
		return 0, "", nil
	}
	number, hash, ok := strings.Cut(text, ":")
	n, err = strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || n < 1 || len(hash) != 2*len(audit.Hash{}) {
		return 0, "", usage("--expect is not NUMBER:HASH").hinting("tabrelay audit verify prints both")
	}
	return n, strings.ToLower(hash), nil
}

// checkExpected checks that an entry is still the one that was noted.
func checkExpected(ctx context.Context, log *httpapi.AuditReader, report *audit.Report, n int64, hash string) error {
	found := ""
	err := log.Each(ctx, audit.Filter{After: n - 1, Before: n + 1, Limit: 1}, func(r *audit.Row) error {
		found = r.Hash.String()
		return nil
	})
	if err == nil && found != hash {
		report.Whole = false
		report.Problems = append(report.Problems, audit.Problem{Kind: audit.Edited, N: n,
			Message: fmt.Sprintf("Row %d does not have the hash that you noted", n)})
	}
	return err
}

func (a *app) printReport(r *audit.Report) {
	for _, p := range r.Problems {
		a.printf("%s\n", p.Message)
	}
	if r.More > 0 {
		a.printf("… and %d more\n", r.More)
	}
	if r.Removed > 0 {
		a.printf("Rows up to %d were removed because of their age or number.\n", r.Removed)
	}
	if !r.Whole {
		return
	}
	if r.Rows == 0 {
		a.printf("The audit log is empty.\n")
		return
	}
	a.printf("The chain is whole: %s, %d to %d. The last hash is\n%d:%s\n", plural(int(r.Rows), "row"), r.First, r.Last,
		r.Last, r.Head)
}
