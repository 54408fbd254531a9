import { identificationOf } from './identification.ts'
import { pick, URL_OF_SERVICE, withKey } from './load.ts'
import type { Target } from './target.ts'

/** A contact has half of its events itself, and half in its visitors' episodes. */
const OF_BUSY_CONTACT = 900

/**
 * Checks that the loaded data fits the rows of the table.
 * @throws Error if the service does not return a contact's events from before its identification.
 */
export async function checkData({ raw, population, nextVisitor }: Target): Promise<void> {
  const headers = { ...withKey(raw.apiKey), 'content-type': 'application/json' }
  const eventsOf = async (contactId: string): Promise<number> => {
    const answer = await fetch(`${URL_OF_SERVICE}/v1/contacts/events/${contactId}`, { headers })
    return ((await answer.json()) as { events?: unknown[] }).events?.length ?? 0
  }
  const ofBusy = await eventsOf(pick(population.busy))
  if (ofBusy < OF_BUSY_CONTACT) throw new Error(`A busy contact has ${ofBusy} events.`)
  const { path, body } = identificationOf(nextVisitor()) ?? { path: '', body: '' }
  const answer = await fetch(URL_OF_SERVICE + path, { method: 'POST', headers, body })
  const { contact_id } = (await answer.json()) as { contact_id: string }
  if ((await eventsOf(contact_id)) === 0) throw new Error('An identified visitor brings no events.')
}
