import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { connect, pulled, useScriptedSystem } from '../../test/scripted-connector.ts'

/*
 * A system has several records of one person. An opt-out that one of them says is released only when each that says it has
 * taken it back, whatever the others say, in whichever order, and whichever id the contact shows.
 */

const OPT_OUT = 'has_opted_out_of_email'
const PEOPLE = 40
const IDS = ['lead', 'contact', 'duplicate']

const bench = useScriptedSystem()

interface Said {
  id: string
  value: boolean | null
  /** The day of its `updated_at`, in any order. */
  day?: number | undefined
}
/** What a system writes in one batch, and then deletes. */
interface Step {
  said: Said[]
  deleted: string[]
}

/** What is expected of a person: a set of records that say the opt-out. */
class Model {
  readonly live = new Set<string>()
  readonly sayers = new Set<string>()

  write({ id, value }: Said): void {
    this.live.add(id)
    if (value) this.sayers.add(id)
    else this.sayers.delete(id)
  }

  delete(id: string): void {
    if (!this.live.delete(id) || this.live.size > 0) return
    // Who is deleted has not agreed, and nobody is left who could.
    if (this.sayers.size > 0) this.sayers.add('deleted')
    for (const each of IDS) this.sayers.delete(each)
  }
}

const emailOf = (person: number) => `person${person}@example.com`
const recordOf = (person: number, { id, value, day }: Said) => ({
  external_id: `${id}-${person}`,
  email: emailOf(person),
  properties: { [OPT_OUT]: value, firstname: id },
  ...(day === undefined ? {} : { updated_at: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z` }),
})

async function silentPeople(): Promise<Map<string, boolean>> {
  const { contacts } = (await bench.tenant.call('GET', '/v1/contacts?limit=100')).body
  return new Map(
    contacts.map(({ properties }: { properties: Record<string, unknown> }) => [
      properties.email,
      properties[OPT_OUT] === true,
    ]),
  )
}

const said = fc.record({
  id: fc.constantFrom(...IDS),
  value: fc.constantFrom(true, false, false, null),
  day: fc.option(fc.integer({ min: 1, max: 28 }), { nil: undefined }),
})
const batch = fc.array(said, { minLength: 1, maxLength: 3 })

/** Several people's histories, so that one request writes a step of each. */
async function play(histories: Step[][], write: (step: (Step | undefined)[]) => Promise<void>): Promise<void> {
  const models = histories.map(() => new Model())
  const length = Math.max(...histories.map((steps) => steps.length))
  for (let at = 0; at < length; at++) {
    const steps = histories.map((history) => history[at])
    await write(steps)
    for (const [person, step] of steps.entries()) {
      for (const each of step?.said ?? []) models[person]?.write(each)
      for (const id of step?.deleted ?? []) models[person]?.delete(id)
    }
    const silent = await silentPeople()
    for (const [person, model] of models.entries()) {
      if (model.live.size + model.sayers.size === 0) continue
      const story = JSON.stringify(histories[person]?.slice(0, at + 1))
      expect([story, silent.get(emailOf(person))]).toEqual([story, model.sayers.size > 0])
    }
  }
}

describe('an opt-out of one of several records of a person', () => {
  test('is released by that record alone, when a program pushes them', async () => {
    // Without times: of the versions of one record, a late one is an old one.
    const step = batch.map((all) => ({ said: all.map((each) => ({ ...each, day: undefined })), deleted: [] }))
    const histories = fc.sample(fc.array(step, { minLength: 5, maxLength: 5 }), { numRuns: PEOPLE, seed: 41 })
    await play(histories, async (steps) => {
      const records = steps.flatMap((one, person) => (one?.said ?? []).map((each) => recordOf(person, each)))
      for (let from = 0; from < records.length; from += 100) {
        const sent = { records: records.slice(from, from + 100) }
        const { status, body } = await bench.tenant.call('POST', '/v1/sources/crm/contacts', sent)
        expect([status, body.failed]).toEqual([200, 0])
      }
    })
  })

  test('is released by that record alone, when a connected system is read, also after deletions there', async () => {
    const step = fc.record({ said: batch, deleted: fc.subarray(IDS, { maxLength: 1 }) })
    const histories = fc.sample(fc.array(step, { minLength: 6, maxLength: 6 }), { numRuns: PEOPLE, seed: 42 })
    const path = await connect(bench.tenant)
    let { run_id } = await pulled(bench.tenant, path)
    await play(histories, async (steps) => {
      const contacts = steps.flatMap((one, person) => (one?.said ?? []).map((each) => recordOf(person, each)))
      const deleted = steps.flatMap((one, person) => (one?.deleted ?? []).map((id) => `${id}-${person}`))
      bench.system.pages = [{ contacts }, { deleted }]
      expect((await bench.tenant.call('POST', `${path}/reread`, {})).status).toBe(202)
      ;({ run_id } = await pulled(bench.tenant, path, run_id))
    })
  })

  test('is not replaced by a bounce of another record', async () => {
    const push = async (id: string, status: string) => {
      const records = [{ external_id: id, email: emailOf(0), properties: { status } }]
      await bench.tenant.call('POST', '/v1/sources/crm/contacts', { records })
      const { contacts } = (await bench.tenant.call('GET', '/v1/contacts')).body
      return contacts[0].consent?.rule ?? null
    }
    expect(await push('lead', 'unsubscribed')).toBe('unsubscribed')
    expect(await push('contact', 'cleaned')).toBe('unsubscribed')
    // What the record itself says now counts.
    expect(await push('contact', 'subscribed')).toBe('unsubscribed')
    expect(await push('lead', 'cleaned')).toBe('bounced')
    expect(await push('lead', 'subscribed')).toBeNull()
  })

  test('counts although another record was changed later, and so does its release', async () => {
    const push = async (id: string, value: boolean, day: number) => {
      const records = [recordOf(0, { id, value, day })]
      await bench.tenant.call('POST', '/v1/sources/crm/contacts', { records })
      return (await silentPeople()).get(emailOf(0))
    }
    expect(await push('contact', false, 20)).toBe(false)
    expect(await push('lead', true, 10)).toBe(true)
    expect(await push('contact', false, 21)).toBe(true)
    expect(await push('lead', false, 11)).toBe(false)
  })

  test('reaches the contact under each id that a program has pushed, also without the email', async () => {
    const email = emailOf(0)
    const push = async (...records: [id: string, value: boolean, email?: string][]) => {
      const sent = records.map(([external_id, value, address]) => ({
        external_id,
        properties: { [OPT_OUT]: value },
        ...(address === undefined ? {} : { email: address }),
      }))
      const { body } = await bench.tenant.call('POST', '/v1/sources/crm/contacts', { records: sent })
      const silent = await silentPeople()
      expect([...silent.keys()]).toEqual([email])
      return [...body.results.map(({ status }: { status: string }) => status), silent.get(email)]
    }
    await push(['lead', false, email])
    await push(['contact', false, email])
    expect(await push(['lead', true])).toEqual(['updated', true])
    expect(await push(['contact', false])).toEqual(['unchanged', true])
    expect(await push(['lead', false])).toEqual(['updated', false])
    expect(await push(['lead', true, email])).toEqual(['updated', true])
    expect(await push(['lead', false, email])).toEqual(['updated', false])
    expect(await push(['contact', true, 'no address'])).toEqual(['failed', true])
    expect(await push(['contact', false])).toEqual(['updated', false])
    expect(await push(['lead', true, 'no address'])).toEqual(['failed', true])
    expect(await push(['lead', false])).toEqual(['updated', false])
    expect((await push(['third', false, email], ['fourth', false, email], ['third', true])).at(-1)).toBe(true)
    expect((await push(['third', false])).at(-1)).toBe(false)
  })

  test('counts although another record was changed later, also in the record that came first', async () => {
    const push = async (id: string, value: boolean, day: number) => {
      await bench.tenant.call('POST', '/v1/sources/crm/contacts', { records: [recordOf(0, { id, value, day })] })
      return (await silentPeople()).get(emailOf(0))
    }
    expect(await push('lead', false, 5)).toBe(false)
    expect(await push('contact', false, 20)).toBe(false)
    expect(await push('lead', true, 10)).toBe(true)
    expect(await push('contact', false, 21)).toBe(true)
    expect(await push('lead', false, 11)).toBe(false)
  })

  test('is not released by an old version of the record, which a program pushes late', async () => {
    const push = async (id: string, value: boolean, day: number) => {
      await bench.tenant.call('POST', '/v1/sources/crm/contacts', { records: [recordOf(0, { id, value, day })] })
      return (await silentPeople()).get(emailOf(0))
    }
    expect(await push('contact', false, 1)).toBe(false)
    expect(await push('lead', false, 1)).toBe(false)
    expect(await push('contact', true, 5)).toBe(true)
    expect(await push('contact', false, 3)).toBe(true)
    // Nor after another record has said it earlier.
    expect(await push('lead', true, 2)).toBe(true)
    expect(await push('contact', false, 4)).toBe(true)
    expect(await push('lead', false, 6)).toBe(true)
    expect(await push('contact', false, 7)).toBe(false)
  })

  test('reaches the contact under each id also in a merge and after it', async () => {
    const push = async (id: string, value: boolean, email?: string) => {
      const records = [{ external_id: id, properties: { [OPT_OUT]: value }, ...(email ? { email } : {}) }]
      const [{ contact_id }] = (await bench.tenant.call('POST', '/v1/sources/crm/contacts', { records })).body.results
      return contact_id
    }
    const contactId = await push('lead', false, emailOf(0))
    await push('contact', false, emailOf(0))
    const into = await push('other', false, emailOf(1))
    expect((await bench.tenant.call('POST', `/v1/contacts/${contactId}/merge`, { into })).status).toBe(200)
    for (const id of ['lead', 'contact']) {
      expect(await push(id, true)).toBe(into)
      expect((await silentPeople()).get(emailOf(1))).toBe(true)
      expect(await push(id, false)).toBe(into)
      expect((await silentPeople()).get(emailOf(1))).toBe(false)
    }
    expect((await bench.tenant.call('POST', `/v1/contacts/${contactId}/unmerge`)).status).toBe(200)
    for (const id of ['lead', 'contact']) expect(await push(id, true)).toBe(contactId)
  })

  test('of several profiles of an analytics system counts too, also of one whose address is malformed', async () => {
    const path = await connect(bench.tenant)
    let { run_id } = await pulled(bench.tenant, path)
    const read = async (id: string, value: boolean, email = emailOf(0)) => {
      const profile = { id, userId: 'u1', email, visitorIds: [], properties: { [OPT_OUT]: value } }
      bench.system.pages = [{ profiles: [profile] }]
      await bench.tenant.call('POST', `${path}/reread`, {})
      ;({ run_id } = await pulled(bench.tenant, path, run_id))
      return (await silentPeople()).get(emailOf(0))
    }
    expect(await read('one', true)).toBe(true)
    expect(await read('two', false)).toBe(true)
    expect(await read('one', false)).toBe(false)
    expect(await read('one', true)).toBe(true)
    expect(await read('two', true)).toBe(true)
    expect(await read('three', true, 'no address')).toBe(true)
    expect(await read('one', false)).toBe(true)
    expect(await read('two', false)).toBe(true)
    expect(await read('three', false)).toBe(false)
  })

  test('survives a merge of two contacts of the source, whichever value is newer', async () => {
    const push = async (id: string, email: string, value: boolean) => {
      const records = [{ external_id: id, email, properties: { [OPT_OUT]: value } }]
      return (await bench.tenant.call('POST', '/v1/sources/crm/contacts', { records })).body.results[0].contact_id
    }
    const into = await push('a', 'a@example.com', true)
    const other = await push('b', 'b@example.com', false)
    expect((await bench.tenant.call('POST', `/v1/contacts/${other}/merge`, { into })).status).toBe(200)
    const isSilent = async () => (await silentPeople()).get('a@example.com')
    expect(await isSilent()).toBe(true)
    await push('b', 'b@example.com', false)
    expect(await isSilent()).toBe(true)
    await push('a', 'a@example.com', false)
    expect(await isSilent()).toBe(false)
  })
})
