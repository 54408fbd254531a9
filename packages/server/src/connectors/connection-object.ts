import Type from 'typebox'
import { Id, Nullable, RecordError, Timestamp } from '../platform/http/responses.ts'
import { ABOUT_CONTACT, bag, TEXT, WORD, when } from '../platform/personal.ts'
import type { Connector } from './connector.ts'

export const ConnectorDescription = Type.Object(
  {
    name: Type.String({ examples: ['pipedrive'], ...WORD }),
    label: Type.String({ description: 'The name to display.', examples: ['Pipedrive'], ...WORD }),
    kind: Type.String({ examples: ['crm'], ...WORD }),
    credentials: Type.Array(Type.Object({ name: Type.String(WORD), description: Type.String(WORD) }), {
      description: 'The secret fields to sign in with. Empty: sign in only at `oauth_provider`.',
    }),
    oauth_provider: Nullable(
      Type.String(WORD),
      'The provider where people can sign in with POST /v1/authorizations instead; null: none.',
    ),
    settings: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The other fields of a connection, each with its JSON Schema.',
      ...bag('template'),
    }),
    required_settings: Type.Array(Type.String(WORD), { description: 'The settings that are required.' }),
    objects: Type.Array(Type.String(WORD), {
      description: 'The objects that are read, in order.',
      examples: [['contacts']],
    }),
    can_write_back: Type.Boolean({ description: 'Whether changed contacts can be written back to the system.' }),
    can_store_activities: Type.Boolean({
      description: 'Whether notes and mails of agents can be stored in the system as activities.',
    }),
  },
  { title: 'Connector' },
)

export function describeConnector({
  name,
  label,
  kind,
  credentials,
  oauth,
  settings,
  objects,
  writeBack,
  activities,
}: Connector): Type.Static<typeof ConnectorDescription> {
  return {
    name,
    label,
    kind,
    credentials: Object.entries(credentials).map(([field, description]) => ({ name: field, description })),
    oauth_provider: oauth?.provider ?? null,
    settings: { ...settings },
    required_settings: Type.Object(settings).required ?? [],
    objects: objects.map((object) => object.name),
    can_write_back: writeBack !== undefined,
    can_store_activities: activities !== undefined,
  }
}

export const ConnectionRun = Type.Object(
  {
    run_id: Id,
    counts: Type.Record(Type.String(), Type.Record(Type.String(), Type.Integer()), {
      description:
        'For each object, the number of records that were created, updated, unchanged, deleted, merged, accepted (events), recorded (messages) or failed.',
      examples: [{ contacts: { created: 20, failed: 1 } }],
    }),
    started_at: Timestamp,
    finished_at: Nullable(Timestamp, 'null while the run is not complete.'),
  },
  { title: 'ConnectionRun', description: 'One read of everything that changed since the previous run.' },
)

export const WriteBackProperty = Type.Object(
  {
    property: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'The property here.',
      examples: ['jobtitle'],
      ...WORD,
    }),
    target: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_]{0,99}$',
      description: "The connected system's name of the field, as its API calls it.",
      examples: ['jobtitle'],
      ...WORD,
    }),
    conflict: Type.Enum(['ours', 'theirs', 'newest'], {
      description:
        'Which value wins if the values differ. `ours`: the value here is written, and changes in the system do not replace it. `theirs`: the value in the system stays, and only blank fields there are filled. `newest`: the later change wins.',
    }),
  },
  { title: 'WriteBackProperty', additionalProperties: false },
)

const WriteBackState = Type.Object(
  {
    properties: Type.Array(WriteBackProperty),
    create_missing: Type.Boolean({
      description: 'Whether contacts that do not exist in the system are created there.',
    }),
    waiting: Type.Integer({ description: 'Changed contacts that have not been written yet.' }),
    error: Nullable(Type.String(TEXT), 'Why the last write failed. It is retried.'),
  },
  { title: 'WriteBack' },
)

const ActivitiesState = Type.Object(
  {
    waiting: Type.Integer({ description: 'Notes and mails that have not been stored yet.' }),
    error: Nullable(Type.String(TEXT), 'Why the last one could not be stored. It is retried.'),
  },
  { title: 'StoredActivities' },
)

export const ConnectionError = Type.Object(
  {
    error_id: Id,
    run_id: Nullable(Id, 'null: the record could not be written to the connected system.'),
    object: Type.String({
      description:
        '`write_back`: a contact that could not be written to the connected system. `activities`: a note or a mail of an agent that could not be stored there.',
      examples: ['contacts'],
      ...WORD,
    }),
    external_id: Type.String({
      description: "The record's id in the connected system; for `write_back` and `activities`, our contact_id.",
      ...when('object', ['write_back', 'activities'], ABOUT_CONTACT, TEXT),
    }),
    ...RecordError.properties,
    at: Timestamp,
  },
  {
    title: 'ConnectionError',
    description:
      'A problem with one record; the other records were written. The record itself was not written, unless the code is `ignored_id`: then it was written without an id that names nobody, such as `undefined`. Each such id is listed once per page of records.',
  },
)

export const Connection = Type.Object(
  {
    connection_id: Id,
    connector: Type.String({ examples: ['pipedrive'], ...WORD }),
    source: Type.String({
      description: 'The name of the source that writes the data.',
      examples: ['pipedrive'],
      ...WORD,
    }),
    account: Type.String({ description: 'The account, as the connected system names it.', ...TEXT }),
    settings: Type.Record(Type.String(), Type.Unknown(), bag('any')),
    state: Type.Enum(['waiting', 'pulling', 'failed', 'signed_out', 'paused'], {
      description:
        '`waiting`: the next pull is scheduled. `pulling`: a pull is running. `failed`: `error` gives the reason. If the pull failed, it is retried. If the system refused some objects, the next pull requests them again. `signed_out`: sign in again. `paused`: nothing is pulled until you resume it.',
    }),
    error: Nullable(Type.String(TEXT)),
    objects: Type.Array(
      Type.Object({
        name: Type.String(WORD),
        read_until: Nullable(Timestamp, 'All changes up to this time have been read; null: none.'),
        is_reading: Type.Boolean(),
        error: Nullable(
          Type.String(TEXT),
          'Why these records were not read: the system refused them, or records that they refer to. The next pull requests them again. null: they were read.',
        ),
      }),
    ),
    last_run: Nullable(ConnectionRun),
    next_pull_at: Nullable(Timestamp),
    write_back: Nullable(WriteBackState, 'null: nothing is written back.'),
    activities: Nullable(ActivitiesState, 'null: notes and mails of agents are not stored in the system.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Connection' },
)

/** The audit entry of an action on a connection. */
export function connectionEntry(
  action: string,
  { connection_id, connector, source }: Type.Static<typeof Connection>,
  more: Record<string, unknown> = {},
) {
  return { action, subjectKind: 'connection', subjectId: connection_id, details: { connector, source, ...more } }
}
