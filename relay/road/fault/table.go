package fault

// Row is what the table says about one code.
type Row struct {
	Code      Code
	Category  Category
	Source    Source
	Class     Class
	Type      Type
	Retryable bool    // the default; a timeout, for one, is retryable when the tool is idempotent
	Outcome   Outcome // the default, never better than what is certain
	Legacy    int     // JSON-RPC error code up to protocol version 2025-11-25; 0 when the failure is a tool result
	Modern    int     // the same from 2026-07-28 on
	Situation string  // when this happens
	Hint      string  // the next step, unless the place that raises it knows a better one
}

// Group is the rows of one subject.
type Group struct {
	Title string
	Rows  []Row
}

// groups is the table by subject.
var groups = []Group{
	{"Calls", callRows}, {"Tabs and pages", tabRows}, {"The link to the browser", linkRows},
	{"Decisions and configuration", decisionRows}, {"Requests", requestRows},
}

var rows = byCode()

func byCode() map[Code]Row {
	m := map[Code]Row{}
	for _, r := range Table() {
		m[r.Code] = r
	}
	return m
}

// Attach adds the codes of a capability. It is called before anything fails.
func Attach(g Group) {
	groups = append(groups, g)
	rows = byCode()
}

// Groups returns the table by subject.
func Groups() []Group { return groups }

// Table returns every code there is.
func Table() []Row {
	var all []Row
	for _, g := range groups {
		all = append(all, g.Rows...)
	}
	return all
}

// Lookup finds a code's row.
func Lookup(code Code) (Row, bool) {
	r, ok := rows[code]
	return r, ok
}

// Number is the JSON-RPC number that stands for a source. It is information for clients that want one; nothing
// in the relay compares it.
func (s Source) Number() int {
	switch s {
	case SourceConfig:
		return -32004
	case SourceAuth:
		return -32003
	case SourceUpstream:
		return -32002
	case SourceTimeout:
		return -32001
	case SourceTransport, SourceProtocol:
		return -32000
	}
	return -32603
}

var callRows = []Row{
	{Code: AuthError, Category: Auth, Source: SourceAuth, Class: Tool, Type: TypePermissionDenied, Outcome: Executed,
		Situation: "The web app says that nobody is signed in, or that the person signed in may not do this.",
		Hint:      "Ask the person to sign in to the web app in their browser, then call the tool again."},
	{Code: NotFoundCode, Category: NotFound, Source: SourceUpstream, Class: Tool, Type: TypeNotFound, Outcome: Executed,
		Situation: "What the call names does not exist in the web app.",
		Hint:      "Check the name or id; a tool that lists or searches shows what exists."},
	{Code: RateLimited, Category: RateLimit, Source: SourceUpstream, Class: Transient, Type: TypeNetwork,
		Retryable: true,
		Outcome:   NotExecuted,
		Situation: "The web app or provider asks to slow down.",
		Hint:      "Wait as long as retryAfterMs says, then repeat the call."},
	{Code: ValidationError, Category: Validation, Source: SourceProtocol, Class: Tool, Type: TypeValidation,
		Outcome:   NotExecuted,
		Situation: "The arguments do not fit the tool's input schema, or the web app rejected them.",
		Hint:      "Correct the arguments named above and call the tool again."},
	{Code: TimeoutCode, Category: Timeout, Source: SourceTimeout, Class: Transient, Type: TypeTimeout, Outcome: Unknown,
		Situation: "A deadline passed before the tool's end was seen: `fixed` is a plain deadline, `idle` means that " +
			"no " +
			"progress came in time, `max_exceeded` that the longest time a call may take is over. Retryable only " +
			"when the " +
			"tool is read-only or idempotent.",
		Hint: "The action may have happened: read the page before repeating it. A larger " +
			"`timeoutMs` gives the call longer."},
	{Code: InternalError, Category: Internal, Source: SourceInternal, Class: Tool, Type: TypeInternal, Outcome: Unknown,
		Situation: "A bug: an adapter threw something that is not a ToolError, or the relay itself failed.",
		Hint: "Do not repeat the call unchanged; the correlation id finds the details in the relay's log (`tabrelay " +
			"logs`)."},
	{Code: InstanceRequired, Category: Validation, Source: SourceProtocol, Class: Tool, Type: TypeValidation,
		Outcome:   NotExecuted,
		Situation: "The plugin serves several instances of a web app, and the call does not say which.",
		Hint:      "Pass `instance`, with one of the values named above."},
	{Code: InputTooLarge, Category: Validation, Source: SourceUpstream, Class: Tool, Type: TypeValidation,
		Outcome:   NotExecuted,
		Situation: "The arguments, a prompt or its metadata are larger than can be sent.",
		Hint:      "Send less at once, for example in several calls."},
	{Code: OutputTooLarge, Category: Validation, Source: SourceUpstream, Class: Tool, Type: TypeOutputTooLarge,
		Outcome: Executed,
		Situation: "The tool ran, and its result is larger than may be sent. Nothing partial is returned as if it " +
			"were " +
			"whole.",
		Hint: "Ask for less: a narrower query, fewer items, one page at a time. The action itself has happened."},
	{Code: InvalidOutput, Category: Internal, Source: SourceInternal, Class: Tool, Type: TypeInternal,
		Outcome: Executed,
		Situation: "The tool ran, but its result is not JSON or does not fit the output schema it declares. A bug of " +
			"the " +
			"adapter.",
		Hint: "The action has happened: do not repeat it. Read the page to see its effect."},
	{Code: Overloaded, Category: RateLimit, Source: SourceTransport, Class: Transient, Type: TypeNetwork,
		Retryable: true,
		Outcome:   NotExecuted,
		Situation: "Too many calls are running, and the queue is full.",
		Hint:      "Wait as long as retryAfterMs says, then repeat the call."},
	{Code: CircuitOpen, Category: Internal, Source: SourceTransport, Class: Transient, Type: TypeNetwork,
		Retryable: true,
		Outcome:   NotExecuted,
		Situation: "The last calls to the same place failed, so calls are held back for a while.",
		Hint:      "Wait as long as retryAfterMs says, then repeat the call."},
	{Code: Cancelled, Category: Internal, Source: SourceInternal, Class: Tool, Type: TypeInternal, Outcome: Unknown,
		Situation: "Somebody cancelled the call. A client that did so itself gets no reply; one whose person did " +
			"gets this.",
		Hint: "The action may have happened: read the page before repeating it."},
}

var tabRows = []Row{
	{Code: TabNotFound, Category: NotFound, Source: SourceUpstream, Class: Tool, Type: TypeNotFound,
		Outcome: NotExecuted,
		Situation: "The tab that the call names does not exist or was closed before the tool ended, or no open tab " +
			"belongs " +
			"to the plugin's web app. `outcome` says whether the tool ran.",
		Hint: "Open the web app in the browser, or pass the `tabId` of a tab that exists."},
	{Code: TabChanged, Category: NotFound, Source: SourceUpstream, Class: Tool, Type: TypeNotFound, Outcome: Unknown,
		Situation: "The tab shows another page than the one the call was meant for: it does not belong to the " +
			"plugin, or " +
			"it navigated before the tool ended.",
		Hint: "Read the page before repeating the action; pass the `tabId` of a tab that shows the web app."},
	{Code: TargetChanged, Category: NotFound, Source: SourceUpstream, Class: Tool, Type: TypeNotFound,
		Outcome: NotExecuted,
		Situation: "What one of the browser's own tools was to act on is another thing by now than the person was " +
			"shown when they allowed it, or than the agent was told: it has another role, name or visible words, " +
			"its form is sent elsewhere, or the page was loaded anew.",
		Hint: "Take a new snapshot, and call again only if that is what is meant now; the person is asked anew."},
	{Code: TabUnresponsive, Category: Timeout, Source: SourceUpstream, Class: Transient, Type: TypeTimeout,
		Outcome:   Unknown,
		Situation: "The page did not start the tool: a dialog is open in it, or the tab is frozen, discarded or hung.",
		Hint: "Ask the person to look at the tab: close an open dialog or reload it. Read the page before repeating " +
			"a " +
			"change."},
	{Code: TabBusy, Category: RateLimit, Source: SourceUpstream, Class: Transient, Type: TypeTimeout, Retryable: true,
		Outcome: NotExecuted,
		Situation: "An earlier call that changes something timed out or was cancelled, and the page has not ended it " +
			"yet.",
		Hint: "Wait, then repeat the call; calls that only read are still answered."},
	{Code: TabOwned, Category: Auth, Source: SourceConfig, Class: Tool, Type: TypePermissionDenied, Retryable: true,
		Outcome:   NotExecuted,
		Situation: "Another agent works in the tab, and the call may change something there.",
		Hint:      "Pass another `tabId`, or ask the person to release this one (`tabrelay tabs release ID`)."},
	{Code: AdapterNotReady, Category: Internal, Source: SourceTransport, Class: Transient, Type: TypeNetwork,
		Retryable: true, Outcome: NotExecuted,
		Situation: "The page is still loading, or the plugin says that it cannot work there yet.",
		Hint: "Wait a moment, then repeat the call. If it stays so, ask the person to look at the tab; they may have " +
			"to sign in."},
	{Code: InjectionFailed, Category: Internal, Source: SourceTransport, Class: Tool, Type: TypeInternal,
		Outcome: NotExecuted,
		Situation: "The browser did not let the adapter into the page: site access is missing, or the page is one " +
			"that " +
			"extensions may not touch.",
		Hint: "If the tab shows an error or a page of the browser itself, go to another page (browser__navigate, " +
			"browser__open_tab). If not, ask the person to give the tabrelay extension access to the site (its " +
			"icon, \"This can read and change site data\")."},
	{Code: PageNotLoaded, Category: Internal, Source: SourceUpstream, Class: Tool, Type: TypeNetwork, Retryable: true,
		Outcome:   NotExecuted,
		Situation: "An address that was to be opened does not load; the message says why, in the words of the browser.",
		Hint:      "Check the address; if it is right, the server or the network is not there now."},
	{Code: ToolGone, Category: NotFound, Source: SourceUpstream, Class: Tool, Type: TypeNotFound, Outcome: NotExecuted,
		Situation: "No document of the tab, or of any, registers the tool of a page (WebMCP) as it was listed: the " +
			"page has taken it back, registered it anew with other words, or is closed.",
		Hint: "List or search the tools again: the page may offer it in another form. If it does not, open the page " +
			"that has it, or use the browser's own tools."},
}

var linkRows = []Row{
	{Code: ExtensionNotConnected, Category: Internal, Source: SourceTransport, Class: Transient, Type: TypeNetwork,
		Retryable: true, Outcome: NotExecuted,
		Situation: "No browser is connected; the call was never sent.",
		Hint: "Ask the person to start the browser that has the tabrelay extension; `tabrelay status` shows what is " +
			"missing."},
	{Code: ExtensionLost, Category: Internal, Source: SourceTransport, Class: Transient, Type: TypeNetwork,
		Outcome: Unknown,
		Situation: "The link to the browser was lost after the call was sent, and its outcome could not be fetched. " +
			"Retryable only when the tool is read-only or idempotent.",
		Hint: "Read the page before repeating the action."},
	{Code: BrowserNotRunning, Category: Internal, Source: SourceTransport, Class: Transient, Type: TypeNetwork,
		Retryable: true, Outcome: NotExecuted,
		Situation: "A browser was connected before, and is closed now.",
		Hint:      "Ask the person to start their browser, then repeat the call."},
	{Code: ExtensionNotInstalled, Category: Internal, Source: SourceTransport, Class: Transient, Type: TypeNetwork,
		Retryable: true, Outcome: NotExecuted,
		Situation: "No browser has ever connected: the extension is not installed.",
		Hint: "Ask the person to install it, once: open chrome://extensions, switch Developer mode on, press “Load " +
			"unpacked”, and choose the folder ~/.tabrelay/extension. In a terminal, `tabrelay up` shows each step. " +
			"Then repeat the call."},
	{Code: WorkerAsleep, Category: Internal, Source: SourceTransport, Class: Transient, Type: TypeNetwork,
		Retryable: true,
		Outcome:   NotExecuted,
		Situation: "The browser runs, but it put the extension to sleep and has not woken it yet.",
		Hint: "Repeat the call in a few seconds. If it fails again, ask the person whether their browser is open; a " +
			"click on the extension's icon wakes it at once."},
	{Code: ProfileNotConnected, Category: Internal, Source: SourceTransport, Class: Transient, Type: TypeNetwork,
		Retryable: true, Outcome: NotExecuted,
		Situation: "Browsers are connected, but not the profile that the call names.",
		Hint:      "Pass one of the profiles named above, or ask the person to open a window of that profile."},
	{Code: VersionMismatch, Category: Internal, Source: SourceTransport, Class: Fatal, Type: TypeValidation,
		Outcome:   NotExecuted,
		Situation: "Extension and relay speak no common version of their protocol.",
		Hint: "Ask the person to update the older one: reload the extension at chrome://extensions, or update the " +
			"tabrelay program."},
	{Code: PairingFailed, Category: Auth, Source: SourceTransport, Class: Fatal, Type: TypePermissionDenied,
		Outcome:   NotExecuted,
		Situation: "The extension, or whatever dialled in its name, does not know the pairing secret.",
		Hint: "Ask the person to run `tabrelay doctor`: it says which browser has the wrong extension, and what " +
			"to do."},
	{Code: PortTaken, Category: Internal, Source: SourceConfig, Class: Transient, Type: TypeNetwork,
		Outcome:   NotExecuted,
		Situation: "Another program listens on the relay's port.",
		Hint:      "End that program, or set another port with the configuration key `listen`."},
}

var decisionRows = []Row{
	{Code: PermissionDenied, Category: Auth, Source: SourceConfig, Class: Tool, Type: TypePermissionDenied,
		Outcome:   NotExecuted,
		Situation: "A rule forbids the tool.",
		Hint:      "Do not look for a way around it; the person can change the rule with `tabrelay permit`."},
	{Code: ApprovalDenied, Category: Auth, Source: SourceConfig, Class: Tool, Type: TypePermissionDenied,
		Outcome:   NotExecuted,
		Situation: "The person was asked and said no.",
		Hint:      "Do not ask for the same again; ask the person what they want instead."},
	{Code: ApprovalTimeout, Category: Auth, Source: SourceConfig, Class: Tool, Type: TypePermissionDenied,
		Retryable: true,
		Outcome:   NotExecuted,
		Situation: "The person was asked and did not answer in time.",
		Hint:      "Tell the person that a question is waiting for them, then repeat the call."},
	{Code: PluginNotReviewed, Category: Auth, Source: SourceConfig, Class: Tool, Type: TypePermissionDenied,
		Outcome:   NotExecuted,
		Situation: "The plugin is new or has changed, and the person has not reviewed it yet.",
		Hint: "Ask the person to review it in tabrelay's side panel, or with `tabrelay plugin review` in a " +
			"terminal."},
	{Code: ConfigError, Category: Validation, Source: SourceConfig, Class: Tool, Type: TypeInternal,
		Outcome:   NotExecuted,
		Situation: "Something the call needs is not configured: a setting of the plugin, an agent, a provider, a key.",
		Hint:      "Ask the person to complete the configuration; the message names what is missing."},
	{Code: RegistryError, Category: Internal, Source: SourceInternal, Class: Tool, Type: TypeInternal,
		Outcome: NotExecuted,
		Legacy:  -32603, Modern: -32603,
		Situation: "The tool list could not be built, or is larger than may be sent. While an earlier list exists, " +
			"that " +
			"one is served instead.",
		Hint: "Ask the person to run `tabrelay status`, which names the plugin at fault."},
}
