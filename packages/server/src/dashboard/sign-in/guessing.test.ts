import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser, signedIn } from '../../../test/people.ts'
import { createTestTenant, startTestService, type TestService } from '../../../test/service.ts'

let limited: TestService

beforeAll(async () => {
  // However long the guesses take, they are of one minute.
  const now = new Date()
  limited = await startTestService({ CDS_RATE_LIMITS: 'on', CDS_TRUST_PROXY: '1' }, { clock: () => now })
})
afterAll(() => limited.close())

test('guessing passwords is limited by person and by address', async () => {
  const victim = await signedIn(limited, (await createTestTenant(limited)).id, 'owner')
  const guess = async (email: string, ip: string) => {
    const browser = new Browser(limited)
    const headers = { ...browser.ownSite, 'x-forwarded-for': ip }
    return browser.call('POST', '/api/auth/sign-in/email', { email, password: 'a wrong guess' }, headers)
  }
  const byPerson: number[] = []
  for (let i = 0; i < 8; i++) byPerson.push((await guess(victim.email, `10.0.0.${i}`)).status)
  expect(byPerson).toContain(401)
  expect(byPerson.slice(-3)).toEqual([429, 429, 429])
  const upper = await guess(` ${victim.email.toUpperCase()} `, '10.0.0.99')
  expect([upper.status, upper.body.error.code]).toEqual([429, 'rate_limited'])
  expect(Number(upper.headers.get('retry-after'))).toBeGreaterThan(0)
  const byAddress: number[] = []
  for (let i = 0; i < 32; i++) byAddress.push((await guess(`someone${i}@example.com`, '10.1.1.1')).status)
  expect(byAddress.filter((status) => status === 401)).toHaveLength(30)
  expect(byAddress.slice(-2)).toEqual([429, 429])
  expect((await guess('another@example.com', '10.2.2.2')).status).toBe(401)
  // Every guess costs what a password costs.
}, 120_000)
