import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

async function agent(): Promise<string> {
  const monitoring = { triggers: [{ event: 'page_view' }] }
  const body = { name: 'Pricing', playbook_template: 'pricing_visitor_followup', enabled: true, monitoring }
  return (await tenant.call('POST', '/v1/agents', body)).body.agent.agent_id
}

async function identified(visitor_id: string, email: string): Promise<string> {
  return (await tenant.call('POST', '/v1/identify', { visitor_id, email })).body.contact_id
}

const view = (visitor_id: string) =>
  tenant.track({ visitor_id, events: [{ event: 'page_view', url: `https://${tenant.site}/pricing` }] })

/** The contacts that the agent has looked at, oldest first, once there are as many. */
async function lookedAt(id: string, count: number): Promise<string[]> {
  const read = async () => {
    const { runs } = (await tenant.call('GET', `/v1/agents/${id}/runs`)).body
    const done = runs.filter(({ status }: { status: string }) => status === 'completed').reverse()
    const results = await Promise.all(
      done.map(
        async ({ run_id }: { run_id: string }) => (await tenant.call('GET', `/v1/agents/runs/${run_id}`)).body.run,
      ),
    )
    return results.flatMap(({ contact_results }) => contact_results).map(({ contact_id }) => contact_id as string)
  }
  await expect.poll(async () => (await read()).length).toBeGreaterThanOrEqual(count)
  return read()
}

const waiting = () =>
  tenant.handle.db.selectFrom('agent_looks').select('owner_id').where('due_at', 'is not', null).execute()
/** While the agent's row is locked, no look is decided. */
const beforeLooking = (id: string, act: () => Promise<void>) =>
  tenant.handle.transaction(async (tx) => {
    await tx.db.selectFrom('agents').select('agent_id').where('agent_id', '=', id).forUpdate().execute()
    await act()
  })

test('after an unmerge, an event has the contact looked at that it then belongs to', async () => {
  const id = await agent()
  const ada = await identified('v', 'ada@example.com')
  const old = await identified('w', 'old@example.com')
  const merge = () => tenant.call('POST', `/v1/contacts/${old}/merge`, { into: ada })
  const unmerge = () => tenant.call('POST', `/v1/contacts/${old}/unmerge`)
  // Before the merge: it is the duplicate's again.
  await beforeLooking(id, async () => {
    await view('w')
    expect((await merge()).status).toBe(200)
    expect((await unmerge()).status).toBe(200)
  })
  expect(await lookedAt(id, 1)).toEqual([old])
  // While merged: it stays with the survivor, whose cooldown has not begun.
  await merge()
  await beforeLooking(id, async () => {
    await view('w')
    expect((await unmerge()).status).toBe(200)
  })
  expect(await lookedAt(id, 2)).toEqual([old, ada])
})

test('an erased contact is not looked at, and leaves no look', async () => {
  const id = await agent()
  const ada = await identified('v', 'ada@example.com')
  await identified('w', 'bob@example.com')
  await beforeLooking(id, async () => {
    await view('v')
    expect(await waiting()).toHaveLength(1)
    const { status } = await tenant.call('POST', '/v1/erasures', { contact_id: ada })
    expect([200, 201, 202]).toContain(status)
  })
  await view('w')
  const [bob, ...others] = await lookedAt(id, 1)
  expect([bob === ada, others]).toEqual([false, []])
  await expect
    .poll(() => tenant.handle.db.selectFrom('agent_looks').select('owner_id').where('owner_id', '=', ada).execute())
    .toEqual([])
})
