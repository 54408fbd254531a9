import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { createLog } from '../log.ts'
import { type Jobs, jobQueue, openJobs } from './jobs.ts'

const BACKLOG = jobQueue<{ n: number }>('test-backlog', {})
const GREETINGS = jobQueue<{ word: string }>('test-greetings', { retryLimit: 2, retryDelay: 0 })

const TURNS = jobQueue<{ word: string }>('test-turns', {})
const FILES = jobQueue<{ name: string }>('test-files', {})

let service: TestService
let tenant: TestTenant
let jobs: Jobs

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  jobs = await openJobs(service.postgres.address, [GREETINGS, BACKLOG, FILES, TURNS], createLog('silent'))
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

test('of the jobs of a group, one runs at a time, and other groups do not wait for it', async () => {
  const started: string[] = []
  const released = Promise.withResolvers<void>()
  const run = async ({ word }: { word: string }) => {
    started.push(word)
    if (word === 'slow') await released.promise
  }
  await jobs.work(TURNS, 2, run, { groupConcurrency: 1 })
  await jobs.send(tenant.handle, TURNS, { word: 'slow' }, { group: { id: 'a' } })
  await expect.poll(() => started).toEqual(['slow'])
  await jobs.send(tenant.handle, TURNS, { word: 'waits' }, { group: { id: 'a' } })
  await jobs.send(tenant.handle, TURNS, { word: 'other' }, { group: { id: 'b' } })
  await expect.poll(() => started).toEqual(['slow', 'other'])
  released.resolve()
  await expect.poll(() => started).toEqual(['slow', 'other', 'waits'])
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

test('a worker for urgent jobs runs them while others are busy, and leaves the rest to them', async () => {
  const started: string[] = []
  const released = Promise.withResolvers<void>()
  const run = async ({ name }: { name: string }) => {
    started.push(name)
    if (name.startsWith('large')) await released.promise
  }
  await jobs.work(FILES, 1, run)
  await jobs.send(tenant.handle, FILES, { name: 'large 1' })
  await expect.poll(() => started).toEqual(['large 1'])
  await jobs.work(FILES, 1, run, { minPriority: 1 })
  await jobs.send(tenant.handle, FILES, { name: 'large 2' })
  await jobs.send(tenant.handle, FILES, { name: 'small' }, { priority: 1 })
  await expect.poll(() => started).toEqual(['large 1', 'small'])
  released.resolve()
  await expect.poll(() => started).toEqual(['large 1', 'small', 'large 2'])
})
