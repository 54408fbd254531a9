import type { SealedColumn } from '../crypto/reseal.ts'
import type { Tenant } from '../tenant.ts'
import type { Database, TenantTables } from './database.ts'
import type { DB } from './generated/tables.ts'

/*
 * What a table says of itself, in the `tables.ts` beside its `tables.sql`. Merges and unmerges of contacts, deletions, erasures
 * with their receipts, tenants' exports, new secret keys and retention follow from it: nothing else lists tables.
 * `assembly/tables.ts` collects them, and does not compile without a table of the database.
 */

/** What an erasure searches for. It is stored while the erasure runs, and deleted when it is verified. */
export interface ErasureSubject {
  contactId: string
  /** null if the contact was deleted earlier, so that its email is no longer stored. */
  email: string | null
  /** The visitors that belonged to the contact. */
  visitorIds: string[]
  /** The keys by which conversations identify the contact: its email and its ids in connected systems. */
  keys: { directory: string; key: string }[]
  /** The external ids that led to the contact. Absent from an erasure that was requested before they were kept. */
  externalIds?: string[]
}

/** Rows that go from one contact to another, at a merge or back at its unmerge. */
export interface Move {
  from: string
  to: string
  /** `merge` or `unmerge`. */
  source: string
  now: Date
  /** The transaction's log, for tables that ClickHouse has a copy of. */
  log: { ownerLinks: object[] }
}

/** A key of a row that has moved, as JSON: a merge stores them. */
export type MovedKey = Record<string, string> | string

/**
 * What happens to a contact's rows when it is merged into another and its own row is deleted.
 * - `moves`: they go to the survivor, and back at an unmerge, by their column `contact_id`.
 * - a function: the same by a rule of their own. @param only at an unmerge: what the merge has moved. @returns what it moved.
 * - `dies`: they are deleted with the contact's row, because the survivor's are written anew.
 * - `followed`: they keep the id that they were written for, and whoever reads them looks for the survivor (`survivorsOf`).
 */
type ContactFate = 'moves' | 'dies' | 'followed' | MoveRows
// biome-ignore lint/suspicious/noExplicitAny: Each table's rule knows the keys that it has moved itself.
export type MoveRows = (tx: Tenant, move: Move, only?: readonly any[]) => Promise<readonly MovedKey[]>

/**
 * Deletes what a table and its neighbours say of a person. It is called repeatedly, even after the contact itself is deleted,
 * and deletes what is left each time. @returns the number of rows deleted or changed, by kind, for the receipt.
 */
export type Eraser = (tx: Tenant, subject: ErasureSubject) => Promise<Record<string, number>>

interface ExportedTable<Column> {
  /** Columns that are not exported, besides ciphertexts: hashes of secrets, and columns derived by the database. */
  without?: readonly Column[]
  /** Rows read at a time, for tables with large rows. */
  rowsPerPage?: number
  /** Whether its rows are counted first, to show the progress. */
  isLarge?: true
}

type ColumnOf<Name extends keyof DB> = keyof DB[Name] & string
type SealedNames<Name extends keyof DB> = Extract<ColumnOf<Name>, `${string}sealed`>
type When<Condition, Rule> = [Condition] extends [never] ? unknown : Rule

/** The rules of one table. Those that its columns call for are required. */
export type TableRules<Name extends keyof DB> = {
  /** Its primary key without the tenant; [] if a tenant has one row. Exports are sorted by it. */
  key: readonly Exclude<ColumnOf<Name>, 'tenant_id'>[]
  contact?: ContactFate
  /** Before a contact is deleted, rather than merged: what has to happen to its rows that outlive it. */
  release?: (tx: Tenant, contactId: string, now: Date) => Promise<void>
  /** Deletes what the table says of a person, unless that dies with the contact's row. */
  erase?: Eraser
  /** Instead: the table whose `erase` does it. */
  erasedWith?: keyof DB
  /** Instead: it has nothing of a person but ids, which stay. */
  hasOnlyIds?: true
  /** The name in the receipt of an erasure for rows that die with the contact's. */
  counted?: string
  /** What happens to rows of a company that is deleted. */
  company?: 'cleared' | 'dies' | 'stays'
  /** Whether it is part of a tenant's export; `none` for internal state without data that other tables lack. */
  export?: ExportedTable<ColumnOf<Name>> | 'none'
  /** When its rows are too old to be kept: so long after the time in a column. Or a rule of its own. */
  retention?: { column: ColumnOf<Name>; ms: number } | ((database: Database, now: Date) => Promise<void>)
  /** Ciphertexts: the place that each is bound to, from the columns of the primary key and the tenant. */
  sealed?: Readonly<Record<string, SealedColumn['place']>>
} & When<Extract<ColumnOf<Name>, 'contact_id'>, { contact: ContactFate }> &
  When<Extract<ColumnOf<Name>, 'company_id'>, { company: 'cleared' | 'dies' | 'stays' }> &
  When<SealedNames<Name>, { sealed: Readonly<Record<SealedNames<Name>, SealedColumn['place']>> }> &
  When<Extract<Name, keyof TenantTables>, { export: ExportedTable<ColumnOf<Name>> | 'none' }>

/** The tables of a feature. */
export type Tables = { readonly [Name in keyof DB]?: TableRules<Name> }
/** All tables. */
export type AllTables = { readonly [Name in keyof DB]: TableRules<Name> }

/** A table as those see it that go through all of them. */
export interface AnyTable {
  name: keyof DB
  key: readonly string[]
  contact?: ContactFate
  release?: (tx: Tenant, contactId: string, now: Date) => Promise<void>
  erase?: Eraser
  erasedWith?: keyof DB
  hasOnlyIds?: true
  counted?: string
  company?: 'cleared' | 'dies' | 'stays'
  export?: ExportedTable<string> | 'none'
  retention?: { column: string; ms: number } | ((database: Database, now: Date) => Promise<void>)
  sealed?: Readonly<Record<string, SealedColumn['place']>>
}

/** The tables as a list, in their order. */
export function listTables(tables: AllTables): readonly AnyTable[] {
  return Object.entries(tables).map(([name, rules]) => ({ ...rules, name: name as keyof DB }))
}

/** Every column with a ciphertext. */
export function sealedColumns(tables: readonly AnyTable[]): SealedColumn[] {
  return tables.flatMap(({ name, key, sealed = {}, export: exported }) => {
    const isOfTenant = exported !== undefined
    const wholeKey = isOfTenant ? ['tenant_id', ...key] : key
    return Object.entries(sealed).map(([column, place]) => ({ table: name, key: wholeKey, column, place }))
  })
}
