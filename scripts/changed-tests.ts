import { basename, dirname, join, normalize } from 'node:path'

/**
 * Which tests a change can break. Nearly every test of the server starts the whole service, and so imports every file: such a
 * path through a hub says nothing. What counts is how near a test is to the change, in this order: tests that are changed, and
 * the walks over all operations; tests of the file, its folder and its feature; tests that import the file, or whose folder
 * does; tests that name a route of the feature. Of equally near tests, the cheapest come first.
 */

/** The text of each file that may import others, by its path; empty for one that is deleted, or only imported or read. */
export type Files = ReadonlyMap<string, string>

export interface Choice {
  /** The nearest first. */
  chosen: string[]
  /** What can break too, but is further away than the time allows. */
  left: string[]
}

/** The walks that know every operation, and the checks of lists: cheap, whatever changes. */
export const ALWAYS = [
  'packages/server/test/walk.test.ts',
  'packages/server/test/examples.test.ts',
  'packages/server/test/generated.test.ts',
  'packages/server/test/guide/2-a-table.test.ts',
  'packages/server/src/mcp/redaction/marks.test.ts',
  'packages/server/test/connectors-tests.test.ts',
  'packages/server/src/cli/derived-commands.test.ts',
  'packages/server/src/cli/reading-commands.test.ts',
  'packages/dashboard/test/units.test.ts',
  'scripts/house/rules.test.ts',
]

/** What assembles everything, or starts it: paths through it lead from everything to everything. */
const HUB =
  /^packages\/(server\/(src\/(assembly\/|main\.ts|cli\.ts)|test\/service\.ts)|dashboard\/src\/(main|app\/(app|router|root-routes))\.tsx)/
/** Files that all tests depend on. */
const OF_ALL =
  /^(package(-lock)?\.json|vitest\.config\.ts|tsconfig.*|packages\/server\/test\/(setup|global-setup|databases)\.ts)$/
/** Steps from a changed file to files that import it: further away, a change rarely breaks anything. */
const STEPS = 2
/** A route that more tests name is how they create what they need. */
const NAMED_BY_MAX = 25

const isTest = (file: string) => file.endsWith('.test.ts')

/** Whether a change may break every test. */
export function mayBreakAll(changed: readonly string[]): boolean {
  return changed.some((file) => OF_ALL.test(file))
}

/**
 * @param secondsOf how long a test file takes
 * @param secondsMax how long all chosen files may take; those that are changed, and the walks, always run
 */
export function testsOfChange(
  changed: readonly string[],
  files: Files,
  secondsOf: (test: string) => number,
  secondsMax: number,
): Choice {
  const distances = distancesFrom(changed, files)
  const tests = [...distances].toSorted(
    ([one, near], [other, far]) => near - far || secondsOf(one) - secondsOf(other) || (one < other ? -1 : 1),
  )
  const choice: Choice = { chosen: [], left: [] }
  let seconds = 0
  for (const [test, distance] of tests) {
    seconds += secondsOf(test)
    const list = distance === 0 || seconds <= secondsMax ? choice.chosen : choice.left
    if (list === choice.left) seconds -= secondsOf(test)
    list.push(test)
  }
  return choice
}

/** How far each test that can break is from the change. */
function distancesFrom(changed: readonly string[], files: Files): Map<string, number> {
  const tests = [...files].flatMap(([file, text]) => (isTest(file) && text !== '' ? file : []))
  const importers = importersOf(files)
  const distances = new Map<string, number>()
  const add = (some: Iterable<string>, distance: number) => {
    for (const test of some) distances.set(test, Math.min(distance, distances.get(test) ?? distance))
  }
  const addNear = (file: string, distance: number) => {
    add(testsBeside(file, tests), distance + 1)
    add(testsOfFolder(dirname(file), tests), distance + 2)
  }
  add(changed, 0)
  add(ALWAYS, 0)
  for (const file of changed.filter((each) => !isTest(each))) {
    addNear(file, 0)
    const ofFeature = testsOfFeature(file, tests)
    add(ofFeature, 3)
    let reached = [file]
    for (let step = 1; step <= STEPS; step++) {
      reached = reached.flatMap((each) => (step > 1 && HUB.test(each) ? [] : [...(importers.get(each) ?? [])]))
      for (const each of reached) {
        if (isTest(each)) add([each], ofFeature.includes(each) ? step : step + 2)
        else if (!HUB.test(each)) addNear(each, step + 1)
      }
    }
    add(testsNaming(routesOf(file, files), tests, files), 6)
  }
  return new Map([...distances].filter(([test]) => tests.includes(test)))
}

/** Which files name each file: in an import, but not of types alone, in a URL, or as a path to read or to start. */
function importersOf(files: Files): Map<string, Set<string>> {
  const importers = new Map<string, Set<string>>()
  for (const [file, text] of files) {
    for (const [, quoted = ''] of text.replace(/import type [^;]*? from '[^']+'/g, '').matchAll(/'([^'\n]+\.\w+)'/g)) {
      const named = quoted.startsWith('.') ? normalize(join(dirname(file), quoted)) : quoted
      if (named === file || !files.has(named)) continue
      importers.set(named, (importers.get(named) ?? new Set()).add(file))
    }
  }
  return importers
}

/** The tests of one file: `merge.test.ts` is of `merge.ts`, and `merge-rules.test.ts` perhaps too. */
function testsBeside(file: string, tests: readonly string[]): string[] {
  const name = basename(file).replace(/\.\w+$/, '')
  const [ofPackage] = /^packages\/\w+\//.exec(file) ?? []
  const folders = [dirname(file), `${ofPackage}test`]
  return tests.filter((test) => folders.includes(dirname(test)) && basename(test).startsWith(name))
}

/** The tests of a folder. Those of pages, of the tracker and of documents are elsewhere, and named after them. */
function testsOfFolder(folder: string, tests: readonly string[]): string[] {
  const [, ofDashboard] = /^packages\/dashboard\/src\/([\w-]+)/.exec(folder) ?? []
  if (ofDashboard !== undefined) return testsOfDashboard(ofDashboard, tests)
  if (/^docs(\/|$)/.test(folder)) return tests.filter((test) => basename(test).startsWith('docs'))
  // Tests of the whole service, of which no helper is a part.
  if (/^packages\/\w+\/test$/.test(folder)) return []
  const [, other] = /^(packages\/(?:tracker|client)\/)/.exec(folder) ?? []
  return tests.filter((test) => (other === undefined ? dirname(test) === folder : test.startsWith(other)))
}

/** The pages of a feature are tested in a file that is named after it, or after one of its things. */
function testsOfDashboard(feature: string, tests: readonly string[]): string[] {
  const thing = feature.replace(/(ies|s)$/, '')
  return tests.filter((test) => test.startsWith('packages/dashboard/test/') && basename(test).includes(thing))
}

/** The tests of the feature of the server that a file belongs to, and its pages; or of another folder. */
function testsOfFeature(file: string, tests: readonly string[]): string[] {
  const [folder, feature] = /^(?:packages\/server\/src\/([\w-]+)|scripts|examples|bench)\//.exec(file) ?? []
  if (folder === undefined) return []
  const pages = feature === undefined ? [] : testsOfDashboard(feature, tests)
  return [...tests.filter((test) => test.startsWith(folder)), ...pages]
}

/** The first words of the routes that the feature of a file declares: `/v1/segments`. */
function routesOf(file: string, files: Files): string[] {
  const [feature] = /^packages\/(server|dashboard)\/src\/[\w-]+\//.exec(file) ?? []
  if (feature === undefined) return []
  const texts = [...files].filter(([each]) => each.startsWith(feature) && !isTest(each)).map(([, text]) => text)
  const routes = texts.flatMap((text) =>
    [...text.matchAll(/['" `](\/(?:v1|api)\/[a-z-]+)/g)].map(([, route = '']) => route),
  )
  return [...new Set(routes)]
}

function testsNaming(routes: readonly string[], tests: readonly string[], files: Files): string[] {
  return routes.flatMap((route) => {
    const naming = tests.filter((test) => files.get(test)?.includes(route))
    return naming.length > NAMED_BY_MAX ? [] : naming
  })
}
