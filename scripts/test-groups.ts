import { readFileSync } from 'node:fs'

/** Groups of test files in the order in which they start: those that mostly wait come first. */
const GROUPS: { name: string; has: (path: string, source: string) => boolean }[] = [
  // Tests that kill or stop the service's process.
  { name: 'crash', has: (path) => /server\/test\/(.*crash|shutdown|disk-full|npm-scripts)\.test/.test(path) },
  // Embedded and external databases.
  { name: 'engines', has: (path) => /\/embedded\/|(external-engines|frozen-engines|installation)\.test/.test(path) },
  { name: 'browser', has: (_, source) => source.includes('HAS_BROWSER') },
  // Files that start the service, the demo or the command line as processes, each of which takes seconds to load.
  { name: 'process', has: (_, source) => /\b(startProcess|runProgram)\(|new CommandLine\(/.test(source) },
  // Files that start their own service, mostly to move its clock.
  { name: 'clock', has: (_, source) => /\b(startTestService|start\w+Bench)\(|(?<!\.)\buse[A-Z]\w+\(/.test(source) },
  // Files that share the worker's service.
  { name: 'service', has: () => true },
]

export const GROUP_NAMES = GROUPS.map(({ name }) => name)

export const TEST_FILES = ['packages/*/{src,test}/**/*.test.ts', 'scripts/**/*.test.ts', 'examples/*.test.ts']

/** The group of a test file: the first that matches. */
export function groupOf(path: string): string {
  const source = readFileSync(path, 'utf8')
  return GROUPS.find(({ has }) => has(path, source))?.name ?? 'service'
}
