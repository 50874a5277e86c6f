// Package launch finds and runs the browser that tabrelay brings itself when a person's own is not used, and
// knows the clicks that install the extension into a person's own.
package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"tabrelay/relay/road/fault"
)

// notFound is the error when no browser on this machine can load an unpacked extension from the command line.
func notFound(why string) error {
	install := map[string]string{
		"linux":   "install it (Debian, Ubuntu: apt install chromium)",
		"darwin":  "install it (brew install --cask chromium)",
		"windows": "install it (winget install Hibbiki.Chromium)",
	}[runtime.GOOS]
	return fault.Hinted(errors.New(why), cmp.Or(install, "install Chromium")+
		", or set browser.path, or run `tabrelay up --browser none` and use your own browser")
}

// Find returns the browser to start: the configured one, else the first Chromium or Chrome for Testing found.
func Find(configured string) (string, error) {
	if configured != "" {
		path, err := exec.LookPath(configured)
		if err != nil {
			return "", notFound("browser.path is " + configured + ", which is not a program that can be run")
		}
		return path, nil
	}
	for _, pattern := range candidates() {
		if path := newest(pattern); path != "" {
			return path, nil
		}
	}
	const nothing = "no Chromium or Chrome for Testing was found"
	for _, name := range branded() {
		if path, err := exec.LookPath(name); err == nil {
			return "", notFound(nothing + "; " + path + " does not load extensions from the command line")
		}
	}
	return "", notFound(nothing)
}

// newest returns the program a name or pattern stands for. Of several versions it is the last in order, which
// is the newest in the folders that Playwright and Puppeteer keep.
func newest(pattern string) string {
	if !strings.ContainsRune(pattern, filepath.Separator) {
		path, err := exec.LookPath(pattern)
		if err != nil {
			return ""
		}
		return path
	}
	found, err := filepath.Glob(pattern)
	if err != nil {
		return "" // the person's home folder is no valid pattern
	}
	slices.Reverse(found)
	for _, path := range found {
		if path, err := exec.LookPath(path); err == nil {
			return path
		}
	}
	return ""
}

// candidates are names in PATH and patterns of paths, best first.
func candidates() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = string(filepath.Separator)
	}
	under := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	switch runtime.GOOS {
	case "darwin":
		const inside = "Contents/MacOS/"
		return []string{
			"/Applications/Chromium.app/" + inside + "Chromium",
			under("Applications/Chromium.app", inside, "Chromium"),
			under("Library/Caches/ms-playwright/chromium-*/chrome-mac*/*.app", inside, "*"),
			under(".cache/puppeteer/chrome/*/chrome-mac*/*.app", inside, "*"),
		}
	case "windows":
		local := os.Getenv("LOCALAPPDATA")
		return []string{
			filepath.Join(local, `Chromium\Application\chrome.exe`),
			filepath.Join(local, `ms-playwright\chromium-*\chrome-win*\chrome.exe`),
			under(`.cache\puppeteer\chrome\*\chrome-win*\chrome.exe`),
		}
	}
	return []string{
		"chromium", "chromium-browser",
		under(".cache/ms-playwright/chromium-*/chrome-linux*/chrome"),
		under(".cache/puppeteer/chrome/*/chrome-linux*/chrome"),
	}
}

// branded are browsers that ignore --load-extension.
func branded() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"}
	case "windows":
		return []string{
			filepath.Join(os.Getenv("PROGRAMFILES"), `Google\Chrome\Application\chrome.exe`),
			filepath.Join(os.Getenv("LOCALAPPDATA"), `Google\Chrome\Application\chrome.exe`),
		}
	}
	return []string{"google-chrome", "google-chrome-stable", "microsoft-edge", "brave-browser"}
}

// HasDisplay reports whether a person can see windows of this process.
func HasDisplay() bool {
	switch runtime.GOOS {
	case "darwin", "windows":
		return os.Getenv("SSH_CONNECTION") == ""
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// Sandboxed reports whether a browser cannot read folders that begin with a dot, as those from Snap and Flatpak
// cannot.
func Sandboxed(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	for _, p := range []string{path, real} {
		if strings.HasPrefix(p, "/snap/") || strings.Contains(p, "/flatpak/") || filepath.Base(p) == "snap" {
			return true
		}
	}
	script, err := os.ReadFile(real)
	return err == nil && len(script) < 64<<10 && strings.Contains(string(script), "/snap/bin/")
}

// Version is what the browser says of itself, for example "Chromium 156.0.7200.3". On Windows, where asking
// would open a window, it is empty.
func Version(ctx context.Context, path string) (string, error) {
	if runtime.GOOS == "windows" {
		return "", nil
	}
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = environment()
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
			return "", fmt.Errorf("%s cannot run: %s", path, strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("%s cannot run: %w", path, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Step is one thing a person does to install the extension into their own browser.
type Step struct {
	Title string
	Text  string // lines of at most 100 characters
}

// Guide is the whole way, once per browser profile. goos is a value of runtime.GOOS; empty means this system.
func Guide(extension, goos string) []Step {
	goos = cmp.Or(goos, runtime.GOOS)
	return []Step{
		{"Open the extensions page", "In Chrome (or Chromium, Edge, Brave), type this into the address bar and press " +
			"Enter:\n\n    chrome://extensions"},
		{"Switch Developer mode on", "The switch is at the top right of that page. Leave it on: without it, Chrome " +
			"switches the extension off."},
		{"Load the extension", "Press “Load unpacked” at the top left. " + paste(extension, goos)},
		{"Pin the icon", "Press the puzzle piece to the right of the address bar, and the pin beside “tabrelay”.\nA " +
			"click on the icon shows what agents do."},
	}
}

// LoadUnpacked is that way in one sentence, for somebody who reads it from an agent or a list.
func LoadUnpacked(extension string) string {
	return "open chrome://extensions (in Edge edge://extensions), switch Developer mode on, press “Load unpacked”, " +
		"and choose the folder " + extension + " (in the dialog, " + keys(runtime.GOOS) + ")"
}

// keys are what is pressed in the dialog that asks for a folder.
func keys(goos string) string {
	switch goos {
	case "darwin":
		return "press Cmd+Shift+G, paste this path, press Enter, then “Select”"
	case "windows":
		return "click the address line at the top, paste this path, press Enter, then “Select Folder”"
	}
	// No Enter: it opens the list of what is in the folder, and that takes the first click away from the button.
	return "press Ctrl+L, paste this path, then press “Open” or “Select”"
}

// paste says how the folder is chosen, although its name may begin with a dot, which file dialogs hide.
func paste(folder, goos string) string {
	text := "In the dialog, " + keys(goos) + ":\n\n    " + folder
	if goos != "windows" && strings.Contains(folder, "/.") {
		show := "Ctrl+H"
		if goos == "darwin" {
			show = "Cmd+Shift+. (full stop)"
		}
		text += fmt.Sprintf("\n\nThe folder is hidden; to see hidden folders in the dialog press %s.", show)
	}
	return text
}
