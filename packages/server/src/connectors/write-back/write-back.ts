import type { Selectable } from 'kysely'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Pair } from '../connector.ts'

/** Which value wins if ours and the system's differ: see `WriteBackProperty`. */
type Conflict = 'ours' | 'theirs' | 'newest'

export type WriteBackPair = Pair & { conflict: Conflict }

/** The stored write-back settings of a connection. */
export interface WriteBackSettings {
  properties: WriteBackPair[]
  create_missing: boolean
}

type Row = Pick<Selectable<TenantTables['connections']>, 'write_back' | 'write_back_error'>

export function settingsOf({ write_back }: Pick<Row, 'write_back'>): WriteBackSettings | null {
  return write_back as unknown as WriteBackSettings | null
}

export function pairsOf(row: Pick<Row, 'write_back'>): readonly Pair[] {
  return settingsOf(row)?.properties ?? []
}

/** The properties for which the system's values yield to those here. */
export function yieldedBy(row: Pick<Row, 'write_back'>): ReadonlySet<string> {
  const ours = settingsOf(row)?.properties.filter(({ conflict }) => conflict === 'ours') ?? []
  return new Set(ours.map(({ property }) => property))
}

/** The write-back state in API responses. */
export function writeBackState(row: Row, waiting: number) {
  const settings = settingsOf(row)
  return settings && { ...settings, waiting, error: row.write_back_error }
}
