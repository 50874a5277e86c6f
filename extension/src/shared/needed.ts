/** Under which key of the local store the panel finds the permissions that calls needed. */
export const neededKey = 'permissionsNeeded';

/** And those that a policy of the browser kept the person from allowing, when they tried last. */
export const blockedKey = 'permissionsBlocked';

/** The same for the plugins that Chrome runs only as user scripts, while those are off. */
export const scriptsNeededKey = 'userScriptsNeeded';
