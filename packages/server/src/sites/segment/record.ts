import { ServiceError } from '../../platform/errors.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import type { KeyedSource } from '../../sources/write-keys.ts'
import type { CallSender, RecordCalls } from '../ingestion/record-calls.ts'
import { type BatchBody, callsOf } from './requests.ts'
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

/** Who sent calls, from where. */
export interface SdkSender {
  source: KeyedSource
  /** The page, if a browser sent them. */
  page: NonNullable<CallSender['page']>
  userAgent: string
  /** The sender's clock when it sent them. */
  sentAt: unknown
}

/** The outcome of a call. */
interface Outcome {
  /** Why it is not recorded; null if it is. */
  error: { code: string; message: string } | null
  /** The parts that were left out, and why. */
  warnings: readonly string[]
}

/**
 * Records one call.
 * @returns warnings. @throws ServiceError 400, on which SDKs drop the call instead of sending it again.
 */
export async function recordOne(
  dependencies: RecordDependencies,
  sender: SdkSender,
  call: SdkCall,
): Promise<readonly string[]> {
  const [outcome] = await record(dependencies, sender, [call])
  if (outcome?.error) throw new ServiceError(400, outcome.error.code, outcome.error.message)
  return outcome?.warnings ?? []
}

/** Records the calls of a batch. @returns warnings, and why calls are not recorded. */
export async function recordBatch(
  dependencies: RecordDependencies,
  sender: SdkSender,
  batch: BatchBody,
): Promise<string[]> {
  const calls = callsOf(batch).map((sent) => ({ sent, type: null }))
  const outcomes = await record(dependencies, sender, calls)
  return outcomes.flatMap(({ error, warnings }, index) =>
    (error ? [error.message] : warnings).map((message) => `batch[${index}]: ${message}`),
  )
}

/** Records calls. One that is not valid does not affect the others. */
async function record(
  { stores, recordCalls, clock }: RecordDependencies,
  { source, page, userAgent, sentAt }: SdkSender,
  calls: readonly SdkCall[],
): Promise<Outcome[]> {
  const isBrowser = source.type === 'browser'
  const sending = {
    sourceId: source.sourceId,
    receivedAt: clock(),
    sentAt,
    // The User-Agent of a server names the SDK.
    userAgent: isBrowser ? userAgent : '',
    isBrowser,
  }
  const translated = calls.map(({ sent, type }) => tryTranslate(sent, type, sending))
  const sender = {
    sourceId: source.sourceId,
    trust: isBrowser ? 'unverified' : 'verified',
    page: isBrowser ? page : null,
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
