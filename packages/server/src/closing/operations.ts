import { setTimeout as sleep } from 'node:timers/promises'
import Type from 'typebox'
import { readTenantObject, TenantObject } from '../access/tenant-object.ts'
import { entryAbout } from '../operations/audit.ts'
import { operation } from '../operations/declare.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { NAME_LENGTH_MAX } from '../platform/names.ts'
import type { Tenant } from '../platform/tenant.ts'
import { close, REOPENABLE_DAYS, reopen } from './close.ts'
import { DeletionReceipt, readDeletion } from './receipt.ts'

const tag = 'Settings'
/** Most deletions finish within this time, so that the response has the final receipt. */
const WAIT_MS_MAX = 8_000
const READ_EVERY_MS = 100

const entryOf = entryAbout('tenant')

/** Closing the caller's tenant, and reopening it. */
export const CLOSING_OPERATIONS = [
  operation({
    name: 'closeTenant',
    tag,
    http: 'DELETE /v1/tenant',
    command: 'tenant delete',
    scope: 'settings:write',
    whileClosed: true,
    summary: `Close the tenant, and delete it after ${REOPENABLE_DAYS} days or at once`,
    description: `Only for an owner who is signed in, and for the operator on the command line. From then on, keys, members, pages, hooks, webhooks and everything in the background are refused or stopped; owners can export, reopen or delete it. After ${REOPENABLE_DAYS} days, everything is deleted, which cannot be undone. Export the data first. A repeated request changes nothing, unless it has \`now\`.`,
    input: {
      confirm: Type.String({
        minLength: 1,
        maxLength: NAME_LENGTH_MAX,
        description: 'The name of the tenant, to confirm.',
      }),
      now: Type.Optional(Type.Boolean({ description: 'Whether to delete everything at once.' })),
    },
    output: {
      tenant_id: Id,
      closed_at: Timestamp,
      deletes_at: Timestamp,
      deletion: Nullable(DeletionReceipt, 'The receipt, with `now`; null while the tenant can be reopened.'),
    },
    status: 202,
    example: { confirm: 'Example' },
    errors: ['400 name_not_confirmed'],
    forAudit: { isNew: Type.Boolean(), isSooner: Type.Boolean() },
    async run({ tenant, actor, scopes, now }, { confirm, now: isNow = false }) {
      const { closedAt, deletesAt, ...changed } = await close(tenant, { actor, scopes }, { confirm, isNow }, now)
      const closing = { closed_at: closedAt.toISOString(), deletes_at: deletesAt.toISOString() }
      return { tenant_id: tenant.id, ...closing, deletion: await readDeletion(tenant), ...changed }
    },
    after: async ({ tenant }, { deletion }) => ({ deletion: deletion && (await finalReceipt(tenant, deletion)) }),
    audit: ({ isNew, isSooner, tenant_id, deletes_at }) =>
      isNew || isSooner ? entryOf('tenant.closed', tenant_id, { deletes_at }) : null,
  }),
  operation({
    name: 'reopenTenant',
    tag,
    http: 'POST /v1/tenant/reopen',
    command: 'tenant reopen',
    scope: 'settings:write',
    whileClosed: true,
    summary: 'Reopen a tenant that was closed',
    description:
      'Only for an owner who is signed in, and for the operator on the command line. Everything works again as before, and continues where it stopped.',
    input: {},
    output: { tenant: TenantObject },
    errors: ['409 tenant_being_deleted'],
    forAudit: { wasClosed: Type.Boolean() },
    async run({ tenant, actor, scopes, now }) {
      const wasClosed = await reopen(tenant, { actor, scopes })
      return { tenant: await readTenantObject(tenant, now), wasClosed }
    },
    audit: ({ wasClosed, tenant }) => (wasClosed ? entryOf('tenant.reopened', tenant.tenant_id) : null),
  }),
]

/** Waits for the end of a deletion; returns the current receipt after `WAIT_MS_MAX`. */
async function finalReceipt(tenant: Tenant, started: DeletionReceipt): Promise<DeletionReceipt> {
  const endsAt = performance.now() + WAIT_MS_MAX
  let receipt = started
  while (receipt.status === 'running' && performance.now() < endsAt) {
    await sleep(READ_EVERY_MS)
    receipt = (await readDeletion(tenant)) ?? receipt
  }
  return receipt
}
