import { expect } from 'vitest'
import { isIdle, reaches, runOf, type Waiter } from './connection-rows.ts'
import type { TestTenant } from './service.ts'

/** A connection, as a test uses it. */
export interface TestConnection {
  id: string
  read(): Promise<ConnectionBody>
  /** Waits for the first run. */
  firstRun(): Promise<Run>
  /** Waits for another run than one. */
  nextRun(before: string): Promise<Run>
  /** Orders a pull. */
  order(): Promise<void>
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

type Caller = Pick<TestTenant, 'call'> & Waiter

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
    const run_id = await runOf(tenant, id, before, 'throw')
    const { last_run } = await read()
    if (last_run?.run_id !== run_id) throw new Error('Another run has started.')
    return last_run
  }
  const order = async (action: string, body: object) => {
    // Until it has ended, the job of the last pull would refuse another one.
    await isIdle(tenant, id)
    expect((await tenant.call('POST', `${path}/${action}`, body)).status).toBe(202)
  }
  const ordered = async (action: string, body: object) => {
    const before = (await read()).last_run?.run_id
    await order(action, body)
    return finished(before)
  }
  return {
    id,
    read,
    firstRun: () => finished(undefined),
    nextRun: finished,
    order: () => order('pull', {}),
    pull: () => ordered('pull', {}),
    reread: (since) => ordered('reread', since === undefined ? {} : { since }),
    until: async (state) => {
      await reaches(tenant, id, state)
      return read()
    },
    errors: async () => (await tenant.call('GET', `${path}/errors?limit=100`)).body.errors,
  }
}
