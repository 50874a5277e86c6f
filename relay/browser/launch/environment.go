package launch

import (
	"os"
	"slices"
	"strings"
)

// passed are the variables of ours that the browser gets: those by which it finds a display, a font, a sound server, a
// proxy and its own files. Keys of providers and tokens are in our environment, and every process of the browser, with
// whatever runs in it, could read them there. A name that ends in * stands for all that begin like it.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TMP", "TEMP",

	"DISPLAY", "XAUTHORITY", "WAYLAND_*", "XDG_*", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "SESSION_MANAGER",
	"GNOME_DESKTOP_SESSION_ID", "KDE_*", "GTK_*", "GDK_*", "QT_*", "XMODIFIERS", "XCURSOR_*", "FONTCONFIG_*",
	"LD_LIBRARY_PATH", "LIBGL_*", "LIBVA_*", "MESA_*", "VK_*", "DRI_PRIME", "__GLX_*", "__EGL_*", "__NV_*", "PULSE_*",
	"PIPEWIRE_*", "ALSA_*", "CHROME_DEVEL_SANDBOX", "CHROMIUM_FLAGS", "CHROMIUM_USER_FLAGS", "SSL_CERT_FILE",
	"SSL_CERT_DIR", "SNAP*", "FLATPAK_*", "WSL_*", "WSLENV",

	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY", "AUTO_PROXY",

	"__CF_USER_TEXT_ENCODING", "SECURITYSESSIONID", "XPC_*", "COMMAND_MODE",

	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "PROGRAMFILES*", "PROGRAMDATA", "PROGRAMW6432",
	"COMMONPROGRAMFILES*", "COMMONPROGRAMW6432", "ALLUSERSPROFILE", "PUBLIC", "APPDATA", "LOCALAPPDATA", "USERPROFILE",
	"USERNAME", "USERDOMAIN*", "COMPUTERNAME", "HOMEDRIVE", "HOMEPATH", "NUMBER_OF_PROCESSORS", "PROCESSOR_*", "OS",
	"SESSIONNAME",
}

// environment is what the browser sees of ours.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(one string) bool {
		name, _, _ := strings.Cut(one, "=")
		name = strings.ToUpper(name) // Windows does not tell them apart, and proxies are in either case
		return !slices.ContainsFunc(passed, func(p string) bool {
			prefix, family := strings.CutSuffix(p, "*")
			return name == p || family && strings.HasPrefix(name, prefix)
		})
	})
}
