import type { ContactState } from '../../contacts/writing/contact-set.ts'
import { openSet } from '../../contacts/writing/keys.ts'
import { conflict, notFound } from '../../platform/errors.ts'
import { changeRecords } from '../../platform/postgres/collisions.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { connectorNamed } from '../all-connectors.ts'
import { obstacleOf } from './decide.ts'
import { requestContacts } from './outbox.ts'
import { settingsOf } from './write-back.ts'

/** `waiting`: the contact is written within seconds. Otherwise, why it is not. */
export const REQUEST_STATUSES = ['waiting', 'not_found', 'no_email', 'opted_out'] as const

export interface RequestedContact {
  contact_id: string
  status: (typeof REQUEST_STATUSES)[number]
}

/**
 * Has contacts written to a connected system, and created there if it does not have them.
 * @returns a status for each of the ids, in their order.
 * @throws ServiceError 404, 409 `write_back_off`.
 */
export async function requestWriting(
  tenant: Tenant,
  connectionId: string,
  contactIds: readonly string[],
  now: Date,
): Promise<RequestedContact[]> {
  return changeRecords(tenant, async (tx) => {
    // Contacts are locked before the outbox rows of their changes, as in all transactions.
    const set = await openSet(tx, [{ contactIds }])
    const row = await tx.db
      .selectFrom('connections')
      .select(['connector', 'source', 'write_back'])
      .where('connection_id', '=', connectionId)
      .forKeyShare()
      .executeTakeFirst()
    if (!row) throw notFound('connection')
    if (settingsOf(row) === null) {
      const { label } = connectorNamed(row.connector)
      throw conflict('write_back_off', `Nothing is written back to ${label}. Choose the properties to write first.`)
    }
    const found = contactIds.map((id) => ({ id, state: set.contact(id) ?? set.survivorOf(id) }))
    const results = found.map(({ id, state }) => ({ contact_id: id, status: statusOf(state, row.source), state }))
    const waiting = results.flatMap(({ status, state }) => (status === 'waiting' && state ? state.row.contact_id : []))
    await requestContacts(tx, connectionId, [...new Set(waiting)].sort(), now)
    return results.map(({ contact_id, status }) => ({ contact_id, status }))
  })
}

function statusOf(state: ContactState | undefined, source: string): RequestedContact['status'] {
  if (!state) return 'not_found'
  const isLinked = state.records.some((record) => record.source === source && record.external_id !== null)
  return isLinked ? 'waiting' : (obstacleOf(state.row) ?? 'waiting')
}
