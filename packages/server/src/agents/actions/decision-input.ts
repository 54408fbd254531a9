import Type from 'typebox'
import { notFound } from '../../platform/errors.ts'
import { pathId } from '../../platform/http/responses.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { isOutbound } from '../action-types.ts'
import type { ActionRef } from './queue.ts'
import { typesOfActions } from './read.ts'

export const INDEX_MAX = 2_147_483_647
export const NOWHERE = '00000000-0000-4000-8000-000000000000'

export const Reason = Type.Optional(
  Type.String({ maxLength: 1_000, description: 'Stored in the audit log.', examples: ['We spoke yesterday.'] }),
)
export const HoldSeconds = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: 60,
    default: 0,
    description: 'Executes it this many seconds later at the earliest. Until then the approval can be undone.',
    examples: [10],
  }),
)

/**
 * An agent's own notes and updates of properties run without approval. So a waiting one was proposed through the API, which
 * does not need `contacts:write`, and whoever approves it makes the change.
 */
export const writesToContacts = {
  scopes: ['contacts:write'] as const,
  when: 'for a note or an update of properties',
}

export async function haveInternal(tenant: Tenant, places: readonly Place[]): Promise<boolean> {
  return !(await typesOfActions(tenant, refsOf(places))).every(isOutbound)
}

/** An action as requests name it. */
export interface Place {
  run_id: string
  contact_id: string
  action_index: string | number
}

/** @throws ServiceError 404 for a malformed reference. */
export function refOf({ run_id, contact_id, action_index }: Place): ActionRef {
  const index = /^\d{1,10}$/.test(String(action_index)) ? Number(action_index) : Number.NaN
  if (!(index <= INDEX_MAX)) throw notFound('proposed action')
  return { runId: pathId(run_id, 'run'), contactId: pathId(contact_id, 'contact'), actionIndex: index }
}

export function refsOf(places: readonly Place[]): ActionRef[] {
  return places.map(refOf)
}
