import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { GROUP_NAMES, groupOf, TEST_FILES } from './scripts/test-groups.ts'

/** Orders files by group, and within a group starts the longest first. */
class ByGroup extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const longestFirst = await super.sort(specifications)
    const groups = Map.groupBy(longestFirst, ({ moduleId }) => groupOf(moduleId))
    return GROUP_NAMES.flatMap((name) => groups.get(name) ?? [])
  }
}

export default defineConfig({
  test: {
    include: TEST_FILES,
    globalSetup: ['packages/server/test/global-setup.ts'],
    setupFiles: ['packages/server/test/setup.ts'],
    sequence: { sequencer: ByGroup, seed: Date.now() % 2 ** 31 },
    reporters: ['./scripts/test-reporter.ts'],
    // A line for each file is enough: the reporter would add one for each test that is slower.
    slowTestThreshold: Number.MAX_SAFE_INTEGER,
    // The files that a worker runs share its service, its browser and the modules it has loaded.
    pool: 'forks',
    isolate: false,
    // More than there are cores, because many files wait: for a killed process to come back, or a lease to end.
    maxWorkers: 4,
    // Node loads the sources as it does in production; nothing is bundled or transformed.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // End only what hangs: a test that starts a process ten times has to end on a machine with its hands full too.
    testTimeout: 900_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 180_000, interval: 100 } },
  },
})
