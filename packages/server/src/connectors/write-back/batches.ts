import { ApiRefused } from '../client.ts'
import type { OutgoingRecord } from '../connector.ts'

/** Statuses that mean that a record is invalid, not the request as a whole. */
const STATUSES_OF_RECORDS = [400, 404, 409, 413]

/**
 * Sends records in one request. One invalid record may make the system refuse the whole request: then the two halves are sent
 * separately, and so on, until only the invalid record is refused.
 * @param send stores the results of the records.
 * @param refuse stores the result of a record that is refused on its own.
 * @throws ApiRefused for other refusals; RateLimited, SignedOut, OutboundError.
 */
export async function sendBatch<Sent extends OutgoingRecord>(
  records: readonly Sent[],
  send: (records: readonly Sent[]) => Promise<void>,
  refuse: (record: Sent, error: ApiRefused) => void,
): Promise<void> {
  if (records.length === 0) return
  try {
    await send(records)
  } catch (error) {
    if (!(error instanceof ApiRefused) || !STATUSES_OF_RECORDS.includes(error.status)) throw error
    const [only] = records
    if (records.length === 1 && only) {
      refuse(only, error)
      return
    }
    const half = Math.ceil(records.length / 2)
    await sendBatch(records.slice(0, half), send, refuse)
    await sendBatch(records.slice(half), send, refuse)
  }
}
