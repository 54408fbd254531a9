import { notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type HookBody, type Outcome, toResult } from './bodies.ts'

/** One page of a hook's bodies without their content, newest first, and the total. */
export async function listBodies(
  tenant: Tenant,
  hookId: string,
  page: Page,
): Promise<{ bodies: HookBody[]; total: number }> {
  const ofHook = tenant.db.selectFrom('hook_bodies').where('hook_id', '=', hookId)
  const [rows, counted] = await Promise.all([
    ofHook
      .select(COLUMNS)
      .orderBy('received_at', 'desc')
      .orderBy('body_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    ofHook.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ])
  return { bodies: rows.map(toBody), total: Number(counted.count) }
}

/** A body with its content. @throws ServiceError 404 */
export async function readBody(
  tenant: Tenant,
  hookId: string,
  bodyId: string,
): Promise<{ body: HookBody; content: unknown }> {
  const row = await tenant.db
    .selectFrom('hook_bodies')
    .select([...COLUMNS, 'body'])
    .where('hook_id', '=', hookId)
    .where('body_id', '=', bodyId)
    .executeTakeFirst()
  if (!row) throw notFound('body')
  return { body: toBody(row), content: JSON.parse(row.body) as unknown }
}

/** The content of a hook's newest body; undefined if none is kept. */
export async function newestContent(tenant: Tenant, hookId: string): Promise<unknown> {
  const row = await tenant.db
    .selectFrom('hook_bodies')
    .select('body')
    .where('hook_id', '=', hookId)
    .orderBy('received_at', 'desc')
    .orderBy('body_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && (JSON.parse(row.body) as unknown)
}

const COLUMNS = [
  'body_id',
  'hook_id',
  'received_at',
  'size_bytes',
  'warnings',
  'state',
  'error_code',
  'error_message',
  'event',
  'event_id',
  'contact_id',
  'contact_status',
  'company_id',
  'outcome_warnings',
  'processed_at',
] as const

type BodyRow = Omit<Outcome, 'state' | 'event_key' | 'contact_status'> & {
  body_id: string
  hook_id: string
  received_at: Date
  size_bytes: number
  warnings: string[]
  state: string
  contact_status: string | null
  processed_at: Date | null
}

function toBody(row: BodyRow): HookBody {
  return {
    body_id: row.body_id,
    hook_id: row.hook_id,
    received_at: row.received_at.toISOString(),
    size_bytes: row.size_bytes,
    warnings: [...row.warnings, ...row.outcome_warnings],
    ...toResult({ ...row, state: row.state as HookBody['state'] }),
    processed_at: row.processed_at?.toISOString() ?? null,
  }
}
