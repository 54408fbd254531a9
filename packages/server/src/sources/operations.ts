import Type from 'typebox'
import { entryAbout } from '../operations/audit.ts'
import { type Context, idInPath, operation } from '../operations/declare.ts'
import { fieldOf, WRITES_DATA } from '../operations/further-scopes.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { NAME_LENGTH_MAX } from '../platform/names.ts'
import { LABEL, WITHHELD, WORD } from '../platform/personal.ts'
import {
  createSource,
  deleteSource,
  isServerSource,
  listSources,
  readSource,
  renameSource,
  rotateWriteKey,
} from './sources.ts'

const tag = 'Sources'

export const Source = Type.Object(
  {
    source_id: Id,
    name: Type.String(LABEL),
    type: Type.Enum(['browser', 'server', 'connector'], {
      description:
        '`browser`: a website, whose key is public. `server`: a server, whose key is secret. `connector`: a connected system, such as a CRM, which writes under its name with an API key.',
    }),
    kind: Nullable(Type.String(WORD), 'The kind of a connector, such as crm; null for the others.'),
    key_hint: Nullable(Type.String(WORD), 'The last 4 characters of the write key; null for a connector.'),
    key_created_at: Nullable(Timestamp),
    created_at: Timestamp,
    last_seen_at: Nullable(Timestamp, 'When it last sent something; null if never. Up to a minute late.'),
    events_last_day: Nullable(
      Type.Integer(),
      'Accepted events in the last 24 hours, in whole hours; null for a connector.',
    ),
  },
  { title: 'Source' },
)

const WriteKey = Type.String({
  description: 'Returned only once.',
  examples: ['wk_N5rAzt4nK0uVrcCqZmFh3TnHqy1XjQ0d'],
  ...WITHHELD,
})
const Name = Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX })

const entryOf = entryAbout('source')

/** Verified writes need the scopes of what they write; what a browser says is unverified, so it needs none. */
const ofServer = {
  scopes: WRITES_DATA,
  when: 'for a server source',
  ofRecord: ({ tenant }: Context, { source_id }: { source_id: string }) => isServerSource(tenant, source_id),
}

/** The sources of a tenant, and their write keys. */
export const SOURCE_OPERATIONS = [
  operation({
    name: 'listSources',
    tag,
    http: 'GET /v1/sources',
    command: 'source list',
    scope: 'settings:read',
    summary: 'List the sources, newest first: what sends events with a write key, and the connectors that push records',
    input: pageParameters(50, 100),
    output: { sources: Type.Array(Source), pagination: Pagination },
    async run({ tenant, now }, { page, limit }) {
      const { sources, total } = await listSources(tenant, { page, limit }, now)
      return { sources, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'createSource',
    tag,
    http: 'POST /v1/sources',
    command: 'source create',
    scope: 'settings:write',
    also: [{ scopes: WRITES_DATA, when: 'for a server source', ofSent: (sent) => fieldOf(sent, 'type') === 'server' }],
    summary: 'Create a source with a write key, which is shown only once',
    description:
      'A `browser` key is public: it works only on pages of your verified domains, and what it says of contacts is unverified. A `server` key is secret: keep it out of pages and apps; what it says is verified.',
    input: { name: Name, type: Type.Enum(['browser', 'server']) },
    output: { source: Source, write_key: WriteKey },
    status: 201,
    example: { name: 'Shop backend', type: 'server' },
    errors: ['409 source_name_taken', '409 too_many_sources'],
    async run({ tenant, now }, fields) {
      const { sourceId, writeKey } = await createSource(tenant, fields, now)
      return { source: await readSource(tenant, sourceId, now), write_key: writeKey }
    },
    audit: ({ source: { source_id, name, type } }) => entryOf('source.created', source_id, { name, type }),
  }),
  operation({
    name: 'getSource',
    tag,
    http: 'GET /v1/sources/:source_id',
    command: 'source get',
    scope: 'settings:read',
    summary: 'Get a source, without its write key',
    input: { source_id: idInPath('source') },
    output: { source: Source },
    run: async ({ tenant, now }, { source_id }) => ({ source: await readSource(tenant, source_id, now) }),
  }),
  operation({
    name: 'updateSource',
    tag,
    http: 'PATCH /v1/sources/:source_id',
    command: 'source update',
    scope: 'settings:write',
    also: [ofServer],
    summary: 'Rename a source',
    input: { source_id: idInPath('source'), name: Name },
    output: { source: Source, changed: Type.Boolean() },
    example: { name: 'Shop server' },
    errors: ['409 source_name_taken', '409 source_is_connector'],
    async run({ tenant, now }, { source_id, name }) {
      const changed = await renameSource(tenant, source_id, name)
      return { source: await readSource(tenant, source_id, now), changed }
    },
    audit: ({ source: { source_id, name }, changed }) =>
      changed ? entryOf('source.renamed', source_id, { name }) : null,
  }),
  operation({
    name: 'rotateWriteKey',
    tag,
    http: 'POST /v1/sources/:source_id/rotate',
    command: 'source rotate',
    scope: 'settings:write',
    also: [ofServer],
    summary: 'Replace the write key of a source; the old key works for another 24 hours',
    input: {
      source_id: idInPath('source'),
      revoke_old_key: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Whether the old key, and any before it, stops working at once: after a leak.',
        }),
      ),
    },
    output: {
      source: Source,
      write_key: WriteKey,
      old_key_expires_at: Timestamp,
    },
    example: { revoke_old_key: false },
    errors: ['409 source_is_connector'],
    async run({ tenant, now }, { source_id, revoke_old_key = false }) {
      const rotated = await rotateWriteKey(tenant, source_id, { revokeOld: revoke_old_key }, now)
      const { writeKey, oldKeyUntil } = rotated
      const source = await readSource(tenant, source_id, now)
      return { source, write_key: writeKey, old_key_expires_at: oldKeyUntil.toISOString() }
    },
    audit: ({ source: { source_id, name }, old_key_expires_at }) =>
      entryOf('source.key_rotated', source_id, { name, old_key_expires_at }),
  }),
  operation({
    name: 'deleteSource',
    tag,
    http: 'DELETE /v1/sources/:source_id',
    command: 'source delete',
    scope: 'settings:write',
    summary: 'Delete a source: its write keys stop working at once',
    description: 'What it sent remains. A connector is listed again when it next writes.',
    input: { source_id: idInPath('source') },
    output: { deleted: Type.Literal(true), source_id: Id, name: Type.String(LABEL) },
    async run({ tenant }, { source_id }) {
      const { name } = await deleteSource(tenant, source_id)
      return { deleted: true as const, source_id, name }
    },
    audit: ({ source_id, name }) => entryOf('source.deleted', source_id, { name }),
  }),
]
