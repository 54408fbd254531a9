import Type from 'typebox'
import { namesEvents } from '../../conditions/language.ts'
import { SegmentFilterSchema } from '../../conditions/schema.ts'
import { entryAbout } from '../../operations/audit.ts'
import { idInPath, operation, operationsWith } from '../../operations/declare.ts'
import { fieldOf } from '../../operations/further-scopes.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { oneOf } from '../../platform/http/query-parameters.ts'
import { ID_LENGTH_MAX } from '../../platform/ids.ts'
import { EnrichmentRun, ListedRun, STATES, UNDO_DAYS } from './run-object.ts'
import {
  cancelEnrichment,
  countMatching,
  listRuns,
  type MatchingServices,
  parseMatching,
  readRun,
  requestRun,
  requestUndo,
} from './runs.ts'

const tag = 'Enrichment'
const RunPath = { enrichment_run_id: idInPath('enrichment run') }
const INVALID_STATE = '409 invalid_run_state'
const ANOTHER = '409 another_enrichment_run'
const CONTACT_IDS_MAX = 1_000

/** Whoever sees a run learns how many contacts match its filter. */
const COUNTS = { scopes: ['contacts:read'] } as const

const withMatching = operationsWith<MatchingServices>()
const entryOf = entryAbout('enrichment_run')

export const ENRICHMENT_RUN_OPERATIONS = [
  withMatching({
    name: 'startEnrichmentRun',
    tag,
    http: 'POST /v1/enrichment/runs',
    command: 'enrichment-run start',
    scope: 'contacts:write',
    also: [
      COUNTS,
      {
        scopes: ['events:read'],
        when: 'with event conditions in `filter`',
        ofSent: (sent) => namesEvents(fieldOf(sent, 'filter')),
      },
    ],
    summary: 'Enrich many contacts, in the background',
    description:
      'Asks every enricher that is on, for all contacts, or for those of which everything that you send is true. Only blanks are filled. A contact that changes has one event `contact_updated`. One run of a tenant is in progress at a time.',
    input: {
      filter: Type.Optional(Type.Unsafe<unknown>({ 'x-record': SegmentFilterSchema })),
      contact_ids: Type.Optional(
        Type.Array(Type.String({ maxLength: ID_LENGTH_MAX, 'x-unstorable': 'replaced' }), {
          minItems: 1,
          maxItems: CONTACT_IDS_MAX,
          description: 'These contacts. Those that do not exist are left out.',
        }),
      ),
      segment_id: Type.Optional(idInput({ description: 'The members of this segment.' })),
      import_id: Type.Optional(idInput({ description: 'The contacts of this import.' })),
    },
    output: { run: EnrichmentRun },
    status: 202,
    example: { filter: { match: 'all', conditions: [{ property: 'phone', operator: 'is_set' }] } },
    errors: [ANOTHER, '400 event_filter_too_broad', '400 unknown_import', '400 unknown_segment'],
    async check({ tenant, now, redaction, config, listFilters }, sent) {
      const matching = parseMatching(sent, redaction !== undefined)
      return { matching, total: await countMatching(tenant, matching, { config, listFilters }, now) }
    },
    async run({ tenant, now }, _sent, { matching, total }) {
      const runId = await requestRun(tenant, matching, total, now)
      return { run: await readRun(tenant, runId, now) }
    },
    audit: ({ run }) => entryOf('enrichment_run.started', run.run_id, { contacts: run.total }),
  }),
  operation({
    name: 'listEnrichmentRuns',
    tag,
    http: 'GET /v1/enrichment/runs',
    command: 'enrichment-run list',
    scope: 'contacts:read',
    summary: 'List the enrichments of many contacts, newest first',
    input: { state: Type.Optional(oneOf(STATES, 'Only runs in this state.')), ...pageParameters(20, 100) },
    output: { runs: Type.Array(ListedRun), pagination: Pagination },
    async run({ tenant, now }, { state, page, limit }) {
      const { runs, total } = await listRuns(tenant, { page, limit }, state, now)
      return { runs, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getEnrichmentRun',
    tag,
    http: 'GET /v1/enrichment/runs/:enrichment_run_id',
    command: 'enrichment-run get',
    scope: 'contacts:read',
    summary: "Get an enrichment's progress, its counts and the first contacts that failed",
    input: RunPath,
    output: { run: EnrichmentRun },
    run: async ({ tenant, now }, { enrichment_run_id }) => ({ run: await readRun(tenant, enrichment_run_id, now) }),
  }),
  operation({
    name: 'cancelEnrichmentRun',
    tag,
    http: 'POST /v1/enrichment/runs/:enrichment_run_id/cancel',
    command: 'enrichment-run cancel',
    scope: 'contacts:write',
    also: [COUNTS],
    summary: 'Cancel an enrichment; what it has filled stays until it is undone',
    input: RunPath,
    output: { run: EnrichmentRun, cancelled: Type.Boolean({ description: 'false if it was already cancelled.' }) },
    errors: [INVALID_STATE],
    async run({ tenant, now }, { enrichment_run_id: runId }) {
      const cancelled = await cancelEnrichment(tenant, runId, now)
      return { run: await readRun(tenant, runId, now), cancelled }
    },
    audit: ({ cancelled, run }) => (cancelled ? entryOf('enrichment_run.cancelled', run.run_id) : null),
  }),
  operation({
    name: 'undoEnrichmentRun',
    tag,
    http: 'POST /v1/enrichment/runs/:enrichment_run_id/undo',
    command: 'enrichment-run undo',
    scope: 'contacts:write',
    also: [COUNTS],
    summary: 'Undo an enrichment: take back what it filled, and delete the companies that it created',
    description: `What was changed since stays, and so do companies that have contacts or were changed. Possible for ${UNDO_DAYS} days after the run was requested.`,
    input: RunPath,
    output: { run: EnrichmentRun },
    status: 202,
    errors: [INVALID_STATE, ANOTHER],
    async run({ tenant, now }, { enrichment_run_id: runId }) {
      await requestUndo(tenant, runId, now)
      return { run: await readRun(tenant, runId, now) }
    },
    audit: ({ run }) => entryOf('enrichment_run.undone', run.run_id),
  }),
]
