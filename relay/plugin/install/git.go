package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const (
	fromGit = "git:"

	// cloneTime is how long fetching a repository may take.
	cloneTime = 2 * time.Minute

	// childTime is how long the programs that git and npm start may hold their output open once these were stopped.
	childTime = time.Second
)

// Repository is a git repository, and which state of it.
type Repository struct {
	Text string // as it was named
	URL  string
	Ref  string // a branch or tag; empty: its default branch
}

var repositoryForm = regexp.MustCompile(`^[\w.-]+/[\w.-]+$`)

// ParseRepository reads github:OWNER/REPO, git+https://…, git+ssh://… or git+file://…, each with #BRANCH or without.
// ok is false for anything that does not look like one.
func ParseRepository(text string) (r Repository, ok bool, err error) {
	address, ref, _ := strings.Cut(text, "#")
	r = Repository{Text: text, Ref: ref}
	if name, isGitHub := strings.CutPrefix(address, "github:"); isGitHub {
		if !repositoryForm.MatchString(name) {
			return r, true, fmt.Errorf("%q is not github:OWNER/REPO, nor github:OWNER/REPO#BRANCH", text)
		}
		r.URL = "https://github.com/" + strings.TrimSuffix(name, ".git") + ".git"
	} else if url, isGit := strings.CutPrefix(address, "git+"); isGit {
		scheme, rest, _ := strings.Cut(url, "://")
		if rest == "" || scheme != "https" && scheme != "ssh" && scheme != "file" {
			return r, true, fmt.Errorf("%q is not git+https://…, git+ssh://… or git+file://…", text)
		}
		r.URL = url
	} else {
		return r, false, nil
	}
	if strings.HasPrefix(r.Ref, "-") || strings.ContainsAny(r.Ref, " \t\n") {
		return r, true, fmt.Errorf("%q is not the name of a branch or tag", r.Ref)
	}
	return r, true, nil
}

// Fetch gets the files of the repository. Its hooks, filters and submodules are left alone.
func (r Repository) Fetch(ctx context.Context) (*Package, error) {
	ctx, cancel := context.WithTimeout(ctx, cloneTime)
	defer cancel()
	dir, err := os.MkdirTemp("", "tabrelay-git-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // a folder of temporary files
	bare := filepath.Join(dir, "repository")
	clone := []string{"clone", "--quiet", "--bare", "--depth", "1", "--no-tags"}
	if r.Ref != "" {
		clone = append(clone, "--branch", r.Ref)
	}
	if _, err := git(ctx, append(clone, "--", r.URL, bare)...); err != nil {
		return nil, fmt.Errorf("cannot fetch %s: %w", r.Text, err)
	}
	commit, err := git(ctx, "-C", bare, "rev-parse", "HEAD")
	if err != nil {
		return nil, fmt.Errorf("cannot fetch %s: %w", r.Text, err)
	}
	tarball, err := git(ctx, "-C", bare, "archive", "--format=tar.gz", "--prefix=package/", "HEAD")
	if err != nil {
		return nil, fmt.Errorf("cannot fetch %s: %w", r.Text, err)
	}
	if len(tarball) > maxTarball {
		return nil, fmt.Errorf("%s has more than %d bytes", r.Text, maxTarball)
	}
	return &Package{Spec: Spec{Name: r.Text}, From: fromGit + r.Text, Version: strings.TrimSpace(string(commit)),
		Integrity: integrityOf(tarball), Tarball: tarball}, nil
}

// git runs git without questions, hooks and the helpers that an address can name.
func git(ctx context.Context, args ...string) ([]byte, error) {
	quiet := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "protocol.ext.allow=never"}
	cmd := exec.CommandContext(ctx, "git", append(quiet, args...)...)
	cmd.WaitDelay = childTime
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1",
		"GIT_SSH_COMMAND=ssh -oBatchMode=yes")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("git is not installed, and a repository is fetched with it")
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git did not end within %v", cloneTime)
	case err != nil:
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("git says: %s", lines[len(lines)-1])
	}
	return out.Bytes(), nil
}
