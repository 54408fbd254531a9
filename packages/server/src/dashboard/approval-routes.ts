import Type from 'typebox'
import { Action, type ActionObject } from '../agents/actions/action-object.ts'
import { approveAction, type DecisionDependencies, decideMany, rejectAction } from '../agents/actions/decide.ts'
import type { ActionRef } from '../agents/actions/queue.ts'
import { ListedAction, listWaitingActions } from '../agents/actions/waiting.ts'
import type { Actor } from '../audit/log.ts'
import { conflict, notFound, ServiceError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { offsetOf, Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { filterText } from '../platform/http/query-parameters.ts'
import { Id, Nullable, pathId, success } from '../platform/http/responses.ts'
import type { Tenant } from '../platform/tenant.ts'
import { MEMBER, VIEWER } from './access.ts'

const ACTION_PATH = '/api/approvals/:run_id/:contact_id/:action_index'
const Path = Type.Object({ run_id: Type.String(), contact_id: Type.String(), action_index: Type.String() })
const OneAction = success({ action: Action })
const INDEX_MAX = 2_147_483_647

const Reason = Type.Optional(Type.String({ maxLength: 1_000 }))
const Place = { run_id: Id, contact_id: Id, action_index: Type.Integer({ minimum: 0, maximum: INDEX_MAX }) }
const Places = Type.Array(
  Type.Object(
    { ...Place, run_id: Type.String({ maxLength: 200 }), contact_id: Type.String({ maxLength: 200 }) },
    { additionalProperties: false },
  ),
  { minItems: 1, maxItems: 100 },
)

/** What became of one of several. */
const Decision = Type.Object({
  ...Place,
  action: Nullable(Action),
  error: Nullable(Type.Object({ code: Type.String(), message: Type.String() })),
})
export type Decision = Type.Static<typeof Decision>
const Decisions = success({ decisions: Type.Array(Decision) })

/** What agents propose and a person decides about: list, approve (edited or not), reject, several at once. */
export function approvalRoutes(app: App, dependencies: DecisionDependencies): void {
  app.get(
    '/api/approvals',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        querystring: Type.Object({
          ...pageParameters(20, 100),
          agent_id: filterText('Only of this agent.', 200),
          contact_id: filterText('Only about this contact.', 200),
        }),
        response: { 200: success({ actions: Type.Array(ListedAction), pagination: Pagination }) },
      },
    },
    async ({ tenant, query: { page = 1, limit = 20, agent_id, contact_id } }) => {
      const filters = {
        ...(agent_id === undefined ? {} : { agentId: pathId(agent_id, 'agent') }),
        ...(contact_id === undefined ? {} : { contactId: pathId(contact_id, 'contact') }),
      }
      const offset = Math.min(offsetOf({ page, limit }), 1_000_000_000)
      const { actions, total } = await listWaitingActions(tenant, { limit, offset, ...filters })
      return { status: 'success' as const, actions, pagination: paginationOf({ page, limit }, total) }
    },
  )

  app.post(
    `${ACTION_PATH}/approve`,
    {
      config: { access: MEMBER },
      schema: {
        hide: true,
        params: Path,
        body: Type.Object(
          // What fits is the action type's matter; each wrong place is named when it is looked at.
          { params: Type.Optional(Type.Unsafe<unknown>({})) },
          { additionalProperties: false, 'x-optional': true },
        ),
        response: { 200: OneAction },
      },
    },
    async ({ tenant, actor, params, body }) => {
      const approval = { actor, ...(body.params === undefined ? {} : { params: body.params }) }
      const ref = refOf(params)
      const action = await saidWhoWasFirst(tenant, actor, ref, () => approveAction(tenant, dependencies, ref, approval))
      return { status: 'success' as const, action }
    },
  )

  app.post(
    `${ACTION_PATH}/reject`,
    {
      config: { access: MEMBER },
      schema: {
        hide: true,
        params: Path,
        body: Type.Object({ reason: Reason }, { additionalProperties: false, 'x-optional': true }),
        response: { 200: OneAction },
      },
    },
    async ({ tenant, actor, params, body: { reason } }) => {
      const rejection = { actor, ...(reason === undefined ? {} : { reason }) }
      const ref = refOf(params)
      const action = await saidWhoWasFirst(tenant, actor, ref, () => rejectAction(tenant, dependencies, ref, rejection))
      return { status: 'success' as const, action }
    },
  )

  app.post(
    '/api/approvals/approve',
    {
      config: { access: MEMBER },
      schema: {
        hide: true,
        body: Type.Object({ actions: Places }, { additionalProperties: false }),
        response: { 200: Decisions },
      },
    },
    async ({ tenant, actor, body }) => {
      const decisions = await decideAll(body.actions, (ref) =>
        saidWhoWasFirst(tenant, actor, ref, () => approveAction(tenant, dependencies, ref, { actor })),
      )
      return { status: 'success' as const, decisions }
    },
  )

  app.post(
    '/api/approvals/reject',
    {
      config: { access: MEMBER },
      schema: {
        hide: true,
        body: Type.Object({ actions: Places, reason: Reason }, { additionalProperties: false }),
        response: { 200: Decisions },
      },
    },
    async ({ tenant, actor, body: { actions, reason } }) => {
      const rejection = { actor, ...(reason === undefined ? {} : { reason }) }
      const decisions = await decideAll(actions, (ref) =>
        saidWhoWasFirst(tenant, actor, ref, () => rejectAction(tenant, dependencies, ref, rejection)),
      )
      return { status: 'success' as const, decisions }
    },
  )
}

async function decideAll(
  places: Type.Static<typeof Places>,
  decideOne: (ref: ActionRef) => Promise<ActionObject>,
): Promise<Decision[]> {
  const refs = places.map((place) => refOf({ ...place, action_index: String(place.action_index) }))
  const decided = await decideMany(refs, decideOne)
  return decided.map((each) => ({
    run_id: each.ref.runId,
    contact_id: each.ref.contactId,
    action_index: each.ref.actionIndex,
    action: 'action' in each ? each.action : null,
    error: 'error' in each ? { code: each.error.code, message: each.error.message } : null,
  }))
}

/** Of two people who decide at once the later one is told who the other was. */
async function saidWhoWasFirst(
  tenant: Tenant,
  actor: Actor,
  { runId, contactId, actionIndex }: ActionRef,
  decideOne: () => Promise<ActionObject>,
): Promise<ActionObject> {
  try {
    return await decideOne()
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'invalid_action_state') throw error
    const decided = await tenant.db
      .selectFrom('agent_actions')
      .select(['status', 'decided_by', 'decided_at'])
      .where('run_id', '=', runId)
      .where('contact_id', '=', contactId)
      .where('action_index', '=', actionIndex)
      .executeTakeFirst()
    if (!decided?.decided_at) throw error
    const verb = decided.status === 'rejected' ? 'rejected' : 'approved'
    const by = nameOf(decided.decided_by as Actor | null, actor)
    const at = `${decided.decided_at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
    throw conflict(error.code, `${by} ${verb} this action already, at ${at}.`, error.details)
  }
}

function nameOf(first: Actor | null, actor: Actor): string {
  if (first === null || !('name' in first)) return first?.kind === 'command_line' ? 'The command line' : 'The service'
  if ('id' in actor && actor.id === first.id) return 'You'
  return first.kind === 'api_key' ? `The API key ${first.name}` : first.name
}

/** @throws ServiceError 404 for what cannot be the place of an action. */
function refOf({ run_id, contact_id, action_index }: Type.Static<typeof Path>): ActionRef {
  const index = /^\d{1,10}$/.test(action_index) ? Number(action_index) : Number.NaN
  if (!(index <= INDEX_MAX)) throw notFound('proposed action')
  return { runId: pathId(run_id, 'run'), contactId: pathId(contact_id, 'contact'), actionIndex: index }
}
