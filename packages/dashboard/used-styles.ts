import { glob, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

const MANTINE = fileURLToPath(new URL('.', import.meta.resolve('@mantine/core/styles.css')))
const STYLESHEET = join(MANTINE, 'styles.css')
/** Styles that belong to no component. */
const BASE = ['baseline', 'default-css-variables', 'global']

/**
 * Reduces Mantine's stylesheet to the components that the dashboard uses, which halves it. The order of the rules is
 * Mantine's, because later ones override earlier ones.
 */
export function usedStyles(root: string): Plugin {
  return {
    name: 'used-styles',
    enforce: 'pre',
    async load(id) {
      if (id.split('?')[0] !== STYLESHEET) return null
      const whole = await readFile(STYLESHEET, 'utf8')
      const names = [...BASE, ...(await usedComponents(root))]
      const parts = await Promise.all(names.map((name) => readFile(join(MANTINE, 'styles', `${name}.css`), 'utf8')))
      const places = parts.map((part) => ({ part, at: whole.indexOf(part.trim()) }))
      if (places.some(({ at }) => at < 0)) throw new Error("Mantine's stylesheet is not made of its parts any more.")
      return places
        .sort((one, other) => one.at - other.at)
        .map(({ part }) => part)
        .join('\n')
    },
  }
}

/** The components with styles that the sources import, and those that these consist of. */
async function usedComponents(root: string): Promise<string[]> {
  const modules = new Map<string, string>()
  for await (const file of glob('**/*.mjs', { cwd: join(MANTINE, 'esm') })) {
    modules.set(basename(file, '.mjs'), join(MANTINE, 'esm', file))
  }
  const files = new Set<string>()
  for (const name of await importedNames(root)) {
    const file = modules.get(name)
    if (file !== undefined) files.add(file)
  }
  const used: string[] = []
  // Iterating over a set includes elements that are added meanwhile.
  for (const file of files) {
    if (file.endsWith('.module.mjs')) used.push(basename(file, '.module.mjs'))
    for (const [, path = ''] of (await readFile(file, 'utf8')).matchAll(/from "(\.[^"]+)"/g)) {
      files.add(join(dirname(file), path))
    }
  }
  return used
}

/** What the dashboard and the library of notifications import from Mantine. */
async function importedNames(root: string): Promise<Set<string>> {
  const patterns = [
    join(root, 'src/**/*.{ts,tsx}'),
    join(dirname(fileURLToPath(import.meta.resolve('@mantine/notifications/styles.css'))), 'esm/**/*.mjs'),
  ]
  const names = new Set<string>()
  for await (const file of glob(patterns)) {
    const text = await readFile(file, 'utf8')
    for (const [, list = ''] of text.matchAll(/import \{([^}]*)\} from ["']@mantine\/core["']/g)) {
      for (const name of list.matchAll(/\w+/g)) names.add(name[0])
    }
  }
  return names
}
