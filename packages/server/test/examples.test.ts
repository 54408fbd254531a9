import Type, { type TSchema } from 'typebox'
import { beforeAll, describe, expect, test } from 'vitest'
import { AGENT_ROWS } from '../src/agents/runs/agent-run.ts'
import { triggerRun } from '../src/agents/runs/trigger.ts'
import { OPERATIONS, type Services } from '../src/assembly/all-operations.ts'
import { type Declaration, type Operation, routeOf, type Values } from '../src/operations/declare.ts'
import { newId } from '../src/platform/ids.ts'
import { DAY_MS } from '../src/platform/time.ts'
import { MAIL, propose } from './actions.ts'
import { exampleWith, succeed, WITH_PEERS } from './examples.ts'
import { createHook, send } from './hooks.ts'
import { act, ended, uploaded } from './imports.ts'
import { exampleOf, oneOfEach } from './one-of-each.ts'
import { type Browser, signedIn } from './people.ts'
import { expectExample } from './recorded-examples.ts'
import { hold } from './runs.ts'
import { createClaimedSegment, evaluateNow } from './segments.ts'
import {
  call,
  createTestTenant,
  sharedService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from './service.ts'
import { socialOf } from './social.ts'

/**
 * Every operation is called with its example from openapi.json and with each query parameter, and must return the declared
 * fields. Add an operation to the table below only if it needs a record that no other operation has used up.
 * Those that call another system are in peer-examples.test.ts.
 */
let service: TestService
let tenant: TestTenant
let owner: Browser & { userId: string }
let ids: Record<string, string>
let segmentOfCompanies: string

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  owner = await signedIn(service, tenant.id, 'owner')
  ids = await oneOfEach(service, tenant, 'example')
  const definition = { name: 'Companies', description: null, filter: { match: 'all', conditions: [] } }
  const { segmentId } = await createClaimedSegment(tenant.handle, { ...definition, entity: 'companies' })
  await evaluateNow(tenant.handle, segmentId)
  segmentOfCompanies = segmentId
})

/** The ids for an operation: its segment may be one of companies. */
function idsOf({ name }: { name: string }): Record<string, string> {
  const isOfCompanies = name === 'listCompanies' || name === 'listSegmentCompanies'
  return isOfCompanies ? { ...ids, segment_id: segmentOfCompanies } : ids
}

/** Creates what an operation uses up. @returns ids for its path, and what replaces the values of its example */
const OF_ITS_OWN: Record<string, () => Promise<Values>> = {
  mergeContact: async () => ({
    contact_id: await tenant.contact('merged@example.com'),
    into: await tenant.contact('survivor@example.com'),
  }),
  unmergeContact: async () => {
    const contact_id = await tenant.contact('twin@example.com')
    await owner.call('POST', `/v1/contacts/${contact_id}/merge`, { into: ids.contact_id })
    return { contact_id }
  },
  cancelRun: async () => {
    // Never processed, so that it has not ended.
    const run_id = await tenant.handle.transaction(async (tx) => {
      const runId = await triggerRun(tx, ids.agent_id ?? '', null, { kind: 'service' }, new Date())
      await hold(AGENT_ROWS, tx, runId)
      return runId
    })
    return { run_id }
  },
  triggerAgent: async () => ({ agent_id: ids.agent_id, contact_ids: [ids.contact_id] }),
  eraseContact: async () => ({ contact_id: await tenant.contact('erasable@example.com') }),
  // The action of `oneOfEach` has no sender, so it can only be rejected, and its contact cannot receive mail.
  approveAction: async () => {
    const contactId = await tenant.contact('writable@example.com')
    const { agent_id: agentId = '', run_id: runId = '', identity_id: identityId } = ids
    await propose(tenant.handle, service.jobs, { contactId, agentId, runId, ...MAIL, identityId })
    return { contact_id: contactId, action_index: '0' }
  },
  // That of `oneOfEach` is disabled.
  proposeAction: async () => {
    const settings = { name: 'Enabled', capabilities: ['notes'], enabled: true }
    const { agent_id } = (await owner.call('POST', '/v1/agents', settings)).body.agent
    return { agent_id, contact_id: ids.contact_id ?? '' }
  },
  getImportPreview: async () => {
    const created = await uploaded(tenant, 'email\npreviewed@example.com\n')
    await act(tenant, created, 'preview', 'previewed')
    return { import_id: created.import_id }
  },
  previewImport: async () => ({ import_id: (await uploaded(tenant, 'email\n')).import_id }),
  startImport: async () => ({ import_id: (await uploaded(tenant, 'email\n')).import_id }),
  cancelImport: async () => ({ import_id: (await uploaded(tenant, 'email\n')).import_id }),
  undoImport: async () => {
    const { import_id } = await uploaded(tenant, 'email\nundone@example.com\n')
    // The example of `startImport` may still be running.
    const start = () => tenant.call('POST', `/v1/imports/${import_id}/start`)
    await expect.poll(async () => (await start()).status).toBe(202)
    await ended(tenant, import_id, 'completed')
    return { import_id }
  },
  cancelEnrichmentRun: async () => ({ enrichment_run_id: await enrichmentRun('waiting') }),
  undoEnrichmentRun: async () => ({ enrichment_run_id: await enrichmentRun('completed') }),
  // The service of this file cannot send mail.
  unsubscribeFromDashboard: async () => {
    const { dashboard_id = '' } = ids
    const now = new Date()
    const subscription = {
      dashboard_id,
      user_id: owner.userId,
      next_mail_at: new Date(now.getTime() + DAY_MS),
      created_at: now,
    }
    await tenant.handle.db.insertInto('dashboard_subscriptions').values(subscription).execute()
    return {}
  },
  orderEnrichmentProviders: async () => {
    const { providers } = (await owner.call('GET', '/v1/enrichment/providers')).body
    return { provider_ids: providers.map(({ provider_id }: { provider_id: string }) => provider_id) }
  },
  closeTenant: async () => ({ confirm: 'Test' }),
  createAlert: anotherReport,
  previewAlert: anotherReport,
  startAuthorization: async () => ({ purpose: { kind: 'mailbox', identity_id: ids.identity_id } }),
  socialLoginCode: () => waitingForCode('social'),
  linkedinLoginCode: () => waitingForCode('linkedin'),
}

/** A run that nothing works on, of the contacts of nobody else. */
async function enrichmentRun(status: 'waiting' | 'completed'): Promise<string> {
  const { db } = tenant.handle
  // One run at a time: that of an example before may still be there.
  await db.deleteFrom('enrichment_runs').where('state', 'in', ['queued', 'running', 'undoing']).execute()
  const run_id = newId()
  const counts = { total: 2, enriched: 1, unchanged: 1 }
  const now = new Date()
  await db
    .insertInto('enrichment_runs')
    .values({ run_id, matching: '{}', status, ...counts, created_at: now })
    .execute()
  return run_id
}

/** A report that nothing else uses: that of the owner is deleted later. */
async function anotherReport(): Promise<Record<string, string>> {
  const report = { name: 'Another', kind: 'trend', question: { series: [{}] } }
  return { report_id: (await tenant.call('POST', '/v1/reports', report)).body.report.report_id }
}

/** Logs in again: a later login replaces an earlier one. */
async function waitingForCode(network: string): Promise<Record<string, string>> {
  const login = socialOf(tenant, ids.identity_id ?? '', network)
  const session_id = await login.begin('2fa@example.com')
  await login.until(session_id, 'awaiting_2fa')
  return { session_id }
}

const CALLS_A_PEER: ReadonlySet<string> = new Set(WITH_PEERS)

function operationsBy(method: string): Operation<Services>[] {
  return OPERATIONS.filter(({ name, http }) => http.startsWith(`${method} `) && !CALLS_A_PEER.has(name))
}

/** Reads first, deletions last, and a contact's notes before the contact, so that each finds its record. */
const IN_ORDER = [...['GET', 'PUT', 'PATCH', 'POST'].flatMap(operationsBy), ...operationsBy('DELETE').toReversed()]

describe.each(IN_ORDER)('$name', (operation) => {
  test('returns its example with the declared fields', async () => {
    const own = (await OF_ITS_OWN[operation.name]?.()) ?? {}
    const { body } = await succeed(owner, operation, exampleWith(operation, own), { ...idsOf(operation), ...own })
    await expectExample(operation.name, body)
  })

  if (routeOf(operation).method !== 'GET') return
  const example = exampleOf(operation)
  test('accepts each of its parameters', async () => {
    const own = idsOf(operation)
    for (const [name, value] of optionalParameters(operation))
      await succeed(owner, operation, { ...example, [name]: example[name] ?? own[name] ?? value }, own)
  })
})

type Parameter = TSchema & {
  type?: string
  enum?: string[]
  default?: unknown
  examples?: unknown[]
  minimum?: number
  'x-words'?: string[]
}

/** The optional parameters of a query, each with a valid value. */
function optionalParameters({ input, http }: Declaration): [name: string, value: unknown][] {
  return Object.entries(input).flatMap(([name, schema]): [string, unknown][] => {
    return Type.IsOptional(schema) && !http.includes(`:${name}`) ? [[name, anyValueOf(schema as Parameter)]] : []
  })
}

function anyValueOf(schema: Parameter): unknown {
  const given = [schema.enum?.[0], schema['x-words']?.[0], schema.examples?.[0], schema.default, schema.minimum]
  return given.find((value) => value !== undefined) ?? (schema.type === 'boolean' ? true : 'example')
}

interface Described {
  operationId: string
  requestBody?: { content: Record<string, { example?: unknown }> }
  responses: Record<string, { content: Record<string, unknown> } | undefined>
}

/** The routes of openapi.json that are not operations, such as those that pages call. */
describe('every other route', () => {
  type Send = (path: string, body: never) => Promise<TestResponse>
  let other: TestTenant
  let key: string

  beforeAll(async () => {
    other = await createTestTenant(service)
    key = (await other.call('POST', '/v1/sources', { name: 'Server', type: 'server' })).body.write_key
  })

  const posts = (path: string, body: unknown, headers: Record<string, string>) =>
    call(service, 'POST', path, { headers, body: JSON.stringify(body) })
  const fromPage: Send = (path, body) => posts(path, body, { origin: `https://${other.site}` })
  const bySource: Send = (path, body) => posts(path, body, { authorization: `Basic ${btoa(`${key}:`)}` })
  const reads: Send = (path) => call(service, 'GET', path)
  const mapping = { event: { name: { path: 'type' }, id: { path: 'order.id' } }, contact: { email: { path: 'email' } } }
  const SENDERS: Record<string, Send> = {
    health: reads,
    ready: reads,
    track: fromPage,
    recoverVisitor: fromPage,
    submitForm: fromPage,
    sdkTrack: bySource,
    sdkPage: bySource,
    sdkScreen: bySource,
    sdkGroup: bySource,
    sdkAlias: bySource,
    sdkBatch: bySource,
    sdkImport: bySource,
    readShared: async () => {
      const question = { series: [{ event: 'page_view' }], date_from: '2026-01-30', date_to: '2026-01-31' }
      const { body } = await other.call('POST', '/v1/reports', { name: 'Page views', kind: 'trend', question })
      const shared = await other.call('POST', `/v1/reports/${body.report.report_id}/share`)
      return call(service, 'GET', new URL(shared.body.share.url).pathname.replace('/shared/', '/v1/public/shared/'))
    },
    receiveHook: async (_path, body) => send(service, await createHook(other, { mapping }), body),
    uploadImport: (_path, body) => other.upload(body),
  }

  test('returns its example', async () => {
    const { paths } = service.app.swagger() as unknown as { paths: Record<string, Record<string, Described>> }
    const operations = OPERATIONS.map(({ name }) => name)
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).map((described) => ({ path, ...described })),
    )
    const others = routes.filter(
      // Files and streams are not JSON.
      ({ operationId, responses }) =>
        !operations.includes(operationId) &&
        (responses[200] ?? responses[201])?.content['application/json'] !== undefined,
    )
    expect(others.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(SENDERS).sort())
    for (const { path, operationId, requestBody } of others) {
      const [example] = Object.values(requestBody?.content ?? {}).map((media) => media.example)
      expect(example === undefined, operationId).toBe(requestBody === undefined)
      const filled = path.replace('{tenant_id}', other.id).replace('{form_id}', 'newsletter')
      const { status, body } = (await SENDERS[operationId]?.(filled, example as never)) ?? { status: 0, body: null }
      expect([200, 201], `${operationId}: ${JSON.stringify(body)}`).toContain(status)
      await expectExample(operationId, body)
    }
  })
})

/** What openapi.json shows for errors of a status, for all operations that return it. */
describe('an error', () => {
  // The last example has closed it.
  beforeAll(() => owner.call('POST', '/v1/tenant/reopen'))

  const json = { 'content-type': 'application/json' }
  const send = (headers: Record<string, string>, body: string) =>
    call(service, 'POST', '/v1/contacts', { headers: { authorization: `Bearer ${tenant.key}`, ...headers }, body })
  const ERRORS: Record<string, [status: number, code: string, () => Promise<TestResponse>]> = {
    BadRequest: [400, 'validation_error', () => tenant.call('GET', '/v1/contacts?limit=1000')],
    Unauthorized: [401, 'missing_api_key', () => call(service, 'GET', '/v1/contacts')],
    Forbidden: [
      403,
      'insufficient_scope',
      async () => tenant.call('GET', '/v1/contacts', undefined, await tenant.keyWith('events:read')),
    ],
    NotFound: [404, 'not_found', () => tenant.call('GET', `/v1/contacts/${tenant.id}`)],
    Conflict: [
      409,
      'contact_email_taken',
      async () => {
        await tenant.contact('taken@example.com')
        return tenant.call('POST', '/v1/contacts', { email: 'taken@example.com' })
      },
    ],
    PreconditionFailed: [
      412,
      'changed_meanwhile',
      async () => {
        const path = `/v1/contacts/${await tenant.contact('changed@example.com')}`
        const headers = { authorization: `Bearer ${tenant.key}`, 'if-match': '"another"' }
        return call(service, 'PUT', path, { headers, body: '{"properties":{}}' })
      },
    ],
    PayloadTooLarge: [413, 'body_too_large', () => send(json, JSON.stringify('x'.repeat(2_000_000)))],
    UnsupportedMediaType: [415, 'unsupported_media_type', () => send({ 'content-type': 'text/plain' }, 'x')],
  }
  test.each(Object.entries(ERRORS))('%s', async (name, [status, code, cause]) => {
    const { status: returned, body } = await cause()
    expect([returned, body.error.code]).toEqual([status, code])
    await expectExample(name, body)
  })
})
