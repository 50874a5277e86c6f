package install

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/procgroup"
	"tabrelay/relay/road/fault"
)

const (
	fromGit = "git:"

	// cloneTime is how long fetching a repository may take.
	cloneTime = 2 * time.Minute

	// sizeEvery is how often it is measured how much a fetch has written, besides at its end.
	sizeEvery = 200 * time.Millisecond

	// maxSaid bounds what git says, a server's words among it.
	maxSaid = 1 << 20

	// childTime is how long the programs that git and npm start may hold their output open once these were stopped.
	childTime = time.Second
)

// Repository is a plugin in a git repository, and which state of it.
type Repository struct {
	Text   string // as it was named
	URL    string
	Folder string // of the plugin, with forward slashes; empty: the whole repository is the plugin
	Ref    string // a branch, a tag or a whole commit; empty: its default branch
}

var (
	repositoryForm = lazyregexp.New(`^[\w.-]+/[\w.-]+$`)

	// refForm leaves out what git takes for an option, a mapping of refs, or a path into history
	// (https://git-scm.com/docs/git-check-ref-format).
	refForm    = lazyregexp.New(`^[^-+^\s:~?*\[\\\x00-\x1f\x7f][^\s:^~?*\[\\\x00-\x1f\x7f]*$`)
	commitForm = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	folderForm = lazyregexp.New(`^[\w@][\w@. -]*(/[\w@][\w@. -]*)*$`)
)

// ParseRepository reads github:OWNER/REPO, git+https://…, git+ssh://… or git+file://…, each with //FOLDER and #REF or
// without. ok is false for anything that does not look like one.
func ParseRepository(text string) (r Repository, ok bool, err error) {
	address, ref, hasRef := strings.Cut(text, "#")
	r = Repository{Text: text, Ref: ref}
	hasFolder := false
	if name, isGitHub := strings.CutPrefix(address, "github:"); isGitHub {
		name, r.Folder, hasFolder = strings.Cut(name, "//")
		if !repositoryForm.MatchString(name) {
			return r, true, fmt.Errorf("%q is not github:OWNER/REPO, nor github:OWNER/REPO//FOLDER#REF", text)
		}
		r.URL = "https://github.com/" + strings.TrimSuffix(name, ".git") + ".git"
	} else if url, isGit := strings.CutPrefix(address, "git+"); isGit {
		scheme, rest, _ := strings.Cut(url, "://")
		if scheme == "file" { // its host is empty, so that a path begins at once
			rest = strings.TrimPrefix(rest, "/")
		}
		if host, _, _ := strings.Cut(rest, "/"); hasSecret(scheme, host) {
			return r, true, fault.Hinted(errors.New("the address of a repository has a password or token, which would "+
				"be written down with it and shown"), "leave it out; git asks its credential helper for it: "+
				"git config --global credential.helper")
		}
		path, folder, cut := strings.Cut(rest, "//")
		if path == "" || scheme != "https" && scheme != "ssh" && scheme != "file" {
			return r, true, fmt.Errorf("%q is not git+https://…, git+ssh://… or git+file://…", text)
		}
		r.URL, r.Folder, hasFolder = strings.TrimSuffix(url, "//"+folder), folder, cut
	} else {
		return r, false, nil
	}
	switch {
	case hasFolder && !folderForm.MatchString(r.Folder):
		return r, true, fmt.Errorf("%q is not the path of a folder in a repository", r.Folder)
	case hasRef && !refForm.MatchString(r.Ref):
		return r, true, fmt.Errorf("%q is not the name of a branch or tag, nor a commit", r.Ref)
	}
	return r, true, nil
}

// hasSecret reports whether what stands before the path of an address has more than the host and the user of ssh.
func hasSecret(scheme, host string) bool {
	user, _, has := strings.Cut(host, "@")
	return has && (scheme != "ssh" || strings.Contains(user, ":"))
}

// Fetch gets the files of the plugin; most is how many bytes the repository may take on disk meanwhile. Its hooks,
// filters and submodules are left alone.
func (r Repository) Fetch(ctx context.Context, most int64) (*Package, error) {
	var p *Package
	err := r.in(ctx, most, func(c clone) (err error) {
		if p, err = c.plugin(ctx, r.Folder); err != nil {
			return fmt.Errorf("cannot fetch %s: %w", r.Text, err)
		}
		return nil
	})
	return p, err
}

// in fetches one commit of the repository, for as long as use runs. It may take most bytes on disk.
func (r Repository) in(ctx context.Context, most int64, use func(clone) error) error {
	dir, err := os.MkdirTemp("", "tabrelay-git-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // a folder of temporary files
	_, err = git(ctx, "init", "--quiet", "--bare", "--template=", dir)
	if err == nil {
		err = within(ctx, dir, most, func(ctx context.Context) error {
			_, err := git(ctx, "-C", dir, "fetch", "--quiet", "--depth", "1", "--no-tags", "--", r.URL,
				cmp.Or(r.Ref, "HEAD"))
			return r.unfetched(err)
		})
	}
	var commit []byte
	if err == nil {
		commit, err = git(ctx, "-C", dir, "rev-parse", "--verify", "FETCH_HEAD^{commit}")
	}
	if err != nil {
		return fmt.Errorf("cannot fetch %s: %w", r.Text, err)
	}
	return use(clone{r, dir, strings.TrimSpace(string(commit))})
}

// unreachable is what git says when it got no answer (https://curl.se/libcurl/c/libcurl-errors.html, ssh(1)).
var unreachable = lazyregexp.New(`(?i)could ?n.t (resolve|connect)|could not resolve|failed to connect|timed out|` +
	`connection refused|unreachable|proxy`)

// unfetched adds to a failure of git's fetch what to do.
func (r Repository) unfetched(err error) error {
	said, ok := errors.AsType[*saidError](err)
	switch {
	case !ok:
		return err
	case unreachable.MatchString(said.text):
		return fault.Hinted(err, "is this machine on the network, and does git need a proxy (https_proxy)? Once git "+
			"ls-remote "+r.URL+" answers, try again")
	}
	return fault.Hinted(err, "is its address right, and the branch, tag or commit there? git ls-remote "+r.URL+
		" lists them; for a private one git needs a credential helper, or a key of ssh")
}

// saidError is what git says of its failure.
type saidError struct{ text string }

func (e *saidError) Error() string {
	lines := strings.Split(strings.TrimSpace(e.text), "\n")
	return "git says: " + lines[len(lines)-1]
}

// within runs what writes into a folder, and ends it when that has more than most bytes.
func within(ctx context.Context, dir string, most int64, write func(context.Context) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	tooMuch := fault.Hinted(fmt.Errorf("the repository takes more than %d bytes", most),
		"if you want this much, set pluginSources.gitBytes in config.json to more")
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(sizeEvery)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			if sizeOf(dir) > most {
				end(tooMuch)
				return
			}
		}
	})
	err := write(ctx)
	close(ended)
	watching.Wait()
	if errors.Is(context.Cause(ctx), tooMuch) || sizeOf(dir) > most {
		return tooMuch
	}
	return err
}

// sizeOf is how many bytes the files of a folder have. What goes away meanwhile has none.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// clone is one commit of a repository, in a bare folder of its own.
type clone struct {
	of     Repository
	dir    string
	commit string
}

// plugin packs a folder of the commit, as its author would publish it.
func (c clone) plugin(ctx context.Context, folder string) (*Package, error) {
	files, err := c.files(ctx, "package.json")
	if err != nil {
		return nil, err
	}
	if !slices.Contains(files, path.Join(folder, "package.json")) {
		return nil, c.noPlugin(folder, files)
	}
	tree := c.commit
	if folder != "" {
		tree += ":" + folder
	}
	tarball, err := git(ctx, "-C", c.dir, "archive", "--format=tar.gz", "--prefix=package/", tree)
	if err != nil {
		return nil, err
	}
	return &Package{Spec: Spec{Name: c.of.Text}, From: fromGit + c.of.Text, Version: c.commit,
		Integrity: integrityOf(tarball), Tarball: tarball}, nil
}

// files are the paths of the commit's files with a name, in order.
func (c clone) files(ctx context.Context, name string) (paths []string, err error) {
	listed, err := git(ctx, "-C", c.dir, "ls-tree", "-r", "-z", "--name-only", c.commit)
	if err != nil {
		return nil, err
	}
	for file := range strings.SplitSeq(string(listed), "\x00") {
		if path.Base(file) == name {
			paths = append(paths, file)
		}
	}
	return paths, nil
}

// noPlugin says that a folder is none, and which folders may be.
func (c clone) noPlugin(folder string, files []string) error {
	where := "its top level has no package.json"
	if folder != "" {
		where = fmt.Sprintf("its folder %s has no package.json", folder)
	}
	const most = 5
	var others []string
	for _, file := range files {
		if dir := path.Dir(file); dir != "." && folderForm.MatchString(dir) && len(others) < most {
			others = append(others, dir)
		}
	}
	if len(others) == 0 {
		return fmt.Errorf("%s, and no other folder has one", where)
	}
	address, _, _ := strings.Cut(c.of.Text, "#")
	address = strings.TrimSuffix(address, "//"+c.of.Folder)
	return fault.Hinted(errors.New(where), "a plugin in a folder of it is named like "+address+"//"+others[0]+
		"; folders with a package.json: "+strings.Join(others, ", "))
}

// git runs git without questions, hooks and the helpers that an address can name.
func git(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cloneTime, fmt.Errorf("git did not end within %v", cloneTime))
	defer cancel()
	quiet := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "protocol.ext.allow=never"}
	cmd := exec.CommandContext(ctx, "git", append(quiet, args...)...)
	cmd.WaitDelay = childTime
	procgroup.Join(cmd)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), ofRepository), "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1",
		"LC_ALL=C", "GIT_SSH_COMMAND=ssh -oBatchMode=yes")
	out, said := bounded{most: maxTarball}, bounded{most: maxSaid}
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	switch {
	case out.over:
		return nil, fmt.Errorf("it has more than %d bytes", out.most)
	case errors.Is(err, exec.ErrNotFound):
		return nil, fault.Hinted(errors.New("git is not installed, and a repository is fetched with it"),
			"install it (https://git-scm.com/downloads), then add the plugin again")
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &saidError{said.text.String()}
	}
	return out.text.Bytes(), nil
}

// repositoryVariables are those with which git is told to work in another repository than the folder's, or with other
// parts of one: `git rev-parse --local-env-vars` lists them. A hook or an editor that runs tabrelay may have set them.
// GIT_CONFIG_COUNT stays: git itself never sets it, and with it a person names a token or a mirror for all
// repositories.
var repositoryVariables = []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG",
	"GIT_CONFIG_PARAMETERS", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
	"GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
	"GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE"}

func ofRepository(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains(repositoryVariables, name)
}

// bounded is what a program writes, as far as it fits; a program that writes more is stopped by that. It has no other
// method than Write: os/exec would pass by it with the ReadFrom of a buffer.
type bounded struct {
	text bytes.Buffer
	most int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > b.most {
		b.over = true
		return 0, errors.New("too much output")
	}
	return b.text.Write(p)
}
