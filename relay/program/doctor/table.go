package doctor

import (
	"slices"

	"tabrelay/relay/state/store"
)

// Row is one thing that can be wrong: what docs/troubleshooting.md says about it, and what a finding says unless the
// place that finds it knows better.
type Row struct {
	ID       string
	Severity Severity
	What     string // how it shows
	Why      string
	Next     string
}

func lookup(id string) (Row, bool) {
	i := slices.IndexFunc(table, func(r Row) bool { return r.ID == id })
	if i < 0 {
		return Row{}, false
	}
	return table[i], true
}

// Fixes is what `tabrelay doctor --fix` does about findings: what is safe to do unasked. A person does the rest.
var Fixes = map[string]string{
	"home-open": "closes the home folder to others", "home-shut": "gives you the home folder back",
	"home-missing": "starts the relay, which makes it", "relay-stopped": "starts the relay",
	"version-differs": restarts, "folder-stale": restarts, "pairing-wrong": restarts, "config-waits": restarts,
	"browser-ended":  "starts the browser again",
	"client-command": corrects, "client-home": corrects,
	"native-host-missing": restarts, "native-host-broken": restarts,
}

const (
	restarts = "restarts the relay, unless calls are running"
	corrects = "corrects the entry of the client"
)

// Restarts reports whether what is done about a finding is a restart of the relay.
func Restarts(finding string) bool { return Fixes[finding] == restarts }

// Table is everything the doctor can find wrong.
func Table() []Row { return table }

// Attach adds what a capability may lack.
func Attach(rows []Row) { table = slices.Concat(table, rows) }

// tables are what capabilities keep in the database.
var tables []*store.Tables

// AttachTables adds what a capability keeps in the database, which may be of a newer program.
func AttachTables(t *store.Tables) { tables = append(tables, t) }

var table = []Row{
	{"home-missing", Problem, "There is no home folder.", "tabrelay was not started yet, or TABRELAY_HOME names " +
		"another folder.", "run: tabrelay up"},
	{"home-unusable", Problem, "The home folder cannot be used.",
		"Something else has that name, its disk cannot be written, or a folder above it is closed to you.",
		"set TABRELAY_HOME to a folder that you can write"},
	{"home-shut", Problem, "You may not use your own home folder.",
		"Its permissions keep you from reading or writing it.", "run: chmod 700 on the folder"},
	{"home-foreign", Problem, "The home folder, or files in it, belong to another user.",
		"tabrelay was started once as that user, for example with sudo.",
		"run: sudo chown -R on the folder; or set TABRELAY_HOME to a folder of your own"},
	{"home-open", Problem, "Other users of this machine can get into the home folder.",
		"Its permissions are wider than 0700. What is in it lets programs use your browser.",
		"run: chmod 700 on the folder"},
	{"disk-full", Problem, "The disk of the home folder is nearly full.",
		"Journal, results and log need room; without it calls that write are refused.",
		"free some space, or set TABRELAY_HOME to a folder on another disk"},

	{"config-broken", Problem, "The configuration cannot be read.",
		"A running relay keeps the last good one; none can start, and tabrelay mcp answers in minimal mode.",
		"correct the file that the message names, where it says; docs/configuration.md lists every setting"},
	{"policy-broken", Problem, "Your organization's policy for this machine cannot be used.",
		"A running relay keeps the last good one; none can start, and tabrelay mcp answers in minimal mode.",
		"have an administrator correct the file that the message names; tabrelay policy check FILE checks it before"},
	{"config-warning", Warning, "A setting has no effect.",
		"Its name in the environment is close to one of tabrelay's, it belongs to something that is switched off, or " +
			"your organization's policy sets it.",
		"correct its name, unset it, or switch on what it belongs to"},
	{"config-refused", Problem, "The running relay refused the configuration it read last.",
		"It cannot be used as a whole; the one before it is in effect.",
		"correct the file that the message names; it is read again at once"},
	{"config-waits", Warning, "A changed setting is not in effect yet.", "Only a restart applies it.",
		"run: tabrelay down, then tabrelay up"},
	{"config-unconfirmed", Warning, "A change of the configuration waits for you.",
		"It lets agents do more, and was made while the relay ran.",
		"answer in the side panel, or run: tabrelay config apply"},
	{"config-widened", Warning, "The last start of the relay lets agents do more.",
		"The configuration or the environment was changed before that start.",
		"look at it in the side panel; to take it back: tabrelay config undo"},
	{"rules-lost", Problem, "Rules of yours may be missing.",
		"The database lost what was written last, or is another one. Until you have looked, every call is asked about.",
		"look at your rules (tabrelay permit list), set again what is missing, then run: tabrelay permit confirm"},
	{"rules-narrowed", Warning, "An update of tabrelay made your rules forbid more.",
		"Rules about tools and rules about sites both count now, and the stricter one wins.",
		"look at it in the side panel, or run: tabrelay permit confirm"},
	{"minimal-forced", Problem, "tabrelay mcp is forced into minimal mode.", "TABRELAY_FORCE_MINIMAL is set.",
		"unset TABRELAY_FORCE_MINIMAL, also in the client's configuration, and restart the client"},
	{"secrets-broken", Problem, "The secrets cannot be used.", "secrets.json is damaged, or other users can read it. " +
		"Until then nobody can connect.", "if it is damaged, restore it from a backup; if others can read it, run: " +
		"chmod 600 on it"},
	{"state-broken", Problem, "The list of plugins, or a file of an earlier version, cannot be used.",
		"It is empty or damaged: the disk was full, or another program wrote to it. No relay starts with it.",
		"restore it from a backup; or remove it: a new one is created, and its contents are lost"},
	{"database-broken", Problem, "The database cannot be used.",
		"tabrelay.db is empty, truncated, not a SQLite database, or unreadable. Often the disk was full.",
		"restore it from a backup; or move tabrelay.db, tabrelay.db-wal and tabrelay.db-shm away: new ones are " +
			"created, " +
			"without the earlier rules, reviews, audit log and results"},

	{"database-newer", Problem, "The database was written by a newer tabrelay.",
		"This program is older: an earlier release was installed again, or PATH leads to another one. It changes " +
			"nothing in the database, and cannot start a relay with it.",
		"update tabrelay to the version that wrote it, or a newer one; or, to begin without the rules, reviews, " +
			"audit log and results that are in it, move tabrelay.db, tabrelay.db-wal and tabrelay.db-shm away"},

	{"binary-incomplete", Problem, "This binary was built without the extension or without the plugins.",
		"Their bundles were not generated before go build.", "run: make build"},
	{"relay-stopped", Problem, "The relay is not running.", "Nobody started it since it ended, or it could not start.",
		"run: tabrelay up"},
	{"relay-silent", Problem, "The relay runs, but does not answer.", "It is busy, stuck, or of another version.",
		"run: tabrelay down --force, then tabrelay up; tabrelay logs shows what it did last"},
	{"port-taken", Problem, "Another program has the relay's port.", "Two programs cannot listen at one address.",
		"end that program, or set another address: listen in config.json"},
	{"remote-broken", Problem, "The relay cannot listen for other machines.",
		"What listens elsewhere needs TLS, and the certificate or its key cannot be used. No relay starts with that.",
		"set remote.certificate and remote.key as docs/remote.md shows, or leave remote.listen empty"},
	{"remote-expires", Warning, "The certificate for other machines expires, or has expired.",
		"Then programs there do not trust the relay any more.",
		"renew it, and put it into the file of remote.certificate; the relay takes it at once"},
	{"token-expires", Warning, "The token of a client expires within two weeks, or has expired.",
		"It was made with --expires. Then nobody is let in with it.",
		"make a new one with tabrelay clients rotate, or revoke it"},
	{"demo-taken", Warning, "The demo site is off.",
		"Another program had its port when the relay started, or has it now.",
		"end that program, then run: tabrelay down, then tabrelay up; or set demo.listen in config.json to another " +
			"address, or to \"\" for none"},
	{"version-differs", Problem, "The running relay and this program have different versions.",
		"One of them was updated while the other ran.", "run: tabrelay up, which replaces the relay when no call runs"},
	{"corruption", Warning, "Messages that could not be used were received.",
		"The other side sent something that is not a valid message, or is too large. Three within a minute end its " +
			"connection.",
		"update the extension and tabrelay to the same version; if it stays, report it with: tabrelay doctor " +
			"--bundle FILE"},

	{"folder-unusable", Problem, "The extension's folder cannot be read or written.",
		"It is missing, or its permissions are wrong. The browser loads the extension from there.",
		"repair its permissions, or set extensionDir to another folder, then run: tabrelay up"},
	{"folder-stale", Problem, "The extension's folder has other files than this program.",
		"The relay that wrote them has another version, or they were changed.",
		"run: tabrelay up; if that finds nothing to replace, run: tabrelay down, then tabrelay up. The browser takes " +
			"the new files by itself"},
	{"pairing-wrong", Problem, "The extension's folder is paired with another relay.",
		"pairing.json in it has another address or secret than the relay: it was copied, or belongs to another home " +
			"folder.", "run: tabrelay down, then tabrelay up, which writes it anew"},

	{"folder-moved", Problem, "A browser loads the extension from a folder that is not there.",
		"The home folder, or extensionDir, was moved or removed after the extension was loaded.",
		"open chrome://extensions, press “Remove” on the card of tabrelay, then run: tabrelay up; it shows which " +
			"folder to load"},
	{"extension-off", Problem, "The extension is switched off in a browser.",
		"Somebody switched it off, or Developer mode with it.",
		"open chrome://extensions, switch Developer mode on, and then tabrelay on its card"},
	{"browser-ended", Problem, "The browser that tabrelay started has ended.",
		"It was closed, crashed, or was killed. Its profile is kept.", "run: tabrelay up, which starts it again"},
	{"extension-absent", Problem, "No browser with the extension has ever connected.",
		"The extension is not installed.", "run: tabrelay up; it shows how to install it. Without a " +
			"terminal: open chrome://extensions, switch Developer mode on, press “Load unpacked”, and choose the " +
			"folder ~/.tabrelay/extension"},
	{"browser-closed", Problem, "The browser that was connected is closed.",
		"It was connected to this relay before, and is not now.", "start your browser"},
	{"browser-absent", Problem, "No browser has connected since the relay started.",
		"The browser is closed, or the extension in it is switched off.",
		"start your browser; if it runs, open chrome://extensions: tabrelay must be there, switched on, with " +
			"Developer mode on"},
	{"worker-asleep", Problem, "The browser went away a moment ago.",
		"It put the extension to sleep, was closed, or the machine slept.",
		"click the extension's icon, which wakes it at once; else start your browser"},
	{"pairing-refused", Problem, "An extension was refused: its proof was wrong.",
		"It was loaded from another folder, or the secret was changed after it read it.",
		"open chrome://extensions and press the reload arrow on the card of tabrelay; it must be loaded from the " +
			"folder that tabrelay status names"},
	{"extension-version", Problem, "An extension was refused: it speaks another protocol.",
		"Extension and relay are too far apart.", "update the older one: press the reload arrow of tabrelay at " +
			"chrome://extensions, or update the tabrelay program"},
	{"extension-old", Warning, "A browser runs older files of the extension.",
		"It loads the new ones when no call is open; one that was loaded from another folder never does, " +
			"and an extension installed from a store is updated by the browser.",
		"open chrome://extensions and press the reload arrow on the card of tabrelay"},
	{"user-scripts-off", Problem, "A browser does not run plugins that you added.",
		"Its extension is the edition from a store, and Chrome runs what is not part of that only after you have " +
			"allowed user scripts.",
		"open tabrelay's side panel in that browser and press “Open the page”, or open chrome://extensions and press " +
			"“Details” on the card of tabrelay; switch “Allow User Scripts” on (Chrome 135 to 137: Developer mode)"},
	{"native-host-missing", Warning, "An extension from a store does not find the relay by itself in a browser.",
		"tabrelay is not registered with that browser as a native-messaging host: the browser was first used after " +
			"the relay had started, or its folder cannot be written.",
		"run: tabrelay native-host add; or pair that extension with the string that tabrelay pair prints. For the " +
			"extension from tabrelay's own folder nothing is needed"},
	{"native-host-broken", Warning, "An extension from a store cannot ask tabrelay where the relay is.",
		"What is registered with the browser as its native-messaging host does not start this tabrelay any more: " +
			"something was moved, removed or changed.", "run: tabrelay native-host add"},
	{"native-host-foreign", Warning, "An extension from a store finds another relay in a browser.",
		"Another home folder has registered itself there, and tabrelay does not replace what is not its own.",
		"run: tabrelay native-host add, if that browser is to be used with this relay; else nothing is needed"},
	{"chrome-old", Problem, "A browser is too old.", "The extension needs Chrome 123 or newer.", "update the browser"},
	{"profile-away", Warning, "A browser profile that was connected before is not now.",
		"Calls that an agent began in that profile fail there; they are never sent to another account.",
		"open a window of that profile; if it is not used any more, run: tabrelay profiles forget NAME"},

	{"plugin-broken", Problem, "A plugin, or one of its tools, was left out or needs something.",
		"Its build, its schemas or its settings are wrong.", "correct what is named, then look at it again: " +
			"tabrelay plugin check looks " +
			"at the folder of a plugin"},
	{"paused", Problem, "All agents are stopped.", "The switch in the side panel, or tabrelay pause, stopped them: " +
		"every call is refused, also after a restart.", "run: tabrelay resume, or use the switch in the side panel"},
	{"review-waits", Warning, "A plugin waits for your review.",
		"It is new or has changed. It is off, or the version you reviewed last still runs.",
		"run: tabrelay plugin review, or open the side panel"},
	{"review-off", Warning, "Plugins run without a review.",
		"review.required is false, which suits a development machine.",
		"remove review.required from config.json and TABRELAY_REVIEW_REQUIRED from the environment, then run: " +
			"tabrelay down, then tabrelay up"},
	{"client-broken", Problem, "The configuration of an MCP client cannot be read.",
		"The file is damaged, or not readable.", "repair the file, then run: tabrelay connect CLIENT"},
	{"client-command", Problem, "An MCP client runs a program that is not there.",
		"tabrelay was moved or updated to another path.", "run: tabrelay connect CLIENT, then restart the client"},
	{"client-home", Problem, "An MCP client is connected to a home folder that is not there.",
		"The home folder was moved or removed.", "run: tabrelay connect CLIENT, then restart the client"},
	{"client-token", Problem, "An MCP client has a token that is not known.",
		"The token was rotated or revoked, or belongs to another home folder.",
		"run: tabrelay connect CLIENT, then restart the client"},
	{"client-none", Warning, "No MCP client is connected.",
		"None of the clients tabrelay knows has it in its configuration.",
		"run: tabrelay connect claude-code (or another: tabrelay connect --help)"},
}
