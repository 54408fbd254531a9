import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { createLog } from '../log.ts'
import { type Jobs, jobQueue, openJobs } from './jobs.ts'

const BACKLOG = jobQueue<{ n: number }>('test-backlog', {})
const GREETINGS = jobQueue<{ word: string }>('test-greetings', { retryLimit: 2, retryDelay: 0 })

let service: TestService
let tenant: TestTenant
let jobs: Jobs

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  jobs = await openJobs(service.postgres.address, [GREETINGS, BACKLOG], createLog('silent'))
})
afterAll(() => jobs?.stop())

test('a worker runs a job with its tenant; a job sent in a transaction that rolls back never runs', async () => {
  const done: string[] = []
  const finished = Promise.withResolvers<void>()
  await jobs.work(GREETINGS, 1, async ({ word, tenantId }) => {
    done.push(`${word} ${tenantId}`)
    if (word === 'last') finished.resolve()
    if (done.length === 1) throw new Error('The first attempt of the first job fails.')
  })
  await jobs.send(tenant.handle, GREETINGS, { word: 'first' })
  const failing = tenant.handle.transaction(async (inside) => {
    await jobs.send(inside, GREETINGS, { word: 'never' })
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  await tenant.handle.transaction(async (inside) => {
    await jobs.send(inside, GREETINGS, { word: 'last' })
  })
  await finished.promise
  await expect.poll(() => done.filter((word) => word.startsWith('first')).length).toBe(2)
  expect(done).not.toContainEqual(expect.stringContaining('never'))
  expect(new Set(done)).toEqual(new Set([`first ${tenant.id}`, `last ${tenant.id}`]))
})

test('a backlog is processed without pauses between jobs', async () => {
  const waiting = new Set(Array.from({ length: 60 }, (_, n) => n))
  for (const n of waiting) await jobs.send(tenant.handle, BACKLOG, { n })
  await jobs.work(BACKLOG, 1, async ({ n }) => {
    waiting.delete(n)
  })
  // With a pause of two seconds after each, this would take minutes.
  await expect.poll(() => waiting.size, { timeout: 60_000 }).toBe(0)
})
