import Type from 'typebox'
import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import { changeRecords } from '../platform/postgres/collisions.ts'
import { WEBHOOK_OPERATIONS, type WebhookServices } from '../webhooks/operations.ts'
import { listAudit } from './audit-list.ts'
import type { Operation } from './declare.ts'
import { type Memory, NO_MEMORY, perform } from './perform.ts'

let service: TestService
let tenant: TestTenant
let subscription_id: string

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const settings = { event: 'page_view', url: 'https://hooks.example.com/' }
  subscription_id = (await tenant.call('POST', '/v1/webhooks', settings)).body.subscription_id
})

/** Pauses the subscription as declared, with some parts replaced. */
function pause(
  otherwise: (declared: Operation<WebhookServices>) => Partial<Operation<WebhookServices>>,
  memory?: Memory,
): Promise<unknown> {
  const declared = WEBHOOK_OPERATIONS.find(({ name }) => name === 'pauseWebhook')
  if (!declared) throw new Error('There is no operation pauseWebhook.')
  const allowed = { scopes: new Set<string>(), requireScope: () => {}, warn: () => {}, requireMatch: () => {} }
  const caller = { actor: { kind: 'service' } as const, ...allowed, isGivenUp: () => false }
  const { secrets, outbound } = service
  const context = {
    ...caller,
    tenant: tenant.handle,
    now: new Date(),
    secrets,
    outbound,
    findSegment: async () => undefined,
  }
  return perform({ ...declared, ...otherwise(declared) }, context, { subscription_id }, memory)
}

const status = async () => (await tenant.call('GET', `/v1/webhooks/${subscription_id}`)).body.webhook.status
const pauses = async () => {
  const { entries } = await listAudit(tenant.handle, { actor: 'service' }, { page: 1, limit: 10 })
  return entries.map(({ action }) => action)
}

test('a change and its audit entry are written together, or neither is', async () => {
  const failing = pause(() => ({
    audit: () => {
      throw new Error('no entry')
    },
  }))
  await expect(failing).rejects.toThrow('no entry')
  expect([await status(), await pauses()]).toEqual(['active', []])
  await pause(() => ({ audit: () => null }))
  expect([await status(), await pauses()]).toEqual(['paused', []])
})

test('a change that collides with another is repeated, and has one entry', async () => {
  expect((await tenant.call('POST', `/v1/webhooks/${subscription_id}/resume`)).status).toBe(200)
  let runs = 0
  await pause((declared) => ({
    run: async (context, input) => {
      const output = await declared.run(context, input, undefined)
      if (++runs === 1) throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
      return output
    },
  }))
  expect([runs, await pauses()]).toEqual([2, ['webhook.paused']])
})

test('what follows the commit of a joined change follows the outermost commit, once', async () => {
  const attempts: boolean[] = []
  const seen: unknown[] = []
  await pause(() => ({
    run: async ({ tenant: outer }) => {
      await changeRecords(outer, async (tx) => tx.afterCommit(() => void seen.push(attempts.length)))
      attempts.push(seen.length === 0)
      if (attempts.length === 1) throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
      return {}
    },
    audit: () => null,
  }))
  expect([attempts, seen]).toEqual([[true, true], [2]])
})

test('settings do not queue behind changes of records, nor these behind settings', async () => {
  const held = Promise.withResolvers<void>()
  const fourTimes = <T>(work: () => Promise<T>) => Array.from({ length: 4 }, work)
  const records = fourTimes(() => changeRecords(tenant.handle, () => held.promise))
  await pause(() => ({}))
  held.resolve()
  await Promise.all(records)

  const slow = Promise.withResolvers<void>()
  const settings = fourTimes(() => pause(() => ({ run: () => slow.promise.then(() => ({})), audit: () => null })))
  const email = `${newId()}@example.com`
  expect((await tenant.call('POST', '/v1/contacts', { email })).status).toBe(201)
  slow.resolve()
  await Promise.all(settings)
})

test('a retry does not repeat a committed change unless the request was refused', async () => {
  const failed = new Error('no response')
  const refused = new ServiceError(409, 'too_late', 'Too late.')
  const released: unknown[] = []
  const failing = async (error: Error, fails: 'after' | 'finish') => {
    const fail = () => Promise.reject(error)
    const memory = {
      ...NO_MEMORY,
      ...(fails === 'finish' ? { finish: fail } : {}),
      release: async () => void released.push(error),
    }
    const after = fails === 'after' ? fail : async () => ({})
    await expect(pause(() => ({ after }), memory)).rejects.toBe(error)
  }
  await failing(failed, 'after')
  await failing(failed, 'finish')
  await failing(refused, 'finish')
  expect(released).toEqual([])
  await failing(refused, 'after')
  expect(released).toEqual([refused])
})

test('what is for the audit entry alone is not part of the response', async () => {
  const result = await pause((declared) => ({
    forAudit: { host: Type.String() },
    run: async (context, input) => ({ ...(await declared.run(context, input, undefined)), host: 'hooks.example.com' }),
    audit: ({ host }) => ({ action: 'webhook.seen', subjectKind: 'webhook', subjectId: null, details: { host } }),
  }))
  expect(result).toEqual({ webhook: expect.any(Object), changed: [] })
  const { entries } = await listAudit(tenant.handle, { actor: 'service' }, { page: 1, limit: 1 })
  expect(entries).toMatchObject([{ action: 'webhook.seen', details: { host: 'hooks.example.com' } }])
})
