import { sql } from 'kysely'
import { compileFilter } from '../conditions/to-postgres.ts'
import { CONTACT_ID } from '../contacts/columns.ts'
import { lockUnlessBusy } from '../contacts/locks.ts'
import { idsMatchingWith } from '../contacts/matching.ts'
import { type ContactRange, rangesOfContacts } from '../contacts/ranges.ts'
import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import { toRecords } from '../journal/append.ts'
import { isMemberOf } from '../memberships/memberships.ts'
import { whileClaimed } from '../platform/postgres/lease.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { possibleTransitions, queueChecks, queueChecksAfter } from './check-queue.ts'
import { type ClaimedSegment, finishSegment, whereClaimed } from './claim.ts'
import { contextOf } from './contact-filters.ts'
import type { Definition, Definitions } from './definitions.ts'
import { evaluateCompanies } from './evaluate-companies.ts'
import { evaluateContacts } from './evaluate-contacts.ts'
import { applyEvaluations } from './membership.ts'
import { isMet, MET_CONDITIONS } from './met-conditions.ts'
import { refreshMetConditions } from './refresh-conditions.ts'
import { recordSilentChange } from './silent-changes.ts'

/** Contacts evaluated against a filter in one statement. */
const CONTACTS_PER_RANGE = 20_000
/** Contacts whose membership changes in one transaction: their rows are locked until it ends. */
const CONTACTS_AT_ONCE = 1_000

export interface EvaluateDependencies {
  definitions: Definitions
  clock: Clock
  append: WriteDependencies['append']
  /** Aborts an evaluation; the next claim of the segment starts over. */
  signal?: AbortSignal
}

/**
 * Evaluates a segment, which this process has claimed, for every contact or company of the tenant. The first evaluation records no
 * entries, because it only finds the members that the segment has from the start. The caller then releases the segment,
 * which changes nothing if the evaluation was completed.
 */
export async function evaluateSegment(
  tenant: Tenant,
  dependencies: EvaluateDependencies,
  segment: ClaimedSegment,
): Promise<void> {
  await whileClaimed('segment', whereClaimed(tenant, segment), (lost) => {
    const { signal } = dependencies
    return evaluate(tenant, dependencies, segment, signal ? AbortSignal.any([signal, lost]) : lost)
  })
}

async function evaluate(
  tenant: Tenant,
  dependencies: EvaluateDependencies,
  claimed: ClaimedSegment,
  stopping: AbortSignal,
): Promise<void> {
  const { segmentId } = claimed
  const segment = await tenant.db
    .selectFrom('segments')
    .select(['revision', 'evaluated_at', sql<string>`now()::text`.as('started_at')])
    .where('segment_id', '=', segmentId)
    .executeTakeFirst()
  const { contacts, companies } = await dependencies.definitions.of(tenant)
  const definition = [...contacts, ...companies].find((each) => each.segmentId === segmentId)
  if (!segment || !definition || definition.revision !== Number(segment.revision)) return
  const isDone = companies.includes(definition)
    ? await evaluateCompanies(tenant, dependencies, definition, stopping)
    : await evaluateAllContacts(tenant, dependencies, definition, stopping, segment.evaluated_at === null)
  if (isDone) await finishSegment(tenant, claimed, segment.revision, segment.started_at)
}

/** @returns false if aborted, or if the segment has changed. */
async function evaluateAllContacts(
  tenant: Tenant,
  dependencies: EvaluateDependencies,
  definition: Definition,
  stopping: AbortSignal,
  silent: boolean,
): Promise<boolean> {
  const now = dependencies.clock()
  const usesEvents = definition.matches.length > 0
  if (usesEvents && !(await refreshMetConditions(tenant, dependencies.definitions, definition, now, stopping))) {
    return false
  }
  for await (const range of rangesOfContacts(tenant, CONTACTS_PER_RANGE)) {
    if (stopping.aborted) return false
    if (!(await evaluateRange(tenant, dependencies, definition, range, silent))) return false
  }
  return true
}

/** @returns false if the segment has changed. */
async function evaluateRange(
  tenant: Tenant,
  dependencies: EvaluateDependencies,
  definition: Definition,
  range: ContactRange,
  silent: boolean,
): Promise<boolean> {
  const now = dependencies.clock()
  const { filter, segmentId, zone } = definition
  const condition = compileFilter(filter, { ...contextOf(now, zone), hasEvents: isMet })
  const isMember = isMemberOf(tenant, segmentId, CONTACT_ID)
  const ids = await idsMatchingWith(tenant, range, MET_CONDITIONS, sql<boolean>`${condition} <> ${isMember}`)
  for (let from = 0; from < ids.length; from += CONTACTS_AT_ONCE) {
    const part = ids.slice(from, from + CONTACTS_AT_ONCE)
    if (!(await correctMemberships(tenant, dependencies, definition, part, silent, now))) return false
  }
  return true
}

/** Corrects wrong memberships of contacts, if they are still wrong. */
async function correctMemberships(
  tenant: Tenant,
  { definitions, append }: EvaluateDependencies,
  definition: Definition,
  contactIds: readonly string[],
  silent: boolean,
  now: Date,
): Promise<boolean> {
  const { segmentId, revision } = definition
  return tenant.transaction(async (tx) => {
    const known = await definitions.of(tx)
    const isCurrent = known.contacts.some((each) => each.segmentId === segmentId && each.revision === revision)
    if (!isCurrent) return false
    const { locked, busy } = await lockUnlessBusy(tx, contactIds)
    await queueChecks(tx, busy)
    if (!silent) await queueChecksAfter(tx, known, possibleTransitions(locked))
    const evaluations = locked.length > 0 ? await evaluateContacts(tx, [definition], locked, now) : []
    const events = await applyEvaluations(tx, [definition], evaluations, now)
    if (silent) await recordSilentChange(tx, segmentId, events, now)
    await append(tx, silent ? [] : toRecords(tx.id, events), [])
    return true
  })
}
