// The flags of the test browser. The test driver has some fifty of its own (chromiumSwitches in playwright-core), which
// take away what a person's Chrome has: the back/forward cache, slow timers in the background, the popup blocker. None
// of them is given: these are all, each with the reason why it cannot go. docs/proofs.md shows both side by side.

/** All flags for a profile with the extension; extra are those of a test. */
export function browserFlags(profile: string, extension: string, extra: readonly string[] = []): string[] {
  return [
    // How a person's Chrome is told as well, by another way: the page "Extensions".
    `--load-extension=${extension}`,
    // So that nothing else of the machine is loaded, and that the extension stays enabled without developer mode.
    `--disable-extensions-except=${extension}`,
    // A test asks nobody outside of the machine.
    '--disable-background-networking',
    ...managedFlags(profile, extra),
  ];
}

/** All flags for a profile whose extensions a policy installs. */
export function managedFlags(profile: string, extra: readonly string[] = []): string[] {
  return [
    // How a person's Chrome is told as well, by another way: the icon that they start.
    `--user-data-dir=${profile}`,
    // The driver speaks to the browser here.
    '--remote-debugging-pipe',
    // There is no screen. This is the whole browser without its windows, not the old headless one.
    '--headless=new',
    '--disable-gpu',
    // Root has no sandbox in Chromium.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    // Nobody answers the questions of a first start, or those of a keyring.
    '--no-first-run',
    '--no-default-browser-check',
    '--password-store=basic',
    '--use-mock-keychain',
    // A test asks nobody outside of the machine, and has no account.
    '--disable-component-update',
    '--disable-sync',
    // The list below the address bar is two pages of the browser's own, loaded at each start for a third of its
    // processor time (2 of 5.5 s here). Nobody types there.
    '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup',
    ...extra,
    'about:blank',
  ];
}
