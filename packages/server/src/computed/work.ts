import { sql } from 'kysely'
import { computeCompanies } from '../companies/write.ts'
import { computeContacts } from '../contacts/computed-values.ts'
import { companiesOfContacts, contactsOfCompanies } from '../contacts/of-companies.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { contactsOf } from '../owners/owners.ts'
import { isOfOpenTenant } from '../platform/closed-tenants.ts'
import { TENANTS_AT_ONCE, workOnDue } from '../platform/due-rows.ts'
import type { Repeated } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import { changeTogether } from '../platform/postgres/collisions.ts'
import { lock } from '../platform/postgres/locks.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { queueChecks } from './checks.ts'
import type { Entity } from './definition.ts'
import { type Computed, ofEvents, readComputed } from './definitions.ts'
import { type Evaluated, evaluateCompanies, evaluateContacts } from './evaluate.ts'
import { type Filling, finishPage, namesBeingFilled, nextPage } from './fill.ts'
import type { Scoring } from './scores/score.ts'
import { evaluateScores } from './scores/values.ts'

/** Records of a round: their rows are locked until it ends. */
const CHECKS_AT_ONCE = 1_000
/**
 * Checks wait for so long for others, because a round has a fixed cost: under a steady load, one round of many records costs a
 * fraction of many rounds of few.
 */
const GATHER_SECONDS = 2
const EXPIRED_AT_ONCE = 500
const PAGE = { contacts: 500, companies: 100 } as const

interface Dependencies {
  stores: Stores
  writing: WriteServices
  clock: Clock
  log: Pick<Logger, 'warn'>
}

/**
 * Keeps computed properties current: of records with new events, of those whose events leave the days that count, and of all
 * records after a change of what is computed. Several processes may do so at the same time.
 */
export function startComputedWorkers({ stores, writing, clock, log }: Dependencies): Repeated {
  return workOnDue({
    readDue: () => tenantsWithDue(stores, clock()),
    work: ({ tenant_id }) => computeSome(openTenant(stores, tenant_id), writing, clock()),
    noun: 'the computed properties of a tenant',
    log,
  })
}

async function tenantsWithDue(stores: Stores, now: Date): Promise<{ tenant_id: string }[]> {
  const { rows } = await sql<{ tenant_id: string }>`
    SELECT tenant_id FROM (
      SELECT tenant_id FROM computed_checks WHERE due_at <= now() - make_interval(secs => ${sql.lit(GATHER_SECONDS)})
      UNION SELECT tenant_id FROM computed_expirations WHERE due_at <= ${now}
      UNION SELECT tenant_id FROM computed_properties WHERE filled_at IS NULL AND fill_after <= now()
    ) AS due WHERE ${isOfOpenTenant(stores)} LIMIT ${sql.lit(TENANTS_AT_ONCE)}`.execute(stores.database)
  return rows
}

/**
 * One round of a tenant: what is due, and a part of what has to be filled. What is computed of events and written commits
 * together with the end of the checks.
 */
export async function computeSome(tenant: Tenant, writing: WriteServices, now: Date): Promise<void> {
  await changeTogether(tenant, async (tx) => {
    // One round at a time: of two, the one that read fewer events could write last.
    await lock(tx.db, 'computed_values', tx.id)
    const { properties, scorings } = await readComputed(tx)
    const checks = await dueChecks(tx)
    const expired = await expiredRecords(tx, now)
    const filling = { contacts: await nextPage(tx, 'contacts', PAGE), companies: await nextPage(tx, 'companies', PAGE) }

    const contacts = await contactsOf(
      tx,
      checks
        .filter(({ entity }) => entity === 'contacts')
        .map(({ record_id: owner_id, is_anonymous }) => ({ owner_id, is_anonymous })),
    )
    const contactIds = new Set([
      ...contacts.values(),
      ...expired.filter(({ entity }) => entity === 'contacts').map(({ record_id }) => record_id),
      ...filling.contacts.ids,
    ])
    await computeOf(tx, scorings.contacts, properties, [...contactIds], writing, filling.contacts, now)

    const isOfCompany = properties.some(({ entity }) => entity === 'companies')
    const companyIds = new Set([
      ...[...checks, ...expired].filter(({ entity }) => entity === 'companies').map(({ record_id }) => record_id),
      ...(isOfCompany ? await companiesOfContacts(tx, [...new Set(contacts.values())]) : []),
      ...filling.companies.ids,
    ])
    await computeOf(tx, scorings.companies, properties, [...companyIds], writing, filling.companies, now)
    await checkContactsOf(tx, scorings.contacts, checks)

    for (const each of [filling.contacts, filling.companies]) await finishPage(tx, each, now)
    await endChecks(
      tx,
      checks.map(({ check_id }) => check_id),
    )
  })
}

/** Has the contacts of companies checked whose scores depend on what the company is, or on how many contacts it has. */
async function checkContactsOf(tx: Tenant, scoring: Scoring, checks: readonly DueCheck[]): Promise<void> {
  const companyIds = checks.flatMap(({ entity, record_id: id, spreads }) =>
    entity === 'companies' && ((spreads && scoring.usesCompany) || scoring.usesContactCount) ? id : [],
  )
  if (companyIds.length > 0) await queueChecks(tx, 'contacts', await contactsOfCompanies(tx, companyIds))
}

/** Computes and writes what some records should have. */
async function computeOf(
  tx: Tenant,
  scoring: Scoring,
  properties: readonly Computed[],
  ids: readonly string[],
  writing: WriteServices,
  { removed }: Pick<Filling, 'removed'>,
  now: Date,
): Promise<void> {
  if (ids.length === 0) return
  const { entity } = scoring
  const computed = ofEvents(properties, entity)
  const evaluate = entity === 'contacts' ? evaluateContacts : evaluateCompanies
  const evaluated = withScores(await evaluate(tx, computed, ids, now), await evaluateScores(tx, scoring, ids, now))
  const withoutRemoved = Object.fromEntries(removed.map((name) => [name, null]))
  const values = new Map([...evaluated].map(([id, each]) => [id, { ...withoutRemoved, ...each.values }]))
  const existing =
    entity === 'contacts'
      ? await computeContacts(tx, writing, values, await scoresToTell(tx, scoring))
      : await computeCompanies(tx, values, now)
  await noteExpirations(tx, entity, ids, new Set(existing), evaluated)
}

function withScores(
  evaluated: ReadonlyMap<string, Evaluated>,
  scores: ReadonlyMap<string, Evaluated>,
): Map<string, Evaluated> {
  return new Map(
    [...evaluated].map(([id, { values, changesAt }]) => {
      const score = scores.get(id)
      const times = [changesAt, score?.changesAt ?? null].filter((at) => at !== null)
      const first = times.length === 0 ? null : new Date(Math.min(...times.map(Number)))
      return [id, { values: { ...values, ...score?.values }, changesAt: first }]
    }),
  )
}

/** A score that is filled in, because it is new or defined otherwise, has neither risen nor fallen. */
async function scoresToTell(tx: Tenant, { entity, scores }: Scoring) {
  const names = new Set(scores.map(({ name }) => name))
  const filling = names.size === 0 ? new Map<string, string | null>() : await namesBeingFilled(tx, entity)
  return (id: string, name: string) => {
    if (!names.has(name)) return false
    const filledTo = filling.get(name)
    return filledTo === undefined || (filledTo !== null && id <= filledTo)
  }
}

interface DueCheck {
  check_id: string
  entity: string
  record_id: string
  is_anonymous: boolean
  spreads: boolean
}

function dueChecks(tx: Tenant): Promise<DueCheck[]> {
  return tx.db
    .selectFrom('computed_checks')
    .select(['check_id', 'entity', 'record_id', 'is_anonymous', 'spreads'])
    .where('due_at', '<=', sql<Date>`now()`)
    .orderBy('check_id')
    .limit(CHECKS_AT_ONCE)
    .execute()
}

async function endChecks(tx: Tenant, checkIds: readonly string[]): Promise<void> {
  if (checkIds.length === 0) return
  await tx.db.deleteFrom('computed_checks').where('check_id', '=', sql<string>`any(${checkIds}::bigint[])`).execute()
}

function expiredRecords(tx: Tenant, now: Date): Promise<{ entity: string; record_id: string }[]> {
  return tx.db
    .selectFrom('computed_expirations')
    .select(['entity', 'record_id'])
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(EXPIRED_AT_ONCE)
    .execute()
}

/** Notes when time alone changes a value of some records. */
async function noteExpirations(
  tx: Tenant,
  entity: Entity,
  ids: readonly string[],
  existing: ReadonlySet<string>,
  evaluated: ReadonlyMap<string, Evaluated>,
): Promise<void> {
  const rows = ids.flatMap((record_id) => {
    const due_at = evaluated.get(record_id)?.changesAt
    return due_at && existing.has(record_id) ? [{ entity, record_id, due_at }] : []
  })
  const kept = new Set(rows.map(({ record_id }) => record_id))
  await tx.db
    .deleteFrom('computed_expirations')
    .where('entity', '=', entity)
    .where('record_id', '=', sql<string>`any(${ids.filter((id) => !kept.has(id))}::uuid[])`)
    .execute()
  if (rows.length === 0) return
  await tx.db
    .insertInto('computed_expirations')
    .values(rows)
    .onConflict((known) =>
      known.columns(['entity', 'record_id']).doUpdateSet(({ ref }) => ({ due_at: ref('excluded.due_at') })),
    )
    .execute()
}
