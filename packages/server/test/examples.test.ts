import Type, { type TSchema } from 'typebox'
import { beforeAll, describe, expect, test } from 'vitest'
import { triggerRun } from '../src/agents/runs/trigger.ts'
import { OPERATIONS, type Services } from '../src/assembly/all-operations.ts'
import { type Declaration, type Operation, routeOf } from '../src/operations/declare.ts'
import { success } from '../src/platform/http/responses.ts'
import { MAIL, propose } from './actions.ts'
import { act, ended, uploaded } from './imports.ts'
import { exampleOf, fill, oneOfEach, queryOf } from './one-of-each.ts'
import { type Browser, signedIn } from './people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'
import { socialOf } from './social.ts'
import { undeclaredFields } from './undeclared-fields.ts'

/**
 * Every operation is called with its example from openapi.json and with each query parameter, and must answer with the
 * declared fields. Undeclared fields fail every test (service.ts). Add an operation to a table below only if it needs
 * another server, or a record that no other operation has used up.
 */
let service: TestService
let tenant: TestTenant
let owner: Browser
let ids: Record<string, string>

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  owner = await signedIn(service, tenant.id, 'owner')
  ids = await oneOfEach(service, tenant, 'example')
})

const MAIL_SERVERS = 'an email account, which requires a login at its servers: email-accounts.test.ts, mailbox.test.ts'
/** Operations that need another server, and where they are tested. */
const NEEDS_A_SERVER: Record<string, string> = {
  setEmailAccount: MAIL_SERVERS,
  checkEmailAccount: MAIL_SERVERS,
  removeEmailAccount: MAIL_SERVERS,
  rereadMailbox: MAIL_SERVERS,
  startAuthorization: 'a purpose that names an identity: providers/operations.test.ts',
  completeAuthorization: 'a sign-in at a provider: provider-mailbox.test.ts',
  ask: 'a model: ask.test.ts',
  createConnection: 'a system that accepts the credentials: connections.test.ts',
  updateConnection: 'a system that accepts the credentials: connections.test.ts',
  setConnectionWriteBack: 'a system that can be written to: write-back.test.ts',
  testWarehouseDestination: 'storage: warehouse/access.test.ts',
}

/** Creates what an operation uses up. @returns ids for its path, and to replace those in its example */
const OF_ITS_OWN: Record<string, () => Promise<Record<string, string>>> = {
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
    const jobs = { send: async () => null }
    return {
      run_id: await triggerRun(tenant.handle, { jobs }, ids.agent_id ?? '', null, { kind: 'service' }, new Date()),
    }
  },
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
  socialLoginCode: () => waitingForCode('social'),
  linkedinLoginCode: () => waitingForCode('linkedin'),
}

/** Logs in again: a later login replaces an earlier one. */
async function waitingForCode(network: string): Promise<Record<string, string>> {
  const login = socialOf(tenant, ids.identity_id ?? '', network)
  const session_id = await login.begin('2fa@example.com')
  await login.until(session_id, 'awaiting_2fa')
  return { session_id }
}

function operationsBy(method: string): Operation<Services>[] {
  return OPERATIONS.filter((operation) => routeOf(operation).method === method && !(operation.name in NEEDS_A_SERVER))
}

/** Reads first, deletions last, and a contact's notes before the contact, so that each finds its record. */
const IN_ORDER = [...['GET', 'PUT', 'PATCH', 'POST'].flatMap(operationsBy), ...operationsBy('DELETE').toReversed()]

describe.each(IN_ORDER)('$name', (operation) => {
  const { method, url, hasBody } = routeOf(operation)
  const example = exampleOf(operation)

  async function succeed(sent: Record<string, unknown>, own: Record<string, string> = {}): Promise<void> {
    const query = hasBody ? '' : queryOf(sent)
    const body = hasBody && Object.keys(sent).length > 0 ? sent : undefined
    const answer = await owner.call(method, fill(url, { ...ids, ...own }) + query, body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(operation.status ?? 200)
    expect(undeclaredFields(success(operation.output), answer.body)).toEqual([])
  }

  test('answers its example with the declared fields', async () => {
    const own = (await OF_ITS_OWN[operation.name]?.()) ?? {}
    const sent = Object.entries(example).map(([name, value]) => [name, own[name] ?? value])
    await succeed(Object.fromEntries(sent), own)
  })

  if (method !== 'GET') return
  test.each(optionalParameters(operation))('accepts the parameter %s', async (name, value) => {
    await succeed({ ...example, [name]: example[name] ?? ids[name] ?? value })
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
