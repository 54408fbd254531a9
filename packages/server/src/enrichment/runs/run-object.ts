import { type Selectable, sql } from 'kysely'
import Type from 'typebox'
import { SegmentFilterSchema } from '../../conditions/schema.ts'
import { ContactId, Id, Nullable, RecordError, Timestamp } from '../../platform/http/responses.ts'
import { WORD } from '../../platform/personal.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { RunRows } from '../../platform/runs/run.ts'
import { DAY_MS } from '../../platform/time.ts'

/** How long a run can be undone. */
export const UNDO_DAYS = 7
/** The failed and the kept contacts that a run shows. */
export const CONTACTS_SHOWN = 20

export const ENRICHMENT_ROWS: RunRows<'enrichment_runs'> = {
  table: 'enrichment_runs',
  id: 'run_id',
  lease: 'enrichment_run',
  oneOfTenant: true,
}

export const STATES = ['queued', 'running', 'completed', 'failed', 'cancelled', 'undoing', 'undone'] as const
export type RunState = (typeof STATES)[number]

/** States in which a process works on a run, or will. */
export const AT_WORK: readonly RunState[] = ['queued', 'running', 'undoing']
const ENDED: readonly RunState[] = ['completed', 'failed', 'cancelled']

/** The contacts of a run. All that is given must be true of them. */
const Matching = Type.Object(
  {
    filter: Type.Optional(SegmentFilterSchema),
    contact_ids: Type.Optional(Type.Array(ContactId)),
    segment_id: Type.Optional(Id),
    import_id: Type.Optional(Id),
  },
  { title: 'EnrichedContacts', description: 'Which contacts, as the request named them. Empty: all.' },
)
export type Matching = Type.Static<typeof Matching>

const FailedContact = Type.Object({ contact_id: ContactId, error: RecordError }, { title: 'FailedEnrichment' })
export type FailedContact = Type.Static<typeof FailedContact>

const KeptContact = Type.Object(
  {
    contact_id: ContactId,
    kept: Type.Array(Type.String(WORD), {
      description: 'What was changed since the run, and stayed: names of properties, or `company_id`.',
    }),
  },
  { title: 'KeptEnrichment' },
)
export type KeptContact = Type.Static<typeof KeptContact>

export const EnrichmentRun = Type.Object(
  {
    run_id: Id,
    state: Type.Enum([...STATES]),
    matching: Matching,
    total: Type.Integer({ description: 'How many contacts matched when the run was requested.' }),
    looked_at: Type.Integer({ description: 'How many contacts the run has looked at.' }),
    enriched: Type.Integer({ description: 'Of these, those in which it filled or updated something.' }),
    unchanged: Type.Integer({ description: 'Those for which there was nothing new, or that are gone.' }),
    failed: Type.Integer({ description: 'Those that could not be changed, such as contacts that are full.' }),
    progress: Type.Number({ description: 'The progress of the enrichment or of the undo, from 0 to 1.' }),
    errors: Type.Array(FailedContact, { maxItems: CONTACTS_SHOWN, description: 'The first contacts that failed.' }),
    undo: Nullable(
      Type.Object(
        {
          restored: Type.Integer({ description: 'Contacts in which everything is as it was before.' }),
          kept: Type.Integer({ description: 'Contacts in which something had been changed since, and stayed.' }),
          companies_deleted: Type.Integer({ description: 'Companies that the run created and nothing uses.' }),
          kept_contacts: Type.Array(KeptContact, {
            maxItems: CONTACTS_SHOWN,
            description: 'The first contacts in which something stayed.',
          }),
        },
        { title: 'EnrichmentUndo' },
      ),
      'What the undo did so far; null unless one was requested.',
    ),
    can_undo: Type.Boolean({ description: `Whether it can be undone: for ${UNDO_DAYS} days after it was requested.` }),
    error: Nullable(RecordError, 'Why the run failed.'),
    created_at: Timestamp,
    started_at: Nullable(Timestamp),
    finished_at: Nullable(Timestamp),
  },
  { title: 'EnrichmentRun' },
)
export type EnrichmentRun = Type.Static<typeof EnrichmentRun>

/** A run in a list. */
export const ListedRun = Type.Omit(EnrichmentRun, ['errors'], { title: 'ListedEnrichmentRun' })
export type ListedRun = Type.Static<typeof ListedRun>

type RunRow = Selectable<TenantTables['enrichment_runs']>

/** Whether a run has changed something that can be undone. */
export function canUndo({ state, enriched, created_at }: RunRow, now: Date): boolean {
  const isInTime = now.getTime() - created_at.getTime() < UNDO_DAYS * DAY_MS
  return ENDED.includes(state as RunState) && enriched > 0 && isInTime
}

export function toListed(row: RunRow, now: Date): ListedRun {
  const { enriched, unchanged, failed } = row
  return {
    run_id: row.run_id,
    state: row.state as RunState,
    matching: row.matching as Matching,
    total: row.total,
    looked_at: enriched + unchanged + failed,
    enriched,
    unchanged,
    failed,
    progress: progressOf(row),
    undo: row.task === 'undo' ? undoOf(row) : null,
    can_undo: canUndo(row, now),
    error: row.error_code === null ? null : { code: row.error_code, message: row.error ?? '' },
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  }
}

export function toRun(row: RunRow, now: Date): EnrichmentRun {
  return { ...toListed(row, now), errors: row.errors as unknown as FailedContact[] }
}

/** The contacts that a run shows, with further ones. */
export function firstOf(column: 'errors' | 'kept', more: readonly (FailedContact | KeptContact)[]) {
  const all = sql`${sql.ref(column)} || ${JSON.stringify(more)}::jsonb`
  return sql<string>`jsonb_path_query_array(${all}, ${`$[0 to ${CONTACTS_SHOWN - 1}]`}::jsonpath)`
}

function undoOf(row: RunRow): EnrichmentRun['undo'] {
  const { undone_restored: restored, undone_kept: kept, undone_companies: companies_deleted } = row
  return { restored, kept, companies_deleted, kept_contacts: row.kept as unknown as KeptContact[] }
}

function progressOf({ state, total, enriched, unchanged, failed, undone_restored, undone_kept }: RunRow): number {
  if (state === 'completed' || state === 'undone') return 1
  const [done, of] =
    state === 'undoing' ? [undone_restored + undone_kept, enriched] : [enriched + unchanged + failed, total]
  return Math.min(1, done / Math.max(1, of))
}
