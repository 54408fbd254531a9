import { type Selectable, sql } from 'kysely'
import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { LABEL, WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { HOOK_KINDS, type HookKind, schemeOf } from './kinds.ts'
import { Mapping } from './mapping.ts'

/** An incoming webhook, without its token and its secret. */
export const Hook = Type.Object(
  {
    hook_id: Id,
    name: Type.String(LABEL),
    kind: Type.Enum([...HOOK_KINDS]),
    source: Type.String({ description: 'The name of the source that writes its records.', ...WORD }),
    enabled: Type.Boolean({ description: 'Whether it accepts bodies.' }),
    token_hint: Type.String({ description: 'The last 4 characters of its token.', ...WORD }),
    previous_token_until: Nullable(
      Timestamp,
      'When the token before the last rotation stops working; null if it no longer works.',
    ),
    has_signing_secret: Type.Boolean(),
    signature_header: Nullable(
      Type.String(WORD),
      'The header that contains the signature of a body; null if bodies are not signed.',
    ),
    mapping: Mapping,
    kept_bodies: Type.Integer({ description: 'The number of kept bodies.' }),
    failed_bodies: Type.Integer({ description: 'The number of kept bodies that could not be recorded.' }),
    last_body_at: Nullable(Timestamp, 'When the newest kept body arrived.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Hook' },
)
export type Hook = Type.Static<typeof Hook>

export const HOOK_COLUMNS = [
  'hook_id',
  'name',
  'kind',
  'source',
  'source_id',
  'is_enabled',
  'token_hint',
  'previous_token_until',
  'secret_sealed',
  'signature_header',
  'mapping',
  'created_at',
  'updated_at',
] as const
export type HookRow = Pick<Selectable<TenantTables['hooks']>, (typeof HOOK_COLUMNS)[number]>

/** Hooks in API responses, with the counts of their bodies. One query covers all hooks. */
export async function toHooks(tenant: Tenant, rows: readonly HookRow[], now: Date): Promise<Hook[]> {
  const ids = rows.map(({ hook_id }) => hook_id)
  const counted = await tenant.db
    .selectFrom('hook_bodies')
    .select(({ fn }) => [
      'hook_id',
      fn.countAll<number>().as('kept'),
      fn.countAll<number>().filterWhere('state', '=', 'failed').as('failed'),
      fn.max('received_at').as('last'),
    ])
    .where('hook_id', '=', sql<string>`any(${ids}::uuid[])`)
    .groupBy('hook_id')
    .execute()
  const figures = new Map(counted.map((row) => [row.hook_id, row]))
  return rows.map((row) => {
    const { kept = 0, failed = 0, last = null } = figures.get(row.hook_id) ?? {}
    const kind = row.kind as HookKind
    const previousUntil = row.previous_token_until
    return {
      hook_id: row.hook_id,
      name: row.name,
      kind,
      source: row.source,
      enabled: row.is_enabled,
      token_hint: row.token_hint,
      previous_token_until: previousUntil && previousUntil > now ? previousUntil.toISOString() : null,
      has_signing_secret: row.secret_sealed !== null,
      signature_header: schemeOf(kind, row.signature_header)?.header ?? null,
      mapping: row.mapping as unknown as Mapping,
      kept_bodies: Number(kept),
      failed_bodies: Number(failed),
      last_body_at: last?.toISOString() ?? null,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    }
  })
}
