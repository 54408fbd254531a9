import { setTimeout as sleep } from 'node:timers/promises'
import Type from 'typebox'
import { listReceipts, orderErasure, Receipt, readReceipt } from '../erasure/erasures.ts'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { pathId, success } from '../platform/http/responses.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { ADMIN } from './access.ts'
import { audited } from './audited.ts'

/** Most erasures are done by then, and the answer is the receipt; of the others it says that they go on. */
const WAIT_MS_MAX = 8_000
const LOOK_EVERY_MS = 100

export interface ErasureDependencies {
  clock: Clock
  jobs: Jobs
}

const OneReceipt = success({ receipt: Receipt })

/** Erasing a contact everywhere, and the receipts. */
export function erasureRoutes(app: App, { clock, jobs }: ErasureDependencies): void {
  app.post(
    '/api/contacts/:contact_id/erase',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        params: Type.Object({ contact_id: Type.String() }),
        response: { 200: OneReceipt, 202: OneReceipt },
      },
    },
    async (request, reply) => {
      const { tenant, actor, params } = request
      const now = clock()
      const contactId = pathId(params.contact_id, 'contact')
      const { erasureId } = await audited(
        request,
        now,
        (tx) => orderErasure(tx, jobs, contactId, actor, now),
        (ordered) => ({
          action: ordered.isNew ? 'contact.erasure_ordered' : 'contact.erasure_ordered_again',
          subjectKind: 'contact',
          subjectId: contactId,
          details: { erasure_id: ordered.erasureId },
        }),
      )
      const receipt = await finished(tenant, erasureId)
      return reply.code(receipt.status === 'running' ? 202 : 200).send({ status: 'success', receipt })
    },
  )

  app.get(
    '/api/erasures',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        querystring: Type.Object(pageParameters(20, 100)),
        response: { 200: success({ erasures: Type.Array(Receipt), pagination: Pagination }) },
      },
    },
    async ({ tenant, query: { page = 1, limit = 20 } }) => {
      const { erasures, total } = await listReceipts(tenant, { page, limit })
      return { status: 'success' as const, erasures, pagination: paginationOf({ page, limit }, total) }
    },
  )

  app.get(
    '/api/erasures/:erasure_id',
    {
      config: { access: ADMIN },
      schema: { hide: true, params: Type.Object({ erasure_id: Type.String() }), response: { 200: OneReceipt } },
    },
    async ({ tenant, params }) => {
      const receipt = await readReceipt(tenant, pathId(params.erasure_id, 'erasure'))
      return { status: 'success' as const, receipt }
    },
  )
}

async function finished(tenant: Tenant, erasureId: string): Promise<Receipt> {
  const endsAt = performance.now() + WAIT_MS_MAX
  for (;;) {
    const receipt = await readReceipt(tenant, erasureId)
    if (receipt.status !== 'running' || performance.now() > endsAt) return receipt
    await sleep(LOOK_EVERY_MS)
  }
}
