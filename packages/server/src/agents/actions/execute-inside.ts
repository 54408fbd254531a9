import { ruleBrokenBy } from '../../contacts/consent.ts'
import { createNote } from '../../contacts/notes/notes.ts'
import type { Properties } from '../../contacts/properties.ts'
import { changeContact } from '../../contacts/writing/change.ts'
import type { ContactSet, ContactState } from '../../contacts/writing/contact-set.ts'
import { openSet } from '../../contacts/writing/keys.ts'
import { storeSet } from '../../contacts/writing/store.ts'
import { changeContacts } from '../../contacts/writing/transaction.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type ActionParams, type ActionType, checkActionParams } from '../action-types.ts'
import type { ActionError } from './action-object.ts'
import { lockApproved } from './claim.ts'
import { hashOfParams } from './params-hash.ts'
import { type ActionRef, queueAction } from './queue.ts'
import { finishAction } from './record.ts'
import type { ExecutionDependencies } from './senders.ts'

/** The source of an agent's changes to a contact. */
const AGENT = { source: 'agent', kind: 'agent' } as const

/** The type of an approved action; null if there is none or it has ended. */
export async function typeOf(tenant: Tenant, { runId, contactId, actionIndex }: ActionRef): Promise<ActionType | null> {
  const row = await tenant.db
    .selectFrom('agent_actions')
    .select('type')
    .where('run_id', '=', runId)
    .where('contact_id', '=', contactId)
    .where('action_index', '=', actionIndex)
    .where('status', '=', 'approved')
    .executeTakeFirst()
  return row ? (row.type as ActionType) : null
}

/**
 * Executes an action that stays inside the service. Its effect and its result are stored in one transaction, so that it
 * happens once. Events and segments follow, as for a person's change.
 */
export async function executeInside(
  tenant: Tenant,
  dependencies: ExecutionDependencies,
  ref: ActionRef,
): Promise<void> {
  const { clock, jobs } = dependencies
  try {
    await changeContacts(tenant, dependencies, async (tx, log) => {
      const now = clock()
      // The contact is locked first, in the same order as everywhere else.
      const set = await openSet(tx, [{ contactIds: [ref.contactId] }])
      set.computed = (await dependencies.findComputedNames(tx)).contacts
      const contact = set.contact(ref.contactId)
      const row = await lockApproved(tx, ref)
      if (!row) return
      const action = { ...ref, agentId: row.agent_id, identityId: row.identity_id, type: row.type }
      const fail = (error: ActionError) => finishAction(tx, log.events, action, { status: 'failed', error }, now)
      if (row.due_at !== null && row.due_at > now) {
        await queueAction(tx, jobs, ref, row.due_at, now)
      } else if (row.params_hash !== hashOfParams(row.params)) {
        await fail({ code: 'params_changed', message: 'The params have changed since they were approved.' })
      } else if (!contact) {
        await fail({ code: 'contact_deleted', message: 'The contact has been deleted.' })
      } else {
        const result = await perform(tx, set, contact, row.type, row.params, now)
        await dependencies.enrich(tx, set, now)
        await storeSet(tx, log, set)
        await finishAction(tx, log.events, action, { status: 'executed', result }, now)
      }
    })
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error
    // The contact's own rules rejected the change, for example too many properties, and nothing was stored.
    const { code, message } = error
    await changeContacts(tenant, dependencies, async (tx, log) => {
      const row = await lockApproved(tx, ref)
      if (!row) return
      const action = { ...ref, agentId: row.agent_id, identityId: row.identity_id, type: row.type }
      await finishAction(tx, log.events, action, { status: 'failed', error: { code, message } }, clock())
    })
  }
}

async function perform(
  tx: Tenant,
  set: ContactSet,
  contact: ContactState,
  type: ActionType,
  params: unknown,
  now: Date,
): Promise<Record<string, unknown>> {
  const [problem] = checkActionParams(type, params)
  if (problem) throw new ServiceError(400, 'invalid_params', `${problem.path}: ${problem.message}`)
  if (type === 'note') {
    const { content } = params as ActionParams<'note'>
    const note = await createNote(tx, contact.row.contact_id, content, now)
    return { note_id: note.note_id }
  }
  const { properties } = params as ActionParams<'crm_update'>
  const before = contact.row.properties as Properties
  // A property such as `status` may say that the contact opted out, which an agent cannot change.
  const barred = Object.keys(properties).find((key) => ruleBrokenBy(key, before[key]) !== null)
  if (barred !== undefined) {
    const message = `properties.${barred}: stops outreach to the contact, so an agent cannot change it`
    throw new ServiceError(400, 'invalid_params', message)
  }
  changeContact(set, contact, { ...AGENT, properties }, now)
  const after = contact.row.properties as Properties
  const changed = Object.keys(properties).filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
  return { changed }
}
