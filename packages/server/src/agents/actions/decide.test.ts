import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { actionOf, insertIdentity, MAIL, propose } from '../../../test/actions.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import type { Actor } from '../../operations/audit.ts'
import { listAudit } from '../../operations/audit-list.ts'
import { newId } from '../../platform/ids.ts'
import { approveAction, decideMany, rejectAction } from './decide.ts'
import { hashOfParams } from './params-hash.ts'
import { listWaitingActions } from './waiting.ts'

const ADA: Actor = { kind: 'user', id: newId(), name: 'Ada' }

let service: TestService
let tenant: TestTenant
let contactId: string
let identityId: string

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  contactId = await tenant.contact('ada@example.com', { firstname: 'Ada', company: 'Engines' })
  identityId = await insertIdentity(tenant.handle)
})

const waiting = (actionIndex = 0, runId?: string, agentId?: string) =>
  propose(tenant.handle, service.jobs, {
    contactId,
    identityId,
    ...MAIL,
    actionIndex,
    ...(runId === undefined ? {} : { runId }),
    ...(agentId === undefined ? {} : { agentId }),
  })

test('an approval returns the approved action, and the audit log has its actor', async () => {
  const { path, ref, status } = await waiting()
  expect(status).toBe('pending_approval')
  const { status: code, body } = await tenant.call('POST', `${path}/approve`)
  expect(code).toBe(200)
  expect(body).toMatchObject({
    status: 'success',
    action: {
      run_id: ref.runId,
      contact_id: contactId,
      action_index: 0,
      type: 'email_message',
      params: MAIL.params,
      status: 'approved',
      decided_by: { kind: 'api_key', name: 'all' },
    },
  })
  const stored = await actionOf(tenant.handle, ref)
  expect(stored.params_hash).toBe(hashOfParams(MAIL.params))
  const { entries } = await listAudit(tenant.handle, { actor: 'api_key' }, { page: 1, limit: 10 })
  expect(entries).toMatchObject([
    {
      action: 'action.approved',
      actor: { kind: 'api_key', name: 'all' },
      subject_kind: 'action',
      subject_id: `${ref.runId}/${contactId}/0`,
      details: { type: 'email_message', params_hash: stored.params_hash },
    },
  ])
})

test('a rejection is final, and its reason is in the audit log', async () => {
  const { path, ref } = await waiting()
  const { body } = await tenant.call('POST', `${path}/reject`, { reason: 'Too pushy' })
  expect(body.action).toMatchObject({ status: 'rejected', type: 'email_message', error: null })
  for (const verb of ['approve', 'reject']) {
    const again = await tenant.call('POST', `${path}/${verb}`)
    expect([again.status, again.body.error.code]).toEqual([409, 'invalid_action_state'])
    expect(again.body.error.details).toEqual([{ path: 'status', message: 'rejected' }])
  }
  const { entries } = await listAudit(
    tenant.handle,
    { subject_id: `${ref.runId}/${contactId}/0` },
    { page: 1, limit: 10 },
  )
  expect(entries.map(({ action, details }) => [action, details.reason])).toEqual([['action.rejected', 'Too pushy']])
})

test.each([
  ['approve', { params: { subject: 'Mine' } }],
  ['approve', { identity_id: newId() }],
  ['approve', []],
  ['reject', { reason: 7 }],
  ['reject', { reason: 'x'.repeat(1_001) }],
  ['reject', { because: 'x' }],
])('the body of %s must not be %j', async (verb, sent) => {
  const { path, ref } = await waiting()
  const { status, body } = await tenant.call('POST', `${path}/${verb}`, sent)
  expect([status, body.error.code]).toEqual([400, 'validation_error'])
  expect((await actionOf(tenant.handle, ref)).status).toBe('pending_approval')
})

test('a NUL character in a reason is 400', async () => {
  const { path } = await waiting()
  const { status } = await tenant.call('POST', `${path}/reject`, { reason: 'a\u0000b' })
  expect(status).toBe(400)
  const typed = rejectAction(tenant.handle, (await waiting()).ref, { actor: ADA, reason: '\ud800' }, new Date())
  await expect(typed).rejects.toMatchObject({ status: 400 })
})

describe('a reference to no action', () => {
  const ODD = ['1', '-1', '00x', '1e3', '0.0', '%20', '2147483648', '99999999999999999999', '%F0%9F%92%A9', 'undefined']
  test.each(ODD)('the index %s is 404', async (index) => {
    const { path } = await waiting()
    for (const verb of ['approve', 'reject']) {
      const { status, body } = await tenant.call('POST', `${path.replace(/\/0$/, '')}/${index}/${verb}`)
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    }
  })

  test("another tenant's action, an unknown run, another contact and malformed ids are 404 and change nothing", async () => {
    const { path, ref } = await waiting()
    const stranger = await createTestTenant(service)
    const other = await tenant.contact('other@example.com')
    const paths = [
      path.replace(ref.runId, newId()),
      path.replace(ref.contactId, newId()),
      path.replace(ref.contactId, other),
      path.replace(ref.runId, 'x'),
      path.replace(ref.contactId, "' OR 1=1 --".replaceAll(' ', '%20')),
    ]
    for (const verb of ['approve', 'reject']) {
      for (const each of paths) expect((await tenant.call('POST', `${each}/${verb}`)).status).toBe(404)
      expect((await stranger.call('POST', `${path}/${verb}`)).status).toBe(404)
    }
    expect((await actionOf(tenant.handle, ref)).status).toBe('pending_approval')
    expect((await listAudit(stranger.handle, {}, { page: 1, limit: 10 })).total).toBe(0)
  })

  test('ids are case-insensitive', async () => {
    const { path } = await waiting()
    expect(
      (
        await tenant.call(
          'POST',
          `${path.toUpperCase().replace('/V1/AGENTS/RUNS', '/v1/agents/runs').replace('CONTACTS', 'contacts').replace('ACTIONS', 'actions')}/approve`,
        )
      ).status,
    ).toBe(200)
  })
})

test('the scope agents:approve is required', async () => {
  const { path } = await waiting()
  const key = await tenant.keyWith('agents:read', 'agents:write', 'agents:trigger')
  const { status, body } = await call(service, 'POST', `${path}/approve`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
})

test('without an identity an approval is 409 until the agent has one', async () => {
  const { path, ref, agentId } = await propose(tenant.handle, service.jobs, {
    contactId,
    ...MAIL,
    requireApproval: false,
  })
  expect((await actionOf(tenant.handle, ref)).status).toBe('pending_approval')
  const refused = await tenant.call('POST', `${path}/approve`)
  expect([refused.status, refused.body.error.code]).toEqual([409, 'identity_required'])
  await tenant.handle.db
    .updateTable('agents')
    .set({ identity_id: identityId })
    .where('agent_id', '=', agentId)
    .execute()
  const { status, body } = await tenant.call('POST', `${path}/approve`)
  expect([status, body.action.identity_id]).toEqual([200, identityId])
})

test('of fifty concurrent decisions one wins, the others are 409, and there is one audit entry', async () => {
  const { path, ref } = await waiting()
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, index) => tenant.call('POST', `${path}/${index % 2 ? 'approve' : 'reject'}`)),
  )
  const statuses = responses.map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  expect(statuses.filter((status) => status === 409)).toHaveLength(49)
  const winner = responses.find(({ status }) => status === 200)
  expect((await actionOf(tenant.handle, ref)).decided_at?.toISOString()).toBe(winner?.body.action.decided_at)
  expect((await listAudit(tenant.handle, { actor: 'api_key' }, { page: 1, limit: 10 })).total).toBe(1)
})

describe('edits', () => {
  test('an approval can have edited params, which are checked and named in the audit log without their text', async () => {
    const { ref } = await waiting()
    const params = { ...MAIL.params, message: 'Edited' }
    const action = await approveAction(tenant.handle, service.jobs, ref, { actor: ADA, params }, new Date())
    expect(action).toMatchObject({ params, status: 'approved', decided_by: ADA })
    expect((await actionOf(tenant.handle, ref)).params_hash).toBe(hashOfParams(params))
    const { entries } = await listAudit(tenant.handle, { actor: ADA.id }, { page: 1, limit: 10 })
    expect(entries[0]?.details).toMatchObject({ edited: ['message'], proposed_hash: hashOfParams(MAIL.params) })
    expect(JSON.stringify(entries)).not.toContain(MAIL.params.message)
  })

  test.each([
    [{ subject: 'x' }],
    [{ ...MAIL.params, to: 'eve@example.com' }],
    [{ ...MAIL.params, recipient: 'eve@example.com' }],
    [{ ...MAIL.params, identity_id: newId() }],
    [{ ...MAIL.params, subject: 'x\r\nBcc: eve@example.com' }],
    [{ ...MAIL.params, message: '\u0000' }],
    [null],
    ['text'],
  ])('the params %j are refused and the action keeps waiting', async (params) => {
    const { ref } = await waiting()
    const approval = approveAction(tenant.handle, service.jobs, ref, { actor: ADA, params }, new Date())
    await expect(approval).rejects.toMatchObject({ status: 400, code: 'validation_error' })
    expect((await actionOf(tenant.handle, ref)).status).toBe('pending_approval')
  })
})

test('several actions can be approved in one call, independently', async () => {
  const first = await waiting()
  const second = await waiting(1, first.ref.runId, first.agentId)
  await tenant.call('POST', `${second.path}/reject`)
  const unknown = { ...first.ref, runId: newId() }
  const decided = await decideMany([first.ref, second.ref, unknown], (ref) =>
    approveAction(tenant.handle, service.jobs, ref, { actor: ADA }, new Date()),
  )
  expect(decided.map((each) => ('action' in each ? each.action.status : each.error.code))).toEqual([
    'approved',
    'invalid_action_state',
    'not_found',
  ])
})

test('waiting actions are listed newest first, with their context', async () => {
  const first = await waiting()
  const second = await waiting(1, first.ref.runId, first.agentId)
  await propose(tenant.handle, service.jobs, { contactId, type: 'note', params: { content: 'done' } })
  const { actions, total } = await listWaitingActions(tenant.handle, { limit: 10, offset: 0 }, new Date())
  expect([total, actions.map(({ action_index }) => action_index)]).toEqual([2, [1, 0]])
  expect(actions[0]).toMatchObject({
    agent: { agent_id: first.agentId, name: 'Scout' },
    contact: { contact_id: contactId, email: 'ada@example.com', firstname: 'Ada', company: 'Engines', lastname: null },
    identity: { identity_id: identityId, firstName: 'Grace', lastName: 'Hopper', address: null },
    reasoning: 'They asked.',
    status: 'pending_approval',
  })
  const page = await listWaitingActions(tenant.handle, { limit: 1, offset: 1 }, new Date())
  expect(page.actions.map(({ action_index }) => action_index)).toEqual([0])
  await tenant.call('DELETE', `/v1/contacts/${contactId}`)
  const orphaned = await listWaitingActions(tenant.handle, { limit: 10, offset: 0, agentId: first.agentId }, new Date())
  expect(orphaned.actions.map(({ contact }) => contact)).toEqual([null, null])
  await tenant.call('POST', `${second.path}/reject`)
  const left = await listWaitingActions(tenant.handle, { limit: 10, offset: 0, agentId: first.agentId }, new Date())
  expect(left.total).toBe(1)
  await expect(listWaitingActions(tenant.handle, { limit: 101, offset: 0 }, new Date())).rejects.toMatchObject({
    status: 400,
  })
  await expect(listWaitingActions(tenant.handle, { limit: 1, offset: -1 }, new Date())).rejects.toMatchObject({
    status: 400,
  })
})
