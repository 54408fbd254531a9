import { sql } from 'kysely'
import { appendRecords, toRecords } from '../journal/append.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { queueChecks } from './check-queue.ts'
import { compileFilter } from './conditions.ts'
import type { Definition, Definitions } from './definitions.ts'
import { askEvents, EventAnswers } from './events.ts'
import { hasEventsBy } from './judge.ts'
import { applyJudgements } from './membership.ts'
import { recordSilentChange } from './silent-changes.ts'

/** ClickHouse reads the tenant's events once for so many contacts, and holds the answer in memory. */
const CONTACTS_A_RANGE = 20_000
/** Contacts whose membership changes in one transaction: their rows are locked until it ends. */
const CONTACTS_AT_ONCE = 1_000
const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** How long a process that evaluates a segment has it for itself before another takes it for dead. */
export const LEASE = sql<Date>`now() + interval '2 minutes'`

export interface EvaluateDependencies {
  definitions: Definitions
  clock: Clock
  /** Ends an evaluation before its time; whoever claims the segment next begins anew. */
  signal?: AbortSignal
}

interface Range {
  after: string
  upTo: string
}

/**
 * Holds every contact of the tenant against a segment that this process has claimed. The first time nobody is said to
 * have entered: who belonged all along has not entered anything.
 */
export async function evaluateSegment(
  tenant: Tenant,
  dependencies: EvaluateDependencies,
  segmentId: string,
): Promise<void> {
  const segment = await tenant.db
    .selectFrom('segments')
    .select(['revision', 'evaluated_at', sql<string>`now()::text`.as('started_at')])
    .where('segment_id', '=', segmentId)
    .executeTakeFirst()
  const definition = (await dependencies.definitions.of(tenant)).find((each) => each.segmentId === segmentId)
  if (!segment || !definition) return
  try {
    if (definition.revision !== Number(segment.revision)) return
    for (let range = await nextRange(tenant, FIRST_ID); range; range = await nextRange(tenant, range.upTo)) {
      if (dependencies.signal?.aborted) return
      const silent = segment.evaluated_at === null
      if (!(await evaluateRange(tenant, dependencies, definition, range, silent))) return
      await tenant.db
        .updateTable('segments')
        .set({ claimed_until: LEASE })
        .where('segment_id', '=', segmentId)
        .execute()
    }
    await tenant.db
      .updateTable('segments')
      .set({ evaluated_at: sql`${segment.started_at}::timestamptz` })
      .where('segment_id', '=', segmentId)
      .where('revision', '=', segment.revision)
      .execute()
  } finally {
    // After a failure, or when the segment has changed meanwhile, it is due again: soon, but not at once.
    await tenant.db
      .updateTable('segments')
      .set({
        claimed_until: sql`CASE WHEN evaluated_at = ${segment.started_at}::timestamptz THEN NULL
        ELSE now() + interval '2 seconds' END`,
      })
      .where('segment_id', '=', segmentId)
      .execute()
  }
}

async function nextRange(tenant: Tenant, after: string): Promise<Range | null> {
  if (after === LAST_ID) return null
  const last = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('contact_id', '>', after)
    .orderBy('contact_id')
    .offset(CONTACTS_A_RANGE - 1)
    .limit(1)
    .executeTakeFirst()
  return { after, upTo: last?.contact_id ?? LAST_ID }
}

/** @returns false when the segment is no longer what it was. */
async function evaluateRange(
  tenant: Tenant,
  dependencies: EvaluateDependencies,
  definition: Definition,
  range: Range,
  silent: boolean,
): Promise<boolean> {
  const now = dependencies.clock()
  const { matches, segmentId } = definition
  const answers = matches.length > 0 ? await askEvents(tenant, matches, range, now) : new EventAnswers()
  const condition = compileFilter(definition.filter, { now, hasEvents: hasEventsBy(answers) })
  const rows = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('contact_id', '>', range.after)
    .where('contact_id', '<=', range.upTo)
    .where((eb) => sql<boolean>`${condition} <> ${eb.exists(memberRow(tenant, segmentId))}`)
    .execute()
  const ids = rows.map((row) => row.contact_id)
  for (let from = 0; from < ids.length; from += CONTACTS_AT_ONCE) {
    const part = ids.slice(from, from + CONTACTS_AT_ONCE)
    if (!(await settle(tenant, dependencies, definition, part, answers.among(part), silent, now))) return false
  }
  return true
}

function memberRow(tenant: Tenant, segmentId: string) {
  return tenant.db
    .selectFrom('segment_members')
    .select('segment_members.contact_id')
    .where('segment_members.segment_id', '=', segmentId)
    .where('segment_members.contact_id', '=', sql<string>`contacts.contact_id`)
}

/** Changes the membership of contacts that are not what they should be, as far as that still holds. */
async function settle(
  tenant: Tenant,
  { definitions }: EvaluateDependencies,
  definition: Definition,
  contactIds: readonly string[],
  answers: EventAnswers,
  silent: boolean,
  now: Date,
): Promise<boolean> {
  const { segmentId, filter, revision } = definition
  return tenant.transaction(async (tx) => {
    const known = await definitions.of(tx)
    const isCurrent = known.some((each) => each.segmentId === segmentId && each.revision === revision)
    if (!isCurrent) return false
    const rows = await tx.db
      .selectFrom('contacts')
      .select(['contact_id', compileFilter(filter, { now, hasEvents: hasEventsBy(answers) }).as('belongs')])
      .where('contact_id', 'in', contactIds)
      .orderBy('contact_id')
      .forNoKeyUpdate()
      .skipLocked()
      .execute()
    const judgements = rows.map((row) => ({
      contactId: row.contact_id,
      // Each is on the wrong side, or was a moment ago; what is so already is not written again.
      memberOf: new Set(row.belongs ? [] : [segmentId]),
      belongs: new Map([[segmentId, Boolean(row.belongs)]]),
    }))
    const events = await applyJudgements(tx, [definition], judgements, now)
    // Whom somebody else is changing at this moment is looked at afterwards.
    const settled = new Set(rows.map((row) => row.contact_id))
    await queueChecks(
      tx,
      contactIds.filter((contactId) => !settled.has(contactId)),
    )
    if (silent) await recordSilentChange(tx, segmentId, events, now)
    await appendRecords(tx, silent ? [] : toRecords(tx.id, events))
    return true
  })
}
