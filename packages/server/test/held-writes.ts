import type { Write } from '../src/contacts/writing/write.ts'
import type { Writer } from '../src/contacts/writing/writer.ts'
import { ServiceError } from '../src/platform/errors.ts'
import type { Tenant } from '../src/platform/tenant.ts'

type Outcome = { result: unknown } | { status: number; code: string; message: string; details: object[] }

/** A request that has read what it needs, and waits before it writes. */
export interface Held {
  arrived: Promise<void>
  release(): void
  /** Its result, or its error. */
  outcome: Promise<Outcome>
}

/** Starts a request whose writes wait until it is released. */
export function hold(writer: Writer, run: (held: Writer) => Promise<unknown>): Held {
  const arrival = Promise.withResolvers<void>()
  const departure = Promise.withResolvers<void>()
  async function writeEach<Result>(tenant: Tenant, writes: readonly Write<Result>[]) {
    arrival.resolve()
    await departure.promise
    return writer.writeEach(tenant, writes)
  }
  const held: Writer = {
    writeEach,
    write: async <Result>(tenant: Tenant, write: Write<Result>) => {
      const [result] = await writeEach(tenant, [write])
      if (result instanceof ServiceError) throw result
      return result as Result
    },
  }
  const outcome = run(held).then(
    (result) => ({ result: result ?? null }),
    (error: unknown) => {
      if (!(error instanceof ServiceError) || error.status >= 500) throw error
      return { status: error.status, code: error.code, message: error.message, details: error.details ?? [] }
    },
  )
  const settled = outcome.then(
    () => {},
    () => {},
  )
  void settled.then(arrival.resolve)
  return { arrived: arrival.promise, release: () => departure.resolve(), outcome }
}
