import { isObject } from '../../platform/is-object.ts'
import { ApiRefused, type Client, textOf } from '../client.ts'
import type { Activity, ActivityStore } from '../connector.ts'
import { readAssociations, readBatch } from './api.ts'
import { timeOf } from './map.ts'

/** HubSpot's ids of the associations between an activity and a contact. */
const KINDS = {
  note: { type: 'notes', association: 202 },
  email: { type: 'emails', association: 198 },
} as const
/** The latest activities of a contact, among which one that was just stored is. */
const SEARCHED_MAX = 100

/**
 * Stores notes and logged emails: https://developers.hubspot.com/docs/api-reference/crm-notes-v3/guide and
 * …/crm-emails-v3/guide. Their time to the millisecond tells them apart.
 */
export const hubspotActivities: ActivityStore = {
  find: async (client, { kind, contact, at }) => {
    const { type } = KINDS[kind]
    const ids = (await readAssociations(client, 'contacts', type, [contact])).get(contact) ?? []
    const latest = ids.toSorted((one, other) => Number(other) - Number(one)).slice(0, SEARCHED_MAX)
    const items = await readBatch(client, type, latest, ['hs_timestamp'])
    const found = items.find(({ properties }) => timeOf(properties.hs_timestamp)?.getTime() === at.getTime())
    return found ? `${type}/${found.id}` : null
  },
  store: (client, activity) => store(client, activity),
}

async function store(client: Client, { kind, contact, subject, text, html, at }: Activity): Promise<string> {
  const { type, association } = KINDS[kind]
  const properties =
    kind === 'note'
      ? { hs_note_body: html }
      : { hs_email_direction: 'EMAIL', hs_email_status: 'SENT', hs_email_subject: subject, hs_email_text: text }
  const types = [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: association }]
  const body = {
    properties: { hs_timestamp: at.toISOString(), ...properties },
    associations: [{ to: { id: contact }, types }],
  }
  const response = await client.call({ path: `/crm/v3/objects/${type}`, body })
  const id = isObject(response) ? textOf(response.id) : null
  if (id === null) throw new ApiRefused(0, 'HubSpot did not return the id of the activity.')
  return `${type}/${id}`
}
