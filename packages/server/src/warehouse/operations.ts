import Type from 'typebox'
import { entryAbout } from '../operations/audit.ts'
import { idInPath, operationsWith, secret } from '../operations/declare.ts'
import { READS_DATA } from '../operations/further-scopes.ts'
import { callerOf } from '../operations/idempotency.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { Changed, Id, Nullable } from '../platform/http/responses.ts'
import { NAME_LENGTH_MAX } from '../platform/names.ts'
import { LABEL } from '../platform/personal.ts'
import { DestinationType, WarehouseDestination, WarehouseRun } from './destination.ts'
import {
  checkChanges,
  checkDestination,
  createDestination,
  DESTINATIONS_MAX,
  deleteDestination,
  listDestinations,
  readDestination,
  requireDestination,
  runNow,
  setPaused,
  updateDestination,
  type WarehouseServices,
} from './destinations.ts'
import { listRuns, REQUESTED_PER_DAY, readRun } from './runs/requests.ts'
import { openStorage, testStorage } from './storage/open.ts'

const operation = operationsWith<WarehouseServices & { rateLimiter: Pick<RateLimiter, 'checkAudited'> }>()
const tag = 'Warehouse'
const DestinationPath = { destination_id: idInPath('export destination') }
const Name = Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, examples: ['Nightly export'] })
const Key = Type.String({ minLength: 1, maxLength: 200 })
const Schedule = Nullable(
  Type.String({
    minLength: 1,
    maxLength: 100,
    description:
      '`hourly`, `daily`, or a cron expression of five fields. null: exports run only when you start them. Default: `daily`.',
    examples: ['hourly'],
  }),
)
const TimeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'The time zone of the schedule. Default: UTC.',
})

const entryOf = entryAbout('warehouse_destination')

export const WAREHOUSE_OPERATIONS = [
  operation({
    name: 'createWarehouseDestination',
    tag,
    http: 'POST /v1/warehouse',
    command: 'warehouse create',
    scope: 'data:export',
    also: [{ scopes: ['settings:write', ...READS_DATA] }],
    summary: 'Create a destination for exports of events, contacts and companies as Parquet files',
    description: 'The location of the files cannot be changed later.',
    input: {
      name: Name,
      type: DestinationType,
      prefix: Type.Optional(
        Type.String({ maxLength: 500, description: 'The folder of the files.', examples: ['exports/cds'] }),
      ),
      endpoint: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 500,
          description: 'The URL of the storage, without the bucket.',
          examples: ['https://s3.eu-central-1.amazonaws.com'],
        }),
      ),
      region: Type.Optional(Type.String({ description: 'Default: us-east-1.', maxLength: 60 })),
      bucket: Type.Optional(Type.String({ maxLength: 63 })),
      access_key_id: Type.Optional(Key),
      secret_access_key: Type.Optional(secret({ minLength: 1, maxLength: 200 })),
      schedule: Type.Optional(Schedule),
      time_zone: Type.Optional(TimeZone),
    },
    output: { destination: WarehouseDestination },
    status: 201,
    example: {
      name: 'Nightly export',
      type: 's3',
      endpoint: 'https://s3.eu-central-1.amazonaws.com',
      region: 'eu-central-1',
      bucket: 'my-exports',
      access_key_id: 'AKIAIOSFODNN7EXAMPLE',
      secret_access_key: 'a-secret',
    },
    errors: [
      '400 url_not_allowed',
      '409 too_many_warehouse_destinations',
      '409 warehouse_folder_off',
      '409 warehouse_place_taken',
    ],
    check: checkDestination,
    run: async ({ tenant, secrets, jobs, now }, input) => ({
      destination: await createDestination(tenant, { secrets, jobs }, input, now),
    }),
    audit: ({ destination: { destination_id, name, type, location, schedule } }) =>
      entryOf('warehouse.created', destination_id, { name, type, location, schedule }),
  }),
  operation({
    name: 'listWarehouseDestinations',
    tag,
    http: 'GET /v1/warehouse',
    command: 'warehouse list',
    scope: 'settings:read',
    summary: 'List the export destinations with their latest runs, newest first',
    input: pageParameters(20, DESTINATIONS_MAX),
    output: {
      destinations: Type.Array(WarehouseDestination),
      pagination: Pagination,
      has_folders: Type.Boolean({ description: 'Whether destinations of the type `folder` are available.' }),
    },
    async run({ tenant, config }, { page, limit }) {
      const { destinations, total } = await listDestinations(tenant, { page, limit })
      const has_folders = config.warehouseDirectory !== null
      return { destinations, pagination: paginationOf({ page, limit }, total), has_folders }
    },
  }),
  operation({
    name: 'getWarehouseDestination',
    tag,
    http: 'GET /v1/warehouse/:destination_id',
    command: 'warehouse get',
    scope: 'settings:read',
    summary: 'Get an export destination with its latest run',
    input: DestinationPath,
    output: { destination: WarehouseDestination },
    run: async ({ tenant }, { destination_id }) => ({ destination: await readDestination(tenant, destination_id) }),
  }),
  operation({
    name: 'updateWarehouseDestination',
    tag,
    http: 'PATCH /v1/warehouse/:destination_id',
    command: 'warehouse update',
    scope: 'data:export',
    also: [{ scopes: ['settings:write', ...READS_DATA] }],
    summary: 'Change the name, the schedule or the access key of an export destination',
    input: {
      ...DestinationPath,
      name: Type.Optional(Name),
      access_key_id: Type.Optional(Key),
      secret_access_key: Type.Optional(secret({ minLength: 1, maxLength: 200 })),
      schedule: Type.Optional(Schedule),
      time_zone: Type.Optional(TimeZone),
    },
    output: { destination: WarehouseDestination, changed: Changed },
    check: checkChanges,
    errors: ['503 secret_key_missing'],
    async run({ tenant, secrets, jobs, now }, { destination_id, ...changes }) {
      const changed = await updateDestination(tenant, { secrets, jobs }, destination_id, changes, now)
      return { destination: await readDestination(tenant, destination_id), changed }
    },
    audit: ({ destination, changed }) =>
      changed.length === 0 ? null : entryOf('warehouse.updated', destination.destination_id, { changed }),
  }),
  operation({
    name: 'deleteWarehouseDestination',
    tag,
    http: 'DELETE /v1/warehouse/:destination_id',
    command: 'warehouse delete',
    scope: 'data:export',
    also: [{ scopes: ['settings:write'] }],
    summary: 'Delete an export destination with its list of runs; exported files stay',
    input: DestinationPath,
    output: { deleted: Type.Literal(true), destination_id: Id, name: Type.String(LABEL) },
    async run({ tenant }, input) {
      const { destination_id, name } = await deleteDestination(tenant, input.destination_id)
      return { deleted: true as const, destination_id, name }
    },
    audit: ({ destination_id, name }) => entryOf('warehouse.deleted', destination_id, { name }),
  }),
  operation({
    name: 'pauseWarehouseDestination',
    tag,
    http: 'POST /v1/warehouse/:destination_id/pause',
    command: 'warehouse pause',
    scope: 'data:export',
    summary: 'Pause scheduled runs; a run in progress continues',
    input: DestinationPath,
    output: { destination: WarehouseDestination, changed: Changed },
    async run({ tenant, jobs, now }, { destination_id }) {
      const changed = await setPaused(tenant, jobs, destination_id, true, now)
      return { destination: await readDestination(tenant, destination_id), changed }
    },
    audit: ({ destination, changed }) =>
      changed.length === 0 ? null : entryOf('warehouse.paused', destination.destination_id),
  }),
  operation({
    name: 'resumeWarehouseDestination',
    tag,
    http: 'POST /v1/warehouse/:destination_id/resume',
    command: 'warehouse resume',
    scope: 'data:export',
    also: [{ scopes: READS_DATA }],
    summary: 'Resume scheduled runs; the next run exports what was missed',
    input: DestinationPath,
    output: { destination: WarehouseDestination, changed: Changed },
    async run({ tenant, jobs, now, actor, rateLimiter }, { destination_id }) {
      rateLimiter.checkAudited(callerOf(actor))
      const changed = await setPaused(tenant, jobs, destination_id, false, now)
      return { destination: await readDestination(tenant, destination_id), changed }
    },
    audit: ({ destination, changed }) =>
      changed.length === 0 ? null : entryOf('warehouse.resumed', destination.destination_id),
  }),
  operation({
    name: 'runWarehouseExport',
    tag,
    http: 'POST /v1/warehouse/:destination_id/run',
    command: 'warehouse run',
    scope: 'data:export',
    also: [{ scopes: READS_DATA }],
    summary: 'Export now, in the background',
    description: `If a run is already in progress, its id is returned instead. If that run is waiting to be retried, it continues now. At most ${REQUESTED_PER_DAY} in 24 hours.`,
    input: {
      ...DestinationPath,
      full: Type.Optional(
        Type.Boolean({
          description:
            'Whether to export all events again. The manifest then marks them as replacing the earlier ones.',
        }),
      ),
    },
    output: { run_id: Id, is_new: Type.Boolean() },
    status: 202,
    example: { full: false },
    errors: ['409 warehouse_run_open', '429 warehouse_limit_reached'],
    async run({ tenant, now }, { destination_id, full = false }) {
      const { runId, isNew } = await runNow(tenant, destination_id, full, now)
      return { run_id: runId, is_new: isNew }
    },
    audit: ({ run_id, is_new }, { destination_id, full = false }) =>
      is_new ? entryOf('warehouse.run_requested', destination_id.toLowerCase(), { run_id, full }) : null,
  }),
  operation({
    name: 'testWarehouseDestination',
    tag,
    http: 'POST /v1/warehouse/:destination_id/test',
    command: 'warehouse test',
    scope: 'data:export',
    also: [{ scopes: READS_DATA }],
    summary: 'Write a small file to the destination and delete it',
    input: DestinationPath,
    output: { destination_id: Id, ok: Type.Literal(true) },
    errors: ['400 url_not_allowed', '422 storage_refused'],
    async check({ tenant, secrets, storageTransfer, config, actor, rateLimiter }, { destination_id }) {
      rateLimiter.checkAudited(callerOf(actor))
      const destination = await requireDestination(tenant, destination_id)
      await testStorage(openStorage({ secrets, storageTransfer, ...config }, tenant.id, destination))
    },
    async run({ tenant }, input) {
      const { destination_id } = await requireDestination(tenant, input.destination_id)
      return { destination_id, ok: true as const }
    },
    audit: ({ destination_id }) => entryOf('warehouse.tested', destination_id),
  }),
  operation({
    name: 'listWarehouseRuns',
    tag,
    http: 'GET /v1/warehouse/:destination_id/runs',
    command: 'warehouse-run list',
    scope: 'settings:read',
    summary: 'List the latest runs of an export destination, newest first',
    input: { ...DestinationPath, ...pageParameters(20, 100) },
    output: { runs: Type.Array(WarehouseRun), pagination: Pagination },
    async run({ tenant }, { destination_id: id, page, limit }) {
      const { destination_id } = await requireDestination(tenant, id)
      const { runs, total } = await listRuns(tenant, destination_id, { page, limit })
      return { runs, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getWarehouseRun',
    tag,
    http: 'GET /v1/warehouse/runs/:warehouse_run_id',
    command: 'warehouse-run get',
    scope: 'settings:read',
    summary: 'Get a run of an export destination',
    input: { warehouse_run_id: idInPath('warehouse run') },
    output: { run: WarehouseRun },
    run: async ({ tenant }, { warehouse_run_id }) => ({ run: await readRun(tenant, warehouse_run_id) }),
  }),
]
