import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { isIdle } from './connection-rows.ts'
import { type HubSpot, TOKEN } from './hubspot.ts'
import { HubSpotRecords } from './hubspot-records.ts'
import { type HubSpotBench, HubSpotWorkspace, startHubSpotBench } from './hubspot-workspace.ts'
import type { TestService } from './service.ts'

export const WITHIN = { timeout: 120_000, interval: 20 }

/** A service and the HubSpot that it writes to. Each test has a new tenant and empty records. */
export interface WriteBackBench {
  service: TestService
  hubspot: HubSpot
  records: HubSpotRecords
  workspace: HubSpotWorkspace
  /** The properties of a contact in HubSpot. */
  there(id: string): Record<string, string | null>
  /** The properties of a contact here. */
  here(email?: string): Promise<Record<string, unknown>>
  /** Every batch that was sent, by its verb. */
  batches(): { verb: string; inputs: { id: string; properties: Record<string, string> }[] }[]
  /** Keeps what waits from being written until `release`. */
  hold(): Promise<void>
  release(): Promise<void>
}

/** Starts the service before the tests of a file. */
export function useWriteBack(environment: Record<string, string> = {}): WriteBackBench {
  const bench = {} as WriteBackBench
  let started: HubSpotBench | undefined
  beforeAll(async () => {
    started = await startHubSpotBench(environment)
    Object.assign(bench, { service: started.service, hubspot: started.hubspot })
  })
  afterAll(() => started?.close())
  beforeEach(async () => {
    bench.records = new HubSpotRecords()
    const { records } = bench
    const tokens = new Set([TOKEN])
    Object.assign(bench.hubspot, { records, tokens, requests: [], isMultiStatus: true, intercept: () => undefined })
    bench.workspace = await HubSpotWorkspace.create(bench.service)
  })
  // HubSpot is the same for all tests: this connection must not read or write the next one's records.
  afterEach(() => bench.workspace.tenant.call('DELETE', bench.workspace.path))
  bench.there = (id) => bench.records.find('contacts', id)?.properties ?? {}
  bench.here = async (email = 'ada@example.com') => (await bench.workspace.contact(email)).properties
  bench.batches = () =>
    bench.hubspot.requests
      .filter(({ path }) => /batch\/(update|upsert)$/.test(path))
      .map(({ path, body }) => ({ verb: path.split('/').at(-1) ?? '', inputs: JSON.parse(body).inputs }))
  const writeAfter = (interval: string) =>
    bench.workspace.tenant.handle.db
      .updateTable('connections')
      .set({ write_back_at: sql`now() + ${interval}::interval` })
      .execute()
  bench.hold = async () => {
    // A job that still runs would write at once, and end the hold.
    await isIdle(bench.workspace.tenant, bench.workspace.connectionId)
    await writeAfter('1 hour')
  }
  bench.release = async () => {
    await writeAfter('0')
  }
  return bench
}
