import { sql } from 'kysely'
import { expect } from 'vitest'
import { connectionWhich, isIdle, isWritten, reaches, runOf } from './connection-rows.ts'
import type { TestTenant } from './service.ts'

/** Pulls begin within 5 seconds, on machines that may be busy. */
export const WITHIN = { timeout: 120_000, interval: 20 }

/** A tenant's connection to a system, as the API shows it. */
export class TestConnection {
  readonly id: string
  readonly #tenant: TestTenant
  #lastRun: string | undefined

  constructor(tenant: TestTenant, id: string) {
    this.#tenant = tenant
    this.id = id
  }

  async read() {
    return (await this.#tenant.call('GET', `/v1/connections/${this.id}`)).body.connection
  }

  /** Waits for the first run, or for the end of another one, which succeeds. @returns what it counted. */
  async pulled(): Promise<Record<string, Record<string, number>>> {
    this.#lastRun = await runOf(this.#tenant, this.id, this.#lastRun, 'wait')
    const { last_run } = await this.read()
    expect(last_run.run_id).toBe(this.#lastRun)
    return last_run.counts
  }

  /** Orders a pull, and waits for its end. */
  async pull() {
    await this.order()
    return this.pulled()
  }

  async order(): Promise<void> {
    // Until it has ended, the job of the last pull would refuse another one.
    await isIdle(this.#tenant, this.id)
    expect((await this.#tenant.call('POST', `/v1/connections/${this.id}/pull`)).status).toBe(202)
  }

  async reread(): Promise<Record<string, Record<string, number>>> {
    expect((await this.#tenant.call('POST', `/v1/connections/${this.id}/reread`, {})).status).toBe(202)
    return this.pulled()
  }

  async reaches(state: string): Promise<Record<string, unknown>> {
    await reaches(this.#tenant, this.id, state)
    return this.read()
  }

  /** Waits for the end of a rate limit that the test does not want to wait for. */
  async isLimited(): Promise<Date> {
    const isLater = ({ state, next_pull_at }: { state: string; next_pull_at: Date }) =>
      state === 'waiting' && next_pull_at.getTime() > Date.now() + 60_000
    await connectionWhich(this.#tenant, this.id, isLater)
    return new Date((await this.read()).next_pull_at)
  }

  /** Sets what is written back, and waits until what must be read first was read. */
  async writeBack(pairs: [property: string, target: string, conflict: string][], create_missing = false) {
    const properties = pairs.map(([property, target, conflict]) => ({ property, target, conflict }))
    const body = { properties, create_missing }
    const response = await this.#tenant.call('PUT', `/v1/connections/${this.id}/write-back`, body)
    expect([response.status, response.body.error]).toEqual([200, undefined])
    const { objects } = response.body.connection
    if (objects.some(({ read_until }: { read_until: string | null }) => read_until === null)) await this.pulled()
    // Contacts that this read changed were not written, and would wait for half a minute.
    await this.release()
  }

  /** Keeps what waits from being written until `release`. */
  async hold(): Promise<void> {
    // A job that still runs would write at once, and end the hold.
    await isIdle(this.#tenant, this.id)
    await this.#writeAfter('1 hour')
  }

  async release(): Promise<void> {
    await this.#writeAfter('0')
  }

  async #writeAfter(interval: string): Promise<void> {
    await this.#tenant.handle.db
      .updateTable('connections')
      .set({ write_back_at: sql`now() + ${interval}::interval` })
      .where('connection_id', '=', this.id)
      .execute()
  }

  /** Waits until nothing waits to be written. */
  async written(): Promise<void> {
    await isWritten(this.#tenant, this.id)
  }

  async errors() {
    return (await this.#tenant.call('GET', `/v1/connections/${this.id}/errors`)).body.errors
  }
}

/** Connects with credentials. */
export async function connectWith(tenant: TestTenant, body: object): Promise<TestConnection> {
  const response = await tenant.call('POST', '/v1/connections', body)
  expect(response.body).toMatchObject({ status: 'success' })
  return new TestConnection(tenant, response.body.connection.connection_id)
}

/** Signs in at a provider, whose token URL accepts any code. @returns the response to the completion. */
export async function signIn(tenant: TestTenant, provider: string, purpose: Record<string, string>) {
  const client = { client_id: 'client-1', client_secret: 'client-secret' }
  expect((await tenant.call('PUT', `/v1/oauth-clients/${provider}`, client)).status).toBe(200)
  const started = await tenant.call('POST', '/v1/authorizations', { provider, purpose })
  expect(started.status).toBe(201)
  const state = new URL(started.body.authorization_url).searchParams.get('state')
  return tenant.call('POST', '/v1/authorizations/complete', { state, code: 'a-code' })
}

/** Connects by a sign-in at the connector's provider. */
export async function connectBySignIn(tenant: TestTenant, provider: string, settings: Record<string, string> = {}) {
  const response = await signIn(tenant, provider, { kind: 'connection', connector: provider, ...settings })
  expect(response.body).toMatchObject({ status: 'success' })
  return new TestConnection(tenant, response.body.path.split('/').at(-1))
}

/** A contact's events that the service did not record itself, oldest first. */
export async function eventsOf(tenant: TestTenant, contactId: string) {
  const { body } = await tenant.call('GET', `/v1/contacts/events/${contactId}?limit=100`)
  const own = body.events.filter(({ is_system }: { is_system?: boolean }) => is_system !== true)
  return own.toSorted((a: { timestamp: string }, b: { timestamp: string }) => a.timestamp.localeCompare(b.timestamp))
}

/** Erases a contact, and waits for the receipt. */
export async function erased(tenant: TestTenant, contact_id: string): Promise<void> {
  const { body } = await tenant.call('POST', '/v1/erasures', { contact_id })
  const path = `/v1/erasures/${body.receipt.erasure_id}`
  await expect.poll(async () => (await tenant.call('GET', path)).body.receipt.status, WITHIN).not.toBe('running')
}
