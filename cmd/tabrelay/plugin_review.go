package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/catalog"
	"tabrelay/relay/config"
	"tabrelay/relay/httpapi"
	"tabrelay/relay/join"
	"tabrelay/relay/review"
)

func (a *app) pluginReview() *cobra.Command {
	var yes, refuse bool
	cmd := &cobra.Command{
		Use: "review [NAME]", Short: "Show what a plugin may do and what changed in it, and let it run",
		Args: cobra.MaximumNArgs(1),
		Long: "A plugin that is new or has changed is off until you reviewed its content, here or in the side panel. " +
			"Without NAME,\n" +
			"lists what waits. With NAME, shows what the plugin asks for, what changed since your last review, and " +
			"its files,\n" +
			"through $PAGER on a terminal; then asks whether it may run. Only a person can say yes: in the side\n" +
			"panel when it is open, else at the terminal itself.",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case yes && refuse:
				return usage("--yes and --refuse are opposites")
			case (yes || refuse) && len(args) == 0:
				return usage("name the plugin to decide about")
			case len(args) == 0:
				return a.listReviews(cmd.Context())
			}
			s, err := a.sheet(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(s)
			} else {
				err = a.page(sheetText(s, true))
			}
			switch {
			case err != nil:
				return err
			case refuse:
				return a.decide(cmd.Context(), s, "refuse")
			case yes:
				return a.decide(cmd.Context(), s, "accept")
			case a.json:
				return nil
			}
			return a.askReview(cmd.Context(), s)
		},
	}
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON, and ask nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "accept it; you confirm that in the side panel or at the terminal all "+
		"the same")
	cmd.Flags().BoolVar(&refuse, "refuse", false, "refuse it, or take back that it was accepted")
	return cmd
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
		meanwhile := "what you reviewed last serves"
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

func (a *app) sheet(ctx context.Context, name string) (s review.Sheet, err error) {
	return s, a.get(ctx, "/api/v1/reviews/"+url.PathEscape(name), &s)
}

// decide sends the decision of the person about the content they saw.
func (a *app) decide(ctx context.Context, s review.Sheet, verdict string) error {
	var now catalog.ReviewStatus
	err := a.post(ctx, "/api/v1/reviews/"+url.PathEscape(s.Plugin), httpapi.Decision{Hash: s.Hash, Verdict: verdict},
		&now)
	if err != nil {
		return err
	}
	switch {
	case verdict == "accept" && now.Serving == s.Hash:
		a.notef("%s is reviewed and runs.\n", s.Plugin)
	case verdict == "accept":
		a.notef("%s is reviewed. It has changed again meanwhile: tabrelay plugin review %s\n", s.Plugin, s.Plugin)
	case now.Serving != "":
		a.notef("%s is refused; what you reviewed before goes on.\n", s.Plugin)
	default:
		a.notef("%s is refused and stays off.\n", s.Plugin)
	}
	return nil
}

// askReview asks whether a plugin may run, unless that is decided or there is no terminal.
func (a *app) askReview(ctx context.Context, s review.Sheet) error {
	switch s.State {
	case review.NotRequired, review.Accepted:
		return nil
	case review.Developing:
		a.notef("It runs while plugin dev does.\n")
	}
	if !hasTerminal() {
		a.notef("%s\nOnly a person can let it run: in the side panel, or in a terminal: tabrelay plugin review %s\n",
			offNotice(s), s.Plugin)
		return nil
	}
	if err := a.decide(ctx, s, "accept"); !errors.Is(err, errNotConfirmed) {
		return err
	}
	a.notef("%s tabrelay plugin review %s shows it again; --refuse refuses it.\n", offNotice(s), s.Plugin)
	return nil
}

// offNotice says which content of a plugin that was not accepted runs.
func offNotice(s review.Sheet) string {
	switch {
	case s.Serving != "":
		return s.Plugin + " as it is now is off; what you reviewed before goes on."
	case s.State == review.Refused:
		return s.Plugin + " is off: you refused it."
	}
	return s.Plugin + " is off until you review it."
}

// reviewAdded shows what was just added or changed, and asks whether it may run.
func (a *app) reviewAdded(ctx context.Context, name string) error {
	if _, ok := join.Running(ctx, a.home); !ok {
		if c, err := config.Load(a.home); err == nil && c.Review.Required {
			a.notef("It is off until you reviewed it: tabrelay up, then tabrelay plugin review %s\n", name)
		}
		return nil
	}
	s, err := a.sheet(ctx, name)
	if err != nil || s.State == review.NotRequired || s.State == review.Accepted {
		return err
	}
	if hasTerminal() {
		a.notef("\n%s\n", sheetText(s, false))
	}
	return a.askReview(ctx, s)
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
		line("  %-9s %-28s %s", t.Change, t.Name, about)
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
