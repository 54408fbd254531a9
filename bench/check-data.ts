import { identificationOf } from './identification.ts'
import { pick, URL_OF_SERVICE, withKey } from './load.ts'
import type { Target } from './target.ts'

/** A contact has half of its events under itself and half under its visitors' episodes. */
const OF_BUSY_CONTACT = 900

/**
 * Makes sure that the rows measure what they say.
 * @throws Error when the service does not see a contact's events from before it was identified.
 */
export async function checkData({ raw, population, takeVisitor }: Target): Promise<void> {
  const headers = { ...withKey(raw.apiKey), 'content-type': 'application/json' }
  const eventsOf = async (contactId: string): Promise<number> => {
    const answer = await fetch(`${URL_OF_SERVICE}/v1/contacts/events/${contactId}`, { headers })
    return ((await answer.json()) as { events?: unknown[] }).events?.length ?? 0
  }
  const ofBusy = await eventsOf(pick(population.busy))
  if (ofBusy < OF_BUSY_CONTACT) throw new Error(`A busy contact has ${ofBusy} events only.`)
  const { path, body } = identificationOf(takeVisitor()) ?? { path: '', body: '' }
  const answer = await fetch(URL_OF_SERVICE + path, { method: 'POST', headers, body })
  const { contact_id } = (await answer.json()) as { contact_id: string }
  if ((await eventsOf(contact_id)) === 0) throw new Error('An identified visitor brings no events.')
}
