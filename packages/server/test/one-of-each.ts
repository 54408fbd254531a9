import type { TSchema } from 'typebox'
import { expect } from 'vitest'
import { registerClient } from '../src/access/oauth/clients.ts'
import { allowApplication } from '../src/access/oauth/grants.ts'
import { connectorNamed } from '../src/connectors/all-connectors.ts'
import { sealedPlace } from '../src/connectors/connections.ts'
import { startPosition } from '../src/connectors/position.ts'
import { checkSome } from '../src/duplicates/find.ts'
import { type Declaration, routeOf } from '../src/operations/declare.ts'
import { newId } from '../src/platform/ids.ts'
import { DAY_MS } from '../src/platform/time.ts'
import { createSegment } from '../src/segments/segments.ts'
import { EXPORT_ROWS, requestExport } from '../src/tenant-export/exports.ts'
import { MAIL, propose } from './actions.ts'
import { send } from './hooks.ts'
import { createPerson } from './people.ts'
import { hold } from './runs.ts'
import type { TestService, TestTenant } from './service.ts'
import { socialOf } from './social.ts'
import { addDelivery, until } from './webhooks.ts'

/** The email of the contact and its visitor, in `oneOfEach`. */
const CONTACT = { email: 'owner@example.com', visitor_id: 'v' }

/** A property that no other tenant has. */
const PROPERTY = 'favorite_engine'

/** A bucket that does not exist. */
const BUCKET = {
  type: 's3',
  endpoint: 'https://storage.example.com',
  bucket: 'exports',
  access_key_id: 'key',
  secret_access_key: 'a-secret',
}

/**
 * Creates one of everything that a path can name.
 * @param text is in all names and texts.
 * @returns the ids, by their names in paths.
 */
export async function oneOfEach(
  service: TestService,
  tenant: TestTenant,
  text: string,
): Promise<Record<string, string>> {
  const make = async (path: string, body?: unknown) => {
    const response = await tenant.call('POST', path, body)
    expect([path, response.status]).toEqual([path, expect.toSatisfy((status: number) => status < 300)])
    return response.body
  }
  const properties = { firstname: text, [PROPERTY]: text }
  const contact_id = await tenant.contact(CONTACT.email, properties, { visitor_id: CONTACT.visitor_id })
  await tenant.contact(CONTACT.email.replace('@', '+double@'))
  await checkSome(tenant.handle, new Date())
  const { duplicate_id } = (await tenant.call('GET', '/v1/duplicates')).body.duplicates[0]
  const erased = await tenant.contact('erased@example.com')
  const { company } = await make('/v1/companies', { domain: 'owner.example', name: text })
  const { note } = await make(`/v1/contacts/${contact_id}/notes`, { content: text })
  const sent_at = new Date().toISOString()
  const message = { message_id: text, direction: 'inbound', from: { address: CONTACT.email }, to: [], sent_at, text }
  const thread = { thread_key: text, messages: [message] }
  const { thread_id } = (await make('/v1/sources/walk/conversations', { records: [thread] })).results[0]
  const url = `https://${tenant.site}/${text}`
  await tenant.track({ visitor_id: CONTACT.visitor_id, events: [{ event: text, url }] })
  const { body } = await tenant.call('GET', '/v1/events')
  const filter = { match: 'all', conditions: [{ property: 'firstname', operator: 'equals', value: text }] }
  const segment = await createSegment(tenant.handle, { name: text, description: text, filter }, new Date())
  const series = [{ label: text, where: [{ property: 'url_path', operator: 'equals', value: text }] }]
  const { report_id } = (await make('/v1/reports', { name: text, kind: 'trend', question: { series } })).report
  const tiles = [{ report_id, x: 0, y: 0, width: 12, height: 4 }]
  const { dashboard_id } = (await make('/v1/dashboards', { name: text, tiles, where: series[0]?.where })).dashboard
  const alert = { name: text, report_id, at: { series: 'A' }, condition: { operator: 'above', value: 0 } }
  const { alert_id } = (await make('/v1/alerts', alert)).alert
  const computed = { name: 'orders', entity: 'contacts', function: 'count', event: 'order_completed' }
  const { computed_property_id } = (await make('/v1/computed-properties', computed)).computed_property
  const { agent_id } = (await make('/v1/agents', { name: text, description: text })).agent
  const { job_id: run_id } = await make(`/v1/agents/${agent_id}/trigger`, { contact_ids: [contact_id] })
  const place = { contactId: contact_id, agentId: agent_id, runId: run_id, actionIndex: 99 }
  await propose(tenant.handle, service.jobs, { ...place, ...MAIL })
  const { identity_id } = (await make('/v1/identities', { firstName: text, lastName: text, role: text })).identity
  await make('/v1/suppressions', { address: CONTACT.email, details: text })
  await tenant.call('PUT', '/v1/oauth-clients/google', { client_id: `client-of-${text}`, client_secret: text })
  const hook = { event: text, url: `https://hooks.example.com/${text}` }
  const { subscription_id } = await make('/v1/webhooks', hook)
  const incoming = await make('/v1/hooks', { name: text, kind: 'custom', source: 'hook' })
  const received = await send(service, { url: new URL(incoming.url).pathname }, { text })
  const delivery = { subscriptionId: subscription_id, createdAt: new Date() }
  // Never processed, so that it does not change.
  const exportId = await tenant.handle.transaction(async (tx) => {
    const { exportId } = await requestExport(tx, { kind: 'service' }, new Date())
    await hold(EXPORT_ROWS, tx, exportId)
    return exportId
  })
  const { destination_id } = (await make('/v1/warehouse', { ...BUCKET, name: text })).destination
  const warehouse_run_id = newId()
  const now = new Date()
  await tenant.handle.db
    .insertInto('warehouse_runs')
    .values({
      run_id: warehouse_run_id,
      destination_id,
      trigger: 'manual',
      is_full: false,
      status: 'completed',
      created_at: now,
      finished_at: now,
    })
    .execute()
  const member = { email: `${text}@example.com`, name: text, role: 'member' } as const
  const invited = { email: `invited-${text}@example.com`, role: 'viewer' }
  const user_id = await createPerson(service.stores, tenant.id, member)
  const ids = {
    contact_id,
    company_id: company.company_id,
    duplicate_id,
    note_id: note.note_id,
    thread_id,
    property: PROPERTY,
    event_id: body.events[0].event_id,
    segment_id: segment.segmentId,
    report_id,
    dashboard_id,
    alert_id,
    computed_property_id,
    agent_id,
    run_id,
    version: '1',
    action_index: '99',
    identity_id,
    address: CONTACT.email,
    session_id: await socialOf(tenant, identity_id).begin('2fa@example.com'),
    subscription_id,
    hook_id: incoming.hook.hook_id,
    body_id: received.body.body_id,
    delivery_id: await addDelivery(tenant.handle, delivery, 'failed', { attempts: 6 }),
    key_id: (await make('/v1/api-keys', { name: text, scopes: ['all'] })).key_id,
    view_id: (await make('/v1/views', { name: text, page: 'contacts', query: {}, columns: [] })).view.view_id,
    erasure_id: (await make('/v1/erasures', { contact_id: erased })).receipt.erasure_id,
    export_id: exportId,
    import_id: (await tenant.upload(`email,${text}\n${text}@example.com,${text}\n`)).body.import.import_id,
    destination_id,
    warehouse_run_id,
    user_id,
    grant_id: await insertGrant(service, tenant.id, user_id, text),
    invitation_id: (await make('/v1/invitations', invited)).invitation.invitation_id,
    domain_id: (await make('/v1/domains', { domain: `${text}.example` })).domain.domain_id,
    source: 'walk',
    provider: 'google',
    connector: 'pipedrive',
    playbook: 'lead_qualification',
    source_id: (await make('/v1/sources', { name: text, type: 'server' })).source.source_id,
    visitor_id: CONTACT.visitor_id,
    connection_id: await insertConnection(service, tenant, text),
  }
  const { entries } = (await tenant.call('GET', '/v1/audit-log?limit=1')).body
  const entry_id: string = entries[0].entry_id
  await until(async () => {
    const { body: counted } = await tenant.call('GET', `/v1/segments/${ids.segment_id}`)
    expect(counted.segment.contact_count).toBe(1)
  })
  return { ...ids, entry_id }
}

/** An application that a member has connected, whose code was not exchanged. @returns the grant's id. */
export async function insertGrant(
  { stores }: TestService,
  tenantId: string,
  userId: string,
  name: string,
): Promise<string> {
  const { client_id } = await registerClient(
    stores.database,
    { client_name: name, redirect_uris: ['https://app.example/callback'] },
    new Date(),
  )
  const request = { client: { clientId: client_id, name }, redirectUri: 'https://app.example/callback', challenge: 'x' }
  const decision = { tenantId, scopes: ['contacts:read'], redacts: true }
  await allowApplication(stores, { id: userId, name }, request, decision, new Date())
  const grants = stores.database.selectFrom('oauth_grants').select('grant_id').where('client_id', '=', client_id)
  return (await grants.executeTakeFirstOrThrow()).grant_id
}

/** A connected system that was never reached, with a run and an error. @returns its id. */
async function insertConnection({ secrets }: TestService, { handle }: TestTenant, text: string): Promise<string> {
  const [connection_id, run_id] = [newId(), newId()]
  const at = new Date()
  const values = {
    connection_id,
    connector: 'pipedrive',
    source: text,
    account: text,
    settings: JSON.stringify({}),
    sealed: secrets.seal('{}', sealedPlace(handle.id, connection_id)),
    position: JSON.stringify(startPosition(connectorNamed('pipedrive'), null)),
    state: 'waiting',
    error: text,
    next_pull_at: new Date(at.getTime() + DAY_MS),
    created_at: at,
    updated_at: at,
  }
  await handle.db.insertInto('connections').values(values).execute()
  const run = { connection_id, run_id, counts: JSON.stringify({ persons: { failed: 1 } }), started_at: at }
  await handle.db.insertInto('connection_runs').values(run).execute()
  const error = { object: 'persons', external_id: text, code: 'validation_error', message: text, at }
  await handle.db
    .insertInto('connection_errors')
    .values({ connection_id, run_id, error_id: newId(), ...error })
    .execute()
  return connection_id
}

/** A path with the ids of `oneOfEach`. */
export function fill(path: string, ids: Record<string, unknown>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => String(ids[name] ?? name))
}

/**
 * A body with the ids of `oneOfEach`: wherever `:name` is the whole text, because URLs have colons too, and in fields
 * that are named like them, such as `contact_id` and `contact_ids`. `email` is the contact's address. A string is a
 * file.
 */
export function fillBody(body: unknown, ids: Record<string, string>): string {
  if (typeof body === 'string') return body
  return JSON.stringify(body, (name, value) => {
    const own = ownOf(name, ids)
    if (own !== undefined && typeof value === 'string') return own
    if (own !== undefined && Array.isArray(value)) return [own]
    return typeof value === 'string' && value.startsWith(':') ? fill(value, ids) : value
  })
}

function ownOf(name: string, ids: Record<string, string>): string | undefined {
  if (name === 'email') return ids.address
  return /_ids?$/.test(name) ? ids[name.replace(/s$/, '')] : undefined
}

/** The input of an operation: its example, or the examples of its fields. */
export function exampleOf(operation: Declaration): Record<string, unknown> {
  const { example, input } = operation
  const { url, hasBody } = routeOf(operation)
  if (example || !hasBody) return example ?? {}
  const examples = Object.entries(input).flatMap(([name, schema]) => {
    const [value] = (schema as TSchema & { examples?: unknown[] }).examples ?? []
    return value === undefined || url.includes(`:${name}`) ? [] : [[name, value]]
  })
  return Object.fromEntries(examples)
}

/** The query string of some parameters; empty without any. */
export function queryOf(parameters: Record<string, unknown>): string {
  const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]))
  return query.size === 0 ? '' : `?${query}`
}
