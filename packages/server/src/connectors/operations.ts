import Type from 'typebox'
import { idInPath, operationsWith } from '../operations/declare.ts'
import { WRITES_DATA } from '../operations/further-scopes.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { timestampBound } from '../platform/http/query-parameters.ts'
import { Id } from '../platform/http/responses.ts'
import { WORD } from '../platform/personal.ts'
import { ACTIVITY_OPERATIONS } from './activities/operations.ts'
import { CONNECTORS, connectorNamed } from './all-connectors.ts'
import { type ConnectServices, connect, connectorOf, openChange, openConnection, reconnect } from './connect.ts'
import {
  Connection,
  ConnectionError,
  ConnectionRun,
  ConnectorDescription,
  connectionEntry,
  describeConnector,
} from './connection-object.ts'
import {
  deleteConnection,
  listConnections,
  pauseConnection,
  pullNow,
  readConnection,
  rereadConnection,
  resumeConnection,
} from './connections.ts'
import { entered, parseChange, parseConnection, parseCredentials } from './parse-connection.ts'
import { listErrors, listRuns } from './runs.ts'
import { WRITE_BACK_OPERATIONS } from './write-back/operations.ts'

export interface ConnectorServices {
  connecting: ConnectServices
}

const operation = operationsWith<ConnectorServices>()
const tag = 'Connections'
const ConnectionPath = { connection_id: idInPath('connection') }
const Settings = Type.Optional(
  Type.Record(Type.String(), Type.Unknown(), { description: "The connector's other fields, such as a region." }),
)
const Credentials = Type.Record(Type.String(), Type.String({ maxLength: 4_096 }), {
  description: "The connector's secret fields. They are stored encrypted and never returned.",
  format: 'password',
})
const Changed = Type.Boolean({ description: 'Whether this changed anything.' })
const ConnectionOutput = { connection: Connection }

/** Systems whose data the service reads. */
export const CONNECTION_OPERATIONS = [
  operation({
    name: 'listConnectors',
    tag,
    http: 'GET /v1/connectors',
    command: 'connector list',
    scope: 'settings:read',
    summary: 'List the connectors, with the credentials and settings that each needs',
    input: {},
    output: { connectors: Type.Array(ConnectorDescription) },
    run: async () => ({ connectors: CONNECTORS.map(describeConnector) }),
  }),
  operation({
    name: 'getConnector',
    tag,
    http: 'GET /v1/connectors/:connector',
    command: 'connector get',
    scope: 'settings:read',
    summary: 'Get a connector, with the credentials and settings that it needs',
    input: { connector: Type.String({ description: 'The name of the connector, such as pipedrive.' }) },
    output: { connector: ConnectorDescription },
    errors: ['404 unknown_connector'],
    run: async (_, { connector }) => ({ connector: describeConnector(connectorNamed(connector)) }),
  }),
  operation({
    name: 'createConnection',
    tag,
    http: 'POST /v1/connections',
    command: 'connection create',
    scope: 'settings:write',
    also: [{ scopes: WRITES_DATA }],
    summary: 'Connect a system and start pulling its data',
    description:
      'The credentials are tested first. To sign in at a provider instead, start with `POST /v1/authorizations`, with the purpose `{"kind": "connection", "connector": …}`, which also has the settings, `source` and `read_since`.',
    input: {
      connector: Type.String({ minLength: 1, maxLength: 50, examples: ['pipedrive'] }),
      source: Type.Optional(
        Type.String({ description: "The name under which it writes. Default: the connector's name." }),
      ),
      credentials: Credentials,
      settings: Settings,
      read_since: Type.Optional(timestampBound('lower', 'Read only changes since this time. Default: everything.')),
    },
    output: ConnectionOutput,
    status: 201,
    example: { connector: 'pipedrive', credentials: { api_token: '0123456789abcdef' } },
    errors: [
      '400 connection_refused',
      '400 url_not_allowed',
      '404 unknown_connector',
      '409 source_name_taken',
      '409 source_of_another_account',
      '409 too_many_connections',
    ],
    async check({ tenant, connecting, now }, input) {
      const parsed = parseConnection(input.connector, input.source, input.settings ?? {})
      const signIn = entered(parseCredentials(parsed.connector, input.credentials))
      return openConnection(tenant, connecting, { ...parsed, ...signIn, since: input.read_since ?? null }, now)
    },
    async run({ tenant, connecting, now }, _input, opened) {
      return { connection: await readConnection(tenant, await connect(tenant, connecting, opened, now)) }
    },
    audit: ({ connection }) => connectionEntry('connection.created', connection, { account: connection.account }),
  }),
  operation({
    name: 'listConnections',
    tag,
    http: 'GET /v1/connections',
    command: 'connection list',
    scope: 'settings:read',
    summary: 'List the connected systems, newest first',
    input: pageParameters(50, 100),
    output: { connections: Type.Array(Connection), pagination: Pagination },
    async run({ tenant }, { page, limit }) {
      const { connections, total } = await listConnections(tenant, { page, limit })
      return { connections, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getConnection',
    tag,
    http: 'GET /v1/connections/:connection_id',
    command: 'connection get',
    scope: 'settings:read',
    summary: 'Get a connected system with its state, its progress and its last run',
    input: ConnectionPath,
    output: ConnectionOutput,
    run: async ({ tenant }, { connection_id }) => ({ connection: await readConnection(tenant, connection_id) }),
  }),
  operation({
    name: 'updateConnection',
    tag,
    http: 'PATCH /v1/connections/:connection_id',
    command: 'connection update',
    scope: 'settings:write',
    also: [{ scopes: WRITES_DATA }],
    summary: 'Replace the credentials or the settings of a connected system',
    description:
      'The new values are tested first. Without credentials, the connection keeps its sign-in; settings that change the host require new credentials. If the settings change, everything is read again. To connect another account, create a connection with another source.',
    input: { ...ConnectionPath, credentials: Type.Optional(Credentials), settings: Settings },
    output: ConnectionOutput,
    example: { credentials: { api_token: 'fedcba9876543210' } },
    errors: [
      '400 connection_refused',
      '400 url_not_allowed',
      '409 source_of_another_account',
      '503 secret_key_missing',
    ],
    async check({ tenant, connecting }, { connection_id, credentials, settings }) {
      const known = await connectorOf(tenant, connection_id)
      return openChange(connecting, parseChange(tenant, connecting, known, { credentials, settings }))
    },
    async run({ tenant, connecting, now }, { connection_id }, change) {
      await reconnect(tenant, connecting, connection_id, change, now)
      return { connection: await readConnection(tenant, connection_id) }
    },
    audit: ({ connection }) => connectionEntry('connection.updated', connection, { account: connection.account }),
  }),
  operation({
    name: 'pauseConnection',
    tag,
    http: 'POST /v1/connections/:connection_id/pause',
    command: 'connection pause',
    scope: 'settings:write',
    summary: 'Pause a connected system: nothing is pulled until you resume it',
    input: ConnectionPath,
    output: { ...ConnectionOutput, changed: Changed },
    async run({ tenant, now }, { connection_id }) {
      const changed = await pauseConnection(tenant, connection_id, now)
      return { connection: await readConnection(tenant, connection_id), changed }
    },
    audit: ({ connection, changed }) => (changed ? connectionEntry('connection.paused', connection) : null),
  }),
  operation({
    name: 'resumeConnection',
    tag,
    http: 'POST /v1/connections/:connection_id/resume',
    command: 'connection resume',
    scope: 'settings:write',
    also: [{ scopes: WRITES_DATA }],
    summary: 'Resume a paused system where it stopped',
    input: ConnectionPath,
    output: { ...ConnectionOutput, changed: Changed },
    async run({ tenant, now }, { connection_id }) {
      const changed = await resumeConnection(tenant, connection_id, now)
      return { connection: await readConnection(tenant, connection_id), changed }
    },
    audit: ({ connection, changed }) => (changed ? connectionEntry('connection.resumed', connection) : null),
  }),
  operation({
    name: 'pullConnection',
    tag,
    http: 'POST /v1/connections/:connection_id/pull',
    command: 'connection pull',
    scope: 'settings:write',
    also: [{ scopes: WRITES_DATA }],
    summary: 'Pull the changes of a connected system now',
    input: ConnectionPath,
    output: ConnectionOutput,
    status: 202,
    errors: ['409 connection_paused', '409 connection_signed_out'],
    async run({ tenant, now }, { connection_id }) {
      await pullNow(tenant, connection_id, now)
      return { connection: await readConnection(tenant, connection_id) }
    },
    audit: ({ connection }) => connectionEntry('connection.pulled', connection),
  }),
  operation({
    name: 'rereadConnection',
    tag,
    http: 'POST /v1/connections/:connection_id/reread',
    command: 'connection reread',
    scope: 'settings:write',
    also: [{ scopes: WRITES_DATA }],
    summary: 'Read everything again that changed since a time, without duplicates',
    input: {
      ...ConnectionPath,
      since: Type.Optional(timestampBound('lower', 'Default: everything.')),
    },
    output: ConnectionOutput,
    status: 202,
    example: { since: '2026-01-01T00:00:00Z' },
    errors: ['409 connection_paused', '409 connection_signed_out'],
    async run({ tenant, now }, { connection_id, since }) {
      await rereadConnection(tenant, connection_id, since ?? null, now)
      return { connection: await readConnection(tenant, connection_id) }
    },
    audit: ({ connection }, { since }) =>
      connectionEntry('connection.reread', connection, { since: since?.toISOString() ?? null }),
  }),
  operation({
    name: 'listConnectionRuns',
    tag,
    http: 'GET /v1/connections/:connection_id/runs',
    command: 'connection-run list',
    scope: 'settings:read',
    summary: 'List the last 50 runs of a connected system, latest first',
    input: { ...ConnectionPath, ...pageParameters(20, 50) },
    output: { runs: Type.Array(ConnectionRun), pagination: Pagination },
    async run({ tenant }, { connection_id, page, limit }) {
      await connectorOf(tenant, connection_id)
      const { runs, total } = await listRuns(tenant, connection_id, { page, limit })
      return { runs, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'listConnectionErrors',
    tag,
    http: 'GET /v1/connections/:connection_id/errors',
    command: 'connection-error list',
    scope: 'settings:read',
    also: [{ scopes: ['contacts:read'] }],
    summary: 'List the last 1,000 records of a connected system that could not be written, latest first',
    input: { ...ConnectionPath, ...pageParameters(50, 100) },
    output: { errors: Type.Array(ConnectionError), pagination: Pagination },
    async run({ tenant }, { connection_id, page, limit }) {
      await connectorOf(tenant, connection_id)
      const { errors, total } = await listErrors(tenant, connection_id, { page, limit })
      return { errors, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'deleteConnection',
    tag,
    http: 'DELETE /v1/connections/:connection_id',
    command: 'connection delete',
    scope: 'settings:write',
    summary: 'Disconnect a system and delete its credentials; the data that it wrote stays',
    input: ConnectionPath,
    output: {
      deleted: Type.Literal(true),
      connection_id: Id,
      connector: Type.String(WORD),
      source: Type.String(WORD),
    },
    async run({ tenant }, { connection_id }) {
      const { connector, source } = await deleteConnection(tenant, connection_id)
      return { deleted: true as const, connection_id, connector, source }
    },
    audit: ({ connection_id, connector, source }) => ({
      action: 'connection.deleted',
      subjectKind: 'connection',
      subjectId: connection_id,
      details: { connector, source },
    }),
  }),
  ...WRITE_BACK_OPERATIONS,
  ...ACTIVITY_OPERATIONS,
]
