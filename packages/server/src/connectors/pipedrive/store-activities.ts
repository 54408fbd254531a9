import { isObject } from '../../platform/is-object.ts'
import { ApiRefused, type Client, textOf } from '../client.ts'
import type { Activity, ActivityStore } from '../connector.ts'
import { hasId, readAll, secondsOf } from './read.ts'

/**
 * Stores notes as notes of the person, which the connector does not read, and mails as completed activities:
 * https://developers.pipedrive.com/docs/api/v1/Notes and https://developers.pipedrive.com/docs/api/v1/Activities
 */
export const pipedriveActivities: ActivityStore = {
  find: (client, activity) => (activity.kind === 'note' ? findNote(client, activity) : findMail(client, activity)),
  store: async (client, activity) => {
    const request =
      activity.kind === 'note'
        ? { path: '/api/v1/notes', body: { content: activity.html, person_id: Number(activity.contact) } }
        : { path: '/api/v2/activities', body: mailOf(activity) }
    const { data } = await client.call(request)
    const id = isObject(data) ? textOf(data.id) : null
    if (id === null) throw new ApiRefused(0, 'Pipedrive did not return the id of the activity.')
    return idOf(activity.kind, id)
  },
}

/** Notes and activities have ids of their own. */
export function idOf(kind: Activity['kind'], id: string): string {
  return `${kind === 'note' ? 'notes' : 'activities'}/${id}`
}

function mailOf({ contact, subject, html, at }: Activity) {
  const time = at.toISOString()
  return {
    type: 'email',
    subject,
    note: html,
    done: true,
    due_date: time.slice(0, 10),
    due_time: time.slice(11, 16),
    participants: [{ person_id: Number(contact), primary: true }],
  }
}

/** Pipedrive may clean up the HTML of a note. So the latest note since then is the one, if its text is the same. */
async function findNote(client: Client, { contact, text, at }: Activity): Promise<string | null> {
  const query = { person_id: contact, sort: 'add_time DESC', limit: 100 }
  const { data } = await client.call({ path: '/api/v1/notes', query })
  const notes = Array.isArray(data) ? data.filter(isObject).filter(hasId) : []
  const since = secondsOf(at).replace('T', ' ').replace('Z', '')
  const wanted = wordsOf(text)
  const found = notes.find(
    ({ add_time, content }) => (textOf(add_time) ?? '') >= since && wordsOf(textOf(content) ?? '') === wanted,
  )
  return found ? idOf('note', String(found.id)) : null
}

async function findMail(client: Client, { contact, subject, at }: Activity): Promise<string | null> {
  const query = { person_id: contact, done: 'true', updated_since: secondsOf(at) }
  const all = await readAll(client, '/api/v2/activities', query)
  const found = all.filter(hasId).find((each) => each.type === 'email' && each.subject === subject)
  return found ? idOf('email', String(found.id)) : null
}

/** The letters and digits of a text or of HTML. */
function wordsOf(text: string): string {
  return text.replace(/<[^>]*>|&\w+;/g, '').replace(/[^\p{L}\p{N}]+/gu, '')
}
