/**
 * Builds the dashboard's pages when they are missing or older than their sources. The install step runs this file; the
 * service calls `ensureBuilt` when it starts, and does not wait for it.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('.', import.meta.url))
/** Where the pages are served from. */
const DIST = 'dist'
/** Contains the hash of the sources that the pages were built from. */
const STAMP = '.built-from'
const SOURCES = ['src', 'public', 'index.html', 'build.ts', 'used-styles.ts', 'package.json', '../../package-lock.json']

/**
 * Builds the pages unless they are up to date. The build runs in a process of its own, because it needs much memory for
 * a short time, which this one would keep. It never fails the caller: the service works without its pages.
 */
export async function ensureBuilt(say: (message: string) => void, root = ROOT): Promise<void> {
  try {
    if (await isUpToDate(root)) return
    say('building the dashboard; this takes a few seconds')
    await runBuild(root)
    say('the dashboard is built')
  } catch (error) {
    say(`the dashboard could not be built, and the service runs without a new one: ${(error as Error).message}`)
  }
}

async function isUpToDate(root: string): Promise<boolean> {
  const stamp = await readFile(join(root, DIST, STAMP), 'utf8').catch(() => '')
  return stamp !== '' && stamp === (await hashOfSources(root))
}

function runBuild(root: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--build', root], {
      cwd: root,
      // With the caller's NODE_ENV, such as 'test', the pages would get React's development build, which is slow and large.
      env: { ...process.env, NODE_ENV: 'production' },
      // A separate process group: Ctrl-C in a terminal is for the service, which ends the build itself.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const stop = () => child.kill()
    process.once('exit', stop)
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-2_000)
    })
    child.on('error', reject)
    child.on('close', (code) => {
      process.off('exit', stop)
      if (code === 0) resolve()
      else reject(new Error(output.trim() || `the build ended with ${code}`))
    })
  })
}

/** Builds into a separate directory that then replaces the served one, so that nobody gets half of a build. */
async function buildAside(root: string): Promise<void> {
  // A computed path, so that the service's types do not include the bundler.
  const { build } = (await import(pathToFileURL(join(root, 'build.ts')).href)) as {
    build(target: string): Promise<unknown>
  }
  const from = await hashOfSources(root)
  const aside = await mkdtemp(join(root, 'dist-'))
  try {
    const fresh = join(aside, 'new')
    await mkdir(fresh)
    await build(fresh)
    await writeFile(join(fresh, STAMP), from)
    await rename(join(root, DIST), join(aside, 'old')).catch(unlessMissing)
    // Two builds may run at once; their results are the same.
    await rename(fresh, join(root, DIST)).catch(unlessPresent)
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

async function hashOfSources(root: string): Promise<string> {
  const hash = createHash('sha256')
  for (const source of SOURCES) {
    for (const file of await filesOf(join(root, source))) {
      hash.update(`${relative(root, file)}\0`).update(
        createHash('sha256')
          .update(await readFile(file))
          .digest(),
      )
    }
  }
  return hash.digest('hex')
}

/** The file itself, or all files of a folder in a fixed order; nothing if it does not exist. */
async function filesOf(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTDIR' || error.code === 'ENOENT') return error.code
      throw error
    },
  )
  if (entries === 'ENOTDIR') return [path]
  if (typeof entries === 'string') return []
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

function unlessPresent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , what, root = ROOT] = process.argv
  // The service that starts the build keeps its own files private, but the pages are for every user who may run it.
  process.umask(0o022)
  if (what === '--build') await buildAside(root)
  else await ensureBuilt((message) => console.error(`· ${message}`))
}
