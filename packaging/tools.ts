// The programs that make and check a release, as Go modules.

import path from 'node:path';
import { packaging } from './product.ts';
import { run } from './run.ts';

/** Newer ones want a newer Go than go.mod does. */
const goreleaser = 'github.com/goreleaser/goreleaser/v2@v2.16.0';
const syft = 'github.com/anchore/syft/cmd/syft@v1.57.0';

/** Where they are compiled to; builds of several folders share one. */
export const programs = process.env.RELEASE_TOOLS ?? path.join(packaging, 'generated/bin');
export const goreleaserProgram = path.join(programs, 'goreleaser');
export const syftProgram = path.join(programs, 'syft');

/** Compiles the programs that a release is made with; quick once they are in the build cache. */
export function installTools(): void {
  const env = {
    ...process.env,
    GOBIN: programs,
    GOOS: '',
    GOARCH: '',
    CGO_ENABLED: '0',
    GOFLAGS: '-trimpath',
  };
  for (const tool of [goreleaser, syft]) run('go', ['install', tool], { env });
}
