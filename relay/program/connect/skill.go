package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/lib/lazyregexp"
)

// ourSkill is the beginning of a SKILL.md that tabrelay has written.
var ourSkill = lazyregexp.New(`^---\r?\nname: ` + entryName + `\r?\n`)

// WithSkills are the names of the clients that read skills.
func WithSkills() (names []string) {
	for _, c := range Clients {
		if c.ReadsSkills() {
			names = append(names, c.Name)
		}
	}
	return names
}

// ReadsSkills reports whether the client reads skills from a folder.
func (c Client) ReadsSkills() bool { return c.skill != nil }

// SkillFile is where the client finds the skill.
func (c Client) SkillFile(env Environment) string {
	return filepath.Join(c.skill(env), entryName, "SKILL.md")
}

// InstallSkill writes the skill. One of that name that somebody else has written stays as it is.
func (c Client) InstallSkill(env Environment, text string) (changed bool, err error) {
	file := c.SkillFile(env)
	now, err := os.ReadFile(file)
	switch {
	case err == nil && !ourSkill.Match(now):
		return false, fmt.Errorf("%s is another skill, and stays as it is; remove it, and install this one again", file)
	case err == nil && bytes.Equal(now, []byte(text)):
		return false, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("cannot read the skill that is there: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return false, fmt.Errorf("cannot make the folder of the skill: %w", err)
	}
	if err := diskfile.Write(file, []byte(text), 0o644); err != nil {
		return false, fmt.Errorf("cannot write the skill: %w", err)
	}
	return true, nil
}

// HasSkill reports whether the client finds the skill.
func (c Client) HasSkill(env Environment) bool {
	if !c.ReadsSkills() {
		return false
	}
	text, err := os.ReadFile(c.SkillFile(env))
	return err == nil && ourSkill.Match(text)
}

// RemoveSkill removes the skill, and its folder where nothing else is in it.
func (c Client) RemoveSkill(env Environment) error {
	file := c.SkillFile(env)
	if err := os.Remove(file); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(file)) // it fails while there is something else
	return nil
}
