import type { Config } from '../config.ts'
import { namesIn } from '../operations/audit.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { conflict, notFound, validationError } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { isUuid, newId } from '../platform/ids.ts'
import type { JobSender } from '../platform/jobs/jobs.ts'
import { requireFewer } from '../platform/limits.ts'
import type { Transfer } from '../platform/outbound/transfer.ts'
import { PrivateAddress, RefusedAddress } from '../platform/outbound/urls.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type DestinationRow, secretPlace, toDestination, type WarehouseDestination } from './destination.ts'
import { latestRuns, requestRun } from './runs/requests.ts'
import { checkSchedule, nextTimeOf } from './schedule.ts'

export const DESTINATIONS_MAX = 20

/** Names separated by slashes. None may be `.` or `..`. */
const PREFIX = /^(?!.*(^|\/)\.{1,2}(\/|$))[A-Za-z0-9._=-]{1,100}(\/[A-Za-z0-9._=-]{1,100}){0,9}$/
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const REGION = /^[A-Za-z0-9-]{1,60}$/
const KEY = /^[\x21-\x7e]{1,200}$/

export interface NewDestination {
  name: string
  type: 'folder' | 's3'
  prefix?: string | undefined
  endpoint?: string | undefined
  region?: string | undefined
  bucket?: string | undefined
  access_key_id?: string | undefined
  secret_access_key?: string | undefined
  schedule?: string | null | undefined
  time_zone?: string | undefined
}

export interface DestinationChanges {
  name?: string | undefined
  access_key_id?: string | undefined
  secret_access_key?: string | undefined
  schedule?: string | null | undefined
  time_zone?: string | undefined
}

/** The services for the operations on exports to a warehouse. */
export interface WarehouseServices {
  secrets: SecretBox
  jobs: JobSender
  storageTransfer: Transfer
  config: Pick<Config, 'warehouseDirectory'>
}

/** Checks rules that the schema cannot express. It may query DNS, so call it outside transactions. @throws ServiceError 400, 409 */
export async function checkDestination(services: WarehouseServices, input: NewDestination): Promise<void> {
  const { type, prefix = '', endpoint, region, bucket, access_key_id: key, secret_access_key: secret } = input
  const details = checkSchedule(services.jobs, input)
  const problem = (path: string, message: string) => details.push({ path, message })
  if (prefix !== '' && !PREFIX.test(prefix)) {
    problem('prefix', 'must be at most 10 names of letters, digits and . _ = - separated by /, such as exports/cds')
  }
  if (type === 'folder') {
    const given = { endpoint, region, bucket, access_key_id: key, secret_access_key: secret }
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined) problem(name, 'is only for the type s3. Remove it')
    }
  } else {
    if (endpoint === undefined) problem('endpoint', 'is required for the type s3')
    if (bucket === undefined || !BUCKET.test(bucket))
      problem('bucket', 'must be the name of a bucket, such as my-exports')
    if (region !== undefined && !REGION.test(region)) problem('region', 'must be a region such as eu-central-1')
    if (key === undefined) problem('access_key_id', 'is required for the type s3')
    if (secret === undefined) problem('secret_access_key', 'is required for the type s3')
    details.push(...checkKeys(input))
  }
  if (details.length > 0) throw validationError(details)
  if (type === 'folder' && services.config.warehouseDirectory === null) {
    const message =
      'This service cannot export to folders. Use the type s3, or ask the operator to set CDS_WAREHOUSE_DIR.'
    throw conflict('warehouse_folder_off', message)
  }
  if (endpoint !== undefined) await checkEndpoint(services, endpoint)
}

function checkKeys({ access_key_id: key, secret_access_key: secret }: DestinationChanges) {
  const message = 'must be 1 to 200 visible ASCII characters'
  return [
    ...(key === undefined || KEY.test(key) ? [] : [{ path: 'access_key_id', message }]),
    ...(secret === undefined || KEY.test(secret) ? [] : [{ path: 'secret_access_key', message }]),
  ]
}

async function checkEndpoint({ storageTransfer }: WarehouseServices, endpoint: string): Promise<void> {
  await storageTransfer.check(endpoint).catch((error) => {
    if (!(error instanceof PrivateAddress)) throw error
    throw new RefusedAddress(`${error.message} To allow it, the operator can set CDS_WAREHOUSE_ALLOW_PRIVATE=on.`)
  })
  const { pathname, search, hash } = new URL(endpoint)
  if (pathname === '/' && search === '' && hash === '') return
  const message = 'must not have a path. Use the fields bucket and prefix'
  throw validationError([{ path: 'endpoint', message }])
}

/** @throws ServiceError 400 */
export async function checkChanges({ jobs }: WarehouseServices, changes: DestinationChanges): Promise<void> {
  const details = [...checkSchedule(jobs, changes), ...checkKeys(changes)]
  if (changes.access_key_id !== undefined && changes.secret_access_key === undefined) {
    details.push({ path: 'secret_access_key', message: 'is required with a new access_key_id' })
  }
  if (details.length > 0) throw validationError(details)
}

/** Creates a destination that `checkDestination` accepted, in the caller's transaction. @throws ServiceError 409 */
export async function createDestination(
  tx: Tenant,
  { secrets, jobs }: Pick<WarehouseServices, 'secrets' | 'jobs'>,
  input: NewDestination,
  now: Date,
): Promise<WarehouseDestination> {
  const { name, type, prefix = '', region = 'us-east-1', schedule = 'daily', time_zone = 'UTC' } = input
  const all = tx.db.selectFrom('warehouse_destinations').select(({ fn }) => fn.countAll<number>().as('count'))
  const message = `A tenant can have at most ${DESTINATIONS_MAX} export destinations. Delete an unused one.`
  await requireFewer(tx, 'warehouse_destinations', DESTINATIONS_MAX, () => all.executeTakeFirstOrThrow(), message)
  const destination_id = newId()
  const endpoint = input.endpoint === undefined ? null : new URL(input.endpoint).origin
  const { bucket = null, access_key_id = null, secret_access_key: secret } = input
  const row = await tx.db
    .insertInto('warehouse_destinations')
    .values({
      destination_id,
      name,
      type,
      place: type === 's3' ? [endpoint, bucket, prefix].filter(Boolean).join('/') : `folder:${prefix}`,
      prefix,
      endpoint,
      region: type === 's3' ? region : null,
      bucket,
      access_key_id,
      secret_sealed: secret === undefined ? null : secrets.seal(secret, secretPlace(tx.id, destination_id)),
      schedule,
      time_zone,
      next_run_at: nextTimeOf(jobs, { schedule, time_zone, destination_id }, now),
      created_at: now,
      updated_at: now,
    })
    .onConflict((taken) => taken.columns(['place']).doNothing())
    .returningAll()
    .executeTakeFirst()
  if (row) return toDestination(tx.id, row, null)
  throw conflict('warehouse_place_taken', 'Another destination writes to the same place. Choose another prefix.')
}

/** Changes a destination. The secret counts as changed whenever it is given. @returns the names of the changed fields. */
export async function updateDestination(
  tx: Tenant,
  { secrets, jobs }: Pick<WarehouseServices, 'secrets' | 'jobs'>,
  destinationId: string,
  changes: DestinationChanges,
  now: Date,
): Promise<string[]> {
  const before = await requireDestination(tx, destinationId, true)
  const { secret_access_key: secret, ...plain } = changes
  if (before.type === 'folder' && secret !== undefined) {
    throw validationError([{ path: 'secret_access_key', message: 'is only for the type s3. Remove it' }])
  }
  const changed = Object.entries(plain).flatMap(([name, value]) =>
    value === undefined || value === before[name as keyof typeof plain] ? [] : [name],
  )
  if (secret !== undefined) changed.push('secret_access_key')
  if (changed.length === 0) return []
  const after = { ...before, ...Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined)) }
  const isRescheduled = changed.includes('schedule') || changed.includes('time_zone')
  const isActive = before.paused_at === null
  await tx.db
    .updateTable('warehouse_destinations')
    .set({
      name: after.name,
      access_key_id: after.access_key_id,
      schedule: after.schedule,
      time_zone: after.time_zone,
      ...(secret === undefined
        ? {}
        : { secret_sealed: secrets.seal(secret, secretPlace(tx.id, before.destination_id)) }),
      ...(isRescheduled && isActive ? { next_run_at: nextTimeOf(jobs, after, now) } : {}),
      updated_at: now,
    })
    .where('destination_id', '=', before.destination_id)
    .execute()
  return changed
}

/** Pauses or resumes scheduled runs. A run in progress continues. @returns the names of the changed fields. */
export async function setPaused(
  tx: Tenant,
  jobs: Pick<JobSender, 'nextTime'>,
  destinationId: string,
  isPaused: boolean,
  now: Date,
): Promise<string[]> {
  const before = await requireDestination(tx, destinationId, true)
  if ((before.paused_at !== null) === isPaused) return []
  await tx.db
    .updateTable('warehouse_destinations')
    .set({
      paused_at: isPaused ? now : null,
      next_run_at: isPaused ? null : nextTimeOf(jobs, before, now),
      updated_at: now,
    })
    .where('destination_id', '=', before.destination_id)
    .execute()
  return ['status']
}

/** Deletes a destination and its list of runs. Exported files stay. @throws ServiceError 404 */
export async function deleteDestination(tx: Tenant, destinationId: string): Promise<DestinationRow> {
  const row = await requireDestination(tx, destinationId, true)
  await tx.db.deleteFrom('warehouse_destinations').where('destination_id', '=', row.destination_id).execute()
  return row
}

/** Queues a run of a destination. @throws ServiceError 404, 409 */
export async function runNow(
  tx: Tenant,
  destinationId: string,
  isFull: boolean,
  now: Date,
): Promise<{ runId: string; isNew: boolean }> {
  const { destination_id } = await requireDestination(tx, destinationId, true)
  return requestRun(tx, destination_id, { trigger: 'manual', isFull }, now)
}

/** The row of a destination. @param isLocked locks the row for a change in a transaction. @throws ServiceError 404 */
export async function requireDestination(tenant: Tenant, id: string, isLocked = false): Promise<DestinationRow> {
  if (!isUuid(id)) throw notFound('export destination')
  const query = tenant.db
    .selectFrom('warehouse_destinations')
    .selectAll()
    .where('destination_id', '=', id.toLowerCase())
  const row = await (isLocked ? query.forUpdate() : query).executeTakeFirst()
  if (!row) throw notFound('export destination')
  return row
}

/** @throws ServiceError 404 */
export async function readDestination(tenant: Tenant, id: string): Promise<WarehouseDestination> {
  const row = await requireDestination(tenant, id)
  return toDestination(tenant.id, row, (await latestRuns(tenant, [row.destination_id])).get(row.destination_id) ?? null)
}

/** The names of warehouse destinations, for the audit log. */
export function namesOfDestinations({ db }: Tenant, ids: readonly string[]) {
  return namesIn(
    db.selectFrom('warehouse_destinations').select(['destination_id as id', 'name']).where('destination_id', 'in', ids),
  )
}

/** One page of the destinations, newest first, and the total. */
export async function listDestinations(tenant: Tenant, page: Page) {
  const [rows, counted] = await Promise.all([
    tenant.db
      .selectFrom('warehouse_destinations')
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('destination_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    tenant.db
      .selectFrom('warehouse_destinations')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
  ])
  const ids = rows.map(({ destination_id }) => destination_id)
  const latest = await latestRuns(tenant, ids)
  const destinations = rows.map((row) => toDestination(tenant.id, row, latest.get(row.destination_id) ?? null))
  return { destinations, total: Number(counted.count) }
}
