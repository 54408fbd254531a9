import type { Actor } from '../../operations/audit.ts'
import { hasMoreCharacters } from '../../platform/characters.ts'
import { conflict, notFound, ServiceError, validationError } from '../../platform/errors.ts'
import { isStorableText } from '../../platform/http/json-body.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { laterOf } from '../../platform/time.ts'
import { type ActionType, checkActionParams, isOutbound } from '../action-types.ts'
import { ACTION_COLUMNS, type ActionObject, type ActionRow, toActionObject } from './action-object.ts'
import { auditAction } from './audit.ts'
import { checkGuardrails } from './guardrails.ts'
import { hashOfParams } from './params-hash.ts'
import { existingIdentity } from './propose.ts'
import { type ActionRef, queueAction } from './queue.ts'
import { selectAction } from './read.ts'

export interface Approval {
  actor: Actor
  /** Edited params that replace the proposed ones. */
  params?: unknown
  /** Seconds until it may execute, during which the approval can be undone. */
  holdSeconds?: number | undefined
}

export interface Rejection {
  actor: Actor
  reason?: string
}

/** The result of one of several decisions. */
export type Decided = { ref: ActionRef; action: ActionObject } | { ref: ActionRef; error: ServiceError }

const REASON_LENGTH_MAX = 1_000
const DECIDED_AT_ONCE_MAX = 100

/**
 * Approves a proposed action with exactly its current params, and queues it for execution in the same transaction. Of
 * concurrent decisions, one wins.
 * @throws ServiceError 404, 409 `invalid_action_state` or `identity_required`, 400 for invalid edited params.
 */
export async function approveAction(
  tenant: Tenant,
  jobs: Pick<Jobs, 'send'>,
  ref: ActionRef,
  { actor, params: edited, holdSeconds = 0 }: Approval,
  now: Date,
): Promise<ActionObject> {
  return tenant.transaction(async (tx) => {
    const row = await lockPending(tx, ref, actor)
    const type = row.type as ActionType
    const details = edited === undefined ? [] : checkActionParams(type, edited)
    if (details.length > 0) throw validationError(details)
    const identityId = row.identity_id ?? (isOutbound(type) ? await identityOfAgent(tx, row.agent_id) : null)
    if (isOutbound(type) && identityId === null) {
      const message = 'The agent has no identity to send this from. Set its identity_id, then approve again.'
      throw conflict('identity_required', message)
    }
    const params = edited ?? row.params
    const guarded = { ...ref, agentId: row.agent_id, identityId, type }
    const { waitUntil } = await checkGuardrails(tx, guarded, 'execution', now)
    const heldUntil = new Date(now.getTime() + holdSeconds * 1000)
    const dueAt = laterOf(waitUntil, heldUntil) ?? heldUntil
    const hash = hashOfParams(params)
    const changes = { params: JSON.stringify(params), params_hash: hash, identity_id: identityId, due_at: dueAt }
    const edit = editOf(row.params as Params, params as Params)
    const isEdited = row.edited || edit.edited !== undefined
    const approved = await decide(tx, ref, { ...changes, edited: isEdited, status: 'approved' }, actor, now)
    const said = { type, params_hash: hash, ...edit }
    await auditAction(tx, 'approved', ref, actor, said, now)
    await queueAction(tx, jobs, ref, dueAt, now)
    return toActionObject(approved)
  })
}

type Params = Record<string, unknown>

/** The params that a person edited. Audit entries outlive the erasure of the contact, so they contain names but no texts. */
function editOf(proposed: Params, approved: Params): { edited?: string[]; proposed_hash?: string } {
  const keys = [...new Set([...Object.keys(proposed), ...Object.keys(approved)])]
  const edited = keys.filter((key) => hashOfParams(proposed[key] ?? null) !== hashOfParams(approved[key] ?? null))
  return edited.length > 0 ? { edited: edited.sort(), proposed_hash: hashOfParams(proposed) } : {}
}

/**
 * Rejects a proposed action: it never executes.
 * @throws ServiceError 404, 409 `invalid_action_state`, 400 for a reason that cannot be stored.
 */
export async function rejectAction(
  tenant: Tenant,
  ref: ActionRef,
  { actor, reason }: Rejection,
  now: Date,
): Promise<ActionObject> {
  if (reason !== undefined && (hasMoreCharacters(reason, REASON_LENGTH_MAX) || !isStorableText(reason))) {
    const message = `must be a string of at most ${REASON_LENGTH_MAX} characters`
    throw validationError([{ path: 'reason', message }])
  }
  return tenant.transaction(async (tx) => {
    const row = await lockPending(tx, ref, actor)
    const rejected = await decide(tx, ref, { status: 'rejected' }, actor, now)
    await auditAction(tx, 'rejected', ref, actor, { type: row.type, ...(reason ? { reason } : {}) }, now)
    return toActionObject(rejected)
  })
}

/**
 * Decides about several actions independently: an error with one does not affect the others.
 * @throws ServiceError 400 for too many at once.
 */
export async function decideMany(
  refs: readonly ActionRef[],
  decideOne: (ref: ActionRef) => Promise<ActionObject>,
): Promise<Decided[]> {
  if (refs.length > DECIDED_AT_ONCE_MAX) {
    throw validationError([{ path: 'actions', message: `must be at most ${DECIDED_AT_ONCE_MAX} actions` }])
  }
  const decided: Decided[] = []
  for (const ref of refs) {
    try {
      decided.push({ ref, action: await decideOne(ref) })
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      decided.push({ ref, error })
    }
  }
  return decided
}

/** Reads an action and locks it until the transaction ends. @throws ServiceError 404, 409 `invalid_action_state`. */
async function lockPending(tx: Tenant, ref: ActionRef, actor: Actor): Promise<ActionRow> {
  const row = await selectAction(tx, ref).forUpdate().executeTakeFirst()
  if (!row) throw notFound('proposed action')
  if (row.status !== 'pending_approval') {
    throw conflict('invalid_action_state', whoDecided(row, actor), [{ path: 'status', message: row.status }])
  }
  return row
}

/** Tells the second of two people who decide about an action who decided first. */
function whoDecided({ status, decided_by, decided_at }: ActionRow, actor: Actor): string {
  if (!decided_at) return `The action is ${status}; only one that is pending_approval can be approved or rejected.`
  const by = nameOf(decided_by as Actor | null, actor)
  const at = `${decided_at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return `${by} already ${status === 'rejected' ? 'rejected' : 'approved'} this action, at ${at}.`
}

function nameOf(first: Actor | null, actor: Actor): string {
  if (first === null || !('name' in first)) return first?.kind === 'command_line' ? 'The command line' : 'The service'
  if ('id' in actor && actor.id === first.id) return 'You'
  return first.kind === 'api_key' ? `The API key ${first.name}` : first.name
}

interface Decision {
  status: 'approved' | 'rejected'
  params?: string
  params_hash?: string
  edited?: boolean
  identity_id?: string | null
  due_at?: Date
}

function decide(
  tx: Tenant,
  { runId, contactId, actionIndex }: ActionRef,
  decision: Decision,
  actor: Actor,
  now: Date,
): Promise<ActionRow> {
  return tx.db
    .updateTable('agent_actions')
    .set({ ...decision, decided_by: JSON.stringify(actor), decided_at: now, updated_at: now })
    .where('run_id', '=', runId)
    .where('contact_id', '=', contactId)
    .where('action_index', '=', actionIndex)
    .returning(ACTION_COLUMNS)
    .executeTakeFirstOrThrow()
}

/** The agent's current identity, which may have been set after it proposed the action. */
async function identityOfAgent(tx: Tenant, agentId: string): Promise<string | null> {
  const agent = await tx.db
    .selectFrom('agents')
    .select('identity_id')
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  return existingIdentity(tx, agent?.identity_id ?? null)
}
