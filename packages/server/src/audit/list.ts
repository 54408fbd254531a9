import { sql } from 'kysely'
import { validationError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Actor } from './log.ts'

export interface AuditFilters {
  /** `subject.verb`, or `subject.` for everything that happened to its kind. */
  action?: string
  subjectKind?: string
  subjectId?: string
  actorKind?: Actor['kind']
  actorId?: string
  /** Inclusive bounds. */
  from?: Date
  to?: Date
}

/** An entry as it is shown. */
export interface AuditLogEntry {
  entry_id: string
  at: string
  actor: Actor
  action: string
  subject_kind: string
  subject_id: string | null
  details: Record<string, unknown>
}

const LIMIT_MAX = 100
const TEXT_LENGTH_MAX = 500

/**
 * One page of a tenant's audit log, newest first.
 * @throws ServiceError 400 for a page, limit or filter that makes no sense.
 */
export async function listAudit(
  tenant: Tenant,
  filters: AuditFilters,
  page: Page,
): Promise<{ entries: AuditLogEntry[]; total: number }> {
  checkPage(page)
  checkTexts(filters)
  const { action, subjectKind, subjectId, actorKind, actorId, from, to } = filters
  let entries = tenant.db.selectFrom('audit_log')
  if (action?.endsWith('.')) entries = entries.where(sql<boolean>`starts_with(action, ${action})`)
  else if (action !== undefined) entries = entries.where('action', '=', action)
  if (subjectKind !== undefined) entries = entries.where('subject_kind', '=', subjectKind)
  if (subjectId !== undefined) entries = entries.where('subject_id', '=', subjectId)
  if (actorKind !== undefined) entries = entries.where(sql<string>`actor ->> 'kind'`, '=', actorKind)
  if (actorId !== undefined) entries = entries.where(sql<string>`actor ->> 'id'`, '=', actorId)
  if (from !== undefined) entries = entries.where('at', '>=', from)
  if (to !== undefined) entries = entries.where('at', '<=', to)
  const [rows, { total }] = await Promise.all([
    entries
      .select(['entry_id', 'at', 'actor', 'action', 'subject_kind', 'subject_id', 'details'])
      .orderBy('at', 'desc')
      .orderBy('entry_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    entries.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  const shown = rows.map((row) => ({
    ...row,
    at: row.at.toISOString(),
    actor: row.actor as Actor,
    details: row.details as Record<string, unknown>,
  }))
  return { entries: shown, total: Number(total) }
}

function checkPage({ page, limit }: Page): void {
  const details = [
    { path: 'page', isRight: Number.isInteger(page) && page >= 1 && page <= 2 ** 31 - 1, message: 'must be from 1' },
    {
      path: 'limit',
      isRight: Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX,
      message: `must be a whole number from 1 to ${LIMIT_MAX}`,
    },
  ].flatMap(({ isRight, ...detail }) => (isRight ? [] : [detail]))
  if (details.length > 0) throw validationError(details)
}

function checkTexts(filters: AuditFilters): void {
  const details = Object.entries(filters).flatMap(([path, value]) => {
    const isText = typeof value === 'string'
    if (!isText || (value.length <= TEXT_LENGTH_MAX && isStorableText(value))) return []
    return [{ path, message: `must be a text of at most ${TEXT_LENGTH_MAX} characters` }]
  })
  if (details.length > 0) throw validationError(details)
}
