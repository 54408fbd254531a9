import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { TestTenant } from './service.ts'

const WITHIN = { timeout: 120_000, interval: 100 }

/** A connection, as a test uses it. */
export interface TestConnection {
  id: string
  read(): Promise<ConnectionBody>
  /** Waits for the first run. */
  firstRun(): Promise<Run>
  /** Pulls, and waits for the end of the run. */
  pull(): Promise<Run>
  /** Reads everything again since a time, and waits for the end of the run. */
  reread(since?: string): Promise<Run>
  /** Waits until the connection has a state. */
  until(state: string): Promise<ConnectionBody>
  errors(): Promise<{ external_id: string; object: string; code: string; message: string }[]>
}

interface Run {
  run_id: string
  counts: Record<string, Record<string, number>>
  finished_at: string | null
}

interface ConnectionBody {
  state: string
  error: string | null
  account: string
  last_run: Run | null
  next_pull_at: string | null
}

type Caller = Pick<TestTenant, 'call'>

/** Connects a system, which must accept the sign-in. */
export async function connectSystem(tenant: Caller, body: object): Promise<TestConnection> {
  const response = await tenant.call('POST', '/v1/connections', body)
  expect(response.body.error).toBeUndefined()
  expect(response.status).toBe(201)
  return connectionOf(tenant, response.body.connection.connection_id)
}

export function connectionOf(tenant: Caller, id: string): TestConnection {
  const path = `/v1/connections/${id}`
  const read = async (): Promise<ConnectionBody> => (await tenant.call('GET', path)).body.connection
  /** @throws Error with what the connection says, as soon as it fails. */
  const finished = async (before: string | undefined): Promise<Run> => {
    const until = Date.now() + WITHIN.timeout
    while (Date.now() < until) {
      const { last_run, error } = await read()
      if (error !== null) throw new Error(error)
      if (last_run !== null && last_run.finished_at !== null && last_run.run_id !== before) return last_run
      await sleep(WITHIN.interval)
    }
    throw new Error('The run did not end in time.')
  }
  const ordered = async (action: string, body: object) => {
    const before = (await read()).last_run?.run_id
    expect((await tenant.call('POST', `${path}/${action}`, body)).status).toBe(202)
    return finished(before)
  }
  return {
    id,
    read,
    firstRun: () => finished(undefined),
    pull: () => ordered('pull', {}),
    reread: (since) => ordered('reread', since === undefined ? {} : { since }),
    until: async (state) => {
      await expect.poll(async () => (await read()).state, WITHIN).toBe(state)
      return read()
    },
    errors: async () => (await tenant.call('GET', `${path}/errors?limit=100`)).body.errors,
  }
}
