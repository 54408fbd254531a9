import { Readable } from 'node:stream'
import { PLAIN_CSV, parseCsv } from '../../imports/csv.ts'
import { ServiceError } from '../../platform/errors.ts'
import { isObject } from '../../platform/is-object.ts'
import { OutboundError } from '../../platform/outbound/client.ts'
import { ApiRefused, type Client, textOf } from '../client.ts'
import { DATA, type FieldTypes, type SalesforceRecord, typed } from './query.ts'

const JOBS = `${DATA}/jobs/query`
/** The maximum number of records in a part of the results. */
const PART_RECORDS = 5_000
const PART_RECORDS_MIN = 100
const POLL_MS_FIRST = 1_000
const POLL_MS_MAX = 30_000

/** Creates a query job. @returns its id; null if the organization does not allow it. */
export async function createJob(client: Client, soql: string, isAll: boolean): Promise<string | null> {
  try {
    const body = { operation: isAll ? 'queryAll' : 'query', query: soql }
    return textOf((await client.call({ path: JOBS, body })).id)
  } catch (error) {
    if (error instanceof ApiRefused && (error.status === 400 || error.status === 403)) return null
    throw error
  }
}

type JobState = 'running' | 'complete' | 'failed' | 'lost'

/** The state of a job. @param polls the number of earlier polls. */
export async function jobState(client: Client, job: string, polls: number): Promise<JobState> {
  if (polls > 0) await client.pause(Math.min(POLL_MS_FIRST * 2 ** (polls - 1), POLL_MS_MAX))
  try {
    const { state } = await client.call({ path: `${JOBS}/${encodeURIComponent(job)}` })
    if (state === 'JobComplete') return 'complete'
    return state === 'Failed' || state === 'Aborted' ? 'failed' : 'running'
  } catch (error) {
    if (isLost(error)) return 'lost'
    throw error
  }
}

interface ResultsPart {
  records: SalesforceRecord[]
  /** Where the next part starts; null if this is the last one. */
  locator: string | null
}

/**
 * Reads a part of a job's results. If the part is too long, it is read with fewer records.
 * @returns null if the job is lost: Salesforce keeps results for 7 days, and administrators may delete jobs.
 */
export async function readResults(
  client: Client,
  job: string,
  locator: string | null,
  types: FieldTypes,
): Promise<ResultsPart | null> {
  for (let maxRecords = PART_RECORDS; ; maxRecords = Math.ceil(maxRecords / 4)) {
    try {
      const { text, headers } = await client.callText({
        path: `${JOBS}/${encodeURIComponent(job)}/results`,
        query: { maxRecords, locator: locator ?? undefined },
        headers: { accept: 'text/csv' },
      })
      // There is a header even if there are no records.
      if (text === '') return null
      const next = headers['sforce-locator'] ?? 'null'
      return { records: await recordsOf(text, types), locator: next === 'null' || next === '' ? null : next }
    } catch (error) {
      if (isLost(error)) return null
      const isTooLong = error instanceof OutboundError && error.code === 'too_long'
      if (!isTooLong || maxRecords <= PART_RECORDS_MIN) throw error
    }
  }
}

/** Deletes a job and its results, which are personal data. Otherwise Salesforce would keep them for 7 days. */
export async function deleteJob(client: Client, job: string): Promise<void> {
  try {
    await client.call({ method: 'DELETE', path: `${JOBS}/${encodeURIComponent(job)}` })
  } catch (error) {
    // Some users are not allowed to delete jobs.
    if (!(error instanceof ApiRefused)) throw error
  }
}

/** @throws ApiRefused if the text is not CSV. */
async function recordsOf(text: string, types: FieldTypes): Promise<SalesforceRecord[]> {
  try {
    return await parse(text, types)
  } catch (error) {
    if (error instanceof ServiceError) throw new ApiRefused(200, `Salesforce sent unusable results. ${error.message}`)
    throw error
  }
}

async function parse(text: string, types: FieldTypes): Promise<SalesforceRecord[]> {
  const records: SalesforceRecord[] = []
  let names: string[] | null = null
  for await (const row of parseCsv(Readable.from([Buffer.from(text)]), PLAIN_CSV, 'The results')) {
    if (names === null) {
      names = row
      continue
    }
    const record = Object.fromEntries(names.map((name, index) => [name, row[index] ?? '']))
    records.push(typed(record, types))
  }
  return records
}

/** The job no longer exists, or its results can no longer be read. */
function isLost(error: unknown): boolean {
  if (!(error instanceof ApiRefused)) return false
  const [first] = Array.isArray(error.body) ? (error.body as unknown[]) : []
  return error.status === 404 || (isObject(first) && first.errorCode === 'INVALIDJOBSTATE')
}
