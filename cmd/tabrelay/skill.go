package main

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/connect"
)

// skillText is what an agent with a shell reads before it works here; the commands stand in the place of commandsMark.
//
//go:embed skill.md
var skillText string

const commandsMark = "{{commands}}\n"

// skillCommands are those that an agent needs. What each does is said by the tool that it calls, or else by the
// command.
var skillCommands = []string{
	"tabrelay status",
	"tabrelay tools",
	"tabrelay tools show browser__fill",
	"tabrelay call browser__list_tabs -p",
	`tabrelay call browser__open_tab '{"url":"https://example.com/"}' -p`,
	"tabrelay call browser__snapshot -p",
	`tabrelay call browser__find '{"text":"Save"}' -p`,
	`tabrelay call browser__click '{"ref":"e12"}' -p`,
	`tabrelay call browser__fill '{"fields":[{"ref":"e12","value":"Ann"}]}' -p`,
	`tabrelay call browser__press '{"keys":"Enter"}' -p`,
	`tabrelay call browser__read '{"what":"text"}' -p`,
	`echo 'Object.keys(tools).join(" ")' | tabrelay run -`,
	"tabrelay sessions close",
	"tabrelay help call",
}

func (a *app) skill() *cobra.Command {
	var install bool
	cmd := &cobra.Command{
		Use: "skill [CLIENT]", Short: "Print or install a skill, with which agents use tabrelay from a shell",
		Long: "Print what an agent reads that has a shell and no MCP server: a SKILL.md with the commands it needs " +
			"(https://agentskills.io).\n" +
			"--install puts it where CLIENT looks for skills, which is claude-code or one of: " +
			strings.Join(connect.WithSkills()[1:], ", ") + ".",
		Args: cobra.MaximumNArgs(1), ValidArgs: connect.WithSkills(),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.skillFor(cmd.Root())
			switch {
			case err != nil:
				return err
			case install:
				return a.installSkill(append(args, "claude-code")[0], text)
			case len(args) > 0:
				return usage("a skill is the same for each client").hinting("tabrelay skill --install " + args[0])
			}
			_, err = fmt.Fprint(a.out, text)
			return err
		},
	}
	cmd.Flags().BoolVar(&install, "install", false, "install it for CLIENT (default claude-code)")
	return cmd
}

// skillFor is the skill with the commands that there are.
func (a *app) skillFor(root *cobra.Command) (string, error) {
	a.hideSwitchedOff()
	about, err := a.aboutTools()
	if err != nil {
		return "", err
	}
	var lines strings.Builder
	for _, line := range skillCommands {
		_, typed, _ := strings.Cut(line, "tabrelay ")
		words := strings.Fields(typed)
		found, rest, err := root.Find(words)
		if err != nil || found == root || found.Hidden {
			continue // it is switched off
		}
		does := found.Short
		if found.Name() == "call" {
			does, _, _ = strings.Cut(about[rest[0]], ": ")
		}
		fmt.Fprintf(&lines, "%s  # %s\n", line, strings.TrimSuffix(does, "."))
	}
	return strings.Replace(skillText, commandsMark, lines.String(), 1), nil
}

// aboutTools is the first sentence about each tool of the relay and of plugins.
func (a *app) aboutTools() (map[string]string, error) {
	_, plugins, err := a.offeredPlugins()
	if err != nil {
		return nil, err
	}
	about := map[string]string{}
	for _, p := range plugins {
		for _, t := range p.Manifest.Tools {
			about[p.Manifest.Name+"__"+t.Name] = firstSentence(t.Description)
		}
	}
	for _, t := range new(builtin.Sources).List() {
		about[t.Name] = firstSentence(t.Spec.Description)
	}
	return about, nil
}

func (a *app) installSkill(name, text string) error {
	client, ok := connect.Find(name)
	if !ok || !client.ReadsSkills() {
		return usage("%s reads no skills that tabrelay knows of", name).
			hinting("--install takes one of: " + strings.Join(connect.WithSkills(), ", "))
	}
	env, err := connect.Here()
	if err != nil {
		return err
	}
	changed, err := client.InstallSkill(env, text)
	switch {
	case err != nil:
		return err
	case changed:
		a.notef("%s finds the skill in %s. Start a new session of it.\n", client.Title, client.SkillFile(env))
	default:
		a.notef("%s has this skill already, in %s.\n", client.Title, client.SkillFile(env))
	}
	return nil
}
