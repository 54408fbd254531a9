import type { Selectable } from 'kysely'
import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { LABEL, TEXT, WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'

export type DestinationRow = Selectable<TenantTables['warehouse_destinations']>
export type RunRow = Selectable<TenantTables['warehouse_runs']>

const TYPES = ['folder', 's3'] as const
export const DestinationType = Type.Unsafe<(typeof TYPES)[number]>({ type: 'string', enum: TYPES })

const STATUSES = ['queued', 'running', 'retrying', 'succeeded'] as const

const Counts = Type.Record(
  Type.String(),
  Type.Object({ files: Type.Integer(), rows: Type.Integer(), bytes: Type.Integer() }),
  {
    description: 'The files, rows and bytes that were written, by table.',
  },
)

export const WarehouseRun = Type.Object(
  {
    run_id: Id,
    destination_id: Id,
    status: Type.Unsafe<(typeof STATUSES)[number]>({
      type: 'string',
      enum: STATUSES,
      description: '`retrying`: the run failed and will continue at next_attempt_at.',
    }),
    trigger: Type.Unsafe<'schedule' | 'manual'>({ type: 'string', enum: ['schedule', 'manual'] }),
    is_full: Type.Boolean({ description: 'Whether the run exports all events again.' }),
    tables: Counts,
    failures: Type.Integer({ description: 'The number of failed attempts.' }),
    error: Type.Union([Type.String(TEXT), Type.Null()], { description: 'The error of the last failed attempt.' }),
    next_attempt_at: Nullable(Timestamp),
    manifest: Type.Union([Type.String(WORD), Type.Null()], {
      description: 'The path of the manifest, which is written last; null until then.',
    }),
    created_at: Timestamp,
    started_at: Nullable(Timestamp),
    finished_at: Nullable(Timestamp),
  },
  { title: 'WarehouseRun' },
)
export type WarehouseRun = Type.Static<typeof WarehouseRun>

export const WarehouseDestination = Type.Object(
  {
    destination_id: Id,
    name: Type.String(LABEL),
    type: DestinationType,
    location: Type.String({ description: "Where the files are: a URL, or a path in the operator's folder.", ...WORD }),
    prefix: Type.String(WORD),
    endpoint: Nullable(Type.String(WORD)),
    region: Nullable(Type.String(WORD)),
    bucket: Nullable(Type.String(WORD)),
    access_key_id: Nullable(Type.String(WORD)),
    schedule: Type.Union([Type.String(WORD), Type.Null()], {
      description: 'null: exports run only when you start them.',
    }),
    time_zone: Type.String(WORD),
    status: Type.Unsafe<'active' | 'paused'>({ type: 'string', enum: ['active', 'paused'] }),
    next_run_at: Nullable(Timestamp),
    last_run: Nullable(WarehouseRun),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'WarehouseDestination' },
)
export type WarehouseDestination = Type.Static<typeof WarehouseDestination>

/** Where a destination's secret access key is stored. It cannot be decrypted anywhere else. */
export function secretPlace(tenantId: string, destinationId: string): string {
  return `${tenantId}/${destinationId}/warehouse`
}

/** The number of files, rows and bytes of each table. */
export type TableCounts = WarehouseRun['tables']

/** How responses name the statuses that a run of a warehouse can have. */
const STATUS = { queued: 'queued', running: 'running', waiting: 'retrying', completed: 'succeeded' } as const

export function toRun(row: RunRow, tables: TableCounts): WarehouseRun {
  return {
    run_id: row.run_id,
    destination_id: row.destination_id,
    status: STATUS[row.status as keyof typeof STATUS],
    trigger: row.trigger as WarehouseRun['trigger'],
    is_full: row.is_full,
    tables,
    failures: row.failures,
    error: row.error,
    next_attempt_at: row.status === 'waiting' ? (row.due_at?.toISOString() ?? null) : null,
    manifest: row.manifest,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  }
}

export function toDestination(
  tenantId: string,
  row: DestinationRow,
  lastRun: WarehouseRun | null,
): WarehouseDestination {
  return {
    destination_id: row.destination_id,
    name: row.name,
    type: row.type as WarehouseDestination['type'],
    location: row.type === 's3' ? `${row.place}/` : `${[tenantId, row.prefix].filter(Boolean).join('/')}/`,
    prefix: row.prefix,
    endpoint: row.endpoint,
    region: row.region,
    bucket: row.bucket,
    access_key_id: row.access_key_id,
    schedule: row.schedule,
    time_zone: row.time_zone,
    status: row.paused_at === null ? 'active' : 'paused',
    next_run_at: row.next_run_at?.toISOString() ?? null,
    last_run: lastRun,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
