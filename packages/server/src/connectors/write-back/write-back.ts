import type { Selectable } from 'kysely'
import type { PropertyValue } from '../../contacts/properties.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Client } from '../client.ts'
import type { Pair, Settings } from '../connector.ts'

/** Which value wins if ours and the system's differ: see `WriteBackProperty`. */
type Conflict = 'ours' | 'theirs' | 'newest'

export type WriteBackPair = Pair & { conflict: Conflict }

/** The stored write-back settings of a connection. */
export interface WriteBackSettings {
  properties: WriteBackPair[]
  create_missing: boolean
}

/** How a connector writes contacts back. */
export interface WriteBack {
  /** The object that reads contacts. Nothing is written before its first complete read. */
  object: string
  /** The maximum number of contacts per call of `read` and `write`. */
  batchSize: number
  /** Fields that cannot be written: keys, and fields that the system computes. */
  readOnly: readonly string[]
  /** Whether `property` is read from `target` by default. */
  reads(pair: Pair): boolean
  /** A value as the system stores it, for comparing and writing; null if the system has no equivalent. */
  textOf(target: string, value: PropertyValue): string | null
  /** The names of the fields that the system has for contacts. */
  fields(client: Client): Promise<ReadonlySet<string>>
  /**
   * Reads the contacts' current values in the system.
   * @returns a record for each contact; null: the system does not have it.
   */
  read(
    client: Client,
    contacts: readonly WriteBackContact[],
    targets: readonly string[],
  ): Promise<(CurrentRecord | null)[]>
  /**
   * Writes contacts; writing them again changes nothing. A record that fails does not affect the others.
   * @returns a result for each record.
   */
  write(client: Client, records: readonly OutgoingRecord[], settings: Settings): Promise<WriteResult[]>
}

/** A contact to match with a record of the system. */
export interface WriteBackContact {
  /** The system's id; null: match by email, or create the record. */
  externalId: string | null
  /** Set if `externalId` is null. */
  email: string | null
}

/** The system's current record of a contact. */
export interface CurrentRecord {
  externalId: string
  /** By target: the system's text, and the value that a read makes of it. Targets without a value are absent. */
  values: ReadonlyMap<string, { text: string; value: PropertyValue | null }>
  /** When the record was last changed there. */
  changedAt: Date | null
}

/** A contact to write. */
export interface OutgoingRecord extends WriteBackContact {
  /** An empty text clears the value. */
  values: readonly (Pair & { text: string })[]
}

export type WriteResult =
  | {
      status: 'written'
      externalId: string
      /** When the system created the record. A new source record gets this time. */
      createdAt: Date | null
      /** What the system stored for the values that were sent, by our property; null if a value was cleared. */
      stored: ReadonlyMap<string, PropertyValue | null>
    }
  | { status: 'failed'; code: string; message: string; isFinal: boolean }

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
