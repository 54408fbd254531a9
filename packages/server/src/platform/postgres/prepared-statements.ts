import pg from 'pg'

/** How often a statement must have run before it is prepared. */
const PREPARED_AFTER = 50
/** Each connection keeps what it has prepared: 100 KB for the largest statements. */
const PREPARED_MAX = 100
/** Statements that are counted at the same time. Texts that depend on the number of their values can be many. */
const COUNTED_MAX = 2_000

export interface PreparedStatements {
  /** The name under which a statement is prepared; undefined if it is rare. */
  nameOf(text: string): string | undefined
  /** Never prepares a statement again. */
  forget(text: string): void
}

/**
 * Names the statements that run often, so that PostgreSQL parses each once per connection. It plans them anew each time
 * (`PLAN_ANEW`): a plan without the values would be that of an average tenant, and of the tables as they were when it was made.
 */
export function createPreparedStatements(): PreparedStatements {
  const names = new Map<string, string | undefined>()
  const counts = new Map<string, number>()
  return {
    nameOf(text) {
      if (names.has(text)) return names.get(text)
      if (names.size >= PREPARED_MAX) return undefined
      const count = (counts.get(text) ?? 0) + 1
      if (count < PREPARED_AFTER) {
        if (counts.size >= COUNTED_MAX) counts.clear()
        counts.set(text, count)
        return undefined
      }
      counts.delete(text)
      const name = `prepared_${names.size}`
      names.set(text, name)
      return name
    },
    forget: (text) => void names.set(text, undefined),
  }
}

/** Begins a connection whose statements are prepared. */
export const PLAN_ANEW = 'SET plan_cache_mode = force_custom_plan'

/** Whether a prepared statement failed because a table has other columns since; it would fail again on this connection. */
export function isOutdatedPlan(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.routine === 'RevalidateCachedQuery'
}
