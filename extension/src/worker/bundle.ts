/** The hash of this extension's files; the bundle generator puts it in the place of the zeros. */
export const bundleHash = '0000000000000000000000000000000000000000000000000000000000000000';
