import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { COST, hashPassword, isPassword } from './passwords.ts'

const OF_TESTS = COST.N
afterEach(() => {
  COST.N = OF_TESTS
})

test('outside of tests, a hash costs what docs/security.md says', () => {
  const program = "import { COST } from './packages/server/src/access/passwords.ts'; console.log(JSON.stringify(COST))"
  const { N, r, p } = JSON.parse(String(execFileSync(process.execPath, ['--input-type=module', '-e', program])))
  expect(readFileSync('docs/security.md', 'utf8')).toContain(
    `scrypt (N = ${N.toLocaleString('en')}, r = ${r}, p = ${p})`,
  )
})

test('a hash says its own cost, so a password stays valid when the cost of new ones changes', async () => {
  const hash = await hashPassword('a long password')
  COST.N = 2 * OF_TESTS
  expect(hash).toMatch(new RegExp(`^${OF_TESTS}\\.[0-9a-f]{32}:[0-9a-f]{128}$`))
  expect(await isPassword('a long password', hash)).toBe(true)
  expect(await isPassword('another password', hash)).toBe(false)
  expect(await hashPassword('a long password')).toMatch(new RegExp(`^${COST.N}\\.`))
})
