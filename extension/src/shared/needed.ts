/** Under which key of the local store the panel finds the permissions that calls needed. */
export const neededKey = 'permissionsNeeded';

/** The same for the plugins that Chrome runs only as user scripts, while those are off. */
export const scriptsNeededKey = 'userScriptsNeeded';
