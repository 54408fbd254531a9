import { addLooks, type FindReacting, prepareLooks } from '../agents/triggers/append.ts'
import { addChecks, prepareChecks } from '../computed/checks.ts'
import type { FindComputed } from '../computed/definitions.ts'
import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import type { PreparePart } from '../journal/group-commit.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Stores } from '../platform/tenant.ts'
import { appendRecords, prepareDeliveries } from '../webhooks/append.ts'

/** Finds what the events of a tenant cause. */
interface Finders {
  findReacting: FindReacting
  findComputed: FindComputed
}

/** Appends events to the journal with all that they cause: deliveries to webhooks, looks of agents, and computed properties. */
export function createAppend({ findReacting, findComputed }: Finders): WriteDependencies['append'] {
  return async (tx, records, ownerLinks) => {
    await appendRecords(tx, records, ownerLinks)
    await addLooks(tx, findReacting, records, ownerLinks)
    await addChecks(tx, findComputed, records, ownerLinks)
  }
}

/** The same for the events of a flush, in its statement. */
export function prepareConsequences(
  stores: Stores,
  invalidation: Pick<Invalidation, 'listening' | 'onChange'>,
  { findReacting, findComputed }: Finders,
): PreparePart {
  return inOneStatement([
    prepareDeliveries(stores, invalidation),
    prepareLooks(stores, findReacting),
    prepareChecks(stores, findComputed),
  ])
}

/** Several parts of the statement of a flush as one. */
export function inOneStatement(preparing: readonly PreparePart[]): PreparePart {
  return async (tenantIds) => {
    const makers = await Promise.all(preparing.map((prepare) => prepare(tenantIds)))
    return (events) => {
      const parts = makers.flatMap((make) => make(events) ?? [])
      if (parts.length === 0) return null
      return {
        name: parts.map(({ name }) => name).join('.'),
        sql: (firstParameter) => {
          let next = firstParameter
          return parts
            .map(({ sql, values }) => {
              const text = sql(next)
              next += values.length
              return text
            })
            .join(', ')
        },
        values: parts.flatMap(({ values }) => values),
      }
    }
  }
}
