import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'

export const ConnectorDescription = Type.Object(
  {
    name: Type.String({ examples: ['pipedrive'] }),
    label: Type.String({ description: 'Its name for people.', examples: ['Pipedrive'] }),
    kind: Type.String({ examples: ['crm'] }),
    credentials: Type.Array(Type.Object({ name: Type.String(), description: Type.String() }), {
      description: 'The secret fields that sign in. Empty: only `oauth_provider` does.',
    }),
    oauth_provider: Nullable(
      Type.String(),
      'Where people can sign in with POST /v1/authorizations instead; null: nowhere.',
    ),
    settings: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The other fields of a connection, each as a JSON Schema.',
    }),
    required_settings: Type.Array(Type.String(), { description: 'The settings that a connection needs.' }),
    objects: Type.Array(Type.String(), { description: 'What is read, in this order.', examples: [['contacts']] }),
    can_write_back: Type.Boolean({ description: 'Whether changes of contacts can be written to the system.' }),
  },
  { title: 'Connector' },
)

export const ConnectionRun = Type.Object(
  {
    run_id: Id,
    counts: Type.Record(Type.String(), Type.Record(Type.String(), Type.Integer()), {
      description:
        'By object, how many records were created, updated, unchanged, deleted, merged, accepted (events), recorded (messages) or failed.',
      examples: [{ contacts: { created: 20, failed: 1 } }],
    }),
    started_at: Timestamp,
    finished_at: Nullable(Timestamp, 'null while the run is not complete.'),
  },
  { title: 'ConnectionRun', description: 'A read of everything that changed since the run before.' },
)

export const WriteBackProperty = Type.Object(
  {
    property: Type.String({ minLength: 1, maxLength: 128, description: 'The property here.', examples: ['jobtitle'] }),
    target: Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9_]{0,99}$',
      description: "The connected system's name of the field.",
      examples: ['jobtitle'],
    }),
    conflict: Type.Enum(['ours', 'theirs', 'newest'], {
      description:
        'If the system has another value: `ours` is written even so, and changes there do not replace it here; `theirs` stays, so that only blanks are filled; `newest`: the later change wins.',
    }),
  },
  { title: 'WriteBackProperty', additionalProperties: false },
)

const WriteBackState = Type.Object(
  {
    properties: Type.Array(WriteBackProperty),
    create_missing: Type.Boolean({ description: 'Whether contacts that the system lacks are created there.' }),
    waiting: Type.Integer({ description: 'Changed contacts that have not been written yet.' }),
    error: Nullable(Type.String(), 'Why writing stopped; it is repeated.'),
  },
  { title: 'WriteBack' },
)

export const ConnectionError = Type.Object(
  {
    error_id: Id,
    run_id: Nullable(Id, 'null: the record was to be written to the connected system.'),
    object: Type.String({
      description: '`write_back`: a contact that could not be written to the connected system.',
      examples: ['contacts'],
    }),
    external_id: Type.String({
      description: "The connected system's id of the record; of `write_back`, our contact_id.",
    }),
    code: Type.String(),
    message: Type.String(),
    at: Timestamp,
  },
  { title: 'ConnectionError', description: 'A record that could not be written. The others were.' },
)

export const Connection = Type.Object(
  {
    connection_id: Id,
    connector: Type.String({ examples: ['pipedrive'] }),
    source: Type.String({ description: 'The name under which it writes.', examples: ['pipedrive'] }),
    account: Type.String({ description: 'The account at the connected system, as it names it.' }),
    settings: Type.Record(Type.String(), Type.Unknown()),
    state: Type.Enum(['waiting', 'pulling', 'failed', 'signed_out', 'paused'], {
      description:
        '`waiting` for the next pull, `failed`: `error` says why, and it is repeated; `signed_out`: sign in again; `paused` until it is resumed.',
    }),
    error: Nullable(Type.String()),
    objects: Type.Array(
      Type.Object({
        name: Type.String(),
        read_until: Nullable(Timestamp, 'Changes until then have been read; null: nothing has.'),
        is_reading: Type.Boolean(),
        error: Nullable(
          Type.String(),
          'Why the system refused to let it be read; the others were read, and this one is tried again. null: it was not refused.',
        ),
      }),
    ),
    last_run: Nullable(ConnectionRun),
    next_pull_at: Nullable(Timestamp),
    write_back: Nullable(WriteBackState, 'null: nothing is written to the system.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Connection' },
)
