import { sql } from 'kysely'
import { expect } from 'vitest'
import { connectedTo } from './connected-system.ts'
import { isWritten, runOf } from './connection-rows.ts'
import { type HubSpot, startHubSpot, TOKEN } from './hubspot.ts'
import { makeCertificate } from './receiver.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from './service.ts'

export interface HubSpotBench {
  hubspot: HubSpot
  service: TestService
  close(): Promise<void>
}

/** A service whose HubSpot is on loopback. */
export async function startHubSpotBench(environment: Record<string, string> = {}): Promise<HubSpotBench> {
  const certificate = makeCertificate()
  const hubspot = await startHubSpot(certificate)
  const service = await startTestService(environment, {
    ...connectedTo(hubspot, 'hubspot'),
    providerUrls: { hubspot: hubspot.url },
  })
  const close = async () => {
    await service.close()
    await hubspot.close()
  }
  return { hubspot, service, close }
}

/** A tenant and its connection to HubSpot. */
export class HubSpotWorkspace {
  readonly tenant: TestTenant
  connectionId = ''
  #run: string | undefined

  constructor(tenant: TestTenant) {
    this.tenant = tenant
  }

  static async create(service: TestService): Promise<HubSpotWorkspace> {
    return new HubSpotWorkspace(await createTestTenant(service))
  }

  get path(): string {
    return `/v1/connections/${this.connectionId}`
  }

  /** Connects, and waits for the first read. */
  async connect(more: object = {}) {
    await this.addConnection(more)
    return this.pulled()
  }

  async addConnection(more: object = {}): Promise<void> {
    const body = { connector: 'hubspot', credentials: { token: TOKEN }, ...more }
    const response = await this.tenant.call('POST', '/v1/connections', body)
    expect([response.status, response.body.error]).toEqual([201, undefined])
    this.connectionId = response.body.connection.connection_id
  }

  /** Signs in with OAuth, as the dashboard does: for a new connection, or again. The service needs a public URL. */
  async signIn(code: string): Promise<void> {
    const client = { client_id: 'client', client_secret: 'client-secret' }
    await this.tenant.call('PUT', '/v1/oauth-clients/hubspot', client)
    const purpose = this.connectionId
      ? { kind: 'connection', connection_id: this.connectionId }
      : { kind: 'connection', connector: 'hubspot' }
    const started = await this.tenant.call('POST', '/v1/authorizations', { provider: 'hubspot', purpose })
    expect(started.status).toBe(201)
    const url = new URL(started.body.authorization_url)
    expect(url.searchParams.get('scope')?.split(' ')).toEqual(
      expect.arrayContaining(['crm.objects.contacts.read', 'crm.objects.contacts.write', 'crm.objects.deals.read']),
    )
    const redirected = { state: url.searchParams.get('state'), code }
    const done = await this.tenant.call('POST', '/v1/authorizations/complete', redirected)
    expect([done.status, done.body.error]).toEqual([200, undefined])
    this.connectionId = done.body.path.split('/').at(-1)
  }

  async read() {
    return (await this.tenant.call('GET', this.path)).body.connection
  }

  /** Waits for a run after the last one that it saw. @returns its counts by object. */
  async pulled(): Promise<Record<string, Record<string, number>>> {
    this.#run = await runOf(this.tenant, this.connectionId, this.#run, 'wait')
    const { last_run } = await this.read()
    expect(last_run.run_id).toBe(this.#run)
    return last_run.counts
  }

  async pull() {
    expect((await this.tenant.call('POST', `${this.path}/pull`)).status).toBe(202)
    return this.pulled()
  }

  /** Moves the time of the last read. Deleted records are read by the first run of every six hours. */
  async lastReadWas(at: Date): Promise<void> {
    await this.tenant.handle.db
      .updateTable('connections')
      .set({
        position: sql`jsonb_set(jsonb_set(position, '{objects,contacts,since}', ${JSON.stringify(at)}::jsonb),
          '{objects,companies,since}', ${JSON.stringify(at)}::jsonb)`,
      })
      .where('connection_id', '=', this.connectionId)
      .execute()
  }

  /** Sets what is written back, and waits until what must be read first was read. */
  async writeBack(properties: [property: string, conflict: string, target?: string][], create_missing = false) {
    const pairs = properties.map(([property, conflict, target = property]) => ({ property, target, conflict }))
    const response = await this.tenant.call('PUT', `${this.path}/write-back`, { properties: pairs, create_missing })
    expect([response.status, response.body.error]).toEqual([200, undefined])
    const { objects } = response.body.connection
    const contacts = objects.find(({ name }: { name: string }) => name === 'contacts')
    if (contacts.read_until !== null) return
    await this.pulled()
    // Contacts that this read changed were not written, and would wait for half a minute.
    await this.tenant.handle.db.updateTable('connections').set({ write_back_at: sql`now()` }).execute()
  }

  /** Waits until nothing waits to be written. */
  async written(): Promise<void> {
    await isWritten(this.tenant, this.connectionId)
  }

  async contact(email: string) {
    const { body } = await this.tenant.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)
    const found = body.contacts.find(({ properties }: { properties: { email?: string } }) => properties.email === email)
    return found && (await this.tenant.call('GET', `/v1/contacts/${found.contact_id}`)).body.contact
  }

  async change(email: string, properties: Record<string, unknown>): Promise<void> {
    const { contact_id } = await this.contact(email)
    const response = await this.tenant.call('PUT', `/v1/contacts/${contact_id}`, { properties })
    expect([response.status, response.body.error]).toEqual([200, undefined])
  }

  async errors() {
    return (await this.tenant.call('GET', `${this.path}/errors`)).body.errors
  }

  async events(type: string) {
    return (await this.tenant.call('GET', `/v1/events?event_type=${type}`)).body.events
  }
}
