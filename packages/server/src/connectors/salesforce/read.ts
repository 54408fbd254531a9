import { ApiRefused, type Client, isObject, textOf } from '../client.ts'
import type { Json, ReadRange, RecordsPage } from '../connector.ts'
import { createJob, deleteJob, jobState, readResults } from './bulk.ts'
import { fieldsOf, type ObjectFields } from './fields.ts'
import { query, type SalesforceRecord, soqlTime } from './query.ts'

/** An increment of more records is read by a job. */
const JOB_FROM_RECORDS = 10_000
/** Jobs that are lost in a row before the records are read without one. */
const LOST_MAX = 3
/** Salesforce removes deleted records for good after 15 days. */
const DELETED_DAYS = 15
const DAY_MS = 86_400_000

type Page = Omit<RecordsPage, 'next'>

/** What is read of an object. */
export interface ObjectPlan {
  sobject: string
  /** Those that the user may see are read, with the custom fields. */
  fields: readonly string[]
  /** Which records are read; null: all. */
  where(fields: ObjectFields): string | null
  /** Whether Salesforce archives old records, which only a query for all records finds. */
  isArchived?: boolean
  /** For what happens at a time: it is read when that has come. Only what changed until the run began is read. */
  timeField?: string
  page(records: readonly SalesforceRecord[], fields: ObjectFields, until: Date): Page
  /** For records whose deletion matters. */
  deleted?: {
    hasMaster: boolean
    page(records: readonly { id: string; master: string | null }[]): Page
  }
}

/** Where a read is. Jobs and their results are kept by Salesforce, so that it can continue there. */
type Cursor = {
  /** First what changed, then what was deleted. */
  phase: 'changed' | 'deleted'
  /** The next page of a query. */
  next?: string
  job?: string
  polls?: number
  /** undefined: the job is not complete. null: the first part. */
  locator?: string | null
  /** How many jobs were lost. */
  lost?: number
  /** Jobs do not work here. */
  withoutJobs?: true
  /** A job that is no longer needed. */
  done?: string
}

/** Reads the next page of an object. @returns null if the user may not see it. */
export async function readObject(client: Client, range: ReadRange, plan: ObjectPlan): Promise<RecordsPage | null> {
  const fields = await fieldsOf(client, plan.sobject)
  if (fields === null) return null
  const cursor = cursorOf(range.cursor)
  if (cursor.phase === 'deleted') return readDeleted(client, range, plan, fields, cursor)
  if (cursor.job === undefined) return readQuery(client, range, plan, fields, cursor)
  if (cursor.locator === undefined) return { next: await waitForJob(client, cursor, cursor.job) }
  const part = await readResults(client, cursor.job, cursor.locator, fields.types)
  if (part === null) return { next: startAgain(cursor) }
  const { job, lost = 0 } = cursor
  const next = part.locator === null ? afterChanged(plan, job) : { phase: 'changed', job, lost, locator: part.locator }
  return { ...plan.page(part.records, fields, range.until), next }
}

/** The first read is made by a job, and so are large increments. */
async function readQuery(
  client: Client,
  range: ReadRange,
  plan: ObjectPlan,
  fields: ObjectFields,
  cursor: Cursor,
): Promise<RecordsPage> {
  const isAll = plan.isArchived === true
  const soql = soqlOf(range, plan, fields)
  const startJob = async (): Promise<RecordsPage> => {
    const job = await createJob(client, soql, isAll)
    const { lost = 0 } = cursor
    return { next: job === null ? { phase: 'changed', withoutJobs: true } : { phase: 'changed', job, polls: 0, lost } }
  }
  if (range.since === null && cursor.withoutJobs !== true) return startJob()
  try {
    const sorted = { soql: `${soql} ORDER BY SystemModstamp`, isAll }
    const { records, total, next } = await query(client, cursor.next ?? sorted, fields.types)
    const isFirst = cursor.next === undefined
    if (isFirst && total > JOB_FROM_RECORDS && cursor.withoutJobs !== true) return startJob()
    const rest: Cursor = { phase: 'changed', ...(cursor.withoutJobs === true ? { withoutJobs: true } : {}) }
    return {
      ...plan.page(records, fields, range.until),
      next: next === null ? afterChanged(plan) : { ...rest, next },
    }
  } catch (error) {
    // A query is kept for 2 days.
    if (cursor.next === undefined || !isExpiredQuery(error)) throw error
    return { next: { phase: 'changed', ...(cursor.withoutJobs === true ? { withoutJobs: true } : {}) } }
  }
}

async function waitForJob(client: Client, cursor: Cursor, job: string): Promise<Json> {
  const { polls = 0, lost = 0 } = cursor
  const state = await jobState(client, job, polls)
  if (state === 'complete') return { phase: 'changed', job, lost, locator: null }
  if (state === 'running') return { phase: 'changed', job, lost, polls: polls + 1 }
  // A query tells why it fails, a job does not.
  return state === 'failed' ? { phase: 'changed', withoutJobs: true } : startAgain(cursor)
}

function startAgain({ lost = 0 }: Cursor): Json {
  return lost + 1 < LOST_MAX ? { phase: 'changed', lost: lost + 1 } : { phase: 'changed', withoutJobs: true }
}

function afterChanged({ deleted }: ObjectPlan, done?: string): Json {
  // The job is deleted after the position is stored, since a restart would need it.
  if (!deleted && done === undefined) return null
  return { phase: 'deleted', ...(done === undefined ? {} : { done }) }
}

async function readDeleted(
  client: Client,
  { since, until }: ReadRange,
  { sobject, deleted }: ObjectPlan,
  { types }: ObjectFields,
  cursor: Cursor,
): Promise<RecordsPage> {
  if (cursor.done !== undefined) await deleteJob(client, cursor.done)
  if (!deleted) return { next: null }
  const oldest = until.getTime() - DELETED_DAYS * DAY_MS
  const from = new Date(Math.max(since?.getTime() ?? oldest, oldest))
  const fields = ['Id', ...(deleted.hasMaster && types.has('MasterRecordId') ? ['MasterRecordId'] : [])]
  const soql = `SELECT ${fields.join(', ')} FROM ${sobject} WHERE IsDeleted = true AND SystemModstamp >= ${soqlTime(from)} ORDER BY SystemModstamp`
  try {
    const { records, next } = await query(client, cursor.next ?? { soql, isAll: true }, types)
    const ids = records.map(({ Id, MasterRecordId }) => ({ id: String(Id), master: textOf(MasterRecordId) }))
    return { ...deleted.page(ids), next: next === null ? null : { phase: 'deleted', next } }
  } catch (error) {
    if (cursor.next === undefined || !isExpiredQuery(error)) throw error
    return { next: { phase: 'deleted' } }
  }
}

function soqlOf({ since, until }: ReadRange, plan: ObjectPlan, fields: ObjectFields): string {
  const { sobject, isArchived, timeField } = plan
  const visible = plan.fields.filter((field) => fields.types.has(field))
  const custom = plan.deleted ? fields.custom : []
  const [from, to] = [since && soqlTime(since), soqlTime(until)]
  // What was done is about people, who are here if they were created before the run began.
  const changed = [
    ...(from === null ? [] : [`SystemModstamp >= ${from}`]),
    ...(isArchived ? [`SystemModstamp < ${to}`] : []),
  ].join(' AND ')
  const begun = `${changed} AND ${timeField} <= ${to}`
  const due = `${timeField} >= ${from} AND ${timeField} <= ${to} AND SystemModstamp < ${to}`
  const when = timeField === undefined ? changed : from === null ? begun : `((${begun}) OR (${due}))`
  const conditions = [plan.where(fields), isArchived ? 'IsDeleted = false' : null, when].filter((each) => each)
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  return `SELECT Id, ${[...visible, 'SystemModstamp', ...custom].join(', ')} FROM ${sobject}${where}`
}

function cursorOf(cursor: Json): Cursor {
  return isObject(cursor) ? (cursor as Cursor) : { phase: 'changed' }
}

function isExpiredQuery(error: unknown): boolean {
  const [first] = error instanceof ApiRefused && Array.isArray(error.body) ? (error.body as unknown[]) : []
  return isObject(first) && first.errorCode === 'INVALID_QUERY_LOCATOR'
}
