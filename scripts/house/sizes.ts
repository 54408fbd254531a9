import { dirname, join, normalize } from 'node:path'
import { CATALOGUE, importsOf, linesOf, type Sources } from './sources.ts'

/** Longer files are noted. If this failed, people would split files where they are full, not where a rule ends. */
const LONG_SOURCE_LINES = 300
const LONG_TEST_LINES = 500
/** No file is so long that nobody can judge it. Biome limits the length of functions. */
const LINES_MAX = 600
/** A shorter file joins the only file that imports it, unless that is in another folder. */
const SHORT_LINES = 30
/**
 * Short files that stay separate: one of each kind, or files that are read one by one. Each feature says in `erase.ts`
 * what an erasure deletes, and in `tables.ts` what its tables are, however little that is.
 */
const SHORT = [/^examples\//, /\/cli\/[a-z-]+-commands\.ts$/, /\/event-formats\/[a-z]+\.ts$/, /\/(erase|tables)\.ts$/]

/** Files that nobody can read as a whole. */
export function tooLong(sources: Sources): string[] {
  return [...sources]
    .filter(([file, text]) => isCode(file) && linesOf(text) > LINES_MAX)
    .map(([file, text]) => `${file}: ${linesOf(text)} lines; at most ${LINES_MAX}. Split it by rule`)
}

/** Long files, which people judge. A catalogue of texts is a list. */
export function longFiles(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    const isLong = linesOf(text) > (file.endsWith('.test.ts') ? LONG_TEST_LINES : LONG_SOURCE_LINES)
    if (!isCode(file) || !isLong || CATALOGUE.test(file)) return []
    return [`${file} has ${linesOf(text)} lines; if it holds two rules, split it`]
  })
}

function isCode(file: string): boolean {
  return /\.tsx?$/.test(file)
}

/**
 * A few lines that only one file in the folder needs are easier to read in that file. Files that are loaded when they are
 * needed, and rules with a test of their own, stay.
 */
export function tooShort(sources: Sources): string[] {
  const importers = new Map<string, string[]>()
  const loadedLater = new Set<string>()
  for (const [file, text] of sources) {
    for (const imported of importsOf(file, text)) importers.set(imported, [...(importers.get(imported) ?? []), file])
    for (const [, path = ''] of text.matchAll(/import\(\s*'(\.[^']+)'/g))
      loadedLater.add(normalize(join(dirname(file), path)))
  }
  return [...sources].flatMap(([file, text]) => {
    const [importer, ...others] = importers.get(file) ?? []
    if (importer === undefined || others.length > 0 || dirname(importer) !== dirname(file)) return []
    if (loadedLater.has(file) || CATALOGUE.test(file) || SHORT.some((place) => place.test(file))) return []
    const fits = linesOf(text) + linesOf(sources.get(importer) ?? '') <= LONG_SOURCE_LINES
    if (linesOf(text) >= SHORT_LINES || !fits) return []
    return [`${file}: ${linesOf(text)} lines, imported only by ${importer}; merge them`]
  })
}
