import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { generateClient, pathsOfOperations } from '../generate.ts'

const GENERATED = 'packages/client/src/generated'

test('the generated code matches openapi.json', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cds-client-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await generateClient(folder)
  expect(readdirSync(GENERATED).toSorted()).toEqual(readdirSync(folder).toSorted())
  for (const file of readdirSync(folder)) {
    const [checkedIn, fresh] = [GENERATED, folder].map((each) => readFileSync(join(each, file), 'utf8'))
    expect(checkedIn === fresh, `${file} is stale: run npm run generate`).toBe(true)
  }
  const paths = readFileSync('packages/dashboard/src/api/generated/paths.ts', 'utf8')
  expect(paths === pathsOfOperations(), 'paths.ts is stale: run npm run generate').toBe(true)
})

test('every type has a name that reads well', () => {
  const types = readFileSync(join(GENERATED, 'types.gen.ts'), 'utf8')
  const names = [...types.matchAll(/^export type (\w+)/gm)].map(([, name]) => name)
  expect(names).toContain('CreateContactInput')
  // Generators number a name that is taken.
  expect(names.filter((name) => /\d$|V1|Response.*Response/.test(name ?? ''))).toEqual([])
})
