import { filterIn } from '../../conditions/parse.ts'
import type { Config } from '../../config.ts'
import { type ContactFilters, countContacts } from '../../contacts/list.ts'
import { contactFiltersOf, type ListFilter } from '../../contacts/list-filters.ts'
import { conflict, notFound } from '../../platform/errors.ts'
import { offsetOf, type Page } from '../../platform/http/pagination.ts'
import { isUuid, newId } from '../../platform/ids.ts'
import { lock } from '../../platform/postgres/locks.ts'
import { cancelRun, queued, wakeWorkers } from '../../platform/runs/run.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { parseContactFilter } from '../../segments/contact-filters.ts'
import { forgetRun } from '../providers/queue.ts'
import {
  AT_WORK,
  canUndo,
  ENRICHMENT_ROWS,
  type EnrichmentRun,
  type ListedRun,
  type Matching,
  type RunState,
  toListed,
  toRun,
  UNDO_DAYS,
} from './run-object.ts'

/** What finding the contacts of a run needs. */
export interface MatchingServices {
  config: Pick<Config, 'eventFilterContactsMax'>
  /** Filters of lists that belong to other features. */
  listFilters: readonly ListFilter[]
}

/** The contacts of a run as a request names them. */
export interface SentMatching {
  filter?: unknown
  contact_ids?: string[]
  segment_id?: string
  import_id?: string
}

/**
 * The contacts of a run as they are stored. @param visibleOnly whether personal values are hidden from the caller.
 * @throws ServiceError 400.
 */
export function parseMatching({ filter, contact_ids, ...named }: SentMatching, visibleOnly: boolean): Matching {
  return {
    ...named,
    ...(filter === undefined ? {} : { filter: parseContactFilter(filterIn(filter), { visibleOnly }) }),
    // No contact has any other id.
    ...(contact_ids === undefined ? {} : { contact_ids: contact_ids.filter(isUuid).map((id) => id.toLowerCase()) }),
  }
}

/** The filters of the contacts of a run. @throws ServiceError 400 `event_filter_too_broad`, `unknown_segment`, `unknown_import`. */
export async function filtersOf(
  tenant: Tenant,
  { contact_ids, ...matching }: Matching,
  { config, listFilters }: MatchingServices,
  now: Date,
): Promise<ContactFilters> {
  const contactsMax = config.eventFilterContactsMax
  // The request has checked the scopes.
  const filters = await contactFiltersOf(tenant, matching, { listFilters, now, contactsMax, requireScope: () => {} })
  if (filters === null) return { contact_ids: [] }
  return { ...filters, ...(contact_ids === undefined ? {} : { contact_ids }) }
}

/** How many contacts a run would look at. @throws as `filtersOf`. */
export async function countMatching(
  tenant: Tenant,
  matching: Matching,
  services: MatchingServices,
  now: Date,
): Promise<number> {
  return countContacts(tenant, await filtersOf(tenant, matching, services, now))
}

/** Requests a run. @throws ServiceError 409 `another_enrichment_run`. */
export async function requestRun(tx: Tenant, matching: Matching, total: number, now: Date): Promise<string> {
  await requireNoOther(tx)
  const runId = newId()
  await tx.db
    .insertInto('enrichment_runs')
    .values({ run_id: runId, ...queued(), matching: JSON.stringify(matching), total, created_at: now })
    .execute()
  await wakeWorkers(tx)
  return runId
}

/** A page of the runs, newest first, and the total. */
export async function listRuns(
  tenant: Tenant,
  page: Page,
  state: RunState | undefined,
  now: Date,
): Promise<{ runs: ListedRun[]; total: number }> {
  const all = tenant.db.selectFrom('enrichment_runs')
  const found = state === undefined ? all : all.where('state', '=', state)
  const newest = found.selectAll().orderBy('created_at', 'desc').orderBy('run_id', 'desc')
  const [rows, { count }] = await Promise.all([
    newest.limit(page.limit).offset(offsetOf(page)).execute(),
    found.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ])
  return { runs: rows.map((row) => toListed(row, now)), total: Number(count) }
}

/** @throws ServiceError 404. */
export async function readRun(tenant: Tenant, runId: string, now: Date): Promise<EnrichmentRun> {
  const row = await tenant.db.selectFrom('enrichment_runs').selectAll().where('run_id', '=', runId).executeTakeFirst()
  if (!row) throw notFound('enrichment run')
  return toRun(row, now)
}

/**
 * Ends a run. What it has filled stays until it is undone. @returns whether it was cancelled, false if it was already.
 * @throws ServiceError 404, 409 `invalid_run_state`.
 */
export async function cancelEnrichment(tx: Tenant, runId: string, now: Date): Promise<boolean> {
  const { state } = await lockRun(tx, runId)
  if (state === 'cancelled') return false
  if (state !== 'queued' && state !== 'running')
    throw invalidState(state, 'Only a run that has not ended can be cancelled.')
  await cancelRun(ENRICHMENT_ROWS, tx, runId, now)
  await forgetRun(tx, runId)
  return true
}

/** Requests that a run is undone. @throws ServiceError 404, 409 `invalid_run_state`, `another_enrichment_run`. */
export async function requestUndo(tx: Tenant, runId: string, now: Date): Promise<void> {
  const row = await lockRun(tx, runId)
  if (!canUndo(row, now)) {
    const message = `Only a run that has ended, and has changed something within ${UNDO_DAYS} days, can be undone.`
    throw invalidState(row.state, message)
  }
  await requireNoOther(tx)
  await forgetRun(tx, runId)
  await tx.db
    .updateTable('enrichment_runs')
    .set({ ...queued(), task: 'undo', failures: 0, error: null, error_code: null, finished_at: null })
    .where('run_id', '=', runId)
    .execute()
  await wakeWorkers(tx)
}

async function lockRun(tx: Tenant, runId: string) {
  const row = await tx.db
    .selectFrom('enrichment_runs')
    .selectAll()
    .where('run_id', '=', runId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw notFound('enrichment run')
  return row
}

function invalidState(state: string, rule: string) {
  return conflict('invalid_run_state', `The enrichment run is ${state}. ${rule}`)
}

/** A tenant's runs follow one after another: a second one over the same contacts would find nothing. */
async function requireNoOther(tx: Tenant): Promise<void> {
  await lock(tx.db, 'enrichment_runs', tx.id)
  const other = await tx.db
    .selectFrom('enrichment_runs')
    .select('run_id')
    .where('state', 'in', AT_WORK)
    .executeTakeFirst()
  if (!other) return
  const message = `The enrichment run ${other.run_id} is in progress. Start this one when it has ended.`
  throw conflict('another_enrichment_run', message, [{ path: 'run_id', message: other.run_id }])
}
