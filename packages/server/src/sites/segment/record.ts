import { ServiceError } from '../../platform/errors.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import type { KeyedSource } from '../../sources/write-keys.ts'
import type { RecordCalls } from '../ingestion/record-calls.ts'
import { type CallType, type Sending, type Translated, translate } from './translate.ts'

export interface RecordDependencies {
  stores: Stores
  recordCalls: RecordCalls
  clock: Clock
}

/** A call as sent. */
export interface SdkCall {
  sent: unknown
  /** The type in the path; null if the call contains it. */
  type: CallType | null
}

/** The outcome of a call. */
export interface Outcome {
  /** Why it is not recorded; null if it is. */
  error: { code: string; message: string } | null
  /** The parts that were left out, and why. */
  warnings: readonly string[]
}

/**
 * Records calls of SDKs. A call that is not valid does not affect the others.
 * @param pageHost the host of the page that sent them; null for a server.
 */
export async function recordSdkCalls(
  { stores, recordCalls }: RecordDependencies,
  source: KeyedSource,
  pageHost: string | null,
  calls: readonly SdkCall[],
  sending: Sending,
): Promise<Outcome[]> {
  const translated = calls.map(({ sent, type }) => tryTranslate(sent, type, sending))
  const sender = {
    sourceId: source.sourceId,
    trust: source.type === 'browser' ? 'unverified' : 'verified',
    page: source.type === 'browser' ? { host: pageHost } : null,
  } as const
  const results = await recordCalls(
    openTenant(stores, source.tenantId),
    sender,
    translated.map((each) => (each instanceof ServiceError ? each : each.call)),
  )
  return results.map((result, index): Outcome => {
    const own = translated[index]
    const warnings = own === undefined || own instanceof ServiceError ? [] : own.warnings
    if (result.status === 'failed') return { error: result.error, warnings: [] }
    return { error: null, warnings: [...warnings, ...result.warnings] }
  })
}

function tryTranslate(sent: unknown, type: CallType | null, sending: Sending): Translated | ServiceError {
  try {
    return translate(sent, type, sending)
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}
