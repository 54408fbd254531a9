import { dirname, join, normalize } from 'node:path'

export const SERVER = 'packages/server/src/'
export const TRACKER = 'packages/tracker/src/'
export const DASHBOARD = 'packages/dashboard/src/'

/** The checked files: the text of each, by path. */
export type Sources = ReadonlyMap<string, string>

/** The code below a folder without its tests: the text of each file, by its path in the folder. */
export function codeOf(sources: Sources, root: string): [file: string, text: string][] {
  return [...sources].flatMap(([path, text]) => {
    const isCode = path.startsWith(root) && /\.tsx?$/.test(path) && !path.endsWith('.test.ts')
    return isCode ? [[path.slice(root.length), text] as [string, string]] : []
  })
}

/** The code of the server without its tests: the text of each file, by its path in packages/server/src. */
export function serverCode(sources: Sources): [file: string, text: string][] {
  return codeOf(sources, SERVER)
}

/** The folder of the server that a file is in; empty for those beside main.ts. */
export function folderOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : ''
}

/** The paths of the project's files that a file imports, in the same notation as its own. */
export function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path]) =>
    normalize(join(dirname(file), path ?? '')),
  )
}

/** Removes the lines that are comments. */
export function withoutComments(text: string): string {
  return text.replace(/^\s*(\/\/|\/?\*).*$/gm, '')
}

export function linesOf(text: string): number {
  return text.split('\n').length - 1
}

/** The files that hold a feature's texts. */
export const CATALOGUE = /\/([a-z]+-)?text\.ts$/
