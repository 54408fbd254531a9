import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { hasCompanyProperty } from '../companies/list.ts'
import { isConsent } from '../contacts/consent.ts'
import { hasContactProperty } from '../contacts/found-properties.ts'
import { KEY_LENGTH_MAX } from '../contacts/properties.ts'
import { COMPANY_PROPERTIES, CONTACT_PROPERTIES } from '../contacts/property-catalogue.ts'
import { plainName } from '../contacts/property-names.ts'
import { FIRST_TOUCH_KEYS } from '../contacts/writing/first-touch-keys.ts'
import { namesIn } from '../operations/audit.ts'
import type { Context } from '../operations/declare.ts'
import { conflict, notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { wordsOf } from '../platform/http/query-parameters.ts'
import { newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import { requireName } from '../platform/names.ts'
import { announceChange } from '../platform/postgres/invalidation.ts'
import { contains } from '../platform/postgres/text-filters.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type ComputedProperty, definitionOf, toComputedProperty } from './computed-property-object.ts'
import {
  type ComputedDefinition,
  checkDefinition,
  type Defined,
  type Entity,
  isScore,
  type SentDefinition,
} from './definition.ts'
import { readComputed } from './definitions.ts'
import { checkRules } from './scores/score.ts'

/** All of them are computed for each contact with a new event. */
const COMPUTED_PROPERTIES_MAX = 50
/** Other processes learn of a definition within this time; the past is filled in afterwards, so no event is missed. */
const KNOWN_AFTER_SECONDS = 1

/** Names of records that are no properties of their own. */
const RESERVED = {
  contacts: [...Object.keys(CONTACT_PROPERTIES), ...FIRST_TOUCH_KEYS, 'contact_id', '_id', 'segment', 'external_id'],
  companies: [...Object.keys(COMPANY_PROPERTIES), 'company_id', '_id', 'external_id'],
} satisfies Record<Entity, readonly string[]>

/** A page of the computed properties, by name. */
export async function listComputedProperties(
  tenant: Tenant,
  { entity, search }: { entity?: Entity | undefined; search?: string | undefined },
  page: Page,
): Promise<{ properties: ComputedProperty[]; total: number }> {
  let found = tenant.db
    .selectFrom('computed_properties')
    .where('deleted_at', 'is', null)
    .where((eb) => eb.and(wordsOf(search).map((word) => contains(sql`fold_text(name)`, word))))
  if (entity !== undefined) found = found.where('entity', '=', entity)
  const [rows, counted] = await Promise.all([
    found
      .selectAll()
      .orderBy('name')
      .orderBy('computed_property_id')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    found.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ])
  return { properties: rows.map(toComputedProperty), total: Number(counted.count) }
}

/** @throws ServiceError 404. */
export async function readComputedProperty(tenant: Tenant, id: string): Promise<ComputedProperty> {
  const row = await select(tenant, id).executeTakeFirst()
  if (!row) throw notFound('computed property')
  return toComputedProperty(row)
}

/**
 * A name that no record has as a property. It reads all of them, so call it outside of a transaction.
 * @throws ServiceError 400; 409 `property_in_use`.
 */
export async function requireUnusedName(tenant: Tenant, entity: Entity, sent: string): Promise<string> {
  const name = requireName(sent, KEY_LENGTH_MAX)
  const plain = plainName(name)
  const isReserved = RESERVED[entity].some((reserved) => plainName(reserved) === plain) || isConsent(name)
  const has = entity === 'contacts' ? hasContactProperty : hasCompanyProperty
  if (isReserved || (await tenant.heavyRead(() => has(tenant, name)))) throw inUse(name, entity)
  return name
}

/** @throws ServiceError 400; 409 `property_in_use`, `too_many_computed_properties`. */
export async function createComputedProperty(
  { tenant: tx, now }: Pick<Context, 'tenant' | 'now'>,
  { entity, name, definition }: { entity: Entity; name: string; definition: ComputedDefinition },
): Promise<ComputedProperty> {
  const all = tx.db.selectFrom('computed_properties').select(({ fn }) => fn.countAll<number>().as('count'))
  const message = `A tenant can have at most ${COMPUTED_PROPERTIES_MAX} computed properties. Delete an unused one.`
  await requireFewer(tx, 'computed_properties', COMPUTED_PROPERTIES_MAX, () => all.executeTakeFirstOrThrow(), message)
  const row = await tx.db
    .insertInto('computed_properties')
    .values({
      computed_property_id: newId(),
      entity,
      name,
      definition: JSON.stringify(definition),
      fill_after: FILL_AFTER,
      created_at: now,
      updated_at: now,
    })
    .onConflict((known) => known.columns(['entity', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!row) throw inUse(name, entity)
  await announceChange(tx.db)
  return toComputedProperty(row)
}

/**
 * Changes what is computed; undefined fields are unchanged. All records get their new values in the background.
 * @returns the names of the changed fields.
 * @throws ServiceError 404, 400 naming every invalid field; 412 `changed_meanwhile`.
 */
export async function updateComputedProperty(
  { tenant: tx, now, requireMatch }: Pick<Context, 'tenant' | 'now' | 'requireMatch'>,
  id: string,
  changes: SentDefinition,
  etagOf: (property: ComputedProperty) => string,
): Promise<{ property: ComputedProperty; changed: string[] }> {
  const before = await select(tx, id).forUpdate().executeTakeFirst()
  if (!before) throw notFound('computed property')
  requireMatch(etagOf(toComputedProperty(before)))
  const stored = definitionOf(before)
  const sent = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  const { entity, name } = toComputedProperty(before)
  const definition = await withCheckedRules(
    tx,
    { entity, name },
    checkDefinition({ ...stored, ...sent } as SentDefinition),
  )
  if (isDeepStrictEqual(definition, stored)) return { property: toComputedProperty(before), changed: [] }
  const row = await tx.db
    .updateTable('computed_properties')
    .set({
      definition: JSON.stringify(definition),
      revision: sql<number>`revision + 1`,
      fill_after: FILL_AFTER,
      filled_to: null,
      filled_at: null,
      updated_at: now,
    })
    .where('computed_property_id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await announceChange(tx.db)
  const [was, is] = [stored, definition].map((each) => each as unknown as Record<string, unknown>)
  const changed = Object.keys({ ...was, ...is }).filter((field) => !isDeepStrictEqual(was?.[field], is?.[field]))
  return { property: toComputedProperty(row), changed: changed.sort() }
}

/** Deletes a computed property; its values are removed in the background. @throws ServiceError 404, 412. */
export async function deleteComputedProperty(
  { tenant: tx, now, requireMatch }: Pick<Context, 'tenant' | 'now' | 'requireMatch'>,
  id: string,
  etagOf: (property: ComputedProperty) => string,
): Promise<ComputedProperty> {
  const before = await select(tx, id).forUpdate().executeTakeFirst()
  if (!before) throw notFound('computed property')
  const property = toComputedProperty(before)
  requireMatch(etagOf(property))
  await tx.db
    .updateTable('computed_properties')
    .set({
      deleted_at: now,
      revision: sql<number>`revision + 1`,
      fill_after: FILL_AFTER,
      filled_to: null,
      filled_at: null,
    })
    .where('computed_property_id', '=', id)
    .execute()
  await announceChange(tx.db)
  return property
}

/** The names of computed properties, for the audit log. */
export function namesOfComputedProperties({ db }: Tenant, ids: readonly string[]) {
  return namesIn(
    db
      .selectFrom('computed_properties')
      .select(['computed_property_id as id', 'name'])
      .where('computed_property_id', 'in', ids),
  )
}

/** Has scores filled in again whose rules may name days, once the tenant's time zone has changed: a day is another one. */
export async function refillScores(tx: Tenant): Promise<void> {
  await tx.db
    .updateTable('computed_properties')
    .set({ revision: sql<number>`revision + 1`, fill_after: FILL_AFTER, filled_to: null, filled_at: null })
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`definition ? 'score'`)
    .where(sql<boolean>`definition::text ~ '"(\\d{4}-\\d{2}-\\d{2}|segment)"'`)
    .execute()
  await announceChange(tx.db)
}

/** A definition whose filters are in their stored form. @throws ServiceError 400 naming every invalid field. */
export async function withCheckedRules(
  tenant: Tenant,
  of: Pick<Defined, 'entity' | 'name'>,
  definition: ComputedDefinition,
): Promise<ComputedDefinition> {
  if (!isScore(definition)) return definition
  return { score: await checkRules(tenant, of, definition.score, (await readComputed(tenant)).properties) }
}

const FILL_AFTER = sql<Date>`now() + make_interval(secs => ${sql.lit(KNOWN_AFTER_SECONDS)})`

function select({ db }: Tenant, id: string) {
  return db
    .selectFrom('computed_properties')
    .selectAll()
    .where('computed_property_id', '=', id)
    .where('deleted_at', 'is', null)
}

function inUse(name: string, entity: Entity) {
  const record = entity === 'contacts' ? 'contacts' : 'companies'
  const message = `The property ${name} of ${record} is in use, or its values are still being removed. Choose another name.`
  return conflict('property_in_use', message, [{ path: 'name', message: 'is in use' }])
}
