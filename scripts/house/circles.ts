import { codeOf, DASHBOARD, folderOf, importsOf, SERVER, type Sources } from './sources.ts'

/** Folders import one another in one direction. */
export function circlesOfFolders(sources: Sources): string[] {
  return [SERVER, DASHBOARD].flatMap((root) => circlesWithin(codeOf(sources, root)))
}

function circlesWithin(code: [file: string, text: string][]): string[] {
  const arrows = new Map<string, Map<string, string>>()
  for (const [file, text] of code) {
    for (const imported of importsOf(file, text)) {
      const [from, to] = [folderOf(file), folderOf(imported)]
      if (from === '' || to === '' || to === '..' || from === to) continue
      arrows.set(from, (arrows.get(from) ?? new Map<string, string>()).set(to, `${file} imports ${imported}`))
    }
  }
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (folder: string, path: readonly string[]): void => {
    const start = path.indexOf(folder)
    if (start >= 0) {
      const circle = [...path.slice(start), folder]
      const examples = circle.slice(1).map((next, index) => arrows.get(circle[index] ?? '')?.get(next))
      circles.push(`a circle of folders, ${circle.join(' → ')}:\n  ${examples.join('\n  ')}`)
      return
    }
    if (done.has(folder)) return
    for (const next of arrows.get(folder)?.keys() ?? []) visit(next, [...path, folder])
    done.add(folder)
  }
  for (const folder of arrows.keys()) visit(folder, [])
  return circles
}

/** So do files, even where they import only types: of two that need each other, neither can be read first. */
export function circlesOfFiles(sources: Sources): string[] {
  return [SERVER, DASHBOARD].flatMap((root) => filesInCircles(new Map(codeOf(sources, root))))
}

function filesInCircles(files: ReadonlyMap<string, string>): string[] {
  const imports = new Map(
    [...files].map(([file, text]) => [file, importsOf(file, text).filter((each) => files.has(each))] as const),
  )
  const reached = new Map([...files.keys()].map((file) => [file, reachedFrom(file, imports)]))
  const circles = new Set<string>()
  for (const [file, others] of reached) {
    if (others.has(file))
      circles.add(
        [...others]
          .filter((each) => reached.get(each)?.has(file))
          .sort()
          .join(', '),
      )
  }
  return [...circles].map((circle) => `files in a circle: ${circle}`)
}

/** The files that a file needs, directly or not: itself only if it is in a circle. */
function reachedFrom(file: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>()
  const open = [file]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const imported of imports.get(next) ?? []) {
      if (reached.has(imported)) continue
      reached.add(imported)
      open.push(imported)
    }
  }
  return reached
}
