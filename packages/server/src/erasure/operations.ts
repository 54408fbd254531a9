import { setTimeout as sleep } from 'node:timers/promises'
import Type from 'typebox'
import { idInPath, operation } from '../operations/declare.ts'
import { idInput } from '../platform/http/inputs.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { pathId } from '../platform/http/responses.ts'
import type { Tenant } from '../platform/tenant.ts'
import { listReceipts, Receipt, readReceipt, requestErasure } from './erasures.ts'

const tag = 'Erasure'
/** Most erasures finish within this time, so that the response is the final receipt. */
const WAIT_MS_MAX = 8_000
const READ_EVERY_MS = 100

export const ERASURE_OPERATIONS = [
  operation({
    name: 'listErasures',
    tag,
    http: 'GET /v1/erasures',
    command: 'erasure list',
    scope: 'data:erase',
    summary: 'List the receipts of erasures, newest first',
    input: pageParameters(20, 100),
    output: { erasures: Type.Array(Receipt), pagination: Pagination },
    async run({ tenant }, { page, limit }) {
      const { erasures, total } = await listReceipts(tenant, { page, limit })
      return { erasures, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'eraseContact',
    tag,
    http: 'POST /v1/erasures',
    command: 'erasure create',
    scope: 'data:erase',
    summary: 'Erase a contact and everything about it, which cannot be undone',
    description:
      'Also erases the contacts that were merged into it. The receipt is `running` if the erasure takes more than a few seconds; read it again until it is `verified`. A repeated request returns the same receipt.',
    input: { contact_id: idInput() },
    output: { receipt: Receipt },
    status: 202,
    example: { contact_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071' },
    errors: ['404 contact_merged', '404 not_found'],
    forAudit: { isNew: Type.Boolean() },
    async run({ tenant, actor, now }, { contact_id }) {
      const { erasureId, isNew } = await requestErasure(tenant, pathId(contact_id, 'contact'), actor, now)
      return { receipt: await readReceipt(tenant, erasureId), isNew }
    },
    after: async ({ tenant }, { receipt }) => ({ receipt: await finalReceipt(tenant, receipt.erasure_id) }),
    audit: ({ receipt: { erasure_id, contact_id }, isNew }) =>
      isNew
        ? { action: 'contact.erased', subjectKind: 'contact', subjectId: contact_id, details: { erasure_id } }
        : null,
  }),
  operation({
    name: 'getErasure',
    tag,
    http: 'GET /v1/erasures/:erasure_id',
    command: 'erasure get',
    scope: 'data:erase',
    summary: 'Get the receipt of an erasure',
    input: { erasure_id: idInPath('erasure') },
    output: { receipt: Receipt },
    run: async ({ tenant }, { erasure_id }) => ({ receipt: await readReceipt(tenant, erasure_id) }),
  }),
]

/** Waits for the final receipt; returns the current one after `WAIT_MS_MAX`. */
async function finalReceipt(tenant: Tenant, erasureId: string): Promise<Receipt> {
  const endsAt = performance.now() + WAIT_MS_MAX
  for (;;) {
    const receipt = await readReceipt(tenant, erasureId)
    if (receipt.status !== 'running' || performance.now() > endsAt) return receipt
    await sleep(READ_EVERY_MS)
  }
}
