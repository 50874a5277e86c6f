package script

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/capability"
)

// scriptsCommand is `tabrelay scripts`: the scripts that the person keeps.
var scriptsCommand = capability.Command{Heading: "Use tools", Make: func(t capability.Terminal) *cobra.Command {
	cmd := t.WithJSON(&cobra.Command{
		Use: "scripts", Short: "List the scripts that you keep", Args: cobra.NoArgs,
		Long: "List the scripts that you keep. tabrelay run FILE --keep NAME keeps one that has run, and " +
			"tabrelay run --kept NAME runs it.\n" +
			"Keeping one is your permission for commands to run exactly this script, with these args, without the " +
			"question about scripts;\n" +
			"its calls need theirs as always. It ends when the script is forgotten, and when a plugin that it uses " +
			"changes.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := keptScripts(cmd.Context(), t)
			switch {
			case err != nil:
				return err
			case t.JSON():
				return t.PrintJSON(list)
			case len(list.Scripts) == 0:
				t.Notef("No script is kept. tabrelay run FILE --keep NAME keeps one.\n")
				return nil
			}
			rows := [][]string{{"NAME", "SINCE", "LAST RUN", "USES"}}
			for _, k := range list.Scripts {
				ran := "never"
				if k.Ran != nil {
					ran = k.Ran.Local().Format(time.DateTime)
				}
				uses := k.Uses
				if k.Changed {
					uses = changedWords + " " + uses
				}
				rows = append(rows, []string{k.Name, k.Kept.Local().Format(time.DateOnly), ran, uses})
			}
			return t.Table(rows...)
		},
	})
	names := t.Completing(func(ctx context.Context) []string { return keptNames(ctx, t) })
	cmd.AddCommand(t.WithJSON(&cobra.Command{
		Use: "show NAME", Short: "Print a script that you keep", Args: cobra.ExactArgs(1), ValidArgsFunction: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			var k Kept
			if err := t.Get(cmd.Context(), pathOf(args[0]), &k); err != nil {
				return err
			}
			if t.JSON() {
				return t.PrintJSON(k)
			}
			t.Notef("%s\n", k.Uses)
			if string(k.Args) != "null" {
				t.Notef("args: %s\n", k.Args)
			}
			t.Printf("%s\n", k.Script)
			return nil
		},
	}), &cobra.Command{
		Use: "forget NAME", Short: "Forget a script, and your permission to run it", Args: cobra.ExactArgs(1),
		ValidArgsFunction: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.Request(cmd.Context(), http.MethodDelete, pathOf(args[0]), nil, &struct{}{})
		},
	})
	return cmd
}}

// changedWords stand before what a kept script uses where that has changed.
const changedWords = "CHANGED since it was kept, so its next run asks again."

func pathOf(name string) string { return scriptsPath + "/" + url.PathEscape(name) }

func keptScripts(ctx context.Context, t capability.Terminal) (list KeptScripts, err error) {
	err = t.Get(ctx, scriptsPath, &list)
	return list, err
}

// keptNames are the names for a shell to complete.
func keptNames(ctx context.Context, t capability.Terminal) (names []string) {
	list, _ := keptScripts(ctx, t) // without a relay there is nothing to offer
	for _, k := range list.Scripts {
		names = append(names, k.Name)
	}
	return names
}

// keepScript keeps a script that has run, with the arguments of its call.
func (c *command) keepScript(ctx context.Context, t capability.Terminal, sent json.RawMessage) error {
	var args arguments
	if err := json.Unmarshal(sent, &args); err != nil {
		return err
	}
	k := Kept{Name: c.keepAs, Script: args.Script, Args: args.Args}
	if err := t.Request(ctx, http.MethodPost, scriptsPath, k, &struct{}{}); err != nil {
		return err
	}
	t.Notef("Kept as %s: tabrelay run --kept %s\n", c.keepAs, c.keepAs)
	return nil
}
