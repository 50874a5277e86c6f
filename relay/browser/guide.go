package browser

import (
	"fmt"
	"runtime"
	"strings"
)

// Step is one thing a person does to install the extension into their own browser.
type Step struct {
	Title string
	Text  string // lines of at most 100 characters
}

// Guide is the whole way, once per browser profile. goos is a value of runtime.GOOS; empty means this system.
func Guide(extension, goos string) []Step {
	if goos == "" {
		goos = runtime.GOOS
	}
	return []Step{
		{"Open the extensions page", "In Chrome (or Chromium, Edge, Brave), type this into the address bar and press " +
			"Enter:\n\n    chrome://extensions"},
		{"Switch Developer mode on", "The switch is at the top right of that page. Leave it on: Chrome switches the " +
			"extension off with it."},
		{"Load the extension", "Press “Load unpacked” at the top left. " + paste(extension, goos)},
		{"Pin the icon", "Press the puzzle piece to the right of the address bar, and the pin beside “tabrelay”.\nA " +
			"click on the icon shows what agents do."},
	}
}

// paste says how the folder is chosen, although its name may begin with a dot, which file dialogs hide.
func paste(folder, goos string) string {
	keys := "In the dialog, press Ctrl+L, paste this path, press Enter, then “Open” or “Select”:"
	switch goos {
	case "darwin":
		keys = "In the dialog, press Cmd+Shift+G, paste this path, press Enter, then “Select”:"
	case "windows":
		keys = "In the dialog, click the address line at the top, paste this path, press Enter, then “Select Folder”:"
	}
	text := keys + "\n\n    " + folder
	if goos != "windows" && strings.Contains(folder, "/.") {
		show := "Ctrl+H"
		if goos == "darwin" {
			show = "Cmd+Shift+. (full stop)"
		}
		text += fmt.Sprintf("\n\nThe folder is hidden; to see hidden folders in the dialog press %s.", show)
	}
	return text
}
