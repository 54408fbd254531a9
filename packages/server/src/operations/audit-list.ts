import { type Selectable, sql } from 'kysely'
import Type from 'typebox'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { ABOUT_CONTACT, bag, TEXT, WORD, when } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Actor, NAME_OF_ACTOR } from './audit.ts'

/** Subjects whose name is a person's. */
export const PERSONAL_SUBJECTS = ['action', 'contact', 'identity', 'invitation', 'suppression', 'user']

/** An entry of the audit log. */
export const AuditLogEntry = Type.Object(
  {
    entry_id: Id,
    at: Timestamp,
    actor: Type.Object({
      kind: Type.Unsafe<Actor['kind']>({
        type: 'string',
        enum: ['user', 'api_key', 'command_line', 'agent', 'service'],
      }),
      id: Type.Optional(Type.String(WORD)),
      name: Type.Optional(Type.String(NAME_OF_ACTOR)),
    }),
    action: Type.String({ examples: ['webhook.created'], ...WORD }),
    subject_kind: Type.String(WORD),
    subject_id: Nullable(Type.String(when('subject_kind', ['contact'], ABOUT_CONTACT, TEXT))),
    details: Type.Record(
      Type.String(),
      Type.Unknown(),
      when('subject_kind', PERSONAL_SUBJECTS, bag('person'), bag('any')),
    ),
  },
  { title: 'AuditLogEntry' },
)
export type AuditLogEntry = Type.Static<typeof AuditLogEntry>

/** Filters of the audit log; all must match. */
export interface AuditFilters {
  subject_kind?: string
  subject_id?: string
  /** The id of an actor, or a kind of actor. */
  actor?: string
}

/** One page of the audit log, newest first, and the total number of entries. */
export async function listAudit(
  tenant: Tenant,
  filters: AuditFilters,
  page: Page,
): Promise<{ entries: AuditLogEntry[]; total: number }> {
  let query = tenant.db.selectFrom('audit_log')
  if (filters.subject_kind !== undefined) query = query.where('subject_kind', '=', filters.subject_kind)
  if (filters.subject_id !== undefined) query = query.where('subject_id', '=', filters.subject_id)
  if (filters.actor !== undefined) {
    query = query.where(sql<boolean>`(actor ->> 'id' = ${filters.actor} OR actor ->> 'kind' = ${filters.actor})`)
  }
  const [rows, counted] = await Promise.all([
    query
      .selectAll()
      .orderBy('at', 'desc')
      .orderBy('entry_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    query.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ])
  return { entries: rows.map(toEntry), total: counted.count }
}

/** An entry of the audit log; null for an unknown id. */
export async function findAuditEntry(tenant: Tenant, entryId: string): Promise<AuditLogEntry | null> {
  const found = tenant.db.selectFrom('audit_log').selectAll().where('entry_id', '=', entryId)
  const row = await found.executeTakeFirst()
  return row ? toEntry(row) : null
}

function toEntry(row: Selectable<TenantTables['audit_log']>): AuditLogEntry {
  return {
    entry_id: row.entry_id,
    at: row.at.toISOString(),
    actor: row.actor as unknown as AuditLogEntry['actor'],
    action: row.action,
    subject_kind: row.subject_kind,
    subject_id: row.subject_id,
    details: row.details as AuditLogEntry['details'],
  }
}
