import Type from 'typebox'
import { idInPath, operationsWith } from '../../operations/declare.ts'
import { WRITES_DATA } from '../../operations/further-scopes.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { ContactId } from '../../platform/http/responses.ts'
import type { ConnectServices } from '../connect.ts'
import { Connection, WriteBackProperty } from '../connection-object.ts'
import { readConnection } from '../connections.ts'
import { REQUEST_STATUSES, requestWriting } from './request.ts'
import { setWriteBack } from './set.ts'
import { checkTargets } from './targets.ts'

const operation = operationsWith<{ connecting: ConnectServices }>()

const REQUESTED_MAX = 100

/** Sets what connections write back, and has contacts written on request. */
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
            'Whether to create changed contacts in the system that do not exist there. They need an email, and nothing may stop outreach to them. A record with the same email is linked instead. Default: false.',
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
  operation({
    name: 'writeContactsBack',
    tag: 'Connections',
    http: 'POST /v1/connections/:connection_id/write-back',
    command: 'connection write',
    scope: 'contacts:write',
    also: [{ scopes: ['contacts:read'] }],
    summary: 'Write contacts to a connected system now, and create those that it does not have',
    description:
      'The contacts are written within seconds, with the properties that are written back. A contact that the system does not have is created, whether or not `create_missing` is set. A record with the same email is linked instead.',
    input: {
      connection_id: idInPath('connection'),
      contact_ids: Type.Array(idInput(), { minItems: 1, maxItems: REQUESTED_MAX }),
    },
    output: {
      contacts: Type.Array(
        Type.Object(
          {
            contact_id: ContactId,
            status: Type.Enum([...REQUEST_STATUSES], {
              description:
                '`waiting`: it is written within seconds. `not_found`: no contact has this id. `no_email`: the system does not have the contact, which has no email. `opted_out`: the system does not have the contact, and something stops outreach to it, so it is not created.',
            }),
          },
          { title: 'RequestedContact' },
        ),
        { description: 'In the order of the request.' },
      ),
    },
    example: { contact_ids: ['019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071'] },
    errors: ['409 write_back_off'],
    async run({ tenant, now }, { connection_id, contact_ids }) {
      return { contacts: await requestWriting(tenant, connection_id, contact_ids, now) }
    },
    audit: ({ contacts }, { connection_id }) => {
      const count = contacts.filter(({ status }) => status === 'waiting').length
      return count === 0
        ? null
        : {
            action: 'connection.contacts_requested',
            subjectKind: 'connection',
            subjectId: connection_id,
            details: { contacts: count },
          }
    },
  }),
]
