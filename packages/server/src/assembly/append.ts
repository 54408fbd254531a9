import { addLooks, type FindReacting, prepareLooks } from '../agents/triggers/append.ts'
import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import type { PreparePart } from '../journal/group-commit.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Stores } from '../platform/tenant.ts'
import { appendRecords, prepareDeliveries } from '../webhooks/append.ts'

/** Appends events to the journal with all that they cause: deliveries to webhooks, and looks of agents. */
export function createAppend(findReacting: FindReacting): WriteDependencies['append'] {
  return async (tx, records, ownerLinks) => {
    await appendRecords(tx, records, ownerLinks)
    await addLooks(tx, findReacting, records, ownerLinks)
  }
}

/** The same for the events of a flush, in its statement. */
export function prepareConsequences(
  stores: Stores,
  invalidation: Pick<Invalidation, 'listening' | 'onChange'>,
  findReacting: FindReacting,
): PreparePart {
  const preparing = [prepareDeliveries(stores, invalidation), prepareLooks(stores, findReacting)]
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
