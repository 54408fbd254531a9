import Type from 'typebox'
import { idInPath, operationsWith } from '../../operations/declare.ts'
import { WRITES_DATA } from '../../operations/further-scopes.ts'
import type { ConnectServices } from '../connect.ts'
import { Connection, WriteBackProperty } from '../connection-object.ts'
import { readConnection } from '../connections.ts'
import { setWriteBack } from './set.ts'
import { checkTargets } from './targets.ts'

const operation = operationsWith<{ connecting: ConnectServices }>()

/** The operation that sets what connections write back. */
export const WRITE_BACK_OPERATIONS = [
  operation({
    name: 'setConnectionWriteBack',
    tag: 'Connections',
    http: 'PUT /v1/connections/:connection_id/write-back',
    command: 'connection write-back',
    scope: 'settings:write',
    also: [{ scopes: ['contacts:read', ...WRITES_DATA] }],
    summary: 'Set which contact properties are written back to a connected system, or turn write-back off',
    description: 'Only changes made after this are written. The service checks that the system has the fields.',
    input: {
      connection_id: idInPath('connection'),
      properties: Type.Array(WriteBackProperty, { maxItems: 50, description: 'Empty: write-back is off.' }),
      create_missing: Type.Optional(
        Type.Boolean({
          description:
            'Whether to create contacts in the system that do not exist there, if they have an email. Default: false.',
        }),
      ),
    },
    output: {
      connection: Connection,
      changed: Type.Boolean({ description: 'Whether this changed anything.' }),
    },
    example: { properties: [{ property: 'jobtitle', target: 'jobtitle', conflict: 'newest' }] },
    errors: ['400 connection_refused', '409 write_back_not_supported'],
    check: ({ tenant, connecting }, { connection_id, properties }) =>
      checkTargets(tenant, connecting, connection_id, properties),
    async run({ tenant, now }, { connection_id, properties, create_missing = false }) {
      const changed = await setWriteBack(tenant, connection_id, { properties, create_missing }, now)
      return { connection: await readConnection(tenant, connection_id), changed }
    },
    audit: ({ connection, changed }, { properties, create_missing = false }) =>
      changed
        ? {
            action: 'connection.write_back_set',
            subjectKind: 'connection',
            subjectId: connection.connection_id,
            details: { connector: connection.connector, source: connection.source, properties, create_missing },
          }
        : null,
  }),
]
