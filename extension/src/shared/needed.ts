/** Under which key of the local store the panel finds the permissions that calls needed. */
export const neededKey = 'permissionsNeeded';
