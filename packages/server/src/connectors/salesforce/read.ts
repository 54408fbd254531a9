import { isObject } from '../../platform/is-object.ts'
import { DAY_MS } from '../../platform/time.ts'
import { ApiRefused, type Client, textOf } from '../client.ts'
import type { Json, ReadRange, RecordsPage } from '../connector.ts'
import { createJob, deleteJob, jobState, readResults } from './bulk.ts'
import type { ObjectFields, PageFields } from './fields.ts'
import { query, type SalesforceRecord, soqlTime } from './query.ts'

/** Larger increments are read by a job. */
const JOB_FROM_RECORDS = 10_000
/** After this many lost jobs in a row, the records are read without a job. */
const LOST_MAX = 3
/** Salesforce removes deleted records permanently after 15 days. */
const DELETED_DAYS = 15

type Page = Omit<RecordsPage, 'next'>

/** The declaration of an object's read. */
export interface ObjectPlan {
  sobject: string
  /** The standard fields to read, if the user may see them. Custom fields are read too. */
  fields: readonly string[]
  /**
   * Fields that the condition needs. If the user may not see one of them, no records are read: Salesforce refuses a condition
   * on a hidden field, and without it, private events would be read.
   */
  required?: readonly string[]
  /** A condition on the records; null: all records. */
  where(fields: ObjectFields): string | null
  /** Whether Salesforce archives old records. Only `queryAll` finds those. */
  isArchived?: boolean
  /** The field with an activity's time. The activity is read once that time has come, and only if it changed before the run started. */
  timeField?: string
  /** Whether the records refer to others. Then only those that changed before the run started are read. */
  refersToOthers?: boolean
  page(records: readonly SalesforceRecord[], fields: PageFields, until: Date, client: Client): Page | Promise<Page>
  /** Set if deleted records are read. */
  deleted?: {
    hasMaster: boolean
    page(records: readonly { id: string; master: string | null }[]): Page
  }
}

/** The progress of a read. Salesforce keeps jobs and their results, so a read can continue with them. */
type Cursor = {
  /** Changed records come first, then deleted ones. */
  phase: 'changed' | 'deleted'
  /** The next page of a query. */
  next?: string
  job?: string
  polls?: number
  /** undefined: the job is not complete. null: the next part is the first one. */
  locator?: string | null
  /** The number of lost jobs. */
  lost?: number
  /** Jobs failed or are not allowed. */
  withoutJobs?: true
  /** A job that is no longer needed. */
  done?: string
}

/** Reads the next page of an object. */
export async function readObject(
  client: Client,
  range: ReadRange,
  plan: ObjectPlan,
  fields: PageFields,
): Promise<RecordsPage> {
  const cursor = cursorOf(range.cursor)
  if (cursor.phase === 'deleted') return readDeleted(client, range, plan, fields, cursor)
  if (cursor.job === undefined) return readQuery(client, range, plan, fields, cursor)
  if (cursor.locator === undefined) return { next: await waitForJob(client, cursor, cursor.job) }
  const part = await readResults(client, cursor.job, cursor.locator, fields.types)
  if (part === null) return { next: startAgain(cursor) }
  const { job, lost = 0 } = cursor
  const next = part.locator === null ? afterChanged(plan, job) : { phase: 'changed', job, lost, locator: part.locator }
  return { ...(await plan.page(part.records, fields, range.until, client)), next }
}

/** The first read and large increments use a job. */
async function readQuery(
  client: Client,
  range: ReadRange,
  plan: ObjectPlan,
  fields: PageFields,
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
      ...(await plan.page(records, fields, range.until, client)),
      next: next === null ? afterChanged(plan) : { ...rest, next },
    }
  } catch (error) {
    // Salesforce keeps a query for 2 days.
    if (cursor.next === undefined || !isExpiredQuery(error)) throw error
    return { next: { phase: 'changed', ...(cursor.withoutJobs === true ? { withoutJobs: true } : {}) } }
  }
}

async function waitForJob(client: Client, cursor: Cursor, job: string): Promise<Json> {
  const { polls = 0, lost = 0 } = cursor
  const state = await jobState(client, job, polls)
  if (state === 'complete') return { phase: 'changed', job, lost, locator: null }
  if (state === 'running') return { phase: 'changed', job, lost, polls: polls + 1 }
  // A REST query returns the reason for a failure, a job does not.
  return state === 'failed' ? { phase: 'changed', withoutJobs: true } : startAgain(cursor)
}

function startAgain({ lost = 0 }: Cursor): Json {
  return lost + 1 < LOST_MAX ? { phase: 'changed', lost: lost + 1 } : { phase: 'changed', withoutJobs: true }
}

function afterChanged({ deleted }: ObjectPlan, done?: string): Json {
  // The job is deleted only after the position is stored, because a restart would need it.
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

function soqlOf({ since, until }: ReadRange, plan: ObjectPlan, fields: PageFields): string {
  const { sobject, isArchived, refersToOthers, timeField } = plan
  const targets = fields.pairs.map(({ target }) => target)
  const visible = [...plan.fields, ...targets].filter((field) => fields.types.has(field))
  const custom = plan.deleted ? fields.custom : []
  const [from, to] = [since && soqlTime(since), soqlTime(until)]
  // Activities refer to people. Those created before the run started have already been read.
  const changed = [
    ...(from === null ? [] : [`SystemModstamp >= ${from}`]),
    ...(isArchived || refersToOthers ? [`SystemModstamp < ${to}`] : []),
  ].join(' AND ')
  const happened = `${changed} AND ${timeField} <= ${to}`
  const due = `${timeField} >= ${from} AND ${timeField} <= ${to} AND SystemModstamp < ${to}`
  const when = timeField === undefined ? changed : from === null ? happened : `((${happened}) OR (${due}))`
  const conditions = [plan.where(fields), isArchived ? 'IsDeleted = false' : null, when].filter((each) => each)
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  // A query that names a field twice is refused.
  const selected = new Set(['Id', ...visible, 'SystemModstamp', ...custom])
  return `SELECT ${[...selected].join(', ')} FROM ${sobject}${where}`
}

function cursorOf(cursor: Json): Cursor {
  return isObject(cursor) ? (cursor as Cursor) : { phase: 'changed' }
}

function isExpiredQuery(error: unknown): boolean {
  const [first] = error instanceof ApiRefused && Array.isArray(error.body) ? (error.body as unknown[]) : []
  return isObject(first) && first.errorCode === 'INVALID_QUERY_LOCATOR'
}
