package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/program/httpapi"
)

func (a *app) pluginReview() *cobra.Command {
	var yes, refuse, all bool
	cmd := &cobra.Command{
		Use:   "review [NAME…]",
		Short: "Show what a plugin may do and what changed in it, and let it run",
		Args:  cobra.ArbitraryArgs,
		Long: "A plugin that is new or has changed is off until you reviewed its content, here or in the side " +
			"panel.\n" +
			"Without NAME, lists what waits. With NAME, shows what the plugin asks for, what changed since your " +
			"last\n" +
			"review, and its files, through $PAGER on a terminal; then asks whether it may run. With several names,\n" +
			"or --all for everything that waits, shows what each asks for, without its files, and asks once. Only a\n" +
			"person can say yes: in the side panel when it is open, else at the terminal itself.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			switch {
			case yes && refuse:
				return usage("--yes and --refuse are opposites")
			case all && len(args) > 0:
				return usage("--all and names are two ways to say which plugins")
			case (yes || refuse) && len(args) == 0 && !all:
				return usage("name the plugin to decide about")
			case len(args) == 0 && !all:
				return a.listReviews(ctx)
			}
			if all {
				waiting, err := a.waitingReviews(ctx)
				if err != nil {
					return err
				}
				if args = waiting; len(args) == 0 {
					a.notef("No plugin waits for a review.\n")
					return nil
				}
			}
			sheets, err := a.sheets(ctx, args)
			if err != nil {
				return err
			}
			switch {
			case a.json && !all && len(args) == 1:
				err = a.printJSON(sheets[0])
			case a.json:
				err = a.printJSON(sheets)
			default:
				err = a.page(sheetsText(sheets, len(sheets) == 1))
			}
			switch {
			case err != nil:
				return err
			case refuse:
				return a.decide(ctx, sheets, "refuse")
			case yes:
				return a.decide(ctx, sheets, "accept")
			case a.json:
				return nil
			}
			return a.askReview(ctx, sheets)
		},
	}
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON, and ask nothing")
	cmd.Flags().BoolVar(&all, "all", false, "everything that waits")
	cmd.Flags().BoolVar(&yes, "yes", false, "accept it; you confirm that in the side panel or at the terminal all "+
		"the same")
	cmd.Flags().BoolVar(&refuse, "refuse", false, "refuse it, or take back that it was accepted")
	return cmd
}

// waitingReviews are the names of the plugins that wait for a review.
func (a *app) waitingReviews(ctx context.Context) (names []string, err error) {
	var answer struct {
		Reviews []catalog.ReviewStatus `json:"reviews"`
	}
	if err := a.get(ctx, "/api/v1/reviews", &answer); err != nil {
		return nil, err
	}
	for _, one := range answer.Reviews {
		names = append(names, one.Plugin)
	}
	return names, nil
}

func (a *app) listReviews(ctx context.Context) error {
	var answer struct {
		Reviews  []catalog.ReviewStatus `json:"reviews"`
		Required bool                   `json:"required"`
	}
	if err := a.get(ctx, "/api/v1/reviews", &answer); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(answer)
	}
	if !answer.Required {
		a.notef("review.required is false: plugins run without a review.\n")
		return nil
	}
	if len(answer.Reviews) == 0 {
		a.notef("No plugin waits for a review.\n")
		return nil
	}
	rows := [][]string{{"NAME", "CONTENT", "SINCE", "MEANWHILE"}}
	for _, one := range answer.Reviews {
		meanwhile := "the version you reviewed last runs"
		if one.New {
			meanwhile = "off"
		}
		rows = append(rows, []string{one.Plugin, one.Hash[:12], one.Since.Local().Format(time.DateTime), meanwhile})
	}
	if err := a.table(rows...); err != nil {
		return err
	}
	a.notef("Next: tabrelay plugin review NAME\n")
	return nil
}

// sheet gets the review sheet of a plugin.
func (a *app) sheet(ctx context.Context, name string) (s review.Sheet, err error) {
	return s, a.get(ctx, "/api/v1/reviews/"+url.PathEscape(name), &s)
}

// sheets gets the review sheets of plugins.
func (a *app) sheets(ctx context.Context, names []string) (sheets []review.Sheet, err error) {
	for _, name := range names {
		s, err := a.sheet(ctx, name)
		if err != nil {
			return nil, err
		}
		sheets = append(sheets, s)
	}
	return sheets, nil
}

// decide sends the decision of the person about the contents they saw.
func (a *app) decide(ctx context.Context, sheets []review.Sheet, verdict string) error {
	decisions := httpapi.Decisions{Verdict: verdict}
	for _, s := range sheets {
		decisions.Plugins = append(decisions.Plugins, catalog.ContentID{Plugin: s.Plugin, Hash: s.Hash})
	}
	var answer httpapi.Decided
	if err := a.post(ctx, "/api/v1/reviews", decisions, &answer); err != nil {
		return err
	}
	var running []string
	for i, now := range answer.Reviews {
		a.noteDecision(sheets[i], verdict, now)
		if now.Serving == sheets[i].Hash {
			running = append(running, now.Plugin)
		}
	}
	if len(running) == 0 {
		return nil
	}
	// It says which settings they lack, and how to set them.
	return errors.Join(a.reloadPlugins(ctx, running...), a.offerHintsFor(ctx, running...))
}

func (a *app) noteDecision(s review.Sheet, verdict string, now catalog.ReviewStatus) {
	switch {
	case verdict == "accept" && now.Serving == s.Hash:
		a.notef("%s is reviewed and runs.\n", s.Plugin)
	case verdict == "accept":
		a.notef("%s is reviewed. It has changed again meanwhile: tabrelay plugin review %s\n", s.Plugin, s.Plugin)
	case now.Serving != "":
		a.notef("%s is refused; the version you reviewed before keeps running.\n", s.Plugin)
	default:
		a.notef("%s is refused and stays off.\n", s.Plugin)
	}
}

// askReview asks whether plugins may run, as far as that is not decided and there is a terminal.
func (a *app) askReview(ctx context.Context, sheets []review.Sheet) error {
	sheets = slices.DeleteFunc(sheets, func(s review.Sheet) bool {
		return s.State == review.NotRequired || s.State == review.Accepted
	})
	if len(sheets) == 0 {
		return nil
	}
	command := "tabrelay plugin review --all"
	if len(sheets) == 1 {
		command = "tabrelay plugin review " + sheets[0].Plugin
	}
	for _, s := range sheets {
		if s.State == review.Developing {
			a.notef("%s runs while plugin dev does.\n", s.Plugin)
		}
	}
	if !hasTerminal() {
		a.notef("%s\nOnly a person can let it run: in the side panel, or in a terminal: %s\n", offNotices(sheets),
			command)
		return nil
	}
	if err := a.decide(ctx, sheets, "accept"); !errors.Is(err, errNotConfirmed) {
		return err
	}
	a.notef("%s %s shows it again; --refuse refuses it.\n", offNotices(sheets), command)
	return nil
}

func offNotices(sheets []review.Sheet) string {
	var notices []string
	for _, s := range sheets {
		notices = append(notices, offNotice(s))
	}
	return strings.Join(notices, "\n")
}

// offNotice says which content of a plugin that was not accepted runs.
func offNotice(s review.Sheet) string {
	switch {
	case s.Serving != "":
		return s.Plugin + " as it is now is off; the version you reviewed before keeps running."
	case s.State == review.Refused:
		return s.Plugin + " is off: you refused it."
	}
	return s.Plugin + " is off until you review it."
}

// reviewAdded shows what was just added or changed, and asks whether it may run.
func (a *app) reviewAdded(ctx context.Context, names ...string) error {
	sheets, err := a.sheets(ctx, names)
	if err != nil {
		return err
	}
	sheets = slices.DeleteFunc(sheets, func(s review.Sheet) bool {
		return s.State == review.NotRequired || s.State == review.Accepted
	})
	if len(sheets) > 0 && hasTerminal() {
		a.notef("\n%s\n", sheetsText(sheets, false))
	}
	return a.askReview(ctx, sheets)
}

// sheetsText is some review sheets as text.
func sheetsText(sheets []review.Sheet, whole bool) string {
	var texts []string
	for _, s := range sheets {
		texts = append(texts, sheetText(s, whole))
	}
	return strings.Join(texts, "\n")
}

// page shows text, through $PAGER on a terminal.
func (a *app) page(text string) error {
	pager := strings.Fields(os.Getenv("PAGER"))
	out, ok := a.out.(*os.File)
	if len(pager) == 0 || !ok || !isTerminal(out) || !a.interactive() {
		a.printf("%s", text)
		return nil
	}
	cmd := exec.Command(pager[0], pager[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), out, a.err
	if err := cmd.Run(); err != nil {
		a.notef("problem: the pager %s failed: %v\n", pager[0], err)
		a.printf("%s", text)
	}
	return nil
}

// sheetText is the review sheet as text; whole includes the files.
func sheetText(s review.Sheet, whole bool) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s %s (%s), from %s", s.Plugin, s.Version, cmp.Or(s.Title, s.Plugin), s.Source)
	line("content %s", s.Hash)
	line("")
	for _, sentence := range s.Permissions {
		line("- %s", sentence)
	}
	line("")
	for _, t := range s.Tools {
		about, _, _ := strings.Cut(t.Description, "\n")
		change := ""
		if s.Reviewed != nil { // else every tool is new, and none says so
			change = fmt.Sprintf("%-9s ", t.Change)
		}
		line("  %s%-28s %s", change, t.Name, about)
	}
	switch {
	case s.Reviewed == nil:
		line("\nNo content of it was reviewed before.")
	case s.Reviewed.Hash == s.Hash:
		line("\nThis content was reviewed on %s.", s.Reviewed.At.Local().Format(time.DateTime))
	default:
		line("\nSince the review of %s (content %.12s):", s.Reviewed.At.Local().Format(time.DateTime), s.Reviewed.Hash)
		for _, change := range s.Changes {
			line("- %s", change)
		}
		for _, d := range s.Diff {
			line("\n=== %s is %s", d.Path, d.Change)
			b.WriteString(d.Text)
		}
	}
	if !whole {
		line("\nIts files: tabrelay plugin review %s", s.Plugin)
		return b.String()
	}
	writeFiles(&b, s)
	return b.String()
}

func writeFiles(b *strings.Builder, s review.Sheet) {
	b.WriteString("\nWhat runs is in dist/, written out for reading. Other files are those of the folder: nothing " +
		"makes sure that they\n" +
		"are what dist/ was built from.\n")
	if s.Partly {
		b.WriteString("The folder has more files than are shown.\n")
	}
	for _, f := range s.Files {
		fmt.Fprintf(b, "\n=== %s (%d bytes)\n%s", f.Path, f.Size, f.Text)
		if !strings.HasSuffix(f.Text, "\n") {
			b.WriteString("\n")
		}
	}
}
