import { importsOf, SERVER, type Sources, serverCode, TRACKER } from './sources.ts'

/**
 * Calls to other hosts. Addresses from users must be checked, so one folder makes all calls. (METHODS and STATUS_CODES
 * are lists of words.)
 */
const CALLS_OUT =
  /(?<!import \{ (METHODS|STATUS_CODES) \} )from '(node:)?(undici|https?|http2)'|import\('(node:)?(undici|https?|http2)'\)|(?<![\w.])fetch\(/

/** Which parts of the server may import which, and who may call other hosts. */
export function importRules(sources: Sources): string[] {
  return serverCode(sources).flatMap(([file, text]) => [
    ...importsOf(file, text).flatMap((imported) => forbidden(file, imported)),
    // The scripts of the documentation run in the browser.
    ...(CALLS_OUT.test(text) && !/^(platform\/outbound|docs\/browser)\//.test(file)
      ? [`${file}: only platform/outbound calls other hosts`]
      : []),
  ])
}

function forbidden(file: string, imported: string): string[] {
  const [feature, target] = [file, imported].map((path) => path.split('/')[0] ?? '') as [string, string]
  const rules = [
    target === 'assembly' &&
      !['assembly', 'main.ts', 'cli.ts', 'cli', 'demo'].includes(feature) &&
      'only assembly/ may import all parts',
    feature === 'platform' &&
      !['platform', 'config.ts', 'config-values.ts'].includes(target) &&
      'platform must not import features',
    feature.startsWith('config') && target === 'platform' && 'the configuration must not import platform',
    target !== feature && imported.endsWith('/routes.ts') && feature !== 'assembly' && 'nothing imports routes',
    // Code that reads a model's output only proposes: it cannot reach code that sends, approves or executes.
    file.startsWith('agents/reasoning/') &&
      /^(identities|agents\/actions\/(?!settings|action-object))/.test(imported) &&
      'the reasoning of agents must not import code that acts',
  ]
  return rules.filter((rule) => rule !== false).map((rule) => `${file} imports ${imported}: ${rule}`)
}

/** The tracker imports nothing, so that pages load only code written for it. */
export function trackerImports(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    if (!file.startsWith(TRACKER)) return []
    const imported = [...text.matchAll(/(?:from|import\(?)\s*'([^']+)'/g)].map(([, path = '']) => path)
    const foreign = imported.filter((path) => !/^\.\/[^/]+$/.test(path))
    return foreign.map((path) => `${file} imports ${path}: the tracker imports nothing`)
  })
}

/** Fake timers stop the service that the files of a worker share. */
export function fakeTimers(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) =>
    file.startsWith(SERVER) && file.endsWith('.test.ts') && text.includes('useFakeTimers')
      ? [`${file}: fake timers stop the worker's shared service; shorten the one timer instead`]
      : [],
  )
}
