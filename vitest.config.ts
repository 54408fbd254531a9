import { globSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Projects in the order in which they begin: those that mostly wait come first. A file belongs to the first that fits. */
const PROJECTS: { name: string; has: (path: string, source: string) => boolean }[] = [
  // Tests that kill or stop the service's process.
  { name: 'crash', has: (path) => /server\/test\/(.*crash|shutdown|disk-full)\.test/.test(path) },
  // Embedded engines, and external ones.
  { name: 'engines', has: (path) => /\/embedded\/|(external-engines|installation)\.test/.test(path) },
  { name: 'browser', has: (_, source) => source.includes('HAS_BROWSER') },
  // Files that start their own service, mostly to move its clock.
  { name: 'clock', has: (_, source) => /\b(startTestService|start\w+Bench)\(/.test(source) },
  // Files that share the worker's service.
  { name: 'service', has: () => true },
]

const files = globSync(['packages/*/{src,test}/**/*.test.ts', 'scripts/**/*.test.ts'])
const projectOf = (path: string) => PROJECTS.find(({ has }) => has(path, readFileSync(path, 'utf8')))?.name

/** Keeps the files of a project together, because its workers go on from one file to the next. */
class ByProject extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const longestFirst = await super.sort(specifications)
    return PROJECTS.flatMap(({ name }) => longestFirst.filter(({ project }) => project.name === name))
  }
}

const SHARED = {
  setupFiles: ['packages/server/test/setup.ts'],
  // The files that a worker runs share its service, its browser and the modules it has loaded.
  pool: 'forks' as const,
  isolate: false,
  // More than there are cores, because many files wait: for a killed process to come back, or a lease to end.
  maxWorkers: 4,
  // Node loads the sources as it does in production; nothing is bundled or transformed.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // Ends only what hangs: a test that starts a process ten times has to end on a machine with its hands full too.
  testTimeout: 180_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 20_000 } },
}

export default defineConfig({
  test: {
    globalSetup: ['packages/server/test/global-setup.ts'],
    sequence: { sequencer: ByProject, seed: Date.now() % 2 ** 31 },
    reporters: ['./scripts/test-reporter.ts'],
    // A line for each file is enough: the reporter would add one for each test that is slower.
    slowTestThreshold: Number.MAX_SAFE_INTEGER,
    projects: PROJECTS.map(({ name }) => ({
      test: { ...SHARED, name, include: files.filter((path) => projectOf(path) === name) },
    })),
  },
})
