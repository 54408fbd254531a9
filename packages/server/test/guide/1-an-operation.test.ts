import Type from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPERATIONS, type Services } from '../../src/assembly/all-operations.ts'
import { findContact } from '../../src/contacts/read.ts'
import { optionsOf } from '../../src/operations/command-line.ts'
import { idInPath, type Operation, operation } from '../../src/operations/declare.ts'
import { notFound } from '../../src/platform/errors.ts'
import { ContactId } from '../../src/platform/http/responses.ts'
import { TEXT } from '../../src/platform/personal.ts'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../service.ts'

/**
 * Chapter 1: an operation, something that callers can do.
 *
 * Declare it in the `operations.ts` of its feature. `operations/declare.ts` documents every field. Of several features, it belongs
 * to the one that may import the others. This one pins a contact.
 */
const pinContact = operation({
  name: 'pinContact',
  tag: 'Contacts',
  http: 'POST /v1/contacts/:contact_id/pin',
  // A noun in the singular and a verb: list, get, create, update, delete or the operation's own.
  command: 'contact pin',
  scope: 'contacts:write',
  summary: 'Pin a contact',
  // The path parameters, then those of the query (GET, DELETE) or the fields of the body. A malformed id in a path is 404.
  input: { contact_id: idInPath('contact'), reason: Type.String({ minLength: 1, maxLength: 100 }) },
  // What a field tells about people is a mark of `platform/personal.ts`: redaction for AI agents reads it, and
  // `mcp/redaction/marks.test.ts` lists fields without one. The same goes for a field that you add to an object.
  output: { contact_id: ContactId, reason: Type.String(TEXT) },
  // openapi.json shows it, and the tests that walk every operation send it.
  example: { reason: 'Renews in May' },
  // The handle `tenant` reaches the rows of this tenant alone.
  async run({ tenant }, { contact_id, reason }) {
    if (!(await findContact(tenant, contact_id))) throw notFound('contact')
    return { contact_id, reason }
  },
  // Without secrets; null if nothing changed. `run` is then in a transaction, which stores the entry with the change.
  audit: ({ contact_id, reason }) => ({
    action: 'contact.pinned',
    subjectKind: 'contact',
    subjectId: contact_id,
    details: { reason },
  }),
})

/** A new feature adds its list to `assembly/all-operations.ts`, the only list of all. The chapter adds its operation for a while. */
const listed = OPERATIONS as Operation<Services>[]

let service: TestService
let tenant: TestTenant
let contact: string

beforeAll(async () => {
  listed.push(pinContact)
  service = await startTestService()
  tenant = await createTestTenant(service)
  contact = await tenant.contact('ada@example.com')
})
afterAll(async () => {
  listed.splice(listed.indexOf(pinContact), 1)
  await service?.close()
})

const pin = (id: string, body: object, key = tenant.key, headers: Record<string, string> = {}) =>
  call(service, 'POST', `/v1/contacts/${id}/pin`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
  })

const REASON = { reason: 'Renews in May' }

test('you get a route that checks the key, the scope, the id, the tenant and the body before run', async () => {
  expect((await pin(contact, REASON)).body).toEqual({ status: 'success', contact_id: contact, ...REASON })
  const refused = async (response: ReturnType<typeof pin>) => {
    const { status, body } = await response
    return `${status} ${body.error.code}`
  }
  expect(await refused(pin(contact, REASON, 'cds_wrong'))).toBe('401 invalid_api_key')
  expect(await refused(pin(contact, REASON, await tenant.keyWith('contacts:read')))).toBe('403 insufficient_scope')
  expect(await refused(pin('none', REASON))).toBe('404 not_found')
  expect(await refused(pin(contact, REASON, (await createTestTenant(service)).key))).toBe('404 not_found')
  expect(await refused(pin(contact, { ...REASON, colour: 'red' }))).toBe('400 validation_error')
})

test('you get retries: an Idempotency-Key repeats the response, and the audit log has one entry', async () => {
  const [id, headers] = [await tenant.contact('grace@example.com'), { 'idempotency-key': 'once' }]
  const first = await pin(id, REASON, tenant.key, headers)
  const again = await pin(id, REASON, tenant.key, headers)
  expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([first.body, 'true'])
  const { body } = await tenant.call('GET', '/v1/audit-log?limit=100')
  const pinned = body.entries.filter((entry: { subject_id: string }) => entry.subject_id === id)
  expect(pinned).toMatchObject([{ action: 'contact.pinned', actor: { kind: 'api_key' }, details: REASON }])
})

test('you get documentation: an entry in openapi.json with its errors, from which the client is generated', async () => {
  const { body } = await call(service, 'GET', '/openapi.json')
  const { operationId, responses } = body.paths['/v1/contacts/{contact_id}/pin'].post
  expect(operationId).toBe('pinContact')
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '400', '401', '403', '404', '429']))
})

test('you get a command: its options are the fields of input', () => {
  expect(Object.keys(optionsOf(pinContact))).toEqual(['contact-id', 'reason'])
})

/*
 * What it owes, and the test that says so:
 *
 * - beside the feature, a test of success with every parameter, and of the operation's own errors (`errors`);
 * - `npm test -- test/examples test/walk generated.test derived-commands reading-commands dashboard/test/units`, which know
 *   every operation. The first run of examples.test.ts records the response that openapi.json shows; `-u` replaces it;
 * - `npm run generate` after it, for openapi.json, the client and docs/cli.md;
 * - for a new kind of id in a path, an object in `packages/server/test/one-of-each.ts`;
 * - for a new action or kind of subject, its words in the dashboard's `settings/audit-text.ts`; if its records have names, a line
 *   in `assembly/subject-kinds.ts`; for a new `tag`, its description in `operations/tags.ts`;
 * - in `peer-examples.test.ts`, an example that calls another system; examples.test.ts sends all others;
 * - a line in CHANGELOG.md, under “Unreleased”, and a row of docs/interface-coverage.md (`npm run coverage`).
 *
 * An operation that changes something without `audit` says why in `unaudited`; a POST that changes nothing has `reads`. What
 * creates, changes or turns on a way to data declares the scopes of that data in `also` (ways-to-data.test.ts). Requests to
 * other hosts belong in `check`, which comes before the transaction, and mails in `after`, which follows it.
 */
