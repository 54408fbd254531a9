import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ensureBuilt } from '../ensure-built.ts'

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'cds-build-'))
  await mkdir(join(root, 'src'))
  await writeFile(join(root, 'src', 'main.ts'), 'first')
  await building(`const text = await readFile(new URL('./src/main.ts', import.meta.url), 'utf8')
    await writeFile(target + '/index.html', text)`)
})
afterEach(() => rm(root, { recursive: true, force: true }))

/** Writes a build script with the given code. */
async function building(work: string): Promise<void> {
  const head = `import { readFile, writeFile } from 'node:fs/promises'`
  await writeFile(
    join(root, 'build.ts'),
    `${head}\nexport async function build(target: string) {\n${work}\n await writeFile(target + '/x', '') }`,
  )
}

async function ensure(): Promise<string[]> {
  const said: string[] = []
  await ensureBuilt((message) => said.push(message), root)
  return said
}

const page = () => readFile(join(root, 'dist', 'index.html'), 'utf8')

test('the pages are built if they are missing or their sources have changed, and not again', async () => {
  expect(await ensure()).toEqual(['building the dashboard; this takes a few seconds', 'the dashboard is built'])
  expect(await page()).toBe('first')
  expect(await ensure()).toEqual([])
  await writeFile(join(root, 'src', 'main.ts'), 'second')
  expect(await ensure()).toHaveLength(2)
  expect(await page()).toBe('second')
  await rm(join(root, 'dist'), { recursive: true })
  expect(await ensure()).toHaveLength(2)
  await writeFile(join(root, 'src', 'more.ts'), '')
  expect(await ensure()).toHaveLength(2)
})

test('two builds at once leave one whole build', async () => {
  await Promise.all([ensure(), ensure(), ensure()])
  expect(await page()).toBe('first')
  expect((await readdir(root)).sort()).toEqual(['build.ts', 'dist', 'src'])
  expect(await ensure()).toEqual([])
})

test('a failed build reports the reason, and leaves the earlier pages', async () => {
  await ensure()
  await building(`await writeFile(target + '/index.html', 'half'); throw new Error('no room for the dashboard')`)
  const said = await ensure()
  expect(said.at(-1)).toMatch(/could not be built.*no room for the dashboard/s)
  expect(await page()).toBe('first')
  expect((await readdir(root)).sort()).toEqual(['build.ts', 'dist', 'src'])
})

test("the build is for production, whatever the caller's environment", async () => {
  expect(process.env.NODE_ENV).toBe('test')
  await building(`await writeFile(target + '/index.html', String(process.env.NODE_ENV))`)
  await ensure()
  expect(await page()).toBe('production')
})
