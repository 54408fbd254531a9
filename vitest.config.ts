import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take minutes begin first, so that none of them is left alone at the end. */
const LONG = /crash\.test|embedded\.test|\/dashboard\/test\//

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [
      ...sorted.filter(({ moduleId }) => LONG.test(moduleId)),
      ...sorted.filter(({ moduleId }) => !LONG.test(moduleId)),
    ]
  }
}

export default defineConfig({
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'scripts/**/*.test.ts'],
    globalSetup: ['packages/server/test/global-setup.ts'],
    // One engine a process: every file has a process of its own.
    pool: 'forks',
    // More than two cores: many files mostly wait, for a killed process to come back or a lease to end.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    // Ends only what hangs: a test that starts a process ten times has to end on a machine with its hands full too.
    testTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 120_000,
  },
})
