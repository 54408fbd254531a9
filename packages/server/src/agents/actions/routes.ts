import Type from 'typebox'
import { notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/app-types.ts'
import { pathId, success } from '../../platform/http/responses.ts'
import { Action } from './action-object.ts'
import { approveAction, type DecisionDependencies, rejectAction } from './decide.ts'
import type { ActionRef } from './queue.ts'

const ACTION_PATH = '/v1/agents/runs/:runId/contacts/:contactId/actions/:actionIndex'
const Path = Type.Object({ runId: Type.String(), contactId: Type.String(), actionIndex: Type.String() })
const OneAction = success({ action: Action })
const INDEX_MAX = 2_147_483_647

/** Proposed actions: approve, reject. */
export function actionRoutes(app: App, dependencies: DecisionDependencies): void {
  app.post(
    `${ACTION_PATH}/approve`,
    {
      config: { access: 'agents:approve' },
      schema: {
        operationId: 'approveAction',
        summary: 'Approve a proposed action; it is then queued for execution',
        tags: ['Agents'],
        params: Path,
        body: Type.Object({}, { additionalProperties: false, 'x-optional': true }),
        response: { 200: OneAction },
      },
    },
    async ({ tenant, actor, params }) => {
      const action = await approveAction(tenant, dependencies, refOf(params), { actor })
      return { status: 'success' as const, action }
    },
  )

  app.post(
    `${ACTION_PATH}/reject`,
    {
      config: { access: 'agents:approve' },
      schema: {
        operationId: 'rejectAction',
        summary: 'Reject a proposed action; it never executes',
        tags: ['Agents'],
        params: Path,
        body: Type.Object(
          { reason: Type.Optional(Type.String({ maxLength: 1_000, description: 'Kept in the audit log.' })) },
          { additionalProperties: false, 'x-optional': true },
        ),
        response: { 200: OneAction },
      },
    },
    async ({ tenant, actor, params, body }) => {
      const { reason } = body
      const decision = { actor, ...(reason === undefined ? {} : { reason }) }
      const action = await rejectAction(tenant, dependencies, refOf(params), decision)
      return { status: 'success' as const, action }
    },
  )
}

/** @throws ServiceError 404 for what cannot be the place of an action. */
function refOf({ runId, contactId, actionIndex }: Type.Static<typeof Path>): ActionRef {
  const index = /^\d{1,10}$/.test(actionIndex) ? Number(actionIndex) : Number.NaN
  if (!(index <= INDEX_MAX)) throw notFound('proposed action')
  return { runId: pathId(runId, 'run'), contactId: pathId(contactId, 'contact'), actionIndex: index }
}
