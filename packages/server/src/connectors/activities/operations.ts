import Type from 'typebox'
import { idInPath, operationsWith } from '../../operations/declare.ts'
import { conflict } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { connectorNamed } from '../all-connectors.ts'
import { Connection, connectionEntry } from '../connection-object.ts'
import { change, lockConnection, readConnection } from '../connections.ts'
import { dropWaiting } from './outbox.ts'

/** The operation that sets whether a connection stores the notes and mails of agents. */
export const ACTIVITY_OPERATIONS = [
  operationsWith<object>()({
    name: 'setConnectionActivities',
    tag: 'Connections',
    http: 'PUT /v1/connections/:connection_id/activities',
    command: 'connection activities',
    scope: 'settings:write',
    also: [{ scopes: ['contacts:read', 'agents:read'] }],
    summary: 'Set whether notes and mails of agents are stored in a connected system as activities of the contact',
    description:
      'Stores notes and sent mails from then on, once the action was executed, if the system has the contact. They are not read back.',
    input: {
      connection_id: idInPath('connection'),
      enabled: Type.Boolean({ description: 'false: nothing is stored any more, and what waits is dropped.' }),
    },
    output: {
      connection: Connection,
      changed: Type.Boolean({ description: 'Whether this changed anything.' }),
    },
    example: { enabled: true },
    errors: ['409 activities_not_supported'],
    async run({ tenant, now }, { connection_id, enabled }) {
      const changed = await setActivities(tenant, connection_id, enabled, now)
      return { connection: await readConnection(tenant, connection_id), changed }
    },
    audit: ({ connection, changed }, { enabled }) =>
      changed ? connectionEntry('connection.activities_set', connection, { enabled }) : null,
  }),
]

/** @throws ServiceError 404, 409 `activities_not_supported`. */
async function setActivities(tx: Tenant, connectionId: string, enabled: boolean, now: Date): Promise<boolean> {
  const row = await lockConnection(tx, connectionId)
  const { label, activities } = connectorNamed(row.connector)
  if (!activities) throw conflict('activities_not_supported', `Activities cannot be stored in ${label}.`)
  if (row.activities === enabled) return false
  const changes = { activities: enabled, activities_error: null, activities_failures: 0, activities_at: now }
  await change(tx, connectionId, changes, now)
  if (!enabled) await dropWaiting(tx, connectionId)
  return true
}
