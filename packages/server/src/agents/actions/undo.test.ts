import { beforeAll, beforeEach, expect, test } from 'vitest'
import { actionOf, insertIdentity, MAIL, NOTE, propose } from '../../../test/actions.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import type { Actor } from '../../operations/audit.ts'
import { listAudit } from '../../operations/audit-list.ts'
import { newId } from '../../platform/ids.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import { approveAction, rejectAction } from './decide.ts'
import type { ActionRef } from './queue.ts'
import { undoDecision } from './undo.ts'

const ADA: Actor = { kind: 'user', id: newId(), name: 'Ada' }

let service: TestService
let tenant: TestTenant
let contactId: string

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  contactId = await tenant.contact('ada@example.com')
})

const waiting = (more: object = {}) =>
  propose(tenant.handle, service.jobs, { contactId, ...NOTE, proposedBy: ADA, ...more })
const placeOf = ({ runId, contactId: contact_id, actionIndex }: ActionRef) => {
  return { run_id: runId, contact_id, action_index: actionIndex }
}
const undo = async (...refs: ActionRef[]) =>
  (await tenant.call('POST', '/v1/approvals/undo', { actions: refs.map(placeOf) })).body.decisions

test('an approval that is held can be undone: the action waits again, executes nothing, and can be approved later', async () => {
  const { ref, path } = await waiting()
  const params = { content: 'Asked for a **price**.' }
  const approved = await tenant.call('POST', `${path}/approve`, { params, hold_seconds: 60 })
  expect(approved.body.action.status).toBe('approved')
  const { decided_at, due_at } = approved.body.action
  expect(Date.parse(due_at) - Date.parse(decided_at)).toBe(MINUTE_MS)
  const [undone] = await undo(ref)
  expect(undone).toMatchObject({
    ...placeOf(ref),
    error: null,
    action: { status: 'pending_approval', params, decided_by: null, decided_at: null, due_at: null },
  })
  const { entries } = await listAudit(tenant.handle, { actor: 'api_key' }, { page: 1, limit: 1 })
  expect(entries).toMatchObject([{ action: 'action.undone', details: { type: 'note', undone: 'approved' } }])
  expect((await tenant.call('GET', '/v1/approvals')).body.pagination.total_items).toBe(1)
  await tenant.call('POST', `${path}/approve`)
  await expect.poll(async () => (await actionOf(tenant.handle, ref)).status).toBe('executed')
})

test('several are approved with a hold, and nothing executes before its end', async () => {
  const { ref } = await waiting()
  const body = { actions: [placeOf(ref)], hold_seconds: 60 }
  const { decisions } = (await tenant.call('POST', '/v1/approvals/approve', body)).body
  const { decided_at, due_at } = decisions[0].action
  expect(Date.parse(due_at) - Date.parse(decided_at)).toBe(MINUTE_MS)
  const tooLong = await tenant.call('POST', '/v1/approvals/approve', { ...body, hold_seconds: 61 })
  expect([tooLong.status, tooLong.body.error.code]).toEqual([400, 'validation_error'])
})

test('an approval that has begun to execute cannot be undone, and says so', async () => {
  const { ref, path } = await waiting()
  await tenant.call('POST', `${path}/approve`)
  await expect.poll(async () => (await actionOf(tenant.handle, ref)).status).toBe('executed')
  const identityId = await insertIdentity(tenant.handle)
  const mail = await waiting({ ...MAIL, identityId })
  await approveAction(tenant.handle, service.jobs, mail.ref, { actor: ADA, holdSeconds: 60 }, new Date())
  // As the claim before a mail is sent stores it.
  await tenant.handle.db
    .updateTable('agent_actions')
    .set({ execution: JSON.stringify({ attempts: 1, failures: 0, key: 'k', may_have_been_sent: true }) })
    .where('run_id', '=', mail.ref.runId)
    .execute()
  const message = 'The service has begun to execute this action, so its approval can no longer be undone.'
  expect(await undo(ref, mail.ref)).toMatchObject([
    { action: null, error: { code: 'invalid_action_state', message } },
    { action: null, error: { code: 'invalid_action_state', message } },
  ])
})

test('a rejection can be undone for a minute', async () => {
  const [first, second] = [await waiting(), await waiting()]
  const now = new Date()
  for (const { ref } of [first, second]) await rejectAction(tenant.handle, ref, { actor: ADA }, now)
  expect((await undoDecision(tenant.handle, first.ref, ADA, now)).status).toBe('pending_approval')
  const later = new Date(now.getTime() + MINUTE_MS + 1)
  await expect(undoDecision(tenant.handle, second.ref, ADA, later)).rejects.toMatchObject({
    code: 'invalid_action_state',
    message: 'The action was rejected more than a minute ago, which is final.',
  })
})

test('only decisions of people and API keys can be undone', async () => {
  const automatic = await waiting({ proposedBy: undefined })
  expect(automatic.status).toBe('approved')
  const { ref } = await waiting()
  const unknown = { ...ref, runId: newId() }
  expect(await undo(automatic.ref, ref, unknown)).toMatchObject([
    { error: { message: 'No person decided this action, so there is nothing to undo.' } },
    { error: { message: 'The action still waits for approval, so there is nothing to undo.' } },
    { error: { code: 'not_found' } },
  ])
})
